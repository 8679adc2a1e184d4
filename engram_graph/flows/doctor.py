"""The invariants of the whole graph: reports what is broken, never repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engram_graph.graph import doctor as store
from engram_graph.graph.driver import Graph
from engram_graph.models.results import Finding, Report
from engram_graph.rules.secrets import find_in_json, redact
from engram_graph.rules.text import search_text, turn_text

MAX_IDS = 20  # named in one finding


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule.

    Attributes:
        name: stable, and the name of its statement. about: which records it goes through.
        message: what is wrong with those that break it.
    """

    name: str
    about: str
    message: str


INVARIANTS = (
    Invariant("fact_ends", "facts", "not exactly one SUBJECT and one OBJECT"),
    Invariant("fact_edge", "facts", "not exactly one typed edge from SUBJECT to OBJECT"),
    Invariant("edge_differs", "facts", "the typed edge says something else than the fact"),
    Invariant("stray_edge", "entities", "a typed edge without its fact, or in another place"),
    Invariant("unused_entity", "entities", "an entity without any fact"),
    Invariant("alias", "aliases", "not one entity's own other name, or the name of another"),
    Invariant("fact_source", "facts", "no message states the fact"),
    Invariant("superseded_open", "facts", "superseded, and still open"),
    Invariant("namespace_crossed", "records", "a relationship leads into another namespace"),
    Invariant("decision_fact", "decisions", "the decision points at no fact, and does not say why"),
    Invariant(
        "feedback", "feedback", "a label of nothing, of several things, or without a verdict"
    ),
    Invariant("item", "items", "no whole item, or a text that is none of its own"),
    Invariant("belief_range", "facts", "belief is not in [.02, .98]"),
    Invariant("belief_decided", "facts", "belief is not what its decisions made it, one by one"),
    Invariant(
        "unsettled_disagrees",
        "facts",
        "to be asked about again though no answer is missing, or the other way round",
    ),
    Invariant(
        "open_disagrees",
        "facts",
        "open, candidate, closed_at, closed_reason do not fit valid_until",
    ),
    Invariant("interval_order", "facts", "the fact ends before it starts, or has no start"),
    Invariant("not_utc", "records", "a moment is no instant in UTC"),
    Invariant("embedding_dimension", "records", "the vector has another dimension than the index"),
    Invariant("stray_vector", "records", "a vector of an embedder that is not in use"),
    Invariant("namespace_key", "records", "the full-text token is another namespace's"),
    Invariant("message_done", "messages", "its state does not fit its facts and drafts"),
    Invariant("lock_left", "records", "a lock mark was left behind"),
    Invariant("import_left", "records", "an import broke off: import the file again"),
    Invariant("next_order", "messages", "NEXT branches, or leaves the conversation or its order"),
    Invariant("next_chain", "conversations", "the conversation's messages are not one chain"),
)
SUPERSEDES_CIRCLE = Invariant(
    "supersedes_circle", "facts", "the fact supersedes itself, in a circle"
)
SECRET = Invariant("secret", "records", "a stored text holds a credential")
SEARCH_TEXT = Invariant("search_text", "records", "what is indexed is not what the text says")
INCOMPLETE = Invariant("incomplete_record", "records", "a record lacks its namespace, id or key")
REEMBED = Invariant(
    "reembed_left",
    "indexes",
    "vectors are being made anew, or that broke off: `engram reembed` goes on",
)
INDEX = Invariant("index", "indexes", "the index is not online, or has another dimension")


async def check(graph: Graph, namespace: str | None) -> Report:
    """Every invariant, for one namespace or (None) for all; reads only.

    A finding names up to 20 ids. With a namespace only its own records are looked at; what
    belongs to none, and the indexes, are part of the check of all.
    """
    names = await store.namespaces(graph) if namespace is None else [namespace]
    number = await store.counts(graph, names)
    number["records"] = sum(number.values())
    dimension = await store.dimension(graph)
    checked: dict[str, int] = {}
    findings: list[Finding] = []

    def report(rule: Invariant, ids: Sequence[str], looked_at: int | None = None) -> None:
        checked[rule.name] = number.get(rule.about, 0) if looked_at is None else looked_at
        if ids:
            first = "the first of them: " if len(ids) >= MAX_IDS else ""
            named = ", ".join(ids[:MAX_IDS])
            findings.append(
                Finding(
                    invariant=rule.name,
                    ids=tuple(ids[:MAX_IDS]),
                    message=f"{rule.message} ({first}{named})",
                )
            )

    for rule in INVARIANTS:
        report(rule, await store.broken(graph, rule.name, names, MAX_IDS, dimension))
    pairs = await store.supersedes(graph, names)
    report(SUPERSEDES_CIRCLE, circles(pairs)[:MAX_IDS], len(pairs))
    secret, unlike, texts = await _words(graph, names)
    report(SECRET, secret, texts)
    report(SEARCH_TEXT, unlike, number.get("facts", 0) + number.get("messages", 0))
    if namespace is None:
        report(INCOMPLETE, await store.incomplete_records(graph, MAX_IDS))
        report(REEMBED, await store.reembedding(graph), 1)
        report(INDEX, await store.broken_indexes(graph, dimension), 3)
    return Report(namespace=namespace, findings=tuple(findings), checked=checked)


def circles(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The ids that lie on a circle of ``pairs``, sorted."""
    if not pairs:
        return []
    import networkx

    graph = networkx.DiGraph(pairs)
    found = {new for new, old in pairs if new == old}
    for part in networkx.strongly_connected_components(graph):
        if len(part) > 1:
            found |= part
    return sorted(found)


async def _words(graph: Graph, names: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Ids with a credential in a text, ids with a wrong search_text, and records read."""
    secret: list[str] = []
    unlike: list[str] = []
    count = 0
    for query in store.TEXTS:
        async for item in store.words(graph, query, names):
            count += 1
            if len(secret) < MAX_IDS and _has_secret(item):
                secret.append(item.id)
            if len(unlike) < MAX_IDS and not _searchable(query, item):
                unlike.append(item.id)
    return secret, unlike, count


def _has_secret(item: store.Words) -> bool:
    return any(redact(text)[1] for text in item.texts) or any(find_in_json(j) for j in item.json)


def _searchable(query: str, item: store.Words) -> bool:
    """Whether the index holds what the text says: a fact's text, a turn's speaker and text."""
    if query == "fact_texts":
        return item.search_text == search_text(item.texts[0])
    if query == "message_texts":
        return item.search_text == search_text(turn_text(item.texts[1], item.texts[0]))
    return True
