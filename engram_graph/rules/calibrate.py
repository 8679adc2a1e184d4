"""The report of ``calibrate``: labelled answers and closes as figures. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram_graph.models.feedback import (
    Calibration,
    CloseCalibration,
    QuestionCalibration,
    ReliabilityBin,
    Threshold,
)
from engram_graph.rules import calibration as figures
from engram_graph.rules.labels import Close, Derived

MINIMUM = 30
"""Labelled answers below which a question's figures are a first hint only."""


def report(
    namespace: str, derived: Derived, answers: Mapping[str, int], labels: int, bound: float
) -> Calibration:
    """Every question of the log, those with most labels first.

    Args:
        answers: question → answers in the log. labels: how many were given.
    """
    names = sorted({*answers, *derived.points}, key=lambda n: (-len(derived.points.get(n, ())), n))
    return Calibration(
        namespace=namespace,
        bound=bound,
        minimum=MINIMUM,
        needed=figures.needed_without_error(bound),
        labels=labels,
        used=len(derived.used),
        questions=tuple(
            _question(name, derived.points.get(name, []), answers.get(name, 0), bound)
            for name in names
        ),
        closes=_closes(derived.closes, bound),
    )


def _question(
    name: str, found: Sequence[figures.Point], answers: int, bound: float
) -> QuestionCalibration:
    right = sum(each for _, each in found)
    low, high = figures.wilson(right, len(found))
    meets, shown = _thresholds(found, bound)
    return QuestionCalibration(
        question=name,
        answers=max(answers, len(found)),
        labelled=len(found),
        enough=len(found) >= MINIMUM,
        accuracy=figures.accuracy(found),
        accuracy_low=low,
        accuracy_high=high,
        confidence=figures.mean([confidence for confidence, _ in found]),
        ece=figures.ece(found),
        brier=figures.top_brier(found),
        bins=tuple(
            ReliabilityBin(
                low=b.low, high=b.high, n=b.n, confidence=b.confidence, accuracy=b.accuracy
            )
            for b in (figures.reliability(found) if found else ())
        ),
        meets=meets,
        shown=shown,
    )


def _closes(closes: Sequence[Close], bound: float) -> CloseCalibration:
    wrong = sum(close.wrong for close in closes)
    low, high = figures.wilson(wrong, len(closes))
    probability = [(c.probability, not c.wrong) for c in closes if c.probability is not None]
    # The lower a belief, the surer the close: its negative is what a threshold is a floor of.
    belief = [(-c.belief, not c.wrong) for c in closes if c.belief is not None]
    by_probability, by_probability_shown = _thresholds(probability, bound)
    by_belief, by_belief_shown = _thresholds(belief, bound)
    return CloseCalibration(
        labelled=len(closes),
        wrong=wrong,
        rate=wrong / len(closes) if closes else 0.0,
        low=low,
        high=high,
        upper=figures.clopper_pearson_upper(wrong, len(closes)),
        by_probability=by_probability,
        by_probability_shown=by_probability_shown,
        by_belief=_turned(by_belief),
        by_belief_shown=_turned(by_belief_shown),
    )


def _thresholds(
    found: Sequence[figures.Point], bound: float
) -> tuple[Threshold | None, Threshold | None]:
    curve = figures.error_curve(found)
    return (
        _threshold(figures.lowest_within(curve, bound)),
        _threshold(figures.lowest_within(curve, bound, sure=True)),
    )


def _threshold(kept: figures.Kept | None) -> Threshold | None:
    if kept is None:
        return None
    return Threshold(
        value=kept.threshold, kept=kept.kept, wrong=kept.wrong, rate=kept.rate, upper=kept.upper
    )


def _turned(threshold: Threshold | None) -> Threshold | None:
    return threshold and threshold.model_copy(update={"value": -threshold.value})
