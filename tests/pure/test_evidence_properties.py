"""What evidence may do, whatever it is: order, symmetry, and what never closes anything."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_world import AWAY, World

from engram_graph.models.decisions import Round
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import merged
from engram_graph.rules.belief import updated, weight
from engram_graph.rules.method import PRESETS
from engram_graph.rules.plan import first_questions, make_plan, second_questions
from engram_graph.vocabulary import ClosedReason, Verdict

presets = st.sampled_from(sorted(PRESETS))
many = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
verdicts = st.lists(
    st.tuples(st.sampled_from(list(Verdict)), st.sampled_from([0.45, 0.55, 0.86, 0.9, 0.97, 1.0])),
    min_size=2,
    max_size=4,
)


def relations(told: list[tuple[Verdict, float]]) -> list[tuple[str, str, Any]]:
    """Of each known home another answer."""
    found = []
    for n, (verdict, p) in enumerate(told):
        other = Verdict.REFINEMENT if verdict == Verdict.NEW else Verdict.NEW
        found.append(("new place", f"home {n}.", {verdict: p, other: 1 - p}))
    return found


@many
@given(verdicts, st.sampled_from(["s2_v3", "default", "v3"]), st.integers(0, 1000))
def test_the_order_of_candidates_moves_no_belief(
    told: list[tuple[Verdict, float]], preset: str, seed: int
) -> None:
    ends = []
    for shuffle in (False, True):
        w = World(preset=preset)
        for n in range(len(told)):
            w.remember(f"Odo|uses|home {n}", "2025-01-01", f"Odo uses home {n}.", speaker=f"s{n}")
        w.script = {ask.RELATION: relations(told), ask.SAME_ATTRIBUTE: 0.95}
        kept: list[Any] = []
        decide = w._decide
        w._decide = lambda s, kept=kept: kept.append(s) or ""  # type: ignore[method-assign]
        w.remember("Odo|uses|new place", "2025-02-01", speaker="other")
        w._decide = decide  # type: ignore[method-assign]
        (s,) = kept
        candidates = list(s.candidates)
        if shuffle:
            random.Random(seed).shuffle(candidates)
        s = dataclasses.replace(s, candidates=tuple(candidates))
        questions = first_questions(s)
        rounds = [Round(questions, w.reply(s, questions))]
        again = second_questions(s, merged([each.reply for each in rounds]))
        if again:
            rounds.append(Round(again, w.reply(s, again)))
        plan = make_plan(s, rounds, w.new_id)
        assert plan.fact is not None
        beliefs = {fact.id: fact.belief for fact in w.facts.values()}
        beliefs |= {change.id: change.belief for change in plan.changes}
        ends.append((round(plan.fact.belief, 9), {k: round(v, 9) for k, v in beliefs.items()}))
    assert ends[0] == ends[1]


@given(st.floats(0.2, 0.8), st.lists(st.floats(0.5, 0.7), min_size=1, max_size=2))
def test_support_and_then_as_much_against_is_where_it_began(
    start: float, pieces: list[float]
) -> None:
    up = updated(start, weight(pieces))
    assert up >= start - 1e-9
    if up < 0.979:  # what goes beyond the clamp is forgotten
        assert abs(updated(up, -weight(pieces)) - start) < 1e-9


def moved(w: World, script: dict[str, Any], **more: Any) -> World:
    """A home, then another, answered as in ``script``."""
    w.remember("Odo|lives_in|Alderby", "2025-01-01", speaker="Bero")
    w.remember("Odo|plans|a move", "2025-01-01", speaker="Bero")
    w.script = script
    w.remember("Odo|lives_in|Birchen", "2025-02-01", speaker="Pia", **more)
    return w


@many
@given(
    presets,
    st.sampled_from(["update", "contradiction", "negates"]),
    st.floats(0.0, 0.14),
    st.sampled_from(["planned", "hypothetical"]),
    st.booleans(),
)
def test_what_is_planned_or_supposed_closes_nothing(
    preset: str, label: str, rest: float, status: str, caller: bool
) -> None:
    script = {
        ask.RELATION: {label: 1.0},
        ask.TEMPORAL: {status: 1 - rest, "current": rest},
        ask.SAME_ATTRIBUTE: 0.99,
    }
    w = moved(World(preset=preset), script, caller_relation=caller)
    assert w.closed() == {}
    assert all(fact.belief >= 0.5 for fact in w.facts.values())


@many
@given(
    presets,
    st.sampled_from(["update", "contradiction", "negates"]),
    st.sampled_from([ask.RELATION, ask.TEMPORAL]),
    st.booleans(),
)
def test_a_lost_answer_closes_nothing(preset: str, label: str, lost: str, caller: bool) -> None:
    script = {ask.RELATION: {label: 1.0}, ask.SAME_ATTRIBUTE: 0.99} | {lost: AWAY}
    w = moved(World(preset=preset), script, caller_relation=caller)
    assert w.closed() == {}


@many
@given(
    st.sampled_from(["v1", "v2", "v3", "s2_v3", "default", "rules"]),
    st.sampled_from(["update", "contradiction", "negates"]),
)
def test_a_lost_second_phrasing_closes_nothing(preset: str, label: str) -> None:
    w = moved(World(preset=preset), {ask.RELATION: {label: 1.0}, ask.SECOND: AWAY})
    assert w.closed() == {}


@many
@given(presets, st.sampled_from(["update", "contradiction", "negates"]))
def test_and_what_is_answered_in_full_does_close(preset: str, label: str) -> None:
    """So that the tests above are about something."""
    script = {ask.RELATION: [("Birchen", "Alderby", {label: 1.0})], ask.TEMPORAL: {"current": 1.0}}
    w = moved(World(preset=preset), script)
    reason = ClosedReason.BELIEF if w.method.belief else ClosedReason.SUPERSEDED
    assert w.closed() == {"alderby": (str(reason), "2025-02-01")}
    assert w.pairs("SUPERSEDES") == {("birchen", "alderby")}
