"""Reliability diagrams as a picture (SVG), drawn by matplotlib."""

from __future__ import annotations

import io
from math import ceil
from typing import Any

from engram_graph.evaluation.shortlist_plot import need_matplotlib
from engram_graph.models.feedback import Calibration, QuestionCalibration

__all__ = ["need_matplotlib", "picture"]

_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "engram",  # the same names inside at each run
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_COLUMNS = 3


def picture(found: Calibration) -> str:
    """An SVG: for each labelled question, how often its answers were right, by their probability.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib import style
    from matplotlib.figure import Figure

    known = [each for each in found.questions if each.labelled]
    columns = min(_COLUMNS, max(1, len(known)))
    rows = max(1, ceil(len(known) / columns))
    with style.context(["default", _STYLE]):
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
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _draw(axes: Any, each: QuestionCalibration) -> None:
    filled = [row for row in each.bins if row.n]
    axes.plot([0, 1], [0, 1], color="#b0b0b0", linewidth=1, linestyle="--")
    axes.bar(
        [row.low for row in filled],
        [row.accuracy for row in filled],
        width=1 / len(each.bins),
        align="edge",
        color="#1f6fb4",
        edgecolor="white",
        alpha=1.0 if each.enough else 0.45,
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
    few = "" if each.enough else " (few)"
    axes.set_title(
        f"{each.question}\n{each.labelled} labelled{few}, ECE {each.ece:.3f}", fontsize=9
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.08)
    axes.set_xlabel("probability")
    axes.set_ylabel("share right")
