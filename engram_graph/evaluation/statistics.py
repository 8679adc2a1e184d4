"""Tests of paired answers: McNemar, non-inferiority, Holm, power. Formulas: docs/calibration.md.

Needs scipy (the extra ``eval``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from engram_graph.errors import InputError, MissingExtraError

MARGIN = 0.05
ALPHA = 0.05
_ONE_SIDED, _TWO_SIDED = 1.645, 1.96  # as the protocol rounds them


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether one arm is at most a margin worse than another, from the same questions.

    Attributes:
        difference: mean of the paired differences. lower: its one-sided 95 % bound.
        interval: two-sided. p: of the hypothesis that it is worse by the margin or more.
        holds: ``lower`` lies above −margin.
    """

    difference: float
    lower: float
    interval: tuple[float, float]
    p: float
    holds: bool


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p of the questions that only one of two arms answered rightly.

    p = min(1, 2·Σ_{j ≤ min(b,c)} C(n,j)/2^n) with n = b + c; 1 when there are none.
    """
    n = only_first + only_second
    if n == 0:
        return 1.0
    return float(_stats().binomtest(min(only_first, only_second), n, 0.5).pvalue)


def non_inferiority(
    only_first: int, only_second: int, n: int, margin: float = MARGIN
) -> NonInferiority:
    """The first arm against the second less ``margin``.

    Args:
        only_first, only_second: questions of ``n`` that only that arm answered rightly.

    Raises:
        InputError: fewer than two questions, or more discordant ones than questions.
    """
    discordant = only_first + only_second
    if n < 2 or discordant > n:
        raise InputError(f"{discordant} discordant of {n} questions cannot be compared")
    mean = (only_first - only_second) / n
    error = sqrt((discordant - n * mean * mean) / (n - 1) / n)
    lower = mean - _ONE_SIDED * error
    if error == 0:
        p = 0.0 if mean > -margin else 1.0
    else:
        p = float(_stats().norm.sf((mean + margin) / error))
    interval = mean - _TWO_SIDED * error, mean + _TWO_SIDED * error
    return NonInferiority(mean, lower, interval, p, lower > -margin)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p of each: max over j ≤ i of min(1, (m − j + 1)·p_(j)), p sorted ascending.

    Tests are rejected in that order until the first adjusted p above .05; as adjusted values
    never fall, those are the ones at or below it.
    """
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def power(deviation: float, n: int, true_difference: float = 0.0, margin: float = MARGIN) -> float:
    """How likely a non-inferiority test is to hold.

    Args:
        deviation: of the paired differences. true_difference: first less second, such as −.01.
    """
    error = deviation / sqrt(n)
    return float(_stats().norm.cdf((true_difference + margin) / error - _ONE_SIDED))


def share_of_gain(arm: float, baseline: float, full: float) -> float:
    """Which share of what ``full`` gains over ``baseline`` the arm gains, by accuracy."""
    return (arm - baseline) / (full - baseline)


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtraError("these statistics need scipy", extra="eval") from error
    return stats
