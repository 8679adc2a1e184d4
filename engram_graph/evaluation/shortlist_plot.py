"""Recall against k as a picture (SVG), drawn by matplotlib."""

from __future__ import annotations

import io
from typing import Any

from engram_graph.errors import MissingExtraError
from engram_graph.evaluation.shortlist import BM25, COSINE, CURVE
from engram_graph.evaluation.shortlist_report import LEFT_OUT, SHIPPED, Results

_LINES: dict[str, dict[str, Any]] = {
    COSINE: {"color": "#7f7f7f", "linestyle": "-"},
    BM25: {"color": "#d98200", "linestyle": "-"},
    SHIPPED: {"color": "#1f6fb4", "linestyle": "-"},
    LEFT_OUT: {"color": "#c0392b", "linestyle": (0, (4, 3))},
}
_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "engram",  # the same names inside at each run
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def need_matplotlib() -> None:
    """Ask before the long work, not after it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("a picture needs matplotlib", extra="eval") from error


def picture(results: Results) -> str:
    """An SVG: share of questions with all, and with any, of their evidence in the first k turns.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib import style
    from matplotlib.figure import Figure

    ks = range(1, CURVE[-1] + 1)
    curves = {name: [results.recall(name, k) for k in ks] for name in results.methods}
    with style.context(["default", _STYLE]):
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
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
