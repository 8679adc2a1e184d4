"""Correction by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from plan_world import World, day

from engram_graph.errors import InputError
from engram_graph.models.facts import Draft, Message
from engram_graph.models.plans import WritePlan
from engram_graph.rules import questions as ask
from engram_graph.rules.correct import correction_plan
from engram_graph.rules.situation import Situation
from engram_graph.vocabulary import Role

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def correct(w: World, fact_id: str, obj: str, **more: Any) -> WritePlan:
    old = w.candidate(fact_id)
    message = Message(
        id=w.new_id(), namespace="n", conversation="c", speaker="user", role=Role.USER, text="",
        said_at=NOW, recorded_at=NOW, source_id=w.new_id(),
    )  # fmt: skip
    draft = Draft(
        subject=old.fact.subject, predicate=old.fact.predicate, object=obj,
        text=f"{old.fact.subject} {old.fact.predicate} {obj}",
    )  # fmt: skip
    s = Situation(
        namespace="n",
        message=message,
        draft=draft,
        valid_from=day(more["valid_from"]) if "valid_from" in more else NOW,
        valid_from_stated="valid_from" in more,
        valid_until=day(more["valid_until"]) if "valid_until" in more else None,
        fact_id=w.new_id(),
        extractor="caller",
        caller_relation=True,
        subject_version=1,
        candidates=(),
        decided_at=NOW,
    )
    plan = correction_plan(old, s, "a slip of the pen", w.new_id)
    w.apply(plan, "user")
    return plan


def test_the_corrected_fact_takes_the_whole_interval() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    plan = correct(w, a, "Tarnfold")
    assert plan.fact is not None
    assert plan.fact.valid_from == day("2025-01-10")
    assert (plan.fact.belief, plan.fact.confidence, plan.fact.extractor) == (0.98, 1.0, "caller")
    assert w.open() == {"tarnfold"}
    assert w.closed() == {"tarnfeld": ("corrected", "2025-01-10")}  # an empty interval
    assert w.pairs("SUPERSEDES") == {("tarnfold", "tarnfeld")}
    last = plan.judgements[-1]
    assert (last.question, last.outcome, last.reason, last.fact_id, last.candidate_id) == (
        "correction", "corrected", "a slip of the pen", a, plan.fact.id,
    )  # fmt: skip
    assert last.closing == ((None, None), (day("2025-01-10"), "corrected"))


@pytest.mark.parametrize(
    ("start", "until"), [("2025-03-01", "2025-03-01"), ("2024-03-01", "2025-01-10")]
)
def test_a_stated_start_ends_the_old_one_but_never_before_it_began(start: str, until: str) -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    correct(w, a, "Tarnfold", valid_from=start)
    assert w.closed() == {"tarnfeld": ("corrected", until)}


def test_correcting_the_past_leaves_it_in_the_past() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.remember("Ilka|lives_in|Ostwick", "2025-06-01")
    correct(w, a, "Tarnfold")
    assert w.open() == {"ostwick"}
    assert w.closed() == {
        "tarnfeld": ("corrected", "2025-01-10"),
        "tarnfold": ("superseded", "2025-06-01"),
    }
    assert w.pairs("SUPERSEDES") == {("ostwick", "tarnfold"), ("tarnfold", "tarnfeld")}


def test_an_end_already_there_is_never_put_off() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.remember("Ilka|lives_in|Ostwick", "2025-06-01")
    correct(w, a, "Tarnfold", valid_from="2025-09-01")
    assert w.closed() == {"tarnfeld": ("corrected", "2025-06-01")}
    assert w.pairs("SUPERSEDES") == {("ostwick", "tarnfeld"), ("tarnfold", "tarnfeld")}


def test_a_stated_end_is_kept() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    correct(w, a, "Tarnfold", valid_until="2025-05-01")
    assert w.closed() == {
        "tarnfeld": ("corrected", "2025-01-10"),
        "tarnfold": ("stated", "2025-05-01"),
    }


def test_a_corrected_fact_is_settled() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    correct(w, a, "Tarnfold")
    with pytest.raises(InputError, match="corrected before"):
        correct(w, a, "Ternfold")
    w.script = {ask.RELATION: {"duplicate": 0.97, "new": 0.03}}
    w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10", speaker="Pia")
    assert w.facts[a].closed_reason == "corrected"
    assert w.belief(a) == 0.98
    assert w.outcome(list(w.facts)[-1], a) == ""
    # not even when the graph brings it up
    asked = replace(w.situations[-1], candidates=(w.candidate(a),)).asked
    assert asked == ()


def test_repeating_what_was_corrected_is_a_statement_of_its_own() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfeld", "2025-01-10")
    correct(w, a, "Tarnfold", valid_from="2025-03-01")
    assert w.remember("Ilka|lives_in|Tarnfeld", "2025-02-01") != a
