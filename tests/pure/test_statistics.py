"""The tests of the study, from its counts."""

from __future__ import annotations

import sys

import pytest

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.evaluation import statistics

# name → questions only one arm answered rightly, the p and Holm's p that the study prints
SECONDARY: dict[str, tuple[int, int, float, float]] = {
    "S1": (152, 17, 2.7e-28, 1.9e-27),
    "S2": (98, 48, 4.27e-5, 1.28e-4),
    "S3": (134, 66, 1.74e-6, 7.62e-6),
    "S5": (4, 4, 1.0, 1.0),
    "S6": (7, 5, 0.774, 1.0),
    "S7": (61, 18, 1.27e-6, 7.62e-6),
}


def digits(value: float, like: float) -> str:
    """As many significant digits as ``like`` is printed with."""
    return f"{value:.{len(repr(like).partition('e')[0].replace('.', '').lstrip('0')) - 1}e}"


@pytest.mark.parametrize("name", SECONDARY)
def test_mcnemar(name: str) -> None:
    b, c, p, _ = SECONDARY[name]
    assert digits(statistics.mcnemar(b, c), p) == digits(p, p)
    assert statistics.mcnemar(c, b) == statistics.mcnemar(b, c)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(158, 23, 5.8e-26), (116, 15, 1.6e-20), (72, 54, 0.13), (51, 80, 0.014)],
)
def test_mcnemar_of_the_other_runs(b: int, c: int, p: float) -> None:
    assert digits(statistics.mcnemar(b, c), p) == digits(p, p)


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
    given = {name: statistics.mcnemar(b, c) for name, (b, c, _, _) in SECONDARY.items()}
    given["S4"] = statistics.non_inferiority(28, 31, 778).p
    adjusted = statistics.holm(given)
    assert list(adjusted) == list(given)
    for name, (_, _, _, wanted) in SECONDARY.items():
        assert digits(adjusted[name], wanted) == digits(wanted, wanted), name
    assert digits(adjusted["S4"], 7.62e-6) == digits(7.62e-6, 7.62e-6)
    rejected = {name for name, p in adjusted.items() if p <= statistics.ALPHA}
    assert rejected == {"S1", "S2", "S3", "S4", "S7"}


@pytest.mark.parametrize(
    ("difference", "wanted"), [(0, 0.99), (-1, 0.92), (-1.3, 0.89), (-2, 0.75), (-2.6, 0.58)]
)
def test_power(difference: float, wanted: float) -> None:
    assert round(statistics.power(0.362, 778, difference / 100), 2) == wanted


def test_the_share_of_the_gain() -> None:
    """By counts of 778 questions: 603 of the full arm, 599, and 534 of cosine at 6."""
    assert round(statistics.share_of_gain(599, 534, 603), 3) == 0.942


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match="scipy"):
        statistics.mcnemar(3, 4)
