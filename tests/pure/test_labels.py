"""What a label tells of the answers that led to it, case by case."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.decisions import Decision
from engram_graph.models.feedback import Feedback
from engram_graph.rules.calibrate import MINIMUM, report
from engram_graph.rules.labels import Close, Derived, Logged, derive

START = datetime(2025, 1, 1, tzinfo=UTC)
RELATION = "relation_to_candidate"


def at(day: int) -> datetime:
    return START + timedelta(days=day)


def answer(day: int, id_: str, outcome: str = "applied", **more: Any) -> Logged:
    """On day ``day`` a new fact was said to replace the fact ``f``, with .9."""
    values: dict[str, Any] = {"question": RELATION, "chosen": "update", "p": 0.9, "backend": "jev"}
    values |= {"reason": "", "fact_id": "new", "candidate_id": "f"}
    decision = Decision(id=id_, outcome=outcome, decided_at=at(day), **values | more)
    return Logged(decision, position=1)


def move(day: int, id_: str, end: int | None, reason: str | None = "belief") -> Logged:
    """On day ``day`` the fact got an end, or (None) lost it."""
    decision = Decision(
        id=id_,
        question="close" if end is not None else "reopen",
        outcome="closed" if end is not None else "reopened",
        chosen="",
        p=1.0,
        reason="",
        backend="rule",
        decided_at=at(day),
        fact_id="f",
        valid_until_after=None if end is None else at(end),
        reason_after=reason if end is not None else None,  # type: ignore[arg-type]
    )
    return Logged(decision, position=2, moves_end=True)


def fact(day: float, verdict: str, opened: bool, **more: Any) -> Feedback:
    values: dict[str, Any] = {"belief": 0.9 if opened else 0.1, "open": opened}
    values |= {"closed_reason": None if opened else "belief", "fact_id": "f"}
    return Feedback.model_validate(
        {"id": f"w{day}", "namespace": "n", "verdict": verdict, "given_at": at(0)}
        | values
        | {"given_at": START + timedelta(days=day)}
        | more
    )


def decided(day: float, verdict: str, id_: str) -> Feedback:
    return Feedback.model_validate(
        {"id": f"w{day}", "namespace": "n", "verdict": verdict, "decision_id": id_}
        | {"given_at": START + timedelta(days=day)}
    )


def points(labels: list[Feedback], log: list[Logged]) -> list[tuple[float, bool]]:
    return sorted(derive(labels, log).points.get(RELATION, []))


CLOSED = [answer(2, "a"), move(2, "close", 2)]


@pytest.mark.parametrize(("verdict", "right"), [("right", True), ("wrong", False)])
def test_an_answer_that_closed_is_as_right_as_the_end(verdict: str, right: bool) -> None:
    found = derive([fact(3, verdict, False)], CLOSED)
    assert found.points[RELATION] == [(0.9, right)]
    assert found.closes == (Close(wrong=not right, probability=0.9, belief=None),)
    assert found.points["belief"] == [(0.9, right)]  # .1 says with .9 that it does not hold
    assert found.used == {"w3"}


@pytest.mark.parametrize(("verdict", "right"), [("right", False), ("wrong", True)])
def test_a_refused_answer_is_right_if_the_open_fact_is_wrong(verdict: str, right: bool) -> None:
    log = [answer(2, "a", "blocked_structure")]
    found = derive([fact(3, verdict, True)], log)
    assert (found.points[RELATION], found.closes) == ([(0.9, right)], ())


def test_what_was_said_later_is_not_labelled_by_an_earlier_state() -> None:
    assert points([fact(1, "right", True)], CLOSED) == []


def test_a_refused_answer_is_not_labelled_by_a_later_end() -> None:
    """It was refused while the fact held: that it ended later says nothing of it."""
    log = [answer(1, "early", "blocked_temporal", p=0.6), *CLOSED]
    assert points([fact(3, "right", False)], log) == [(0.9, True)]


def test_evidence_that_did_not_close_alone_led_to_the_end_as_well() -> None:
    log = [answer(1, "first", p=0.6), *CLOSED]
    assert points([fact(3, "wrong", False)], log) == [(0.6, False), (0.9, False)]
    own = [fact(1.5, "right", True), fact(3, "right", False)]
    assert points(own, log) == [(0.6, False), (0.9, True)]  # its own state comes first


def test_before_a_reopening_nothing_is_labelled() -> None:
    log = [*CLOSED, move(4, "reopen", None), answer(5, "later", "unconfirmed", p=0.7)]
    assert points([fact(6, "right", True)], log) == [(0.7, False)]


def test_a_label_on_the_close_is_one_on_its_moment() -> None:
    log = [*CLOSED, move(4, "reopen", None)]
    found = derive([decided(6, "wrong", "close")], log)
    assert found.points == {RELATION: [(0.9, False)]}
    assert [close.wrong for close in found.closes] == [True]
    opened = derive([decided(6, "right", "reopen")], [*log, answer(5, "b", "unconfirmed")])
    assert opened.points == {RELATION: [(0.9, False)]}


def test_a_decisions_own_label_wins() -> None:
    labels = [fact(3, "wrong", False), decided(4, "right", "a")]
    assert points(labels, CLOSED) == [(0.9, True)]


def test_the_last_label_of_a_state_counts() -> None:
    labels = [fact(3, "wrong", False), fact(5, "right", False)]
    assert points(labels, CLOSED) == [(0.9, True)]
    assert points(labels[::-1], CLOSED) == [(0.9, True)]
    both = [decided(4, "right", "a"), decided(5, "wrong", "a")]
    assert points(both, CLOSED) == [(0.9, False)]


@pytest.mark.parametrize("reason", ["corrected", "stated"])
def test_an_end_given_by_hand_is_nobodys_answer(reason: str) -> None:
    log = [answer(1, "a", "unconfirmed"), move(2, "close", 2, reason)]
    found = derive([fact(3, "right", False, closed_reason=reason)], log)
    assert (found.points, found.closes, found.used) == ({}, (), frozenset())


def test_an_end_that_lies_ahead_cannot_be_judged_yet() -> None:
    found = derive([fact(3, "right", True)], CLOSED)
    assert (found.points.get(RELATION), found.closes) == (None, ())


def test_answers_that_speak_of_no_end_are_left_out() -> None:
    log = [
        answer(2, "a", chosen="duplicate"),
        answer(2, "b", backend="fallback"),
        answer(2, "c", question="same_fact", chosen="yes"),
        answer(2, "d", fact_id="f", candidate_id="older"),
    ]
    assert derive([fact(3, "right", True)], log).points == {"belief": [(0.9, True)]}
    assert derive([decided(3, "right", "b")], log).used == frozenset()
    assert derive([decided(3, "wrong", "c")], log).points == {"same_fact": [(0.9, False)]}


def test_a_plan_that_came_true() -> None:
    log = [
        answer(2, "a", question="plan_fulfilled", chosen="yes", p=0.95),
        move(2, "close", 2, "fulfilled"),
    ]
    found = derive([fact(3, "wrong", False, closed_reason="fulfilled")], log)
    assert found.points == {"plan_fulfilled": [(0.95, False)]}  # its belief is no matter
    assert found.closes == (Close(True, 0.95, None),)


def test_a_close_needs_the_weaker_phrasing_and_keeps_its_belief() -> None:
    log = [answer(2, "a", pieces=(0.97, 0.88), candidate_belief_after=0.07), move(2, "c", 2)]
    assert derive([fact(3, "right", False)], log).closes == (Close(False, 0.88, 0.07),)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["applied", "refused", "close", "reopen", "right", "wrong"]),
        st.integers(0, 5),
    ),
    max_size=12,
)


@given(EVENTS)
def test_any_life_gives_each_answer_at_most_one_label(events: list[tuple[str, int]]) -> None:
    log: list[Logged] = []
    labels: list[Feedback] = []
    opened = True
    for place, (kind, day) in enumerate(events):
        moment = 10 * place + day
        if kind in ("applied", "refused"):
            outcome = "applied" if kind == "applied" else "unconfirmed"
            log.append(answer(moment, f"a{place}", outcome))
        elif kind in ("close", "reopen"):
            if opened == (kind == "close"):
                opened = not opened
                log.append(move(moment, f"m{place}", None if opened else moment))
        else:
            labels.append(fact(moment, kind, opened))
    found = derive(labels, log)
    assert len(found.points.get(RELATION, [])) <= sum(not each.moves_end for each in log)
    assert len(found.closes) <= sum(each.moves_end for each in log)
    assert found.used <= {label.id for label in labels}
    assert derive(labels[::-1], log[::-1]) == found
    if not labels:
        assert found == Derived({}, (), frozenset())


# -- the report -----------------------------------------------------------------------------------


def test_the_report_says_what_is_not_labelled_and_what_is_too_little() -> None:
    many = {RELATION: [(0.9, True)] * (MINIMUM - 1) + [(0.9, False)], "belief": [(0.6, True)]}
    closes = (Close(False, 0.9, 0.1), Close(True, 0.8, 0.2), Close(False, None, None))
    found = report("n", Derived(many, closes, frozenset("ab")), {RELATION: 99, "x": 4}, 3, 0.05)
    assert [(q.question, q.answers, q.labelled, q.enough) for q in found.questions] == [
        (RELATION, 99, MINIMUM, True),
        ("belief", 1, 1, False),
        ("x", 4, 0, False),
    ]
    assert (found.labels, found.used, found.minimum, found.needed) == (3, 2, MINIMUM, 59)
    first, _, silent = found.questions
    assert first.accuracy_low < first.accuracy < first.accuracy_high
    assert first.meets is not None
    assert (first.meets.rate, first.shown) == (pytest.approx(1 / 30), None)
    assert (silent.bins, silent.meets, silent.accuracy_low, silent.accuracy_high) == (
        (),
        None,
        0,
        1,
    )
    assert (found.closes.labelled, found.closes.wrong) == (3, 1)
    assert found.closes.by_probability is not None
    assert (found.closes.by_probability.value, found.closes.by_probability.kept) == (0.9, 1)
    assert found.closes.by_belief is not None
    assert (found.closes.by_belief.value, found.closes.by_belief.kept) == (0.1, 1)
    assert found.closes.by_belief_shown is None
