"""Reliability diagrams as a picture (SVG), drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from engram_graph.evaluation.figures import styled, svg
from engram_graph.models.feedback import Calibration, QuestionCalibration

_COLUMNS = 3


def picture(found: Calibration) -> str:
    """An SVG: for each labelled question, how often its answers were right, by their probability.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    known = [each for each in found.questions if each.labelled]
    columns = min(_COLUMNS, max(1, len(known)))
    rows = max(1, ceil(len(known) / columns))
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.3 * columns, 3.3 * rows), layout="constrained")
        places = figure.subplots(rows, columns, squeeze=False).flat
        for axes, each in zip(
            places, [*known, *[None] * (rows * columns - len(known))], strict=True
        ):
            if each is None:
                axes.set_axis_off()
            else:
                _draw(axes, each)
        if not known:
            figure.suptitle("no labels")
        return svg(figure)


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
        color="#1f6fb4",
        edgecolor="white",
        alpha=1.0 if enough else 0.45,
    )
    axes.plot(
        [row.confidence for row in filled],
        [row.accuracy for row in filled],
        linestyle="",
        marker="o",
        markersize=4,
        color="#c0392b",
    )
    for row in filled:
        axes.annotate(
            str(row.n), ((row.low + row.high) / 2, row.accuracy), ha="center", va="bottom"
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.08)
    axes.set_xlabel("probability")
    axes.set_ylabel("share right")


def _draw(axes: Any, each: QuestionCalibration) -> None:
    diagram(axes, each.bins, each.enough)
    few = "" if each.enough else " (few)"
    axes.set_title(
        f"{each.question}\n{each.labelled} labelled{few}, ECE {each.ece:.3f}", fontsize=9
    )
