"""What labels, relationship types and their properties mean; their types come from the models."""

from __future__ import annotations

_ID = "its id, a UUIDv7: sorts by time"
_NAMESPACE = "whose memory; every statement filters on it"
_MADE = {"decided_at": "when it was made"}
_ANSWERED = {"p": "probability of the answer that made the link"} | _MADE
_BELIEF = {
    "belief_before": "belief of that fact before the decision; absent for a start",
    "belief_after": "after it; absent when the decision moved nothing",
}

NODES: dict[str, tuple[str, dict[str, str]]] = {
    "Message": (
        "One utterance (a turn). It is stored first, whatever becomes of its facts.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "namespace_key": "the namespace as one opaque word, for the full-text index",
            "source_id": "the caller's own id; the same one again changes nothing",
            "conversation": "which chat it belongs to",
            "speaker": "who said it",
            "role": "`user`, `assistant`, `system` or `tool`",
            "text": "what was said, secrets taken out",
            "search_text": "speaker and text followed by their word stems, for full text",
            "embedding": "vector of the text; absent without an embedder",
            "said_at": "when it was said",
            "recorded_at": "when it was stored",
            "metadata": "the caller's own JSON object",
            "drafts": "JSON: the facts that were extracted, before anything was decided",
            "status": "`pending`, `done` or `failed`",
            "error": "why it failed",
        },
    ),
    "Conversation": (
        "A chat of messages; the lock that keeps their order.",
        {"namespace": _NAMESPACE, "name": "of the chat; `default` unless the caller names one"},
    ),
    "Entity": (
        "Somebody or something that facts are about.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "key": "the normalised name, unique in a namespace",
            "name": "as first written",
            "aliases": "other names that mean it, as its `:Alias` nodes say",
            "version": "counts writes that have it as subject; a plan is applied to no other",
            "created_at": "when it was first stored",
            "apart": "ids of entities that a merge with it was taken back from",
        },
    ),
    "Alias": (
        "A name that means an entity. One that a merge left holds what undoing the merge needs.",
        {
            "namespace": _NAMESPACE,
            "key": "the normalised name, no entity's key",
            "name": "as written",
            "created_at": "when it was given",
            "entity_id": "of a merged entity: its id",
            "entity_created_at": "of a merged entity: when it was first stored",
            "entity_version": "of a merged entity: its version",
            "alias_keys": "of a merged entity: the keys of its aliases",
            "apart": "of a merged entity: what it was kept apart from",
        },
    ),
    "Fact": (
        "One fact, the authority on everything about it; the typed edge is its projection.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "namespace_key": "the namespace as one opaque word, for the full-text index",
            "text": "the fact as one sentence",
            "search_text": "the text followed by its word stems, for full text",
            "embedding": "vector of the text; absent without an embedder",
            "predicate": "one of the 25 relations",
            "negated": "it says that the relation does not hold",
            "kind": "`preference`, `bio`, `event`, `relationship`, `task` or `opinion`",
            "durability": "`permanent`, `long_term` or `short_lived`",
            "sensitivity": "`none`, `health`, `financial`, `relationship` or `credentials`",
            "temporal_status": "`current`, `planned`, `past` or `hypothetical`, as it was said",
            "source_quote": "the words of the message it rests on",
            "extractor": "what made it: `caller`, `patterns`, `llm:<model>` or `import`",
            "confidence": "how sure the write was, in [0, 1]; never changes",
            "belief": "probability that it still holds, in [.02, .98]",
            "against_count": "how many answers have spoken against it",
            "tentative": "stored unsure",
            "disputed": "contradicted, but not closed",
            "unsettled": "true while a question about it waits for an answer; else absent",
            "valid_from": "since when it is true",
            "valid_from_stated": "whether that was said, and not taken from the message's date",
            "valid_until": "until when, itself excluded; absent while open",
            "open": "whether it has no end",
            "candidate": "whether new facts are compared with it: open, or closed by belief",
            "recorded_at": "when the memory learned it",
            "closed_at": "when the memory learned its end",
            "closed_reason": "`belief`, `superseded`, `fulfilled`, `corrected` or `stated`",
            "changed_at": "of the latest decision that moved its belief or its end",
            "read_at": "when a search last gave it",
            "archived_at": "since when search gives it no longer",
            "version": "counts changes; a plan is applied to no other",
        },
    ),
    "Request": (
        "One call to a decider, with every answer. The log can be pruned by age; decisions stay.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "backend": "who answered: `rules`, `jev`, `llm` or `recorded`",
            "model": "which model of it",
            "preset": "the rules under which it was asked",
            "question_versions": "JSON: question → version of its wording",
            "candidates": "ids of the facts compared with, in the order they were shown",
            "answers": "JSON: every answer with its probabilities, lossless",
            "latency_ms": "how long it took, in milliseconds",
            "cost_usd": "what it cost, in US dollars; absent when unknown",
            "request_id": "the decider's own id of the call",
            "error": "why answers are missing",
            "sent_at": "when it was sent",
        },
    ),
    "Decision": (
        "One judgement that had, or was refused, an effect.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "question": "what was asked, or the rule that decided",
            "question_version": "of the wording; absent for what was not asked",
            "chosen": "the likeliest answer",
            "p": "its probability; 1 for a rule",
            "outcome": "what came of it: `applied`, `closed`, `blocked_temporal` …",
            "reason": "in words",
            "backend": "who answered, or `rule` or `caller`",
            "decided_at": "when it was taken",
            "position": "its place among the decisions of one plan",
            "pieces": "probabilities of the answers that moved belief, one logit each",
            "moves_end": "whether it set, moved or took away the end of a fact",
            "valid_until_before": "the end of that fact before",
            "valid_until_after": "and after; absent: open",
            "reason_before": "why it had that end before",
            "reason_after": "and after",
            "merge_id": "of a merge of entities: its first decision",
            "kept_id": "of a merge: id of the entity that stays",
            "gone_id": "of a merge: id of the entity that went",
            "moved": "of a merge: which ends of the fact moved",
        },
    ),
    "Feedback": (
        "A person's label on a fact or on a decision; it changes neither.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "verdict": "`right` or `wrong`",
            "why": "in words",
            "given_by": "who says so",
            "given_at": "when it was given",
            "belief": "of the fact, then",
            "open": "whether the fact was open then",
            "closed_reason": "why it had an end then",
        },
    ),
    "Replay": (
        "A what-if that was applied to its namespace: the step that can be taken back.",
        {
            "id": _ID,
            "namespace": _NAMESPACE,
            "preset": "the rules that were applied",
            "numbers": "JSON: thresholds that differ from the preset's",
            "applied_at": "when it was applied",
            "facts": "how many facts came to stand otherwise",
            "links": "how many links",
            "vectors": "which vectors were in use",
            "state": "JSON: how the namespace stood after it; while it does, it can be taken back",
        },
    ),
    "Replaced": (
        "A fact, decision, entity, alias or label that a replay took the place of, under another "
        "label, so that nothing else finds it. It keeps its own properties besides these.",
        {
            "namespace": _NAMESPACE,
            "was": "its label before",
            "replaced_key": "of an entity or alias: its key",
            "replaced_version": "of a fact or entity: its version",
            "sources": "of a fact: ids of the messages that state it",
            "requests": "of a decision: ids of the requests it rests on",
        },
    ),
    "EngramSchema": (
        "One node for the whole database: which migrations ran, and what made the vectors.",
        {
            "id": "always `schema`",
            "version": "number of the last migration",
            "created_at": "when the schema was first made",
            "migrated_at": "when it last changed",
            "embedder": "the model that made the stored vectors",
            "dimension": "of these vectors",
            "place": "number of the property and indexes they stand in; absent: the first",
            "next_embedder": "the model that a `reembed` under way makes vectors with",
            "next_dimension": "of those vectors",
            "next_place": "and their place",
            "leftovers": "true while vectors of an ended `reembed` may still be there",
        },
    ),
}
"""Label → what it is, and what each of its properties is."""

