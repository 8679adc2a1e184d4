"""The plan of one draft: answers, gates and belief become what is stored, closed and linked.

Source: decision_rules §4 to §7 and the house rules. Pure: the same situation and the same answers
give the same plan, but for the ids ``new_id`` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engram_graph.models.decisions import Reply, Round
from engram_graph.models.facts import Fact
from engram_graph.models.plans import WritePlan
from engram_graph.rules import belief, gates, order
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import FALLBACK_BACKEND, escalated, merged, usable, yes
from engram_graph.rules.asking import (
    Standing,
    decided_predicate,
    escalation_questions,
    fact_of,
    first_questions,
    pair_questions,
    second_questions,
    standing,
    unanswered,
)
from engram_graph.rules.evidence import Finding, pair_answer, passes_structure, weigh
from engram_graph.rules.ledger import Ledger
from engram_graph.rules.repeat import repeat_plan, repetition
from engram_graph.rules.situation import Candidate, Situation
from engram_graph.vocabulary import ClosedReason, Outcome, Verdict

__all__ = [
    "Candidate",
    "Situation",
    "decided_predicate",
    "escalated",
    "escalation_questions",
    "first_questions",
    "make_plan",
    "pair_questions",
    "repeat_plan",
    "repetition",
    "second_questions",
]


def make_plan(s: Situation, rounds: Sequence[Round], new_id: Callable[[], str]) -> WritePlan:
    """What one draft changes, given the answers about it.

    Args:
        rounds: the requests in the order they were made: ``first_questions(s)`` (all fallbacks if
            the decider was away), then, as far as they were asked, ``pair_questions`` on further
            candidates, ``escalation_questions`` (its reply passed through ``escalated``) and
            ``second_questions``.
        new_id: makes ids that sort by creation.
    """
    ledger = Ledger(s, new_id)
    request, *_ = [ledger.log(each.reply, each.questions) for each in rounds]
    reply = merged([each.reply for each in rounds])
    sure = standing(s, reply)
    if _is_dropped(s, reply, sure):
        ledger.judge(ask.WORTH, Outcome.NOT_STORED, chosen="no", p=sure.worth, request=request)
        return ledger.plan(None)
    if kept := _kept_duplicate(s, sure):
        ledger.judge(
            ask.RELATION,
            Outcome.REPEATED,
            kept.id,
            chosen=Verdict.DUPLICATE,
            p=sure.relation.p,
            request=request,
        )
        return ledger.plan(None, repeats=kept.id)
    _start(s, ledger, reply, sure, request)
    findings = weigh(s, ledger.fact(s.fact_id), reply)
    _fulfil_plans(s, ledger, reply, request)
    for finding in findings:
        _apply(s, ledger, finding, request)
    _dispute(s, ledger, reply, sure, request)
    _give_way_to_newer(s, ledger, findings)
    return ledger.plan(s.fact_id)


def _is_dropped(s: Situation, reply: Reply, sure: Standing) -> bool:
    """Whether the draft is not worth storing; never for want of an answer."""
    asked = s.method.worth_filter and s.stored is None and not s.caller_relation
    return asked and usable(reply.answers.get(ask.WORTH)) and sure.worth < s.thresholds.worth_drop


def _kept_duplicate(s: Situation, sure: Standing) -> Fact | None:
    """The fact a sure duplicate is one more source of, where duplicates are not stored."""
    relation = sure.relation
    if s.method.duplicates != "keep" or s.stored is not None or sure.tentative:
        return None
    if relation.candidate is None or relation.verdict != Verdict.DUPLICATE:
        return None
    return s.asked[relation.candidate].fact


def _start(s: Situation, ledger: Ledger, reply: Reply, sure: Standing, request: str) -> None:
    """The fact as stored, its starting belief, and what could not be answered (§7, §10)."""
    start = belief.start(sure.tentative, sure.relation.p, s.thresholds)
    fact = fact_of(s, reply)
    missing = unanswered(s, reply)
    question, before = "belief_start", None
    outcome = Outcome.FALLBACK if missing else Outcome.STORED
    tentative = sure.tentative
    pieces: tuple[float, ...] = ()
    if s.stored is not None:
        # Asked again: what the fact gained or lost since it was stored at .50 stays with it.
        question, before = "settle", s.stored.belief
        outcome = Outcome.FALLBACK if missing else Outcome.APPLIED
        pieces = (start,) if s.stored.tentative and not sure.tentative else ()
        start = belief.updated(before, belief.weight(pieces, s.thresholds), s.thresholds)
        tentative = s.stored.tentative and sure.tentative
    ledger.put(
        fact.model_copy(
            update={
                "belief": start,
                "tentative": tentative,
                "confidence": sure.confidence,
                "unsettled": bool(missing),
            }
        )
    )
    ledger.judge(
        question,
        outcome,
        s.fact_id,
        chosen="tentative" if tentative else "sure",
        p=sure.relation.p,
        reason=f"worth {sure.worth:.2f}, relation {sure.relation.verdict} {sure.relation.p:.2f}"
        + (", said by an assistant" if s.guarded else ""),
        moved={s.fact_id: (before, start)},
        pieces=pieces,
        request=request,
    )
    if s.caller_relation and s.stored is None:
        ledger.judge(
            ask.WORTH, Outcome.STORED, s.fact_id, chosen="yes", reason="asked for by the caller"
        )
    for q in missing:
        ledger.judge(
            q.name,
            Outcome.FALLBACK,
            s.fact_id,
            q.candidate.id if q.candidate else None,
            p=0.0,
            reason=reply.error or "no usable answer",
            backend=FALLBACK_BACKEND,
            request=request,
        )
    if s.redacted:
        ledger.judge(ask.REDACTED, Outcome.REDACTED, s.fact_id, request=request)
    if s.valid_until is not None and s.stored is None:
        ledger.state_end(s.fact_id, s.valid_until)


def _fulfil_plans(s: Situation, ledger: Ledger, reply: Reply, request: str) -> None:
    """A plan that came true ends as fulfilled; its belief stays (§7). No temporal gate."""
    for candidate in s.asked:
        plan = candidate.fact
        answer = pair_answer(reply, ask.PLAN_FULFILLED, candidate)
        p = yes(answer)
        if answer is None or p < s.thresholds.act or not s.may_be_fulfilled(plan):
            continue
        fact = ledger.fact(s.fact_id)
        outcome = Outcome.APPLIED
        if order.begins_before(fact, plan):
            outcome = Outcome.BLOCKED_ORDER
        elif s.guarded:
            outcome = Outcome.BLOCKED_ROLE
        ledger.judge(
            ask.PLAN_FULFILLED,
            outcome,
            fact.id,
            plan.id,
            chosen="yes",
            p=p,
            backend=answer.backend,
            request=request,
        )
        if outcome == Outcome.APPLIED:
            ledger.close(plan.id, order.end_of(plan, fact), ClosedReason.FULFILLED, fact.id)


def _apply(s: Situation, ledger: Ledger, finding: Finding, request: str) -> None:
    """One pair: its evidence moves beliefs, and what crosses a threshold closes or reopens."""
    old_id = finding.candidate.fact.id
    applied = finding.outcome == Outcome.APPLIED
    moved = {}
    delta = belief.weight(finding.pieces, s.thresholds)
    if applied and s.method.belief and finding.supports:
        moved = ledger.move(old_id, delta)
    elif applied and s.method.belief:
        # What the old fact loses the new one gains: the mirror.
        moved = ledger.move(s.fact_id, delta)
        delta = -delta
        moved |= ledger.move(old_id, delta, against=len(finding.pieces))
    ledger.judge(
        ask.RELATION,
        finding.outcome,
        s.fact_id,
        old_id,
        chosen=finding.verdict,
        p=finding.p,
        reason=finding.reason,
        backend=finding.backend,
        moved=moved,
        pieces=finding.pieces,
        request=request,
    )
    if moved and delta < 0:  # by rule v2 weak support speaks against, too
        _close_if_doubted(s, ledger, old_id)
    elif moved:
        ledger.reopen_if_believed(old_id, s.fact_id)
    elif applied and not finding.supports:
        _replace(s, ledger, old_id)
    _link(s, ledger, finding)


def _replace(s: Situation, ledger: Ledger, old_id: str) -> None:
    """Without belief: a sure answer ends the old fact at once."""
    old, fact = ledger.fact(old_id), ledger.fact(s.fact_id)
    until = order.end_of(old, fact)
    if order.may_end(old, until, s.decided_at):
        ledger.unlink(old_id)
        ledger.close(old_id, until, ClosedReason.SUPERSEDED, fact.id)


def _close_if_doubted(s: Situation, ledger: Ledger, old_id: str) -> None:
    """Close what fell below .25, or move an end that was inferred too late."""
    old, fact = ledger.fact(old_id), ledger.fact(s.fact_id)
    until = order.end_of(old, fact)
    if belief.closes(old.belief, s.thresholds) and order.may_end(old, until, s.decided_at):
        superseded = old.closed_reason == ClosedReason.SUPERSEDED
        reason = ClosedReason.SUPERSEDED if superseded else ClosedReason.BELIEF
        ledger.unlink(old_id)  # whoever gave it the later end supersedes it no longer
        ledger.close(old_id, until, reason, fact.id)


def _link(s: Situation, ledger: Ledger, finding: Finding) -> None:
    """A sure duplicate is linked, not merged; a sure refinement refines.

    Also without evidence: the same speaker in other words is still the same fact (house rule 2).
    """
    same_interval = finding.outcome not in (Outcome.IGNORED_WEAK, Outcome.NEW_INTERVAL)
    if not (finding.supports and same_interval and finding.p >= s.thresholds.act):
        return
    kind = "SAME_AS" if finding.verdict == Verdict.DUPLICATE else "REFINES"
    ledger.link(kind, s.fact_id, finding.candidate.fact.id, p=finding.p)


def _dispute(s: Situation, ledger: Ledger, reply: Reply, sure: Standing, request: str) -> None:
    """A deciding contradiction that only the structure gate blocks disputes both, at any p; by the
    rule without belief a sure one that any gate blocks (§6).

    Neither an assistant on the user nor a statement about another time disputes a fact.
    """
    relation = sure.relation
    if relation.verdict != Verdict.CONTRADICTION or relation.candidate is None or s.guarded:
        return
    candidate, fact = s.asked[relation.candidate], ledger.fact(s.fact_id)
    old = candidate.fact
    temporal = reply.answers.get(ask.TEMPORAL)
    in_time = gates.passes_temporal(temporal, relation.verdict, s.method)
    only_one = passes_structure(s, fact, candidate, reply, relation.verdict)
    if s.method.disputes == "blocked":
        disputed = relation.p >= s.thresholds.act and not (in_time and only_one)
    else:
        disputed = in_time and not only_one
    if not disputed or order.another_interval(fact, old):
        return
    ledger.dispute(fact.id)
    ledger.dispute(old.id)
    ledger.link("CONTRADICTS", fact.id, old.id, p=relation.p)
    ledger.judge(
        "dispute",
        Outcome.DISPUTED,
        fact.id,
        old.id,
        chosen=relation.verdict,
        p=relation.p,
        request=request,
    )


def _give_way_to_newer(s: Situation, ledger: Ledger, findings: tuple[Finding, ...]) -> None:
    """A late statement on a one-valued relation ends where the next known value begins.

    House rule 4: stored closed, reason ``superseded``; the earliest of the newer facts supersedes
    it, and no belief of a newer one changes. An end stated before that stays as stated.
    """
    fact = ledger.fact(s.fact_id)
    newer = [
        finding.candidate.fact
        for finding in findings
        if finding.outcome == Outcome.BLOCKED_ORDER
        and gates.is_sibling(fact, finding.candidate.fact)
        and gates.one_valued(fact.predicate)
    ]
    if not newer:
        return
    following = min(newer, key=lambda f: (f.valid_from, f.recorded_at, f.id))
    if fact.valid_until is None or following.valid_from < fact.valid_until:
        ledger.close(fact.id, following.valid_from, ClosedReason.SUPERSEDED, following.id)
