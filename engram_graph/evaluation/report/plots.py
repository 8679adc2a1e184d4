"""The plots of a report, drawn by matplotlib: small ones, so that they can be read on a phone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engram_graph.evaluation.calibration import Figures
from engram_graph.evaluation.calibration_plot import cost_curve, diagram, error_curve
from engram_graph.evaluation.figures import styled, svg
from engram_graph.evaluation.report.parts import MANY, NONE, Plot, number, percent, short, size, usd
from engram_graph.evaluation.report.svg import INK, LINE, SERIES, tidy
from engram_graph.evaluation.report.tables import Group, arms_at, kept_share, mean_tokens
from engram_graph.evaluation.study import metrics
from engram_graph.rules.calibration import Escalation, wilson

_SIZE = (4.9, 3.7)  # inches
_MARKERS = "osD^vPX*<"  # one more than colours: no two arms look alike
_SPREAD = 8  # largest by smallest from which an axis is logarithmic
_STYLE = {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "text.parse_math": False,  # a dollar is a dollar
    "font.size": 10.0,
    "axes.grid": True,
    "axes.axisbelow": True,
}


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a curve. low, high: of its interval, if it has one. said: beside it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    said: str = ""


Curves = dict[str, list[Dot]]


def recall_at_k(group: Group, name: str) -> Plot:
    """Share of the evidence in the block, by its size."""
    curves: Curves = {}
    for result, k, rows in arms_at(group):
        share = kept_share(rows)
        if share is not None and k <= MANY:
            curves.setdefault(result.arm, []).append(Dot(k, 100 * share))
    return _curves(
        name,
        "Recall at k",
        _ordered(group, curves),
        ("k: lines in the block", "evidence in it, %"),
        empty="No arm tells which turns its lines come from.",
        top=100,
    )


def tokens_at_k(group: Group, name: str) -> Plot:
    """T(k): mean tokens of the block."""
    curves = {
        result.arm: [Dot(k, tokens) for k, tokens in enumerate(result.tokens_at, 1)]
        for result in group.results
        if result.tokens_at
    }
    return _curves(
        name,
        "Tokens T(k)",
        _ordered(group, curves),
        ("k: lines in the block", "tokens of the block, mean"),
        empty="No arm's tokens were measured.",
    )


def against_tokens(group: Group, name: str) -> Plot:
    """Accuracy by tokens of the block."""
    curves: Curves = {}
    for result, k, rows in arms_at(group):
        _add(curves, result.arm, mean_tokens(rows), metrics.accuracy(rows), k)
    return _curves(
        name,
        "Accuracy against tokens",
        _ordered(group, curves),
        ("tokens of the block, mean", "accuracy, %"),
        empty="Nothing was judged.",
        spread=True,
    )


def against_cost(group: Group, name: str) -> Plot:
    """Accuracy by what a question costs in all."""
    curves: Curves = {}
    for result, k, rows in arms_at(group):
        total = metrics.costs(rows, result.conversations).total
        _add(curves, result.arm, total, metrics.accuracy(rows), k)
    if not any(dot.x for dots in curves.values() for dot in dots):
        curves.clear()  # nothing cost anything
    return _curves(
        name,
        "Accuracy against cost",
        _ordered(group, curves),
        ("USD per question, writing included", "accuracy, %"),
        empty="Nothing was judged, or nothing is known to have cost anything.",
        spread=True,
        x_text=usd,
    )


def latency(group: Group, name: str) -> Plot:
    """Recorded waits for models while reading."""
    bars = []
    for result in group.results:
        found = (
            metrics.latency(row.read_ms for row in result.at(result.ks[0])) if result.ks else None
        )
        if found is not None:
            bars.append((result.arm, found))
    caption = "Latency of reading"
    said = "; ".join(f"{short(arm)} p50 {b.p50:.0f}, p90 {b.p90:.0f}" for arm, b in bars)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        places = range(len(bars))
        axes.barh(places, [b.p50 for _, b in bars], color=SERIES[0], height=0.6, label="p50")
        axes.plot([b.p90 for _, b in bars], places, "D", color=SERIES[1], markersize=5, label="p90")
        axes.set_yticks(places, [_label(arm) for arm, _ in bars])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("ms, models alone")
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    if not bars or not any(b.p90 for _, b in bars):
        return Plot(name, caption, "", empty="No waits for models were recorded.")
    return Plot(name, caption, said, _drawn(name, said, draw))


def reliability_diagram(name: str, found: Figures) -> Plot:
    """How often answers were right, by their probability."""
    said = f"{found.n} answers, plain ECE {found.ece_plain:.3f}: " + "; ".join(
        f"at {percent(each.confidence)} % right {percent(each.accuracy)} % of {each.n}"
        for each in found.bins
        if each.n
    )
    drawn = _drawn(name, said, lambda figure: diagram(figure.subplots(), found.bins))
    return Plot(name, f"Reliability: {found.question}", said, drawn)


def cost_and_error(name: str, found: Sequence[Escalation]) -> Plot:
    """C(θ) and E(θ): what sending answers below θ to a second decider costs and leaves wrong."""
    caption = "Cost C(θ) and error E(θ) of a threshold"
    if not found:
        return Plot(name, caption, "", empty="No labelled pairs.")
    said = "; ".join(
        f"θ {each.threshold:.2f}: {usd(each.cost)} USD, wrong {percent(each.lowest)} to "
        f"{percent(each.highest)} %"
        for each in found
    )

    def draw(figure: Any) -> None:
        cost, error = figure.subplots(2, 1, sharex=True)
        cost_curve(cost, found, SERIES[0])
        error_curve(error, found, SERIES[1])
        error.set_xlabel("θ: answers below it go to the second decider")
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    return Plot(name, caption, said, _drawn(name, said, draw))


def _add(curves: Curves, arm: str, x: float | None, share: metrics.Share, k: int) -> None:
    if x is None or share.rate is None:
        return
    low, high = wilson(share.right, share.of)
    curves.setdefault(arm, []).append(Dot(x, 100 * share.rate, 100 * low, 100 * high, size(k)))


def _ordered(group: Group, curves: Curves) -> Curves:
    """With an empty one for each arm that has none, so that an arm looks the same everywhere."""
    return {each.arm: curves.get(each.arm, []) for each in group.results}


def _curves(
    name: str,
    caption: str,
    curves: Curves,
    labels: tuple[str, str],
    *,
    empty: str,
    top: float | None = None,
    spread: bool = False,
    x_text: Callable[[float], str] = number,
) -> Plot:
    """spread: x may be logarithmic. x_text: of an x in words."""
    known = {arm: dots for arm, dots in curves.items() if dots}
    if not known:
        return Plot(name, caption, "", empty=empty)
    said = f"{labels[1]} by {labels[0]}. " + "; ".join(
        f"{short(arm)}: "
        + ", ".join(f"{number(dot.y, 1)} at {x_text(dot.x)}" for dot in _some(dots))
        for arm, dots in known.items()
    )

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for place, (arm, dots) in enumerate(curves.items()):
            if dots:
                _curve(axes, place, arm, sorted(dots, key=lambda dot: dot.x))
        if not spread:
            axes.xaxis.get_major_locator().set_params(integer=True)
        else:
            _scale(axes.xaxis, [dot.x for dots in known.values() for dot in dots])
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        if top is not None:
            axes.set_ylim(0, top + 3)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    return Plot(name, caption, said, _drawn(name, said, draw), empty)


def _curve(axes: Any, place: int, arm: str, dots: Sequence[Dot]) -> None:
    colour = SERIES[place % len(SERIES)]
    dense = len(dots) > 12
    axes.plot(
        [dot.x for dot in dots],
        [dot.y for dot in dots],
        color=colour,
        marker=None if dense else _MARKERS[place % len(_MARKERS)],
        markersize=5,
        linewidth=1.4,
        linestyle="-" if place < len(SERIES) else "--",
        label=_label(arm),
    )
    for dot in dots:
        if dot.low is not None and dot.high is not None:
            axes.plot([dot.x, dot.x], [dot.low, dot.high], color=colour, linewidth=0.8, alpha=0.6)
        if dot.said:
            axes.annotate(
                dot.said,
                (dot.x, dot.y),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=8,
                color=colour,
            )


def _scale(axis: Any, values: Sequence[float]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if min(values) > 0 and max(values) / min(values) > _SPREAD:
        axis.axes.set_xscale("log")
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.set_minor_formatter(NullFormatter())
        axis.axes.margins(x=0.08)
    axis.set_major_formatter(FuncFormatter(_tick))


def _tick(value: float, _: int) -> str:
    """Without powers of ten."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0").rstrip(".") or "0"


def _some(dots: Sequence[Dot]) -> Iterable[Dot]:
    """A few of many: what is read aloud should end."""
    return dots if len(dots) <= 6 else [dots[i] for i in (0, 2, 5, 9, 19, 29) if i < len(dots)]


def _label(arm: str) -> str:
    return short(arm, 24).lstrip("_") or NONE


def _drawn(name: str, said: str, draw: Callable[[Any], None]) -> str:
    with styled(**_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing")  # readers' fonts may have it
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE, layout="constrained")
        draw(figure)
        return tidy(svg(figure), name, said)