TYPED = "One edge for each fact, from its subject to its object: what people query and see."
TYPED_PROPERTIES = (
    *("fact_id", "namespace", "predicate", "text", "belief", "tentative", "disputed", "negated"),
    *("temporal_status", "valid_from", "valid_until", "open", "recorded_at", "closed_at"),
    "closed_reason",
)
"""Of the typed edges; all but ``fact_id`` are the fact's own, under the same names."""

RELATIONSHIPS: dict[str, tuple[tuple[tuple[str, str], ...], str, dict[str, str]]] = {
    "SUBJECT": ((("Fact", "Entity"),), "Whom the fact is about.", {}),
    "OBJECT": ((("Fact", "Entity"),), "The other end of its relation.", {}),
    "MENTIONS": (
        (("Fact", "Entity"),),
        "An entity that its text names besides; none is made for it.",
        {"of": "ids of the entities it named, when a merge made them this one"},
    ),
    "STATED_IN": (
        (("Fact", "Message"),),
        "The message that states it; a repeated one has more.",
        {},
    ),
    "NEXT": (
        (("Message", "Message"),),
        "The next message of the conversation, by `said_at`, then `recorded_at`.",
        {},
    ),
    "SUPERSEDES": (
        (("Fact", "Fact"),),
        "The newer fact took the place of the older one, which is closed. No cycles.",
        {"reason": "why the older one has an end: `belief`, `superseded`, `fulfilled` …"} | _MADE,
    ),
    "SAME_AS": (
        (("Fact", "Fact"),),
        "Both say the same. Read it in both directions.",
        _ANSWERED | {"reason": "the merge of entities that made it"},
    ),
    "CONTRADICTS": ((("Fact", "Fact"),), "Both are held, and cannot both be true.", _ANSWERED),
    "REFINES": (
        (("Fact", "Fact"),),
        "The newer fact says the older one in more detail.",
        _ANSWERED,
    ),
    "ABOUT": (
        (("Decision", "Fact"), ("Feedback", "Fact"), ("Feedback", "Decision")),
        "What a decision, or a label, is about. Beliefs stand on a decision's only.",
        _BELIEF,
    ),
    "COMPARED_WITH": ((("Decision", "Fact"),), "The second fact of a pair.", _BELIEF),
    "FROM": ((("Decision", "Request"),), "The request whose answers a decision rests on.", {}),
    "ALIAS_OF": ((("Alias", "Entity"),), "The entity that the name means.", {}),
    "LEFT": ((("Decision", "Alias"),), "A merge of entities and the alias that it left.", {}),
    "REPLACED": ((("Replay", "Replaced"),), "What an applied replay took the place of.", {}),
}
"""Type → its ends, what it says, and what each of its properties is."""
