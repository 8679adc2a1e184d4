"""Evidence: what each candidate's answer is worth, or why it is worth nothing.

Source: decision_rules §6 and §7. Every candidate's answer is evidence, not only the deciding
one's; without belief only that one acts. The first refusal that holds is named: weak, temporal,
structure, unconfirmed, order.
"""

from __future__ import annotations

from dataclasses import dataclass

from engram_graph.models.decisions import Answer, Reply
from engram_graph.models.facts import Fact
from engram_graph.rules import gates, order
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import Decided, chosen_verdict, deciding, yes
from engram_graph.rules.situation import Candidate, Situation
from engram_graph.vocabulary import SUPERSEDING, SUPPORTING, Outcome, Verdict

FIRST_REFUSALS = frozenset(
    {Outcome.IGNORED_WEAK, Outcome.BLOCKED_TEMPORAL, Outcome.BLOCKED_STRUCTURE}
)
"""Refusals known before the second phrasing is asked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one pair: ``applied``, or the refusal that stopped it.

    Attributes:
        verdict, p: the answer's likeliest label (never ``new``) and its probability.
        pieces: how strong each answer that counts is, both phrasings if both were needed.
    """

    candidate: Candidate
    verdict: Verdict
    p: float
    outcome: Outcome
    backend: str
    pieces: tuple[float, ...] = ()
    reason: str = ""

    @property
    def supports(self) -> bool:
        """Whether the new fact speaks for the candidate (otherwise against it)."""
        return self.verdict in SUPPORTING


def pair_answer(reply: Reply, name: str, candidate: Candidate) -> Answer | None:
    """The answer to question ``name`` about ``candidate``; None when it was not asked."""
    return reply.answers.get(ask.question_id(name, candidate.fact.id))


def relation_of(s: Situation, reply: Reply) -> Decided:
    """The relation of the new fact to what is known, by the candidate that decides (§5)."""
    return deciding([pair_answer(reply, ask.RELATION, c) for c in s.asked])


def first_refusal(
    s: Situation, fact: Fact, candidate: Candidate, reply: Reply
) -> tuple[Verdict, Outcome | None]:
    """The verdict on a pair, and what refuses it before a second phrasing is asked.

    A fallback is no verdict: it counts as ``new``.
    """
    answer = pair_answer(reply, ask.RELATION, candidate)
    if answer is None or answer.fallback:
        return Verdict.NEW, None
    verdict = chosen_verdict(answer)
    if verdict == Verdict.NEW:
        return verdict, None
    if not gates.counts(answer, verdict, s.method):
        return verdict, Outcome.IGNORED_WEAK
    if verdict in SUPERSEDING:
        if not gates.passes_temporal(reply.answers.get(ask.TEMPORAL), verdict, s.method):
            return verdict, Outcome.BLOCKED_TEMPORAL
        if not passes_structure(s, fact, candidate, reply, verdict):
            return verdict, Outcome.BLOCKED_STRUCTURE
    return verdict, None


def passes_structure(
    s: Situation, fact: Fact, candidate: Candidate, reply: Reply, verdict: Verdict
) -> bool:
    """G2 on a pair, with its same_attribute answer."""
    same_attribute = yes(pair_answer(reply, ask.SAME_ATTRIBUTE, candidate))
    return gates.passes_structure(verdict, fact, candidate.fact, same_attribute, s.method)


def weigh(s: Situation, fact: Fact, reply: Reply) -> tuple[Finding, ...]:
    """One finding for each pair whose answer is not ``new``, in the candidates' order."""
    decides = relation_of(s, reply).candidate
    findings = []
    for index, candidate in enumerate(s.asked):
        verdict, refusal = first_refusal(s, fact, candidate, reply)
        answer = pair_answer(reply, ask.RELATION, candidate)
        if verdict == Verdict.NEW or answer is None or candidate.fact.id in s.counted:
            continue
        if not s.method.belief and index != decides:
            continue
        strength = gates.strength(answer, verdict, s.method)
        pieces: tuple[float, ...] = (strength,)
        reason = "" if strength == answer.p(verdict) else f"all that supersedes: {strength:.2f}"
        if refusal is None and verdict in SUPPORTING:
            refusal, reason = _support_refusal(s, fact, candidate)
        elif refusal is None:
            confirmation = pair_answer(reply, ask.SECOND, candidate)
            wanted = gates.needs_second(answer, verdict, candidate.fact, s.method)
            refusal, why = _against_refusal(s, fact, candidate, wanted, confirmation)
            reason = why or reason
            if confirmation is not None and wanted:
                pieces = (strength, _strongest(s, confirmation))
        outcome = refusal or Outcome.APPLIED
        kept = pieces if outcome == Outcome.APPLIED and s.method.belief else ()
        p = answer.p(verdict)
        findings.append(Finding(candidate, verdict, p, outcome, answer.backend, kept, reason))
    return tuple(findings)


def _support_refusal(s: Situation, fact: Fact, candidate: Candidate) -> tuple[Outcome | None, str]:
    """Why a duplicate or a refinement is no support (house rules 2, 3 and 6)."""
    if order.another_interval(fact, candidate.fact):
        return Outcome.NEW_INTERVAL, "the two are valid at different times"
    if s.from_assistant:
        return Outcome.BLOCKED_ROLE, "said by an assistant"
    if s.message.speaker in candidate.speakers:
        return Outcome.SAME_SOURCE, "this speaker has said so before"
    return None, ""


def _against_refusal(
    s: Situation, fact: Fact, candidate: Candidate, wanted: bool, second: Answer | None
) -> tuple[Outcome | None, str]:
    """Why an answer that passed G1 and G2 still closes nothing: G3, then the order of dates.

    Args:
        wanted: the second phrasing must agree.
    """
    old = candidate.fact
    if s.guarded:  # the second phrasing was not asked
        return Outcome.BLOCKED_ROLE, "said by an assistant"
    if wanted and not gates.agrees(second, s.method):
        said = (
            "no usable answer"
            if second is None or second.fallback
            else f"{chosen_verdict(second)} {_strongest(s, second):.2f}"
        )
        return Outcome.UNCONFIRMED, f"second phrasing: {said}"
    if fact.tentative and not s.method.unsure_closes:
        return Outcome.UNCONFIRMED, "the new fact is unsure itself"
    if order.begins_before(fact, old):
        return Outcome.BLOCKED_ORDER, "valid from before the fact it would replace"
    if order.outlives(old, s.valid_until, s.message.said_at):
        return Outcome.NEW_INTERVAL, "a past period does not end what goes on after it"
    return None, ""


def _strongest(s: Situation, answer: Answer) -> float:
    return gates.strength(answer, chosen_verdict(answer), s.method)
