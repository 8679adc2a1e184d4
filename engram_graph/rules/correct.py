"""Correction by hand: a person says what is right, and no question is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from engram_graph.errors import InputError
from engram_graph.models.facts import Fact
from engram_graph.models.plans import WritePlan
from engram_graph.rules.asking import unsaid_fact
from engram_graph.rules.ledger import Ledger
from engram_graph.rules.order import end_of
from engram_graph.rules.situation import Candidate, Situation
from engram_graph.vocabulary import ClosedReason, Outcome


def correction_plan(
    old: Candidate, s: Situation, reason: str, new_id: Callable[[], str]
) -> WritePlan:
    """Replace ``old`` by what ``s`` says.

    The new fact begins when stated, else when the old one began, and is believed as much as
    anything is. The old one ends where the new one begins, never later than it ended already; its
    belief is left as evidence of what was thought. A fact of the past that is corrected stays in
    the past: the new one takes over its end, and what superseded it now supersedes the new one.

    Args:
        old: the fact to correct.
        s: the corrected content; candidates are not looked at.
        reason: in words; kept with the decision.

    Raises:
        InputError: the fact was corrected before.
    """
    if old.fact.closed_reason == ClosedReason.CORRECTED:
        raise InputError(
            f"fact {old.fact.id} was corrected before",
            hint="Correct the fact that supersedes it.",
            field="fact_id",
        )
    fact = _corrected(old.fact, s)
    ledger = Ledger(s, new_id)
    ledger.watch(old)
    ledger.put(fact)
    ledger.judge(
        "belief_start",
        Outcome.STORED,
        fact.id,
        chosen="sure",
        reason="corrected by hand",
        moved={fact.id: (None, fact.belief)},
    )
    if s.valid_until is not None:
        ledger.state_end(fact.id, s.valid_until)
    ended = old.fact.valid_until
    if ended is not None and fact.valid_from < ended:
        _take_over_end(ledger, old.fact, fact, s.valid_until)
    until = end_of(old.fact, fact)
    ledger.close(
        old.fact.id,
        until if ended is None else min(until, ended),
        ClosedReason.CORRECTED,
        fact.id,
        question="correction",
        outcome=Outcome.CORRECTED,
        why=reason,
    )
    return ledger.plan(fact.id)


def _corrected(old: Fact, s: Situation) -> Fact:
    return unsaid_fact(s).model_copy(
        update={
            "extractor": "caller",
            "belief": s.thresholds.belief_ceiling,
            "confidence": 1.0,
            "valid_from": s.valid_from if s.valid_from_stated else old.valid_from,
            "valid_from_stated": s.valid_from_stated or old.valid_from_stated,
        }
    )


def _take_over_end(ledger: Ledger, old: Fact, fact: Fact, stated: datetime | None) -> None:
    """What superseded the old fact supersedes the new one, which ends as stated or as it did."""
    reason = old.closed_reason or ClosedReason.STATED
    if reason == ClosedReason.BELIEF:  # the new fact is believed: no support may reopen it
        reason = ClosedReason.SUPERSEDED
    if stated is None and old.valid_until is not None:
        ledger.close(fact.id, old.valid_until, reason, None, why="end of the fact corrected")
    for newer_id in ledger.unlink(old.id):
        ledger.supersede(newer_id, fact.id, reason)
