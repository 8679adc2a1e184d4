"""The gates evidence against a fact must pass: temporal, structure, agreement.

Source: decision_rules §6; which of them stand, and how, is the method's.
"""

from __future__ import annotations

from engram_graph.models.decisions import Answer
from engram_graph.models.facts import Fact
from engram_graph.rules.answers import LLM_ESCALATION, chosen_verdict, likeliest
from engram_graph.rules.method import Method
from engram_graph.vocabulary import PREDICATES, SUPERSEDING, TemporalStatus, Verdict


def one_valued(predicate: str) -> bool:
    """Whether a subject has one value of ``predicate`` at a time."""
    return PREDICATES[predicate].single


def is_sibling(fact: Fact, old: Fact) -> bool:
    """Same subject and same predicate."""
    return fact.subject_key == old.subject_key and fact.predicate == old.predicate


def strength(answer: Answer, verdict: Verdict, method: Method) -> float:
    """How strongly ``answer`` says ``verdict``: its label, or all that supersedes together."""
    if method.superseding == "mass" and verdict in SUPERSEDING:
        return min(round(sum(answer.p(each) for each in SUPERSEDING), 9), 1.0)
    return answer.p(verdict)


def counts(answer: Answer, verdict: Verdict, method: Method) -> bool:
    """Whether the likeliest label of ``answer``, ``verdict``, is strong enough to be evidence.

    By rule v2 it always is, by rule v3 above .5. Without belief an answer acts at .85, or not at
    all.
    """
    numbers, p = method.thresholds, strength(answer, verdict, method)
    if not method.belief:
        return p >= numbers.act
    return method.evidence == "all" or p > numbers.evidence_above


def passes_temporal(answer: Answer | None, verdict: Verdict, method: Method) -> bool:
    """G1: the new fact is so, or was so; a plan or a supposition ends nothing.

    By ``mass`` P(current) + P(past) ≥ .85; by ``current`` that label alone is the likeliest and
    ≥ .85. Where ``past_contradicts`` is off, what is past may replace a fact or end it, but not
    merely contradict it. A fallback never passes.
    """
    if answer is None or answer.fallback:
        return False
    act, status = method.thresholds.act, likeliest(answer, TemporalStatus)
    if method.temporal_gate == "current":
        return status == TemporalStatus.CURRENT and answer.p(status) >= act
    past_only = status == TemporalStatus.PAST and verdict == Verdict.CONTRADICTION
    if past_only and not method.past_contradicts:
        return False
    mass = answer.p(TemporalStatus.CURRENT) + answer.p(TemporalStatus.PAST)
    return round(mass, 9) >= act  # .55 + .30 is .85, whatever binary fractions say


def passes_structure(
    verdict: Verdict, fact: Fact, old: Fact, same_attribute: float, method: Method
) -> bool:
    """G2: can there be only one of the two?

    A negation names what it ends: it always passes. An update passes when the old relation holds
    one value, or when both are values of the same relation of the same subject. A contradiction
    passes between values of a one-valued relation. Either passes, too, where the method lets that
    verdict, when both tell the same single attribute.
    """
    if verdict == Verdict.NEGATES or not method.structure:
        return True
    single, sibling = one_valued(old.predicate), is_sibling(fact, old)
    if verdict in method.same_attribute and same_attribute >= method.thresholds.act:
        return True
    if verdict == Verdict.UPDATE:
        return single or (sibling and method.siblings)
    return single and sibling


def needs_second(answer: Answer, verdict: Verdict, old: Fact, method: Method) -> bool:
    """Whether G3 applies: for the first evidence against ``old``, and for each update of a
    many-valued relation, where a new value seldom ends an old one. A stronger model that was asked
    instead needs no confirmation."""
    if not method.agreement or answer.backend == LLM_ESCALATION:
        return False
    first = old.against_count == 0
    return first or (verdict == Verdict.UPDATE and not one_valued(old.predicate))


def agrees(second: Answer | None, method: Method) -> bool:
    """G3: asked in other words, the answer is again superseding (any label), with p ≥ .85."""
    if second is None or second.fallback:
        return False
    verdict = chosen_verdict(second)
    return verdict in SUPERSEDING and strength(second, verdict, method) >= method.thresholds.act
