"""Reliability diagrams, and cost and error of a threshold, as pictures (SVG) by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from engram_graph.evaluation.calibration import Figures, Report
from engram_graph.evaluation.figures import styled, svg
from engram_graph.models.feedback import Calibration, QuestionCalibration
from engram_graph.rules.calibration import Escalation

Draw = Callable[[Any], None]
_COLUMNS = 3
_BLUE, _RED = "#1f6fb4", "#c0392b"


def picture(found: Calibration) -> str:
    """An SVG: for each labelled question, how often its answers were right, by their probability.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    known = [each for each in found.questions if each.labelled]

    def labelled(each: QuestionCalibration) -> Draw:
        return lambda axes: _draw(axes, each)

    return _panels([labelled(each) for each in known], "" if known else "no labels")


def study_picture(found: Report) -> str:
    """An SVG: a reliability diagram for each question; cost and error by threshold beside them.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """

    def reliability(each: Figures) -> Draw:
        def draw(axes: Any) -> None:
            diagram(axes, each.bins)
            figures = f"{each.n} items, plain ECE {each.ece_plain:.3f}"
            axes.set_title(f"{each.question}\n{figures}", fontsize=9)

        return draw

    def cost(axes: Any) -> None:
        cost_curve(axes, found.curve)
        axes.set_title("cost C(θ)", fontsize=9)
        axes.set_xlabel("threshold θ")

    def error(axes: Any) -> None:
        error_curve(axes, found.curve)
        axes.set_title("error E(θ), second decider wrong in 0 to 10 %", fontsize=9)
        axes.set_xlabel("threshold θ")

    curves = [cost, error] if found.curve else []
    return _panels([*map(reliability, found.questions), *curves])


def cost_curve(axes: Any, found: Sequence[Escalation], color: str = _BLUE) -> None:
    """C(θ): mean cost of an answer when those below θ go to a second decider."""
    thetas = [each.threshold for each in found]
    axes.plot(thetas, [1000 * each.cost for each in found], color=color, label="C(θ)")
    axes.set_ylabel("USD per 1,000 answers")
    axes.set_ylim(bottom=0)


def error_curve(axes: Any, found: Sequence[Escalation], color: str = _RED) -> None:
    """E(θ): share of wrong answers then, between the second decider's least and most errors."""
    thetas = [each.threshold for each in found]
    low, high = ([100 * getattr(e, name) for e in found] for name in ("lowest", "highest"))
    axes.fill_between(thetas, low, high, color=color, alpha=0.35, linewidth=0)
    axes.plot(thetas, low, color=color, label="E(θ)")
    axes.set_ylabel("wrong, %")
    axes.set_ylim(bottom=0)


def diagram(axes: Any, bins: Sequence[Any], enough: bool = True) -> None:
    """How often answers were right (bars) against their probability (dots: mean of the bin).

    Args:
        bins: of ``rules.calibration`` or of a ``Calibration``. enough: fainter when not.
    """
    filled = [row for row in bins if row.n]
    axes.plot([0, 1], [0, 1], color="#b0b0b0", linewidth=1, linestyle="--")
    axes.bar(
        [row.low for row in filled],
        [row.accuracy for row in filled],
        width=1 / len(bins),
        align="edge",
        color=_BLUE,
        edgecolor="white",
        alpha=1.0 if enough else 0.45,
    )
    axes.plot(
        [row.confidence for row in filled],
        [row.accuracy for row in filled],
        linestyle="",
        marker="o",
        markersize=4,
        color=_RED,
    )
    for row in filled:
        axes.annotate(
            str(row.n), ((row.low + row.high) / 2, row.accuracy), ha="center", va="bottom"
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.08)
    axes.set_xlabel("probability; dots: mean of a bin")
    axes.set_ylabel("share right; numbers: answers")


def _draw(axes: Any, each: QuestionCalibration) -> None:
    diagram(axes, each.bins, each.enough)
    few = "" if each.enough else " (few)"
    axes.set_title(
        f"{each.question}\n{each.labelled} labelled{few}, ECE {each.ece:.3f}", fontsize=9
    )


def _panels(draws: Sequence[Draw], title: str = "") -> str:
    """An SVG with a panel for each, three in a row."""
    columns = min(_COLUMNS, max(1, len(draws)))
    rows = max(1, ceil(len(draws) / columns))
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.3 * columns, 3.3 * rows), layout="constrained")
        places = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, draw in zip(places, draws, strict=False):
            draw(axes)
        for axes in places[len(draws) :]:
            axes.set_axis_off()
        if title:
            figure.suptitle(title)
        return svg(figure)
