"""Fusion: bounds, order, and what moving one score may and may not do."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engram_graph.rules.fusion import FLOOR, dated, fuse, stretch, weighted

IDS = st.sampled_from("abcdefgh")
COSINES = st.dictionaries(IDS, st.floats(-1, 1), max_size=8)
BM25 = st.dictionaries(IDS, st.floats(0, 50), max_size=8)
PARTS = st.fixed_dictionaries({"vector": COSINES, "text": BM25})
WEIGHTS = st.fixed_dictionaries(
    {name: st.sampled_from([0.0, 0.5, 1.0, 3.0]) for name in ("vector", "text")}
)


@given(PARTS, WEIGHTS)
def test_all_found_by_a_part_that_counts_and_no_other(
    parts: dict[str, dict[str, float]], weights: dict[str, float]
) -> None:
    made = fuse(parts, weights)
    wanted = {each for name, found in parts.items() if weights[name] for each in found}
    assert {each for each, _ in made} == wanted
    assert len(made) == len(wanted)
    for each, scores in made:
        assert 0 < scores.fused <= 1
        assert scores.vector == parts["vector"].get(each)
        assert scores.text == parts["text"].get(each)


@given(PARTS, WEIGHTS)
def test_order_is_by_score_then_id(
    parts: dict[str, dict[str, float]], weights: dict[str, float]
) -> None:
    keys = [(-scores.fused, each) for each, scores in fuse(parts, weights)]
    assert keys == sorted(keys)


@given(PARTS, WEIGHTS, st.permutations("abcdefgh"))
def test_equal_scores_are_in_the_order_that_is_given(
    parts: dict[str, dict[str, float]], weights: dict[str, float], given_order: list[str]
) -> None:
    ties = {each: (place // 2,) for place, each in enumerate(given_order)}
    made = fuse(parts, weights, ties)
    keys = [(-scores.fused, ties[each], each) for each, scores in made]
    assert keys == sorted(keys)
    later = dated(made, {each: 1.0 for each, _ in made}, {})
    assert [each for each, _ in later] == [each for each, _ in made]


@given(PARTS, WEIGHTS, st.randoms(use_true_random=False))
def test_arrival_order_plays_no_role(
    parts: dict[str, dict[str, float]], weights: dict[str, float], chance: random.Random
) -> None:
    shuffled = {}
    for name in chance.sample(sorted(parts), len(parts)):
        items = list(parts[name].items())
        chance.shuffle(items)
        shuffled[name] = dict(items)
    assert fuse(shuffled, weights) == fuse(parts, weights)


@given(PARTS, WEIGHTS, IDS, st.sampled_from(["vector", "text"]), st.floats(0, 10))
def test_a_higher_score_never_costs_a_place(
    parts: dict[str, dict[str, float]],
    weights: dict[str, float],
    each: str,
    name: str,
    more: float,
) -> None:
    assume(each in parts[name])
    raised = parts | {name: parts[name] | {each: parts[name][each] + more}}
    before, after = weighted(parts, weights), weighted(raised, weights)
    for other in before:
        if each in before and before[each] > before[other] + 1e-9:
            assert after[each] >= after[other] - 1e-9


@given(PARTS, WEIGHTS)
def test_weight_zero_is_a_part_left_out(
    parts: dict[str, dict[str, float]], weights: dict[str, float]
) -> None:
    without = {name: found for name, found in parts.items() if weights[name]}
    assert weighted(parts, weights) == weighted(without, weights)


@given(PARTS, st.floats(-5, 5), st.floats(0.5, 4))
def test_a_constant_or_a_unit_changes_nothing(
    parts: dict[str, dict[str, float]], shift: float, scale: float
) -> None:
    for found in filter(None, (part.values() for part in parts.values())):
        span = max(found) - min(found)
        assume(span > 1e-6 or len(set(found)) == 1)  # else rounding may make them equal
    moved = parts | {"text": {each: s * scale + shift for each, s in parts["text"].items()}}
    if len(set(parts["text"].values())) == 1:
        moved["text"] = dict.fromkeys(parts["text"], 7.0)
    first, second = weighted(parts), weighted(moved)
    assert first.keys() == second.keys()
    for each, score in first.items():
        assert second[each] == pytest.approx(score, abs=1e-6)


def test_the_best_of_the_only_part_gets_one() -> None:
    [(best, scores), (_, worst)] = fuse({"text": {"x": 9.0, "y": 4.0}})
    assert (best, scores.fused, scores.vector) == ("x", 1.0, None)
    assert worst.fused == pytest.approx(FLOOR)


def test_found_twice_beats_found_once() -> None:
    parts = {"vector": {"a": 0.5, "b": 0.5}, "text": {"b": 1.0}}
    assert [each for each, _ in fuse(parts)] == ["b", "a"]


def test_what_is_no_number_is_not_found() -> None:
    assert stretch({"a": math.nan, "b": math.inf}) == {}
    assert fuse({"vector": {"a": math.nan}, "text": {}}) == []
    [(_, scores)] = fuse({"vector": {"a": math.nan}, "text": {"a": 2.0}})
    assert scores.vector is None


def test_wrong_parts_and_weights_are_refused() -> None:
    for parts, weights in (
        ({"vektor": {}}, {}),
        ({}, {"vektor": 1.0}),
        ({}, {"text": -1.0}),
        ({}, {"text": math.nan}),
    ):
        with pytest.raises(ValueError, match=r"parts|weights"):
            fuse(parts, weights)


def test_extreme_weights_do_not_break_the_bounds() -> None:
    parts = {"vector": {"a": 1.0, "b": 0.0}, "text": {"b": 3.0}}
    for weights in ({"vector": 1e308, "text": 1e308}, {"vector": 5e-324, "text": 5e-324}):
        assert all(0 < scores.fused <= 1 for _, scores in fuse(parts, weights))


# A question that names a time

THEN = st.dictionaries(IDS, st.sampled_from([0.0, 0.5, 1.0]), max_size=8)
RIVALS = st.dictionaries(IDS, st.sampled_from(["home", "job"]), max_size=8)


@given(PARTS, THEN, RIVALS, st.sampled_from([0.0, 0.5, 1.0, 4.0]))
def test_a_named_time_leaves_nothing_out_and_keeps_the_bounds(
    parts: dict[str, dict[str, float]],
    then: dict[str, float],
    rivals: dict[str, str],
    weight: float,
) -> None:
    plain = fuse(parts)
    made = dated(plain, then, rivals, weight)
    assert sorted(each for each, _ in made) == sorted(each for each, _ in plain)
    before = dict(plain)
    for each, scores in made:
        assert 0 < scores.fused <= 1
        if "date" in scores.parts:
            without = before[each].fused / (1 + weight)
            assert scores.fused == pytest.approx(without + scores.parts["date"])
            assert scores.parts["date"] >= -1e-9
            assert scores.parts["date"] > 0 or not then.get(each)
    keys = [-scores.fused for _, scores in made]
    assert keys == sorted(keys)


@given(PARTS, THEN, RIVALS)
def test_what_was_not_true_then_keeps_its_order(
    parts: dict[str, dict[str, float]], then: dict[str, float], rivals: dict[str, str]
) -> None:
    plain = [each for each, _ in fuse(parts) if not then.get(each)]
    made = [each for each, _ in dated(fuse(parts), then, rivals) if not then.get(each)]
    assert made == plain


@given(PARTS, RIVALS, IDS)
def test_among_rivals_the_value_of_then_comes_first(
    parts: dict[str, dict[str, float]], rivals: dict[str, str], each: str
) -> None:
    plain = fuse(parts)
    assume(each in rivals and each in dict(plain))
    made = [other for other, _ in dated(plain, {each: 1.0}, rivals)]
    same = [other for other in made if rivals.get(other) == rivals[each]]
    assert same[0] == each


@given(PARTS, RIVALS)
def test_no_time_and_no_weight_change_nothing(
    parts: dict[str, dict[str, float]], rivals: dict[str, str]
) -> None:
    plain = fuse(parts)
    assert dated(plain, {}, rivals) == plain
    assert dated(plain, dict.fromkeys("abcdefgh", 1.0), rivals, weight=0) == plain


def test_what_has_nothing_to_do_with_the_question_stays_behind() -> None:
    plain = fuse({"vector": {"asked": 0.9, "near": 0.8, "far": 0.1}})
    made = [each for each, _ in dated(plain, {"far": 1.0}, {})]
    assert made == ["asked", "near", "far"]


def test_a_wrong_weight_of_the_date_is_refused() -> None:
    for weight in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="weights"):
            dated([], {}, {}, weight)
