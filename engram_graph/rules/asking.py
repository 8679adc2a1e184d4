"""What is asked about a draft, and the fact the answers make of it.

Source: decision_rules §3 (questions), §4 (order), §7 (start), §10 (fallbacks).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram_graph.models.decisions import Answer, Question, Reply
from engram_graph.models.facts import Draft, Fact
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import Decided, failed, label, usable, yes, zone
from engram_graph.rules.evidence import FIRST_REFUSALS, first_refusal, pair_answer, relation_of
from engram_graph.rules.gates import needs_second, strength
from engram_graph.rules.names import entity_key
from engram_graph.rules.questions import question
from engram_graph.rules.situation import Situation
from engram_graph.vocabulary import SUPERSEDING


@dataclass(frozen=True, slots=True)
class Standing:
    """How sure the write is: worth, relation, and whether the fact is stored unsure."""

    worth: float
    relation: Decided
    tentative: bool
    confidence: float


def first_questions(s: Situation) -> tuple[Question, ...]:
    """The one request of a fact: about itself, then about each candidate."""
    own = [ask.KIND, ask.TEMPORAL, ask.DURABILITY, ask.SENSITIVITY]
    if not s.caller_relation:  # what the caller has decided is not asked
        own = [ask.WORTH, ask.KIND, ask.TEMPORAL, ask.EDGE_TYPE, ask.DURABILITY, ask.SENSITIVITY]
    return (*(question(name) for name in own), *pair_questions(s))


def pair_questions(s: Situation, known: frozenset[str] = frozenset()) -> tuple[Question, ...]:
    """What is asked about each candidate, but for those in ``known`` (asked already)."""
    pairs: list[Question] = []
    for candidate in s.asked:
        if candidate.fact.id in known:
            continue
        pairs.append(question(ask.RELATION, candidate.fact, candidate.speakers))
        if s.method.same_attribute:
            pairs.append(question(ask.SAME_ATTRIBUTE, candidate.fact))
        if s.may_be_fulfilled(candidate.fact):
            pairs.append(question(ask.PLAN_FULFILLED, candidate.fact))
    return tuple(pairs)


def escalation_questions(s: Situation, reply: Reply) -> tuple[Question, ...]:
    """The relation to the deciding candidate, for a stronger model: the answer speaks against a
    fact, and is too weak to act on (§5, below .60)."""
    relation = relation_of(s, reply)
    if relation.candidate is None or s.guarded:
        return ()
    candidate = s.asked[relation.candidate]
    answer = pair_answer(reply, ask.RELATION, candidate)
    if answer is None or candidate.fact.id in s.counted:
        return ()
    p = strength(answer, relation.verdict, s.method)
    if zone(relation.verdict, p, s.thresholds) != "escalate":
        return ()
    return (question(ask.RELATION, candidate.fact, candidate.speakers),)


def second_questions(s: Situation, reply: Reply) -> tuple[Question, ...]:
    """The second phrasing for each pair it may still decide (G3); often there is none.

    Not for weak answers, nor for pairs that the temporal or the structure gate blocks, nor for an
    assistant's words about the user, which close nothing anyway. The order of dates is checked
    after it.
    """
    if s.guarded:
        return ()
    fact = fact_of(s, reply)
    wanted = []
    for candidate in s.asked:
        if candidate.fact.id in s.counted:
            continue
        verdict, refusal = first_refusal(s, fact, candidate, reply)
        answer = pair_answer(reply, ask.RELATION, candidate)
        superseding = verdict in SUPERSEDING and refusal not in FIRST_REFUSALS
        if not superseding or answer is None:
            continue
        if needs_second(answer, verdict, candidate.fact, s.method):
            wanted.append(question(ask.SECOND, candidate.fact, candidate.speakers))
    return tuple(wanted)


def decided_predicate(s: Situation, reply: Reply) -> str:
    """The caller's predicate; for drafts the one edge_type names with .85 or more."""
    answer = reply.answers.get(ask.EDGE_TYPE)
    if s.caller_relation or answer is None or answer.fallback:
        return s.draft.predicate
    sure = answer.p(answer.chosen) >= s.thresholds.act
    return answer.chosen if sure else s.draft.predicate


def standing(s: Situation, reply: Reply) -> Standing:
    """Worth and relation of the draft, and whether it is stored tentative (§5, §7, §10)."""
    worth = 1.0 if s.caller_relation else yes(reply.answers.get(ask.WORTH))
    relation = relation_of(s, reply)
    lost = failed(reply)
    act = s.thresholds.act
    tentative = lost or s.guarded or worth < act or relation.p < act
    confidence = 0.0 if lost else round(min(worth, relation.p), 4)
    return Standing(worth, relation, tentative, confidence)


def fact_of(s: Situation, reply: Reply) -> Fact:
    """The draft as a fact, before any evidence moves it; belief is set when it starts.

    A question without a usable answer leaves the extractor's hint.
    """
    draft, answers = s.draft, reply.answers
    decided: dict[str, object] = {
        "predicate": decided_predicate(s, reply),
        "kind": label(answers.get(ask.KIND), draft.kind),
        "durability": label(answers.get(ask.DURABILITY), draft.durability),
        "sensitivity": label(answers.get(ask.SENSITIVITY), draft.sensitivity),
        "temporal_status": label(answers.get(ask.TEMPORAL), draft.temporal_status),
    }
    if s.stored is not None:
        decided |= {"version": s.stored.version + 1, "changed_at": s.decided_at}
        if s.redacted:
            decided |= {
                "object": draft.object,
                "object_key": entity_key(draft.object),
                "text": draft.text,
                "source_quote": draft.quote,
            }
        return s.stored.model_copy(update=decided)
    return unsaid_fact(s).model_copy(update=decided)


def unsaid_fact(s: Situation) -> Fact:
    """The situation's draft as a fact: see ``drafted_fact``."""
    return drafted_fact(
        s.draft,
        fact_id=s.fact_id,
        namespace=s.namespace,
        extractor=s.extractor,
        valid_from=s.valid_from,
        valid_from_stated=s.valid_from_stated,
        recorded_at=s.decided_at,
    )


def drafted_fact(
    draft: Draft,
    *,
    fact_id: str,
    namespace: str,
    extractor: str,
    valid_from: datetime,
    valid_from_stated: bool,
    recorded_at: datetime,
) -> Fact:
    """A draft as a fact, still open, with what the draft itself says and nothing decided."""
    return Fact(
        id=fact_id,
        namespace=namespace,
        subject=draft.subject,
        subject_key=entity_key(draft.subject),
        predicate=draft.predicate,
        object=draft.object,
        object_key=entity_key(draft.object),
        text=draft.text,
        kind=draft.kind,
        durability=draft.durability,
        sensitivity=draft.sensitivity,
        temporal_status=draft.temporal_status,
        negated=draft.negated,
        source_quote=draft.quote,
        extractor=extractor,
        valid_from=valid_from,
        valid_from_stated=valid_from_stated,
        recorded_at=recorded_at,
    )


def unanswered(s: Situation, reply: Reply) -> tuple[Question, ...]:
    """The questions that got no usable answer, to be asked again; of the second phrasing those
    that were put at all."""
    first = (q for q in first_questions(s) if not usable(reply.answers.get(q.id)))
    second = (q for q in second_questions(s, reply) if _is_fallback(reply.answers.get(q.id)))
    return (
        *(q for q in first if not (q.candidate and q.candidate.id in s.counted)),
        *second,
    )


def _is_fallback(answer: Answer | None) -> bool:
    return answer is not None and answer.fallback
