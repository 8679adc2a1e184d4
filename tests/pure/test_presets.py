"""What tells the presets apart: each switch has a case that only it decides."""

from __future__ import annotations

from typing import Any

import pytest
from plan_world import AWAY, World

from engram_graph.errors import InputError
from engram_graph.rules import questions as ask
from engram_graph.rules.method import PRESETS, preset
from engram_graph.vocabulary import Outcome

BELIEVING = ("v1", "v2", "v3", "s2_v3", "default", "rules")


def second_home(name: str, script: dict[str, Any], **more: Any) -> tuple[World, str, str]:
    w = World(preset=name)
    a = w.remember("Odo|lives_in|Alderby", "2025-01-01", speaker="Bero")
    w.script = script
    b = w.remember("Odo|lives_in|Birchen", "2025-02-01", speaker="Pia", **more)
    return w, a, b


def test_a_preset_has_a_name() -> None:
    assert preset("s2_v3").name == "s2_v3"
    assert {name for name, one in PRESETS.items() if one.name != name} == set()
    with pytest.raises(InputError, match="unknown preset"):
        preset("s3")


@pytest.mark.parametrize(
    ("name", "outcome", "belief"),
    [("v1", "applied", 0.7592), ("v2", "applied", 0.7592), ("v3", "ignored_weak", 0.98),
     ("s2_v3", "ignored_weak", 0.98)],
)  # fmt: skip
def test_by_rule_v2_a_weak_label_counts_and_by_v3_it_does_not(
    name: str, outcome: str, belief: float
) -> None:
    script = {
        ask.RELATION: {"update": 0.45, "new": 0.40, "refinement": 0.15},
        ask.SECOND: {"update": 0.95, "new": 0.05},
    }
    w, a, b = second_home(name, script)
    assert (w.outcome(b, a), w.belief(a)) == (outcome, belief)


@pytest.mark.parametrize(("name", "belief", "closed"), [("v2", 0.2308, True), ("v3", 0.5, False)])
def test_v2_closes_a_fact_by_weak_support(name: str, belief: float, closed: bool) -> None:
    """Six refinements of .45 (decision_rules §7)."""
    w = World(preset=name)
    w.script = {ask.WORTH: 0.7}
    a = w.remember("Odo|uses|a plough", "2025-01-01", speaker="s0", caller_relation=False)
    weak = {"refinement": 0.45, "new": 0.3, "update": 0.25}
    w.script = {ask.RELATION: [("more", "a plough", weak)]}
    for n in range(1, 7):
        w.remember("Odo|uses|a plough", "2025-01-02", f"more {n}", speaker=f"s{n}")
    assert (w.belief(a), not w.facts[a].open) == (belief, closed)


@pytest.mark.parametrize(
    ("name", "label", "outcome"),
    [
        ("v1", "update", "blocked_structure"),
        ("v2", "update", "applied"),
        ("v3", "update", "blocked_structure"),
        ("s2_v3", "update", "applied"),
        ("default", "update", "applied"),
        ("s2_v3", "contradiction", "blocked_structure"),
        ("default", "contradiction", "applied"),
    ],
)
def test_same_attribute_admits(name: str, label: str, outcome: str) -> None:
    w = World(preset=name)
    a = w.remember("Odo|prefers|tea", "2025-01-01", speaker="Bero")
    w.script = {ask.RELATION: {label: 0.97, "new": 0.03}, ask.SAME_ATTRIBUTE: 0.93}
    b = w.remember("Odo|dislikes|tea", "2025-02-01", speaker="Pia")
    assert w.outcome(b, a) == outcome
    asked = ask.SAME_ATTRIBUTE in w.asked
    assert asked is bool(w.method.same_attribute)


SPREAD = {"update": 0.41, "contradiction": 0.45, "new": 0.14}


@pytest.mark.parametrize(("name", "belief"), [("s2_v3", 0.98), ("default", 0.5649)])
def test_by_default_what_supersedes_is_added_up(name: str, belief: float) -> None:
    w, a, b = second_home(name, {ask.RELATION: SPREAD})
    assert w.belief(a) == belief
    assert w.judgements[-1].pieces == (() if name == "s2_v3" else (0.86, 0.86))
    assert w.outcome(b, a) == ("ignored_weak" if name == "s2_v3" else "applied")


