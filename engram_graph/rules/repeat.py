"""Exact repetition: no second fact, no question, one more source (house rule 2)."""

from __future__ import annotations

from collections.abc import Callable

from engram_graph.models.facts import Fact
from engram_graph.models.plans import WritePlan
from engram_graph.rules import belief
from engram_graph.rules.ledger import Ledger
from engram_graph.rules.names import entity_key, normal_text
from engram_graph.rules.situation import Candidate, Situation
from engram_graph.vocabulary import ClosedReason, Outcome, Verdict


def repetition(s: Situation) -> Candidate | None:
    """The fact that ``s`` repeats word for word within its interval; None if it is none.

    Of several the open one, then the one that began last. A stated end is news unless the fact has
    the same one. For a draft the predicate is not compared: it is not decided yet, and
    the same words will get the same one.
    """
    same = [c for c in s.candidates if c.fact.id != s.fact_id and _says_the_same(s, c.fact)]
    return max(same, key=lambda c: (c.fact.open, c.fact.valid_from, c.fact.id), default=None)


def _says_the_same(s: Situation, fact: Fact) -> bool:
    draft = s.draft
    return (
        fact.subject_key == s.subject_key
        and (fact.predicate == draft.predicate or not s.caller_relation)
        and fact.object_key == entity_key(draft.object)
        and fact.negated == draft.negated
        and normal_text(fact.text) == normal_text(draft.text)
        and fact.holds_at(s.valid_from)
        and s.valid_until in (None, fact.valid_until)
        and fact.closed_reason != ClosedReason.CORRECTED
    )


def repeat_plan(s: Situation, candidate: Candidate, new_id: Callable[[], str]) -> WritePlan:
    """One more source for ``candidate``; from a new speaker also support with p = 1.

    Evidence counts speakers, provenance counts messages: once per speaker and fact. An assistant
    that repeats a fact is a source, and no support.
    """
    ledger = Ledger(s, new_id)
    known = candidate.fact
    outcome, moved, pieces = Outcome.APPLIED, {}, (1.0,)
    if s.from_assistant:
        outcome = Outcome.BLOCKED_ROLE
    elif s.message.speaker in candidate.speakers:
        outcome = Outcome.SAME_SOURCE
    elif s.method.belief:
        moved = ledger.move(known.id, belief.weight(pieces, s.thresholds))
    ledger.judge(
        "repetition",
        outcome,
        known.id,
        chosen=Verdict.DUPLICATE,
        moved=moved,
        pieces=pieces if moved else (),
    )
    if moved:
        ledger.reopen_if_believed(known.id, None)
    return ledger.plan(None, repeats=known.id)
