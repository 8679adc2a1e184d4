"""What holds for every plan, whatever is said, in whatever order, and however it is answered."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_world import AWAY, World, day

from engram_graph.models.decisions import Round
from engram_graph.models.facts import Fact
from engram_graph.rules import questions as ask
from engram_graph.rules.method import PRESETS
from engram_graph.rules.plan import make_plan
from engram_graph.vocabulary import ClosedReason, Outcome, Role, Verdict

FIRST = day("2025-01-01")


def iso(offset: int) -> str:
    return f"{FIRST + timedelta(days=offset):%Y-%m-%d}"


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, str, str, dict[str, Any]]:
    """Triple, date, text and the rest of one statement."""
    subject = draw(st.sampled_from(["Ilka", "Odo", "I"]))
    predicate = draw(st.sampled_from(["lives_in", "lives_in", "uses", "plans", "related_to"]))
    obj = draw(st.sampled_from(["Alderby", "Birchen", "Cedrow"]))
    said = draw(st.integers(0, 40))
    more: dict[str, Any] = {
        "speaker": draw(st.sampled_from(["Bero", "Pia"])),
        "role": draw(st.sampled_from([Role.USER, Role.USER, Role.USER, Role.ASSISTANT])),
        "caller_relation": draw(st.booleans()),
    }
    if draw(st.booleans()):
        start = draw(st.integers(0, 40))
        more["valid_from"] = iso(start)
        if draw(st.booleans()):
            more["valid_until"] = iso(start + draw(st.integers(1, 10)))
    return f"{subject}|{predicate}|{obj}", iso(said), draw(st.sampled_from(["", "as said"])), more


def whims(seed: int) -> dict[str, Any]:
    """A decider that answers anything at all, but the same each time it is asked the same."""

    def roll(question: Any, salt: str = "") -> random.Random:
        return random.Random(f"{seed}{question.id}{salt}")

    def verdict(_: Any, question: Any) -> Any:
        r = roll(question)
        if r.random() < 0.05:
            return AWAY
        p = r.choice([0.45, 0.55, 0.7, 0.86, 0.97, 1.0])
        chosen = r.choice(list(Verdict))
        other = Verdict.NEW if chosen != Verdict.NEW else Verdict.REFINEMENT
        return {chosen: p, other: 1 - p}

    def noul(_: Any, question: Any) -> Any:
        return roll(question).choice([0.1, 0.8, 0.9, AWAY])

    def temporal(draft: Any, question: Any) -> Any:
        r = roll(question, draft.text)
        return r.choice([{"current": 1.0}, {"past": 1.0}, {"planned": 1.0}, AWAY])

    return {
        ask.RELATION: verdict,
        ask.SECOND: verdict,
        ask.SAME_ATTRIBUTE: noul,
        ask.PLAN_FULFILLED: noul,
        ask.TEMPORAL: temporal,
        ask.WORTH: 0.8 if seed % 3 == 0 else 0.97,
    }


histories = st.lists(statements(), min_size=1, max_size=8)
presets = st.sampled_from(sorted(PRESETS))
with_belief = st.sampled_from(sorted(name for name, one in PRESETS.items() if one.belief))
often = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def ended(fact: Fact) -> Any:
    return fact.valid_until or day("9999-01-01")


@often
@given(histories, st.integers(0, 10_000), presets)
def test_invariants_hold_and_ends_move_only_as_they_may(
    history: list[Any], seed: int, preset: str
) -> None:
    w = World(preset=preset)
    for triple, at, text, more in history:
        w.script = whims(seed)
        before = dict(w.facts)
        w.remember(triple, at, text, **more)  # World.check proves the invariants of the graph
        plan = w.plans[-1]
        changed = {change.id for change in plan.changes}
        closed = {j.fact_id for j in plan.judgements if j.closing and j.closing[1][0]}
        reopened = {j.fact_id for j in plan.judgements if j.outcome == Outcome.REOPENED}
        for old_id, old in before.items():
            now = w.facts[old_id]
            if old_id not in changed:
                assert now == old
                continue
            assert ended(now) <= ended(old) or old_id in reopened
            assert (now.valid_until != old.valid_until) == (old_id in closed | reopened)
            if old_id in closed:
                assert plan.fact is not None
                assert now.valid_until == max(plan.fact.valid_from, old.valid_from)
                by_belief = w.method.belief and now.closed_reason != ClosedReason.FULFILLED
                assert now.belief < 0.25 or not by_belief
            if old_id in reopened:
                assert old.closed_reason == ClosedReason.BELIEF
                assert now.belief > 0.60
            if more["role"] == Role.ASSISTANT:
                assert now.belief <= old.belief, "an assistant's words are no support"
                assert plan.subject_key != "user"


@often
@given(histories, st.integers(0, 10_000), presets)
def test_a_plan_is_a_function_of_what_is_given(history: list[Any], seed: int, preset: str) -> None:
    made: list[list[Any]] = []
    for _ in range(2):
        w = World(preset=preset)
        for triple, at, text, more in history:
            w.script = whims(seed)
            w.remember(triple, at, text, **more)
        made.append(w.plans)
    assert made[0] == made[1]


@often
@given(histories, st.integers(0, 10_000), with_belief)
def test_every_refusal_leaves_the_candidate_alone(
    history: list[Any], seed: int, preset: str
) -> None:
    w = World(preset=preset)
    for triple, at, text, more in history:
        w.script = whims(seed)
        w.remember(triple, at, text, **more)
    for j in w.judgements:
        if j.question == ask.RELATION and j.outcome != Outcome.APPLIED:
            assert j.belief == {}
        if j.question == ask.RELATION and j.outcome == Outcome.APPLIED:
            assert set(j.belief) <= {j.fact_id, j.candidate_id}
            assert j.candidate_id in j.belief
            assert j.pieces[0] > 0.5 or w.method.evidence == "all"
    ids = [j.id for j in w.judgements]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


@often
@given(st.permutations(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"]))
def test_any_order_of_arrival_gives_one_chain_by_valid_time(arrivals: list[str]) -> None:
    w = World()
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    for start in arrivals:
        w.remember(f"Odo|lives_in|home of {start}", "2025-01-01", valid_from=start)
    homes = sorted(w.facts.values(), key=lambda f: f.valid_from)
    for one, following in itertools.pairwise(homes):
        assert one.valid_until == following.valid_from
    assert homes[-1].open
    chain = {(link.source, link.target) for link in w.links if link.type == "SUPERSEDES"}
    assert chain == {(new.id, old.id) for old, new in itertools.pairwise(homes)}


def test_make_plan_takes_a_reply_that_answers_nothing() -> None:
    w = World()
    w.remember("Odo|lives_in|Alderby", "2025-01-01")
    s = None

    def keep(situation: Any) -> str:
        nonlocal s
        s = situation
        return ""

    w._decide = keep  # type: ignore[method-assign]
    w.remember("Odo|lives_in|Birchen", "2025-02-01")
    assert s is not None
    plan = make_plan(s, [Round((), w.reply(s, ()))], w.new_id)
    assert plan.fact is not None
    assert plan.fact.tentative
    assert plan.fact.confidence == 0.0
    assert plan.changes == ()
