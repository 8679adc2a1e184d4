"""How well probabilities agree with what is right: calibration, error of a threshold, intervals.

Formulas, bins, ties and rounding are those of the reference study's protocol (docs/calibration.md
repeats them). Pure, and without scipy: ``engram calibrate`` works with any installation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp, fsum, log, sqrt
from statistics import NormalDist

BINS = 10
_FLOOR = 1e-4  # of a probability that is raised to a power
_CLIP = 1e-12  # of a probability whose logarithm is taken
_COLDEST, _HOTTEST, _GRID, _STEPS = 0.05, 20.0, 61, 40
_HALVINGS = 100  # of an interval [0, 1]: beyond a float's precision

Probabilities = Mapping[str, float]
Item = tuple[Probabilities, str]
"""Probabilities by option, and the option that is right."""
Point = tuple[float, bool]
"""A confidence, and whether what was said with it is right."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Points with a confidence in [low, high); of the last bin ``high`` belongs to it.

    Attributes:
        confidence: mean of the points. accuracy: share of them that is right. Both 0 when empty.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Kept:
    """What a threshold would have kept.

    Attributes:
        threshold: points at or above it are kept.
        kept, wrong: how many, and how many of those are wrong.
        upper: one-sided upper bound of the rate of wrong ones (Clopper–Pearson).
    """

    threshold: float
    kept: int
    wrong: int
    upper: float

    @property
    def rate(self) -> float:
        """Share of what is kept that is wrong."""
        return self.wrong / self.kept


def points(items: Sequence[Item]) -> list[Point]:
    """The likeliest option of each (the first of ties) with its probability."""
    found = []
    for probabilities, label in items:
        chosen = max(probabilities, key=probabilities.__getitem__)
        found.append((probabilities[chosen], chosen == label))
    return found


def mean(values: Sequence[float]) -> float:
    """Their mean; 0 of none."""
    return fsum(values) / len(values) if values else 0.0


def accuracy(found: Sequence[Point]) -> float:
    """Share that is right."""
    return mean([float(right) for _, right in found])


def reliability(found: Sequence[Point], bins: int = BINS) -> list[Bin]:
    """Equal-width bins of confidence; a point lies in bin min(bins − 1, ⌊bins · c⌋)."""
    held: list[list[Point]] = [[] for _ in range(bins)]
    for point in found:
        held[min(bins - 1, int(bins * point[0]))].append(point)
    return [
        Bin(place / bins, (place + 1) / bins, len(each), mean([c for c, _ in each]), accuracy(each))
        for place, each in enumerate(held)
    ]


def ece(found: Sequence[Point], bins: int = BINS) -> float:
    """Expected calibration error: Σ (n_b/N)·|accuracy_b − confidence_b|; 0 of no points."""
    return fsum(
        each.n / len(found) * abs(each.accuracy - each.confidence)
        for each in reliability(found, bins)
        if each.n
    )


def brier(items: Sequence[Item]) -> float:
    """Mean of Σ over the options of (p − 1 if it is the right one, else p)²; at most 2."""
    return mean(
        [
            fsum((p - (option == label)) ** 2 for option, p in probabilities.items())
            for probabilities, label in items
        ]
    )


def top_brier(found: Sequence[Point]) -> float:
    """Mean of (c − 1 if right, else c)²: what can be told of answers known to be right or wrong."""
    return mean([(confidence - right) ** 2 for confidence, right in found])


def nll(items: Sequence[Item]) -> float:
    """Mean of −ln p of the right option, p being at least 1e-12."""
    return mean([-log(max(probabilities.get(label, 0.0), _CLIP)) for probabilities, label in items])


def tempered(probabilities: Probabilities, temperature: float = 1.0) -> dict[str, float]:
    """p ∝ p^(1/T), each p being at least 1e-4 before."""
    raised = {o: max(p, _FLOOR) ** (1 / temperature) for o, p in probabilities.items()}
    total = fsum(raised.values())
    return {option: value / total for option, value in raised.items()}


def heated(items: Sequence[Item], temperature: float) -> list[Item]:
    """The items with tempered probabilities."""
    return [(tempered(probabilities, temperature), label) for probabilities, label in items]


