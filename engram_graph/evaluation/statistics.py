"""Tests of paired answers: McNemar, non-inferiority, Holm, bootstraps, power, matched tokens.

Formulas: docs/calibration.md. What scipy and statsmodels have is theirs (the extra ``eval``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from engram_graph.errors import InputError, MissingExtraError

MARGIN = 0.05
ALPHA = 0.05
DRAWS, SEED = 10_000, 0
_ONE_SIDED, _TWO_SIDED = 1.645, 1.96  # as the protocol rounds them

Clusters = Mapping[str, Sequence[float]]
"""Conversation → its questions' paired differences: 1, 0 or −1, the first arm less the second."""
Statistic = Callable[..., Any]


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
    return float(_scipy().binomtest(min(only_first, only_second), n, 0.5).pvalue)


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
        p = float(_scipy().norm.sf((mean + margin) / error))
    interval = mean - _TWO_SIDED * error, mean + _TWO_SIDED * error
    return NonInferiority(mean, lower, interval, p, lower > -margin)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p of each: max over j ≤ i of min(1, (m − j + 1)·p_(j)), p sorted ascending.

    Tests are rejected in that order until the first adjusted p above .05; as adjusted values
    never fall, those are the ones at or below it.
    """
    if not p_values:
        return {}
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise MissingExtraError("Holm's method needs statsmodels", extra="eval") from error
    adjusted = multipletests(list(p_values.values()), alpha=ALPHA, method="holm")[1]
    return dict(zip(p_values, map(float, adjusted), strict=True))


def power(deviation: float, n: int, true_difference: float = 0.0, margin: float = MARGIN) -> float:
    """How likely a non-inferiority test is to hold.

    Args:
        deviation: of the paired differences. true_difference: first less second, such as −.01.

    Raises:
        InputError: no deviation above 0, or no question.
    """
    if not deviation > 0 or n < 1:
        raise InputError(f"no power of {n} questions with a deviation of {deviation:g}")
    try:
        from statsmodels.stats.power import normal_power
    except ImportError as error:
        raise MissingExtraError("power needs statsmodels", extra="eval") from error
    effect = (true_difference + margin) / deviation
    return float(normal_power(effect, n, ALPHA, alternative="larger"))


# -- resampling -----------------------------------------------------------------------------------


def interval(
    statistic: Statistic,
    *samples: Sequence[float],
    one_sided: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[float, float]:
    """Percentile bootstrap: items drawn with replacement, the same of every sample.

    Args:
        statistic: of one array of draws for each sample, along an axis that it is given.
        one_sided: the 5th percentile and infinity, rather than percentiles 2.5 and 97.5.

    Raises:
        InputError: fewer than two items.
    """
    if len(samples[0]) < 2:
        raise InputError(
            f"{len(samples[0])} cannot be resampled", hint="A bootstrap needs two or more."
        )
    stats = _scipy()
    import numpy as np

    found = stats.bootstrap(
        tuple(np.asarray(each, dtype=float) for each in samples),
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=draws,
        confidence_level=1 - ALPHA,
        alternative="greater" if one_sided else "two-sided",
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def cluster_bound(clusters: Clusters, draws: int = DRAWS, seed: int = SEED) -> float:
    """One-sided 95 % lower bound of the mean difference: conversations drawn with replacement.

    Each drawn one keeps all its questions; the bound is the 5th percentile of the draws' means.

    Raises:
        InputError: fewer than two conversations, or one without questions.
    """
    told = _told(clusters)

    def mean(total: Any, n: Any, axis: int) -> Any:
        return total.sum(axis=axis) / n.sum(axis=axis)

    sums, counts = [fsum(each) for each in told], [len(each) for each in told]
    return interval(mean, sums, counts, one_sided=True, draws=draws, seed=seed)[0]


def nested_interval(
    clusters: Clusters, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """The first article's: conversations drawn, then questions inside each; 2.5 and 97.5.

    Raises:
        InputError: fewer than two conversations, or one without questions.
    """
    told = _told(clusters)
    if len(told) < 2:
        raise InputError(f"{len(told)} conversation cannot be resampled")
    _scipy()
    import numpy as np

    values = np.unique(np.concatenate([np.asarray(each, dtype=float) for each in told]))
    sizes = np.array([len(each) for each in told])
    shares = np.array([[list(each).count(value) for value in values] for each in told])
    random = np.random.default_rng(seed)
    drawn = random.integers(len(told), size=(draws, len(told)))
    # How often each value comes up among n questions drawn with replacement is multinomial.
    inside = random.multinomial(sizes[drawn], (shares / sizes[:, None])[drawn])
    means = (inside @ values).sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(means, [50 * ALPHA, 100 - 50 * ALPHA])
    return float(low), float(high)


def _told(clusters: Clusters) -> list[Sequence[float]]:
    empty = [name for name, differences in clusters.items() if not differences]
    if empty:
        raise InputError(f"{empty[0]} has no questions", field="clusters")
    return list(clusters.values())


# -- tokens, gain ---------------------------------------------------------------------------------


def matched_k(tokens: Sequence[float], target: float) -> int:
    """The k whose block is nearest to ``target`` tokens; of ties the larger.

    Args:
        tokens: mean tokens of the memory block at k = 1, 2, ….

    Raises:
        InputError: nothing was measured.
    """
    if not tokens:
        raise InputError("the tokens of no k were measured", field="tokens_at")
    return 1 + min(range(len(tokens)), key=lambda place: (abs(tokens[place] - target), -place))


def share_of_gain(arm: float, baseline: float, full: float) -> float:
    """Which share of what ``full`` gains over ``baseline`` the arm gains, by accuracy.

    Raises:
        InputError: ``full`` gains nothing.
    """
    if full == baseline:
        raise InputError("there is no gain to have a share of: both accuracies are the same")
    return (arm - baseline) / (full - baseline)


def _scipy() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtraError("these statistics need scipy", extra="eval") from error
    return stats
