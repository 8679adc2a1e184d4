"""Recall against k as a picture (SVG), drawn by matplotlib."""

from __future__ import annotations

from typing import Any

from engram_graph.evaluation.figures import styled, svg
from engram_graph.evaluation.shortlist import BM25, COSINE, CURVE
from engram_graph.evaluation.shortlist_report import LEFT_OUT, SHIPPED, Results

_LINES: dict[str, dict[str, Any]] = {
    COSINE: {"color": "#7f7f7f", "linestyle": "-"},
    BM25: {"color": "#d98200", "linestyle": "-"},
    SHIPPED: {"color": "#1f6fb4", "linestyle": "-"},
    LEFT_OUT: {"color": "#c0392b", "linestyle": (0, (4, 3))},
}


def picture(results: Results) -> str:
    """An SVG: share of questions with all, and with any, of their evidence in the first k turns.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    ks = range(1, CURVE[-1] + 1)
    curves = {name: [results.recall(name, k) for k in ks] for name in results.methods}
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.4, 3.9), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, which in ((left, "all"), (right, "any")):
            for name, found in curves.items():
                rates = [100 * getattr(each, which) for each in found]
                axes.plot(ks, rates, label=name, linewidth=1.6, **_LINES[name])
            axes.set_title(f"{which} evidence found", fontsize=10)
            axes.set_xlabel("k: length of the shortlist")
            axes.set_xticks([1, *CURVE[1:]])
            axes.set_xlim(1, CURVE[-1])
            axes.set_ylim(0, 100)
            axes.grid(color="#e4e4e4", linewidth=0.7)
        left.set_ylabel("questions, %")
        handles, names = left.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
        return svg(figure)