def temperature_of(items: Sequence[Item]) -> float:
    """The T with the least NLL: the best of 61 log-spaced in [.05, 20], then golden sections."""
    step = log(_HOTTEST / _COLDEST) / (_GRID - 1)
    grid = [_COLDEST * exp(step * place) for place in range(_GRID)]

    def loss(temperature: float) -> float:
        return nll(heated(items, temperature))

    best = min(range(_GRID), key=lambda place: loss(grid[place]))
    return _golden(loss, grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)])


def _golden(loss: Callable[[float], float], low: float, high: float) -> float:
    ratio = (sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    return (low + high) / 2


def cross_fitted(items: Sequence[Item]) -> list[Item]:
    """Each item tempered by the T of the other fold; folds are the even and the odd places."""
    folds = items[::2], items[1::2]
    heat = [temperature_of(fold) if fold else 1.0 for fold in folds]
    return [
        (tempered(probabilities, heat[1 - place % 2]), label)
        for place, (probabilities, label) in enumerate(items)
    ]


# -- thresholds -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Escalation:
    """What sending all answers below a threshold to a second decider would do.

    Attributes:
        sent: share of answers below it. error: of those kept; 0 when none is.
        cost: mean cost of an answer. lowest, highest: overall error for either error of the second.
    """

    threshold: float
    sent: float
    error: float
    cost: float
    lowest: float
    highest: float


def escalation(
    found: Sequence[Point],
    threshold: float,
    cost_first: float,
    cost_second: float,
    errors_second: tuple[float, float] = (0.0, 0.1),
) -> Escalation:
    """C(θ) = c_J + P(q < θ)·c_L and E(θ) = P(q ≥ θ)·ε_J(θ) + P(q < θ)·ε_L."""
    kept = [right for confidence, right in found if confidence >= threshold]
    sent = 1 - len(kept) / len(found)
    wrong = kept.count(False)
    low, high = (wrong / len(found) + sent * error for error in errors_second)
    error = wrong / len(kept) if kept else 0.0
    return Escalation(threshold, sent, error, cost_first + sent * cost_second, low, high)


def error_curve(found: Sequence[Point], confidence: float = 0.95) -> list[Kept]:
    """What each confidence that occurs would keep as a threshold, from the lowest on."""
    curve = []
    for threshold in sorted({c for c, _ in found}):
        kept = [right for c, right in found if c >= threshold]
        wrong = kept.count(False)
        upper = clopper_pearson_upper(wrong, len(kept), confidence)
        curve.append(Kept(threshold, len(kept), wrong, upper))
    return curve


def lowest_within(curve: Sequence[Kept], bound: float, *, sure: bool = False) -> Kept | None:
    """The lowest threshold from which on the rate of wrong ones stays at or below ``bound``.

    From it on: of a higher one it holds as well, so that no gap is taken for a threshold.

    Args:
        sure: the upper bound of the rate, rather than the rate itself. That rises again where few
            are kept, so there it need hold at the threshold alone.
    """
    if sure:
        return next((each for each in curve if each.upper <= bound), None)
    found = None
    for each in reversed(curve):
        if each.rate > bound:
            break
        found = each
    return found


# -- intervals of a share -------------------------------------------------------------------------


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's two-sided interval of a share; all of [0, 1] for none."""
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    total = 1 + z * z / n
    return max(0.0, (middle - half) / total), min(1.0, (middle + half) / total)


def clopper_pearson_upper(successes: int, n: int, confidence: float = 0.95) -> float:
    """The one-sided exact upper bound of a share: the p at which so few are 1 − confidence likely.

    With none of n it is 1 − (1 − confidence)^(1/n).
    """
    if successes >= n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        p = (low + high) / 2
        if _at_most(successes, n, p) > 1 - confidence:
            low = p
        else:
            high = p
    return high


def needed_without_error(bound: float, confidence: float = 0.95) -> int:
    """How many labels, all right, show that the rate of wrong ones is at most ``bound``."""
    n = 1
    while clopper_pearson_upper(0, n, confidence) > bound:
        n += 1
    return n


def _at_most(successes: int, n: int, p: float) -> float:
    """P(X ≤ successes) of a binomial."""
    return fsum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(successes + 1))
