"""Calibration: the study's figures from its shared rows, and what must hold for any."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from engram_graph.errors import InputError
from engram_graph.evaluation import calibration as study
from engram_graph.rules import calibration
from engram_graph.rules.calibration import Item, Point

DATA = Path(__file__).parents[1] / "data"
PAIRS, ESCALATIONS = DATA / "contradiction_pairs.jsonl", DATA / "escalation_labels.jsonl"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def pairs(model: str, question: str) -> list[Item]:
    asked = {"relation": "relation_to_candidate", "temporal_status": "temporal_status"}[question]
    return [
        (row["recorded"][model][asked], row["expected"][question])
        for row in rows("contradiction_pairs.jsonl")
    ]


def escalated() -> list[Item]:
    return [
        (row["jev_relation_to_candidate"], row["llm_label"])
        for row in rows("escalation_labels.jsonl")
    ]


# evaluation protocol §1: accuracy, mean confidence, ECE (floored, plain), Brier, NLL, T, cross-fit
TARGETS: dict[str, tuple[list[Item], tuple[float, ...]]] = {
    "38 jev relation": (
        pairs("jev_v2", "relation"),
        (0.815789, 0.871316, 0.134002, 0.133947, 0.275366, 0.495405, 1.3733, 0.118564),
    ),
    "38 jev temporal": (
        pairs("jev_v2", "temporal_status"),
        (0.947368, 0.959211, 0.026354, 0.026579, 0.078563, 0.145536, 1.2357),
    ),
    "38 weak relation": (
        pairs("weak_v2", "relation"),
        (0.289474, 0.470874, 0.210358, 0.210363, 0.867651, 1.884428),
    ),
    "38 weak temporal": (
        pairs("weak_v2", "temporal_status"),
        (0.763158, 0.725211, 0.042852, 0.042853, 0.348120, 0.595978),
    ),
    "29 escalated": (
        escalated(),
        (0.793103, 0.919310, 0.154856, 0.148276, 0.344724, 3.184684, 2.5079, 0.102664),
    ),
}


def figures(items: list[Item]) -> list[float]:
    found = calibration.points(items)
    return [
        calibration.accuracy(found),
        calibration.mean([confidence for confidence, _ in found]),
        calibration.ece(calibration.points(calibration.heated(items, 1.0))),
        calibration.ece(found),
        calibration.brier(items),
        calibration.nll(items),
        calibration.temperature_of(items),
        calibration.ece(calibration.points(calibration.cross_fitted(items))),
    ]


@pytest.mark.parametrize("name", TARGETS)
def test_the_figures_of_the_study(name: str) -> None:
    items, wanted = TARGETS[name]
    for place, (found, target) in enumerate(zip(figures(items), wanted, strict=False)):
        assert (
            f"{found:.4f}" == f"{target:.4f}" if place == 6 else f"{found:.6f}" == f"{target:.6f}"
        )


def test_a_fold_without_an_error_leaves_its_temperature_to_rounding() -> None:
    """The study says .053719. One fold is all right: its NLL is 0 to a float's precision below
    T = .052, so the T found there is noise, and with it the third decimal of the result."""
    items = pairs("jev_v2", "temporal_status")
    assert calibration.accuracy(calibration.points(items[1::2])) == 1
    assert 0.05 <= calibration.temperature_of(items[1::2]) < 0.0525
    assert figures(items)[7] == pytest.approx(0.053719, abs=3e-4)


def test_three_impossible_labels_make_most_of_the_escalated_loss() -> None:
    items = escalated()
    impossible = [item for item in items if item[0].get(item[1], 0.0) == 0]
    assert len(impossible) == 3
    assert f"{calibration.nll(impossible) * 3 / len(items):.2f}" == "2.86"


# evaluation protocol §2, 38 pairs: P(q < θ), error, C, E for an error of the second of 0 and .1
CURVE = [
    (0.50, 0.0263, 0.1081, 0.000210, 0.1053, 0.1079),
    (0.60, 0.0789, 0.1143, 0.000597, 0.1053, 0.1132),
    (0.70, 0.1842, 0.0968, 0.001370, 0.0789, 0.0974),
    (0.80, 0.2895, 0.0741, 0.002144, 0.0526, 0.0816),
    (0.85, 0.3158, 0.0769, 0.002337, 0.0526, 0.0842),
    (0.90, 0.3421, 0.0400, 0.002530, 0.0263, 0.0605),
    (0.95, 0.4211, 0.0000, 0.003111, 0.0000, 0.0421),
]


def test_the_cost_and_error_of_a_threshold() -> None:
    curve = study.report(PAIRS).curve
    for each, wanted in zip(curve, CURVE, strict=True):
        assert each.threshold == wanted[0]
        assert [f"{x:.4f}" for x in (each.sent, each.error, each.lowest, each.highest)] == [
            f"{wanted[place]:.4f}" for place in (1, 2, 4, 5)
        ]
        assert f"{each.cost:.6f}" == f"{wanted[3]:.6f}"


@pytest.mark.parametrize(
    ("place", "answers", "target"),
    [
        (0, "jev_v2", "38 jev relation"),
        (1, "jev_v2", "38 jev temporal"),
        (0, "weak_v2", "38 weak relation"),
        (1, "weak_v2", "38 weak temporal"),
        (2, "jev_v2", "29 escalated"),
    ],
)
def test_the_report_of_the_files_has_these_figures(place: int, answers: str, target: str) -> None:
    found = study.report(PAIRS, ESCALATIONS, answers).as_dict()["questions"][place]
    names = ("accuracy", "confidence", "ece", "ece_plain", "brier", "nll")
    assert [f"{found[name]:.6f}" for name in names] == [
        f"{value:.6f}" for value in TARGETS[target][1][:6]
    ]
    assert found["n"] == len(TARGETS[target][0])
    for name in ("accuracy", "confidence", "brier", "nll"):
        low, high = found["intervals"][name]
        assert low < found[name] < high, name
    low, high = found["intervals"]["ece"]  # may lie above it: few items a bin add to an ECE
    assert 0 <= low < high
    assert found["ece"] < high
    assert found["accepted"] == (
        None if place else {"jev_v2": round(34 / 38, 6), "weak_v2": round(16 / 38, 6)}[answers]
    )


def test_the_interval_of_an_accuracy_is_that_of_a_binomial() -> None:
    """What is drawn with replacement of 38, 31 of them right, is binomial."""
    low, high = study.report(PAIRS).questions[0].intervals["accuracy"]
    exact = binom(38, 31 / 38)
    assert (low, high) == (exact.ppf(0.025) / 38, exact.ppf(0.975) / 38)


def test_one_item_has_figures_and_no_interval() -> None:
    found = study.figures("one", [({"a": 0.8, "b": 0.2}, "a")])
    assert (found.accuracy, found.confidence, found.intervals) == (1, 0.8, {})


@pytest.mark.parametrize(
    ("pairs", "rows", "said"),
    [
        (None, None, "calibration of what"),
        (None, '{"llm_label": "maybe", "jev_relation_to_candidate": {"new": 1}}', "llm_label"),
        (None, '{"llm_label": "new", "jev_relation_to_candidate": {}}', "line 1"),
        (None, '{"llm_label": "new", "jev_relation_to_candidate": {"new": 2}}', "line 1"),
        ("", None, "empty"),
    ],
)
def test_what_is_no_such_file_is_refused(
    tmp_path: Path, pairs: str | None, rows: str | None, said: str
) -> None:
    given_files = []
    for name, text in (("pairs.jsonl", pairs), ("rows.jsonl", rows)):
        if text is not None:
            (tmp_path / name).write_text(text)
        given_files.append(None if text is None else tmp_path / name)
    with pytest.raises(InputError, match=said) as caught:
        study.report(*given_files)
    assert caught.value.hint or caught.value.details


def test_a_pair_without_probabilities_is_refused(tmp_path: Path) -> None:
    row = rows("contradiction_pairs.jsonl")[0]
    row["recorded"]["jev_v2"]["temporal_status"] = {}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match="e01: no probabilities"):
        study.report(tmp_path / "pairs.jsonl")


# -- by hand --------------------------------------------------------------------------------------


def test_bins_hold_their_lower_bound_and_the_last_one_both() -> None:
    found = [(0.0, False), (0.1, True), (0.25, False), (0.999, True), (1.0, True)]
    counts = [each.n for each in calibration.reliability(found)]
    assert counts == [1, 1, 1, 0, 0, 0, 0, 0, 0, 2]
    first, last = calibration.reliability(found)[1], calibration.reliability(found)[9]
    assert (first.confidence, first.accuracy, first.low, first.high) == (0.1, 1.0, 0.1, 0.2)
    assert last.confidence == pytest.approx(0.9995)


def test_the_first_of_ties_is_the_choice() -> None:
    assert calibration.points([({"a": 0.5, "b": 0.5}, "b")]) == [(0.5, False)]


def test_what_is_missing_of_an_answer_counts_as_impossible() -> None:
    assert calibration.nll([({"a": 1.0}, "b")]) == pytest.approx(-math.log(1e-12))


def test_of_nothing_there_is_nothing() -> None:
    assert (calibration.ece([]), calibration.top_brier([]), calibration.accuracy([])) == (0, 0, 0)
    assert calibration.error_curve([]) == []
    assert calibration.wilson(0, 0) == (0.0, 1.0)
    assert calibration.clopper_pearson_upper(0, 0) == 1.0


def test_the_lowest_threshold_within_a_bound() -> None:
    found = [(0.6, True), (0.7, False), (0.8, True), (0.9, True), (0.95, False), (0.97, True)]
    curve = calibration.error_curve(found)
    assert [(k.threshold, k.kept, k.wrong) for k in curve[:3]] == [
        (0.6, 6, 2),
        (0.7, 5, 2),
        (0.8, 4, 1),
    ]
    assert calibration.lowest_within(curve, 0.3) == curve[-1]  # .9 and .95 are beyond it
    assert calibration.lowest_within(curve, 0.5) == curve[0]
    assert calibration.lowest_within(calibration.error_curve([(0.9, False)]), 0.5) is None
    assert calibration.lowest_within(curve, 0.3, sure=True) is None
    many = calibration.error_curve([(0.5, False)] * 5 + [(0.9, True)] * 59)
    sure = calibration.lowest_within(many, 0.05, sure=True)
    assert sure is not None
    assert (sure.threshold, sure.kept, sure.wrong, sure.rate) == (0.9, 59, 0, 0.0)


@pytest.mark.parametrize(("bound", "n"), [(0.05, 59), (0.01, 299), (0.5, 5), (1.0, 1)])
def test_how_many_labels_show_a_bound(bound: float, n: int) -> None:
    assert calibration.needed_without_error(bound) == n


# -- what must hold for any -----------------------------------------------------------------------

CONFIDENCE = st.floats(0, 1, allow_nan=False)
POINTS = st.lists(st.tuples(CONFIDENCE, st.booleans()), min_size=1, max_size=60)


@given(POINTS)
def test_bins_hold_every_point_once(found: list[Point]) -> None:
    bins = calibration.reliability(found)
    assert sum(each.n for each in bins) == len(found)
    for each in bins:
        if each.n:
            assert each.low - 1e-9 <= each.confidence <= each.high + 1e-9


@given(POINTS)
def test_errors_lie_between_0_and_1(found: list[Point]) -> None:
    gap = abs(calibration.accuracy(found) - calibration.mean([c for c, _ in found]))
    assert gap - 1e-9 <= calibration.ece(found) <= 1 + 1e-9  # bins can only add to it
    assert 0 <= calibration.top_brier(found) <= 1


@given(POINTS, st.randoms(use_true_random=False))
def test_order_does_not_matter(found: list[Point], random: Any) -> None:
    other = list(found)
    random.shuffle(other)
    assert calibration.ece(other) == pytest.approx(calibration.ece(found), abs=1e-12)
    assert calibration.error_curve(other) == calibration.error_curve(found)


@given(st.lists(st.tuples(st.sampled_from([0.05, 0.25, 0.55, 0.95]), st.integers(1, 5))))
def test_confidence_that_is_right_as_often_as_it_says_has_no_error(
    groups: list[tuple[float, int]],
) -> None:
    found = [
        (confidence, place < round(20 * confidence))
        for confidence, times in groups
        for place in range(20)
        for _ in range(times)
    ]
    assert calibration.ece(found) == pytest.approx(0, abs=1e-9)


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(1e-4, 1), min_size=1),
    st.floats(0.05, 20),
)
def test_temperature_keeps_the_order_and_the_sum(p: dict[str, float], heat: float) -> None:
    made = calibration.tempered(p, heat)
    assert sum(made.values()) == pytest.approx(1)
    assert all(made[a] <= made[b] + 1e-12 for a in p for b in p if p[a] <= p[b])


@given(POINTS, st.floats(0, 1))
def test_a_threshold_that_is_found_holds(found: list[Point], bound: float) -> None:
    curve = calibration.error_curve(found)
    for sure in (False, True):
        kept = calibration.lowest_within(curve, bound, sure=sure)
        if kept is None:
            continue
        held = [right for c, right in found if c >= kept.threshold]
        assert (kept.kept, kept.wrong) == (len(held), held.count(False))
        assert (kept.upper if sure else kept.rate) <= bound
        lower = [each for each in curve if each.threshold < kept.threshold]
        assert not lower or (lower[-1].upper if sure else lower[-1].rate) > bound


@given(st.integers(0, 200), st.integers(1, 200), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_are_those_of_scipy(k: int, n: int, confidence: float) -> None:
    k = min(k, n)
    wilson = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert calibration.wilson(k, n, confidence) == pytest.approx(tuple(wilson), abs=1e-9)
    exact = binomtest(k, n, alternative="less").proportion_ci(confidence, method="exact")
    assert calibration.clopper_pearson_upper(k, n, confidence) == pytest.approx(
        exact.high, abs=1e-9
    )


@given(st.lists(st.tuples(st.integers(0, 3), *[st.floats(0.01, 1)] * 4), min_size=2, max_size=20))
def test_scores_are_those_of_scikit_learn(drawn: list[tuple[Any, ...]]) -> None:
    items: list[Item] = []
    for label, *weights in drawn:
        p = {name: weight / sum(weights) for name, weight in zip("abcd", weights, strict=True)}
        items.append((p, "abcd"[label]))
    labels, p = [label for _, label in items], [list(each.values()) for each, _ in items]
    theirs = brier_score_loss(labels, p, labels=list("abcd"), scale_by_half=False)
    assert calibration.brier(items) == pytest.approx(theirs)
    assert calibration.nll(items) == pytest.approx(log_loss(labels, p, labels=list("abcd")))


@given(POINTS)
def test_bins_are_those_of_scikit_learn(drawn: list[Point]) -> None:
    """Off their bounds, which belong to the bin below there, and to the one above here."""
    found = [(c, right) for c, right in drawn if abs(10 * c - round(10 * c)) > 1e-6]
    if not found:
        return
    ours = [each for each in calibration.reliability(found) if each.n]
    share, mean = calibration_curve([r for _, r in found], [c for c, _ in found], n_bins=10)
    assert [each.accuracy for each in ours] == pytest.approx(list(share))
    assert [each.confidence for each in ours] == pytest.approx(list(mean))
