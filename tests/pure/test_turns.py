"""The order of turns: what must hold for any pool, and what each part sees."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.rules.text import query_terms, search_text, turn_text
from engram_graph.rules.turns import (
    SPREAD,
    WEIGHTS,
    PoolTurn,
    chance,
    measured,
    order,
    rank,
    standard,
    windows,
)

TEXTS = st.sampled_from(
    ["", "I paint.", "Really?", "We painted the lake in May 2023!", "小雨住在青石镇", "🫖", "Вау"]
)
SPEAKERS = st.sampled_from(["Ann", "Bo Lind", "小雨", "", "May", "🦊"])
QUESTIONS = st.sampled_from(
    ["What did Ann paint?", "When did Bo paint in May 2023?", "小雨住在哪里？", "🫖", "?!", ""]
)
COSINES = st.none() | st.floats(-1, 1) | st.just(math.nan)


def said(name: str, text: str = "I paint.", speaker: str = "Ann", **more: Any) -> PoolTurn:
    indexed = search_text(turn_text(speaker, text))
    return PoolTurn(name, speaker, text, indexed, **{"said_on": date(2023, 5, 9)} | more)


@st.composite
def pools(draw: st.DrawFn) -> list[PoolTurn]:
    """Turns of one conversation, of which some are missing in the pool."""
    made = [
        said(f"t{at}", draw(TEXTS), draw(SPEAKERS), cosine=draw(COSINES), content=draw(COSINES))
        for at in range(draw(st.integers(0, 7)))
    ]
    linked = [
        replace(turn, previous=made[at - 1].id if at else None) for at, turn in enumerate(made)
    ]
    gone = draw(st.sets(st.integers(0, 6)))
    return [turn for at, turn in enumerate(linked) if at not in gone]


@given(QUESTIONS, pools())
def test_each_turn_has_one_place_and_finite_parts(question: str, pool: list[PoolTurn]) -> None:
    made = rank(question, pool)
    assert sorted(each for each, _ in made) == sorted(turn.id for turn in pool)
    for _, scores in made:
        assert 0 < scores.fused <= 1
        assert scores.parts.keys() == WEIGHTS.keys()
        assert all(math.isfinite(value) for value in scores.parts.values())
    sums = [math.fsum(scores.parts.values()) for _, scores in made]
    assert sums == sorted(sums, reverse=True)
    assert rank(question, pool, 2) == made[:2]
    assert [s.fused for _, s in made] == pytest.approx([chance(total) for total in sums])


@given(QUESTIONS, pools(), st.randoms(use_true_random=False))
def test_arrival_order_plays_no_role(
    question: str, pool: list[PoolTurn], luck: random.Random
) -> None:
    assert rank(question, luck.sample(pool, len(pool))) == rank(question, pool)


@given(QUESTIONS, pools(), st.sampled_from(sorted(WEIGHTS)))
def test_a_part_without_a_weight_is_switched_off(
    question: str, pool: list[PoolTurn], part: str
) -> None:
    without = {name: weight for name, weight in WEIGHTS.items() if name != part}
    made = rank(question, pool, weights=without)
    assert all(part not in scores.parts for _, scores in made)
    zero = rank(question, pool, weights=WEIGHTS | {part: 0.0})
    assert [each for each, _ in made] == [each for each, _ in zero]
    rows = standard(measured(question, pool))
    assert order(rows, without) == [each for each, _ in made]


@given(QUESTIONS, pools(), st.integers(0, 6), st.floats(0, 1))
def test_a_better_cosine_never_costs_a_place(
    question: str, pool: list[PoolTurn], at: int, more: float
) -> None:
    """Alone: in a window its neighbours would gain as well."""
    pool = [replace(turn, previous=None) for turn in pool]
    if at >= len(pool) or pool[at].cosine is None or math.isnan(pool[at].cosine or 0.0):
        return
    raised = list(pool)
    raised[at] = replace(pool[at], cosine=(pool[at].cosine or 0.0) + more)
    only = {"cosine": 1.0}
    before = [each for each, _ in rank(question, pool, weights=only)].index(pool[at].id)
    assert [each for each, _ in rank(question, raised, weights=only)].index(pool[at].id) <= before


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_a_higher_sum_is_never_a_lower_chance(total: float, more: float) -> None:
    assert 0 < chance(total) <= chance(total + more) <= 1


def values(question: str, *pool: PoolTurn) -> dict[str, dict[str, float | None]]:
    return measured(question, pool)


def test_a_window_holds_the_words_and_the_best_cosine_around() -> None:
    rows = values(
        "Who painted the red boat?",
        said("a", "A boat?", content=0.2),
        said("b", "Painted it.", content=0.6, previous="a"),
        said("c", "Red.", content=0.1, previous="b"),
        said("d", "A boat.", content=0.3, previous="y"),
    )
    assert [rows[each]["near"] for each in "abcd"] == [0.6, 0.6, 0.6, 0.3]
    assert [rows[each]["words_near"] for each in "abc"] == pytest.approx([1.0] * 3)
    assert rows["d"]["words_near"] == rows["d"]["words"] == rows["a"]["words"]
    assert 0 < (rows["a"]["words"] or 0) < (rows["c"]["words"] or 0) < 1  # two hold "boat"
    assert rows["b"]["answers"] == 0.2
    assert [rows[each]["answers"] for each in "acd"] == [0.0] * 3
    assert [rows[each]["asks"] for each in "abcd"] == [1.0, 0.0, 0.0, 0.0]


def test_windows_reach_two_turns_as_far_as_the_pool_leads() -> None:
    chain = [said(each, previous=before) for before, each in zip("?abcde", "abcdef", strict=True)]
    found = {each: sorted(near) for each, near in windows(chain).items()}
    assert found["a"] == ["a", "b", "c"]
    assert found["d"] == ["b", "c", "d", "e", "f"]
    del chain[2]
    assert sorted(windows(chain)["b"]) == ["a", "b"]


def test_words_meet_their_stems_and_pairs_and_nothing_inside_a_word() -> None:
    for question, text, held in (
        ("painting", "She paints.", 1.0),
        ("cat", "Concatenate!", 0.0),
        ("青石镇", "小雨住在青石镇", 1.0),
        ("грузински", "по-грузински", 1.0),
        ("🫖", "🫖☕", 1.0),
        ("iPhone", "iPhoneを買った", 1.0),
    ):
        assert query_terms(question)
        rows = values(question, said("a", text, speaker=""), said("b", "Mm.", speaker=""))
        shared = rows["a"]["words"] or 0.0
        assert (shared > 0) == (held > 0), question
    assert values("?!", said("a"))["a"]["words"] == 0.0


def test_dates_and_times_count_where_they_are_asked_for() -> None:
    may, june = said("a", "We went last week."), said("b", said_on=date(2023, 6, 7))
    rows = values("When did Ann go in May 2023?", may, june)
    assert (rows["a"]["date"], rows["b"]["date"]) == (1.0, 0.5)
    assert (rows["a"]["time"], rows["b"]["time"]) == (1.0, 0.0)
    rows = values("Where did Ann go?", may, june)
    assert {(row["date"], row["time"]) for row in rows.values()} == {(0.0, 0.0)}


def test_without_vectors_words_decide() -> None:
    pool = [said("a", "Nice."), said("b", "I own a kayak."), said("c", "Good.")]
    made = rank("kayak", pool)
    assert made[0][0] == "b"
    assert made[0][1].vector is None
    assert {scores.parts["cosine"] for _, scores in made} == {0.0}


def test_small_pools_are_calm() -> None:
    [(_, alone)] = rank("kayak", [said("a", cosine=0.9, content=0.9)])
    assert all(alone.parts[name] == 0 for name in SPREAD)
    pair = [said("a", cosine=0.50, content=0.5), said("b", cosine=0.51, content=0.5)]
    [(best, scores), _] = rank("kayak", pair)
    assert best == "b"
    assert scores.parts["cosine"] < 0.1
    assert rank("kayak", []) == []


def test_wrong_weights_are_refused() -> None:
    for weights in ({"cosinus": 1.0}, {"cosine": math.nan}, {"date": math.inf}):
        with pytest.raises(ValueError, match=r"parts|weights"):
            rank("kayak", [said("a")], weights=weights)
        with pytest.raises(ValueError, match=r"parts|weights"):
            order({}, weights)
