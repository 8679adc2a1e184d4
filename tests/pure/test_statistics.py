"""The tests of the study, from its counts."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.study.metrics import costs
from engram_graph.evaluation.study.result import Row, Store

# name → questions only one arm answered rightly, of how many; the difference in points, p and
# Holm's p that the study prints
SECONDARY: dict[str, tuple[int, int, int, str, float, float]] = {
    "S1": (152, 17, 778, "+17.4", 2.7e-28, 1.9e-27),
    "S2": (98, 48, 778, "+6.4", 4.27e-5, 1.28e-4),
    "S3": (134, 66, 778, "+8.7", 1.74e-6, 7.62e-6),
    "S5": (4, 4, 30, "+0.0", 1.0, 1.0),
    "S6": (7, 5, 70, "+2.9", 0.774, 1.0),
    "S7": (61, 18, 470, "+9.1", 1.27e-6, 7.62e-6),
}
COUNTS = st.integers(0, 200)


def digits(value: float, like: float) -> str:
    """As many significant digits as ``like`` is printed with."""
    return f"{value:.{len(repr(like).partition('e')[0].replace('.', '').lstrip('0')) - 1}e}"


@pytest.mark.parametrize("name", SECONDARY)
def test_mcnemar(name: str) -> None:
    b, c, n, difference, p, _ = SECONDARY[name]
    assert digits(statistics.mcnemar(b, c), p) == digits(p, p)
    assert f"{100 * statistics.non_inferiority(b, c, n).difference:+.1f}" == difference
    assert statistics.mcnemar(c, b) == statistics.mcnemar(b, c)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(158, 23, 5.8e-26), (116, 15, 1.6e-20), (72, 54, 0.13), (51, 80, 0.014)],
)
def test_mcnemar_of_the_other_runs(b: int, c: int, p: float) -> None:
    assert digits(statistics.mcnemar(b, c), p) == digits(p, p)


@pytest.mark.parametrize(
    ("b", "c", "difference"), [(120, 29, "+14.9"), (86, 33, "+8.7"), (49, 44, "+0.8")]
)
def test_the_differences_of_the_first_article(b: int, c: int, difference: str) -> None:
    assert f"{100 * statistics.non_inferiority(b, c, 610).difference:+.1f}" == difference


@given(COUNTS, COUNTS)
def test_mcnemar_is_the_formula_and_that_of_statsmodels(b: int, c: int) -> None:
    p = statistics.mcnemar(b, c)
    n = b + c
    tail = sum(math.comb(n, j) for j in range(min(b, c) + 1))
    assert p == pytest.approx(min(1.0, 2 * tail / 2**n), rel=1e-9)
    theirs = mcnemar_of_statsmodels([[0, b], [c, 0]], exact=True).pvalue if n else 1.0
    assert p == pytest.approx(theirs, rel=1e-9)


def test_nothing_differs() -> None:
    assert statistics.mcnemar(0, 0) == 1
    assert statistics.mcnemar(1, 0) == 1


@pytest.mark.parametrize(
    ("b", "c", "n", "lower", "p"),
    [
        (69, 73, 778, -3.04, 0.00171),  # H1
        (28, 31, 778, -2.01, 1.50e-6),  # S4
        (76, 78, 778, -2.88, None),  # H1, another model answering
        (47, 60, 778, -3.86, None),  # H1, audited strictly
        (41, 61, 778, -4.70, None),  # H1, audited leniently
    ],
)
def test_non_inferiority(b: int, c: int, n: int, lower: float, p: float | None) -> None:
    found = statistics.non_inferiority(b, c, n)
    assert f"{100 * found.lower:.2f}" == f"{lower:.2f}"
    assert found.holds
    if p is not None:
        assert digits(found.p, p) == digits(p, p)


def test_the_interval_of_the_primary_test() -> None:
    found = statistics.non_inferiority(69, 73, 778)
    shown = [f"{100 * each:.2f}" for each in (found.difference, *found.interval)]
    assert shown == ["-0.51", "-3.52", "2.49"]
    assert found.p <= statistics.ALPHA


def test_the_difference_of_s4() -> None:
    assert f"{100 * statistics.non_inferiority(28, 31, 778).difference:.2f}" == "-0.39"


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.02, 0.05]))
def test_bounds_are_those_of_the_differences_themselves(
    b: int, c: int, same: int, margin: float
) -> None:
    differences = [1] * b + [-1] * c + [0] * same
    n = len(differences)
    if n < 2:
        return
    mean = sum(differences) / n
    error = math.sqrt(sum((d - mean) ** 2 for d in differences) / (n - 1)) / math.sqrt(n)
    found = statistics.non_inferiority(b, c, n, margin)
    assert found.difference == pytest.approx(mean)
    assert found.lower == pytest.approx(mean - 1.645 * error)
    assert found.interval == pytest.approx((mean - 1.96 * error, mean + 1.96 * error))
    assert found.holds == (found.lower > -margin)
    if error:
        z = (mean + margin) / error
        assert found.p == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, abs=1e-12)
    turned = statistics.non_inferiority(c, b, n, margin)
    assert turned.difference == -found.difference
    assert turned.interval == pytest.approx(tuple(-each for each in reversed(found.interval)))


def test_no_difference_at_all() -> None:
    same = statistics.non_inferiority(0, 0, 10)
    assert (same.difference, same.lower, same.p, same.holds) == (0, 0, 0, True)
    worse = statistics.non_inferiority(0, 10, 10)
    assert (worse.lower, worse.p, worse.holds) == (-1, 1, False)


@pytest.mark.parametrize(("b", "c", "n"), [(0, 0, 1), (3, 3, 5)])
def test_what_cannot_be_compared_is_refused(b: int, c: int, n: int) -> None:
    with pytest.raises(InputError, match="cannot be compared"):
        statistics.non_inferiority(b, c, n)


def test_holm() -> None:
    given = {name: statistics.mcnemar(b, c) for name, (b, c, *_) in SECONDARY.items()}
    given["S4"] = statistics.non_inferiority(28, 31, 778).p
    adjusted = statistics.holm(given)
    assert list(adjusted) == list(given)
    for name, (*_, wanted) in SECONDARY.items():
        assert digits(adjusted[name], wanted) == digits(wanted, wanted), name
    assert digits(adjusted["S4"], 7.62e-6) == digits(7.62e-6, 7.62e-6)
    rejected = {name for name, p in adjusted.items() if p <= statistics.ALPHA}
    assert rejected == {"S1", "S2", "S3", "S4", "S7"}


@settings(max_examples=15)  # statsmodels collects garbage in each call
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_is_the_formula(p_values: dict[str, float]) -> None:
    order = sorted(p_values.values())
    wanted = {
        name: max(min(1.0, (len(order) - i) * order[i]) for i in range(order.index(p) + 1))
        for name, p in p_values.items()
    }
    adjusted = statistics.holm(p_values)
    assert list(adjusted) == list(p_values)
    assert adjusted == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("difference", "wanted"), [(0, 0.99), (-1, 0.92), (-1.3, 0.89), (-2, 0.75), (-2.6, 0.58)]
)
def test_power(difference: float, wanted: float) -> None:
    assert round(statistics.power(0.362, 778, difference / 100), 2) == wanted


@given(st.floats(-0.2, 0.2), st.floats(0.01, 0.2), st.integers(10, 2000))
def test_power_grows_from_alpha_at_the_margin(difference: float, step: float, n: int) -> None:
    assert statistics.power(0.4, n, -statistics.MARGIN) == pytest.approx(statistics.ALPHA)
    assert statistics.power(0.4, n, difference + step) >= statistics.power(0.4, n, difference)
    assert statistics.power(0.4, n + 100) > statistics.power(0.4, n) or n > 1000


@pytest.mark.parametrize(("deviation", "n"), [(0.0, 10), (-1.0, 10), (float("nan"), 10), (0.3, 0)])
def test_no_power_of_nothing(deviation: float, n: int) -> None:
    with pytest.raises(InputError, match="no power"):
        statistics.power(deviation, n)


def test_the_share_of_the_gain() -> None:
    """By counts of 778 questions: 603 of the full arm, 599, and 534 of cosine at 6."""
    assert round(statistics.share_of_gain(599, 534, 603), 3) == 0.942
    with pytest.raises(InputError, match="no gain"):
        statistics.share_of_gain(0.7, 0.6, 0.6)


# tokens of turns + Jev at k = 1, 2, …, as the study measured them
JEV_TOKENS = (50.9, 95.5, 138.7, 181.4, 223.1, 265.0, 305.9)


@pytest.mark.parametrize(
    ("against", "k"),
    [(251, 6), (130.2, 3), (162, 4), (129, 3), (143, 3)],  # engram v2, cosine, Jev-Mem, mem0, LLM
)
def test_the_k_of_the_study_s_tests(against: float, k: int) -> None:
    assert statistics.matched_k(JEV_TOKENS, against) == k


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(0, 60))
def test_no_k_is_nearer_and_no_larger_one_as_near(tokens: list[int], target: int) -> None:
    k = statistics.matched_k(tokens, target)
    off = [abs(each - target) for each in tokens]
    assert off[k - 1] == min(off)
    assert min(off) not in off[k:]


def test_without_tokens_there_is_no_k() -> None:
    with pytest.raises(InputError, match="measured"):
        statistics.matched_k([], 100)


def test_the_total_cost_of_a_question() -> None:
    """r_w of the five held-out conversations; then r_w · write + read + answer."""
    row = Row(
        task="q",
        conversation="c",
        category="",
        k=3,
        question="",
        gold="",
        read_usd=2e-4,
        answer_usd=1e-4,
    )
    found = costs([row] * 778, {"c": Store(turns=3122, cost_usd={"extraction": 3122 * 1.865e-3})})
    assert found.turns_per_question == pytest.approx(4.013, abs=5e-4)
    assert found.total == pytest.approx(4.013 * 1.865e-3 + 3e-4, abs=1e-6)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match="scipy"):
        statistics.mcnemar(3, 4)


def test_without_statsmodels_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith("statsmodels"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(MissingExtraError, match="statsmodels"):
        statistics.holm({"S1": 0.01})
    with pytest.raises(MissingExtraError, match="statsmodels"):
        statistics.power(0.4, 100)
    assert statistics.holm({}) == {}
