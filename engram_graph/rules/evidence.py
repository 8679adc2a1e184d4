"""Evidence: what each candidate's answer is worth, or why it is worth nothing.

Source: decision_rules §6 and §7. Every candidate's answer is evidence, not only the deciding
one's. The first refusal that holds is named: weak, temporal, structure, unconfirmed, order.
"""

from __future__ import annotations

from dataclasses import dataclass

from engram_graph.models.decisions import Answer, Reply
from engram_graph.models.facts import Fact
from engram_graph.rules import belief, gates, order
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import chosen_verdict, yes
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
        pieces: probabilities of the answers that count, both phrasings if both were needed.
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


def pair_answer(reply: Reply | None, name: str, candidate: Candidate) -> Answer | None:
    """The answer to question ``name`` about ``candidate``; None when it was not asked."""
    return reply.answers.get(ask.question_id(name, candidate.fact.id)) if reply else None


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
    if not belief.counts(answer.p(verdict), s.thresholds):
        return verdict, Outcome.IGNORED_WEAK
    if verdict in SUPERSEDING:
        if not gates.passes_temporal(reply.answers.get(ask.TEMPORAL), s.thresholds):
            return verdict, Outcome.BLOCKED_TEMPORAL
        if not passes_structure(s, fact, candidate, reply, verdict):
            return verdict, Outcome.BLOCKED_STRUCTURE
    return verdict, None


def passes_structure(
    s: Situation, fact: Fact, candidate: Candidate, reply: Reply, verdict: Verdict
) -> bool:
    """G2 on a pair, with its same_attribute answer."""
    same_attribute = yes(pair_answer(reply, ask.SAME_ATTRIBUTE, candidate))
    return gates.passes_structure(verdict, fact, candidate.fact, same_attribute, s.thresholds)


def weigh(s: Situation, fact: Fact, reply: Reply, second: Reply | None) -> tuple[Finding, ...]:
    """One finding for each pair whose answer is not ``new``, in the candidates' order."""
    findings = []
    for candidate in s.asked:
        verdict, refusal = first_refusal(s, fact, candidate, reply)
        answer = pair_answer(reply, ask.RELATION, candidate)
        if verdict == Verdict.NEW or answer is None or candidate.fact.id in s.counted:
            continue
        p, reason = answer.p(verdict), ""
        pieces: tuple[float, ...] = (p,)
        if refusal is None and verdict in SUPPORTING:
            refusal, reason = _support_refusal(s, fact, candidate)
        elif refusal is None:
            confirmation = pair_answer(second, ask.SECOND, candidate)
            refusal, reason = _against_refusal(s, fact, candidate, verdict, confirmation)
            if confirmation is not None and gates.needs_second(verdict, candidate.fact):
                pieces = (p, _strongest(confirmation))
        outcome = refusal or Outcome.APPLIED
        kept = pieces if outcome == Outcome.APPLIED else ()
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
    s: Situation, fact: Fact, candidate: Candidate, verdict: Verdict, second: Answer | None
) -> tuple[Outcome | None, str]:
    """Why an answer that passed G1 and G2 still closes nothing: G3, then the order of dates."""
    old = candidate.fact
    if s.from_assistant:  # the second phrasing was not asked
        return Outcome.BLOCKED_ROLE, "said by an assistant"
    if gates.needs_second(verdict, old) and not gates.agrees(second, s.thresholds):
        said = (
            "no usable answer"
            if second is None or second.fallback
            else (f"{chosen_verdict(second)} {_strongest(second):.2f}")
        )
        return Outcome.UNCONFIRMED, f"second phrasing: {said}"
    if order.begins_before(fact, old):
        return Outcome.BLOCKED_ORDER, "valid from before the fact it would replace"
    if order.outlives(old, s.valid_until, s.message.said_at):
        return Outcome.NEW_INTERVAL, "a past period does not end what goes on after it"
    return None, ""


def _strongest(answer: Answer) -> float:
    return answer.p(chosen_verdict(answer))
