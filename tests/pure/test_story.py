"""The story of a fact: its arithmetic is the method's, and a person can read it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_world import AWAY, NOW, World, day
from test_plan_properties import histories, whims

from engram_graph.graph import records
from engram_graph.models.decisions import Decision
from engram_graph.models.facts import Fact
from engram_graph.models.results import Explanation
from engram_graph.models.story import Change, Decided, Now, Step
from engram_graph.rules import belief
from engram_graph.rules import questions as ask
from engram_graph.rules.story import needed_facts, story
from engram_graph.vocabulary import ClosedReason, Outcome


def fact(fact_id: str = "old", **more: Any) -> Fact:
    values: dict[str, Any] = {
        "namespace": "n",
        "subject": "Ann",
        "subject_key": "ann",
        "predicate": "lives_in",
        "object": "Bonn",
        "object_key": "bonn",
        "text": "Ann lives in Bonn",
        "valid_from": day("2020-01-01"),
        "recorded_at": NOW,
    }
    return Fact(id=fact_id, **values | more)


def evidence(number: int, chosen: str, before: float, after: float, *pieces: float) -> Decision:
    return Decision(
        id=f"d{number}",
        question=ask.RELATION,
        outcome="applied",
        chosen=chosen,
        p=pieces[0] if pieces else 0.9,
        reason="",
        backend="jev",
        decided_at=NOW + timedelta(seconds=number),
        pieces=pieces,
        fact_id=f"new{number}",
        candidate_id="old",
        candidate_belief_before=before,
        candidate_belief_after=after,
    )


def begun(value: float, chosen: str = "sure", p: float = 1.0) -> Decision:
    return Decision(
        id="d0",
        question="belief_start",
        outcome="stored",
        chosen=chosen,
        p=p,
        reason="",
        backend="rule",
        decided_at=NOW,
        fact_id="old",
        belief_after=value,
    )


def changes(steps: tuple[Step, ...]) -> list[Change]:
    return [s.change for s in steps if isinstance(s, Decided) and s.change is not None]


def told(*decisions: Decision, stored: float) -> Explanation:
    behind = Explanation(fact=fact(belief=stored), decisions=decisions)
    return behind.model_copy(update={"story": story(behind)})


@pytest.mark.parametrize(
    ("start", "chosen", "pieces", "delta", "arithmetic", "result"),
    [
        (0.50, "duplicate", (0.90,), 2.1972, "+ l(0.9000) = 0.0000 + 2.1972 = 2.1972", "0.9000"),
        (0.50, "refinement", (0.45,), -0.2007, "+ l(0.4500) = 0.0000 − 0.2007 = −0.2007", "0.4500"),
        (
            *(0.98, "contradiction", (0.97, 0.97), -6.9522),
            *("− l(0.9700) − l(0.9700) = 3.8918 − 3.4761 − 3.4761 = −3.0604", "0.0448"),
        ),
        (
            *(0.50, "negates", (0.83, 0.88), -3.5780),
            *("− l(0.8300) − l(0.8800) = 0.0000 − 1.5856 − 1.9924 = −3.5781", "0.0272"),
        ),
        (
            *(0.50, "update", (0.96, 0.92), -5.6205),
            *("− l(0.9600) − l(0.9200) = 0.0000 − 3.1781 − 2.4423 = −5.6204", "0.0200"),
        ),
        (
            *(0.98, "update", (0.96, 0.92), -5.6205),
            *("− l(0.9600) − l(0.9200) = 3.8918 − 3.1781 − 2.4423 = −1.7286", "0.1508"),
        ),
        (0.50, "update", (0.86,), -1.8153, "− l(0.8600) = 0.0000 − 1.8153 = −1.8153", "0.1400"),
        (0.98, "update", (0.86,), -1.8153, "− l(0.8600) = 3.8918 − 1.8153 = 2.0765", "0.8886"),
        (
            *(0.98, "update", (0.55, 0.85), -1.9353),
            *("− l(0.5500) − l(0.8500) = 3.8918 − 0.2007 − 1.7346 = 1.9565", "0.8762"),
        ),
        (
            *(0.90, "update", (0.85, 0.85), -3.4692),
            *("− l(0.8500) − l(0.8500) = 2.1972 − 1.7346 − 1.7346 = −1.2720", "0.2189"),
        ),
        (
            *(0.93, "contradiction", (1.0,), -3.8918),
            *("− l(1.0000) = 2.5867 − 3.8918 = −1.3051", "0.2133"),
        ),
        (
            0.98,
            "contradiction",
            (1.0,),
            -3.8918,
            "− l(1.0000) = 3.8918 − 3.8918 = 0.0000",
            "0.5000",
        ),
    ],
)
def test_worked_examples(
    start: float,
    chosen: str,
    pieces: tuple[float, ...],
    delta: float,
    arithmetic: str,
    result: str,
) -> None:
    after = belief.updated(start, delta)
    supports = chosen in ("duplicate", "refinement")
    exact = belief.updated(start, belief.weight(pieces) * (1 if supports else -1))
    behind = told(evidence(1, chosen, start, exact, *pieces), stored=exact)
    (change,) = changes(behind.story)
    assert change.delta == pytest.approx(delta, abs=1e-4)
    assert [piece.p for piece in change.pieces] == list(pieces)
    assert f"{change.replayed:.4f}" == result == f"{after:.4f}"
    assert change.agrees
    assert f"l({start:.4f}) {arithmetic}" in behind.text
    assert f"= {result}" in behind.text
    assert f"belief {start:.2f} → {exact:.2f}" in behind.text
    assert ("kept within [0.02, 0.98]" in behind.text) == (result == "0.0200")
    assert ("counts as 0.98 at most" in behind.text) == (1.0 in pieces)


def test_six_weak_refinements_by_the_old_rule_close_a_fact() -> None:
    now, decisions = 0.5, [begun(0.5, "tentative")]
    for number in range(1, 7):
        after = belief.updated(now, belief.logit(0.45))
        decisions.append(evidence(number, "refinement", now, after, 0.45))
        now = after
    behind = told(*decisions, stored=now)
    assert f"{now:.4f}" == "0.2308"
    assert (
        behind.story[-1].lines[1] == "Belief 0.2308; its changes replayed in order give the same."
    )


def test_closed_and_reopened_replays_unrounded() -> None:
    low = belief.updated(0.98, -belief.weight((0.97, 0.97)))
    high = belief.updated(low, belief.logit(0.97))
    behind = told(
        begun(0.98),
        evidence(1, "contradiction", 0.98, low, 0.97, 0.97),
        evidence(2, "duplicate", low, high, 0.97),
        stored=high,
    )
    last = behind.story[-1]
    assert isinstance(last, Now)
    assert (f"{last.belief:.4f}", last.agrees) == ("0.6025", True)


def test_what_the_log_does_not_explain_is_said() -> None:
    wrong = told(begun(0.98), evidence(1, "update", 0.98, 0.5, 0.97), stored=0.5)
    (_, change) = changes(wrong.story)
    assert change.agrees is False
    assert "σ(0.4157) = 0.6025, but 0.5000 is stored" in wrong.text
    assert "but its changes replayed give 0.6025" in wrong.text

    unknown = told(begun(0.98), evidence(1, "update", 0.98, 0.5), stored=0.5)
    (_, change) = changes(unknown.story)
    assert (change.delta, change.agrees) == (None, None)
    assert "belief 0.98 → 0.50 (the answers that moved it are not kept)" in unknown.text
    assert "the answers are no longer kept" in unknown.text

    bare = told(stored=0.7)
    assert "nothing says how it began" in bare.text


def test_what_was_forgotten_leaves_what_came_of_it() -> None:
    """The decision that carries it holds the belief and the end, and nothing of the content."""
    carried = Decision(
        id="d1",
        question="forgotten",
        outcome="forgotten",
        chosen="",
        p=1.0,
        reason="decided by something that was forgotten",
        backend="rule",
        decided_at=NOW + timedelta(seconds=1),
        fact_id="old",
        belief_before=0.1441,
        belief_after=0.1441,
        valid_until_after=day("2021-01-01"),
        reason_after=ClosedReason.BELIEF,
    )
    behind = told(begun(0.98), carried, stored=0.1441)
    assert "What moved it is forgotten, what came of that stays." in behind.text
    assert "belief stays at 0.1441" in behind.text
    assert "It ends 2021-01-01: its belief fell below 0.25; known since 2026-09-21 00:00:01Z" in (
        behind.text
    )
    last = behind.story[-1]
    assert isinstance(last, Now)
    assert last.agrees


def test_text_of_the_store_cannot_break_a_line() -> None:
    behind = Explanation(fact=fact(), decisions=(evidence(1, "update", 0.98, 0.9, 0.6),))
    other = fact("new1", text="Ann moved\n\n  now\x1b[31m\u202e " + "x" * 500)
    behind = behind.model_copy(update={"others": (other,)})
    lines = behind.model_copy(update={"story": story(behind)}).text.splitlines()
    shown = next(line for line in lines if "Ann moved" in line)
    assert "“Ann moved now[31m x" in shown
    assert len(shown) < 300


# -- whatever happens ----------------------------------------------------------------------------


def behind(w: World, fact_id: str) -> Explanation:
    """What the graph would tell about a fact of ``w``."""
    decisions: list[Decision] = []
    requests: list[dict[str, Any]] = []
    for plan in w.plans:
        touched = False
        for position, judged in enumerate(plan.judgements):
            if fact_id not in (judged.fact_id, judged.candidate_id):
                continue
            row = records.judgement_parameters(judged, "n", plan.decided_at, position)
            decisions.append(
                records.decision(
                    {k: v for k, v in row["properties"].items() if v is not None}
                    | {
                        "fact_id": row["fact_id"],
                        "candidate_id": row["candidate_id"],
                        "belief_before": row["about_before"],
                        "belief_after": row["about_after"],
                        "candidate_belief_before": row["compared_before"],
                        "candidate_belief_after": row["compared_after"],
                    }
                )
            )
            touched = True
        for request in plan.requests if touched and plan.fact else ():
            row = records.request_properties(request, "n") | {"fact_id": plan.fact.id}
            for field in ("answers", "question_versions"):
                row[field] = json.loads(row[field])
            requests.append(row)
    links = [link for link in w.links if fact_id in (link.source, link.target)]
    found = Explanation(
        fact=w.facts[fact_id],
        messages=tuple(s.message for s in w.situations if s.fact_id == fact_id),
        decisions=tuple(decisions),
        links=tuple(links),
        requests=tuple(requests),
        others=tuple(w.facts[i] for i in needed_facts(fact_id, decisions, requests, links)),
    )
    return found.model_copy(update={"story": story(found)})


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(histories, st.integers(0, 10_000), st.booleans())
def test_the_arithmetic_of_a_story_gives_the_stored_belief(
    history: list[Any], seed: int, settled: bool
) -> None:
    w = World()
    w.script = whims(seed)
    for triple, at, text, more in history:
        w.remember(triple, at, text, **more)
    if settled:
        w.script = whims(seed + 1)
        for fact_id in {j.fact_id: None for j in w.judgements if j.outcome == Outcome.FALLBACK}:
            w.settle(fact_id, "2025-03-01")
    for fact_id, stored in w.facts.items():
        found = behind(w, fact_id)
        now: float | None = None
        for change in changes(found.story):
            if change.before is None:
                now = change.after
            else:
                assert change.delta is not None, "the log keeps every piece"
                assert now == pytest.approx(change.before, abs=1e-9)
                now = belief.updated(now, sum(piece.log_odds for piece in change.pieces))
            assert change.agrees
        assert now == pytest.approx(stored.belief, abs=1e-9)
        last = found.story[-1]
        assert isinstance(last, Now)
        assert last.agrees
        for step in found.story:
            if isinstance(step, Decided) and step.gates:
                refused = step.outcome not in (Outcome.APPLIED,)
                assert [gate.passed for gate in step.gates].count(False) == refused
                assert all(gate.passed for gate in step.gates[:-1])
        assert all(step.questions or step.error for step in found.story if step.kind == "questions")
        assert Explanation.model_validate_json(found.model_dump_json()).story == found.story
        assert "None" not in found.text


def test_a_settled_fact_keeps_what_it_lost_and_gained() -> None:
    w = World()
    w.script = dict.fromkeys(ask.NAMES, AWAY)
    home = w.remember("Ann|lives_in|Bonn", "2020-01-01")
    w.script = {}
    w.settle(home, "2020-01-02")
    found = behind(w, home)
    assert "Asked again" in found.text
    assert "belief 0.50 → 0.98: l(0.5000) + l(1.0000)" in found.text
    last = found.story[-1]
    assert isinstance(last, Now)
    assert last.agrees