@pytest.mark.parametrize(
    ("label", "name", "outcome"),
    [
        ("contradiction", "s2_v3", "applied"),
        ("contradiction", "default", "blocked_temporal"),
        ("update", "default", "applied"),
        ("negates", "default", "applied"),
    ],
)
def test_by_default_what_is_past_does_not_merely_contradict(
    label: str, name: str, outcome: str
) -> None:
    script = {ask.RELATION: {label: 0.97, "new": 0.03}, ask.TEMPORAL: {"past": 0.9, "current": 0.1}}
    w, a, b = second_home(name, script)
    assert w.outcome(b, a) == outcome
    assert not w.facts[a].disputed


@pytest.mark.parametrize("name", ["e0", "reference"])
def test_without_belief_a_sure_answer_closes_at_once(name: str) -> None:
    w, a, b = second_home(name, {ask.RELATION: {"contradiction": 0.85, "new": 0.15}})
    assert w.closed() == {"alderby": ("superseded", "2025-02-01")}
    assert (w.belief(a), w.belief(b)) == (0.98, 0.85)  # nothing moves
    assert ask.SECOND not in w.asked
    assert ask.SAME_ATTRIBUTE not in w.asked


@pytest.mark.parametrize("name", ["e0", "reference"])
@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ({ask.RELATION: {"update": 0.84, "new": 0.16}}, "ignored_weak"),
        (
            {ask.RELATION: {"update": 1.0}, ask.TEMPORAL: {"current": 0.84, "past": 0.16}},
            "blocked_temporal",
        ),
        (
            {ask.RELATION: {"update": 1.0}, ask.TEMPORAL: {"current": 0.1, "past": 0.9}},
            "blocked_temporal",
        ),
    ],
)
def test_without_belief_what_is_not_sure_closes_nothing(
    name: str, script: dict[str, Any], outcome: str
) -> None:
    w, a, b = second_home(name, script)
    assert w.closed() == {}
    assert w.outcome(b, a) == outcome


def test_without_belief_only_the_deciding_candidate_closes() -> None:
    w = World(preset="reference")
    w.remember("Odo|uses|a plough", "2025-01-01")
    w.remember("Odo|uses|a harrow", "2025-01-01")
    w.script = {
        ask.RELATION: [
            ("seeder", "plough", {"update": 0.9, "new": 0.1}),
            ("seeder", "harrow", {"update": 0.95, "new": 0.05}),
        ]
    }
    w.remember("Odo|uses|a seeder", "2025-02-01")
    assert w.closed() == {"harrow": ("superseded", "2025-02-01")}


@pytest.mark.parametrize(
    ("name", "p", "disputed"),
    [("e0", 0.85, True), ("e0", 0.84, False), ("reference", 0.97, False), ("s2_v3", 0.97, False)],
)
def test_e0_disputes_what_its_time_gate_keeps_from_closing(
    name: str, p: float, disputed: bool
) -> None:
    script = {
        ask.RELATION: {"contradiction": p, "new": 1 - p},
        ask.TEMPORAL: {"planned": 0.9, "current": 0.1},
    }
    w, a, b = second_home(name, script)
    assert w.closed() == {}
    assert (w.facts[a].disputed, w.facts[b].disputed) == (disputed, disputed)


def test_e0_lets_no_unsure_fact_close_another() -> None:
    script = {ask.RELATION: {"update": 0.97, "new": 0.03}, ask.WORTH: 0.7}
    for name, closed in (("e0", False), ("reference", True)):
        w, _, b = second_home(name, script, caller_relation=False)
        assert w.facts[b].tentative
        assert bool(w.closed()) is closed


@pytest.mark.parametrize(("worth", "stored"), [(0.59, False), (0.60, True), (AWAY, True)])
def test_e0_stores_no_draft_that_is_worth_little(worth: Any, stored: bool) -> None:
    w = World(preset="e0")
    w.script = {ask.WORTH: worth}
    fact_id = w.remember("Odo|uses|a plough", "2025-01-01", caller_relation=False)
    assert (fact_id in w.facts) is stored
    if not stored:
        (judgement,) = w.judgements
        assert (judgement.id, judgement.outcome, judgement.fact_id) == (
            fact_id, Outcome.NOT_STORED, None,
        )  # fmt: skip
    given = World(preset="e0")
    given.script = {ask.WORTH: worth}
    assert given.remember("Odo|uses|a plough", "2025-01-01") in given.facts


