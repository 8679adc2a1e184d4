"""The gates evidence against a fact must pass: temporal, structure, agreement.

Source: decision_rules §6 with ``not_planned_mass``, ``update_multi_sibling``,
``same_attribute_gate`` and ``close_agreement`` on.
"""

from __future__ import annotations

from engram_graph.models.decisions import Answer
from engram_graph.models.facts import Fact
from engram_graph.rules.answers import chosen_verdict
from engram_graph.rules.thresholds import DEFAULT, Thresholds
from engram_graph.vocabulary import PREDICATES, SUPERSEDING, TemporalStatus, Verdict


def one_valued(predicate: str) -> bool:
    """Whether a subject has one value of ``predicate`` at a time."""
    return PREDICATES[predicate].single


def is_sibling(fact: Fact, old: Fact) -> bool:
    """Same subject and same predicate."""
    return fact.subject_key == old.subject_key and fact.predicate == old.predicate


def passes_temporal(answer: Answer | None, thresholds: Thresholds = DEFAULT) -> bool:
    """G1: the new fact is or was so, P(current) + P(past) ≥ .85.

    A plan or a supposition ends nothing; a fallback never passes.
    """
    if answer is None or answer.fallback:
        return False
    mass = answer.p(TemporalStatus.CURRENT) + answer.p(TemporalStatus.PAST)
    return round(mass, 9) >= thresholds.act  # .55 + .30 is .85, whatever binary fractions say


def passes_structure(
    verdict: Verdict,
    fact: Fact,
    old: Fact,
    same_attribute: float,
    thresholds: Thresholds = DEFAULT,
) -> bool:
    """G2: can there be only one of the two?

    A negation names what it ends: it always passes. An update passes when the old relation holds
    one value, when both are values of the same relation of the same subject, or when both tell
    the same single attribute. A contradiction passes only between values of a one-valued relation.
    """
    if verdict == Verdict.NEGATES:
        return True
    single, sibling = one_valued(old.predicate), is_sibling(fact, old)
    if verdict == Verdict.UPDATE:
        return single or sibling or same_attribute >= thresholds.act
    return single and sibling


def needs_second(verdict: Verdict, old: Fact) -> bool:
    """Whether G3 applies: for the first evidence against ``old``, and for each update of a
    many-valued relation, where a new value seldom ends an old one."""
    first = old.against_count == 0
    return first or (verdict == Verdict.UPDATE and not one_valued(old.predicate))


def agrees(second: Answer | None, thresholds: Thresholds = DEFAULT) -> bool:
    """G3: asked in other words, the answer is again superseding (any label), with p ≥ .85."""
    if second is None or second.fallback:
        return False
    verdict = chosen_verdict(second)
    return verdict in SUPERSEDING and second.p(verdict) >= thresholds.act