@pytest.mark.parametrize(("name", "facts"), [("e0", 1), ("reference", 2), ("s2_v3", 2)])
def test_e0_keeps_a_sure_duplicate_as_one_more_source(name: str, facts: int) -> None:
    w = World(preset=name)
    a = w.remember("Odo|owns|a cat", "2025-01-01", speaker="Bero")
    w.script = {ask.RELATION: {"duplicate": 0.9, "new": 0.1}}
    w.remember("Odo|owns|a tomcat", "2025-01-02", speaker="Pia")
    assert len(w.facts) == facts
    if name == "e0":
        assert w.plans[-1].repeats == a
        assert w.judgements[-1].outcome == Outcome.REPEATED
    else:
        assert w.pairs("SAME_AS") == {("tomcat", "cat")}


@pytest.mark.parametrize(("name", "asked"), [("e0", False), ("reference", False), ("v1", True)])
def test_whether_a_plan_came_true_is_asked(name: str, asked: bool) -> None:
    w = World(preset=name)
    w.remember("Odo|plans|a trip", "2025-01-01")
    w.remember("Odo|attended|the trip", "2025-02-01")
    assert (ask.PLAN_FULFILLED in w.asked) is asked


def stronger(name: str, first: dict[str, Any], then: Any) -> tuple[World, str, str]:
    w = World(preset=name)
    w.escalation = {ask.RELATION: then}
    a = w.remember("Odo|lives_in|Alderby", "2025-01-01", speaker="Bero")
    w.script = {ask.RELATION: first}
    b = w.remember("Odo|lives_in|Birchen", "2025-02-01", speaker="Pia")
    return w, a, b


@pytest.mark.parametrize(
    ("then", "belief", "outcome", "backend"),
    [
        # one answer for certain: l(1) = 3.8918 against .98 leaves .50, open (decision_rules §7)
        ({"contradiction": 0.7, "new": 0.3}, 0.5, "applied", "llm_escalation"),
        ({"update": 1.0}, 0.5, "applied", "llm_escalation"),
        ({"new": 0.6, "update": 0.4}, 0.98, "", ""),
        ({"duplicate": 1.0}, 0.98, "applied", "llm_escalation"),
    ],
)
def test_a_weak_answer_is_put_to_a_stronger_model(
    then: Any, belief: float, outcome: str, backend: str
) -> None:
    w, a, b = stronger("s2_v3", {"update": 0.55, "new": 0.45}, then)
    assert (w.belief(a), w.outcome(b, a)) == (belief, outcome)
    if outcome:
        pair = next(j for j in w.judgements if (j.question, j.fact_id) == (ask.RELATION, b))
        assert pair.backend == backend
        assert pair.pieces == (1.0,)
    assert ask.SECOND not in w.asked  # what a stronger model says needs no confirmation
    assert len(w.plans[-1].requests) == 2
    assert b in w.facts  # an update stores the new fact; nothing is rewritten in place


def test_a_stronger_model_that_is_away_leaves_the_first_answer_standing() -> None:
    w, a, b = stronger("s2_v3", {"update": 0.55, "new": 0.45}, AWAY)
    assert w.outcome(b, a) == "unconfirmed"
    assert w.belief(a) == 0.98


@pytest.mark.parametrize(
    ("name", "first", "escalates"),
    [
        ("s2_v3", {"update": 0.59, "new": 0.41}, True),
        ("s2_v3", {"update": 0.60, "new": 0.40}, False),
        ("s2_v3", {"duplicate": 0.5, "new": 0.4, "update": 0.1}, False),
        ("s2_v3", SPREAD, True),
        ("default", SPREAD, False),  # .86 together: nothing is unsure about it
        ("default", {"update": 0.55, "new": 0.45}, True),
    ],
)
def test_only_a_weak_answer_against_a_fact_escalates(
    name: str, first: dict[str, Any], escalates: bool
) -> None:
    w, _, b = stronger(name, first, {"update": 1.0})
    backends = {j.backend for j in w.judgements if j.fact_id == b and j.question == ask.RELATION}
    assert ("llm_escalation" in backends) is escalates


@pytest.mark.parametrize("name", BELIEVING)
def test_a_start_of_the_relation_is_the_same_everywhere(name: str) -> None:
    w, _, b = second_home(name, {ask.RELATION: {"new": 0.9, "update": 0.1}})
    assert w.belief(b) == 0.9
