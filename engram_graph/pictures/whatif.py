"""The picture of a what-if: when facts hold as they are stored, and when they would."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from engram_graph.clock import now
from engram_graph.models.facts import Fact
from engram_graph.models.whatif import FactDiff, WhatIf
from engram_graph.pictures.plot import POINT, Format, painted
from engram_graph.rules.render import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 80  # facts drawn
_STORED, _INK, _SOFT = "#A9B4C0", "#13263B", "#5B6573"
_COLOURS = {
    "stored": "#2E7D32",
    "left_out": "#8A1C1C",
    "closed": "#C2571A",
    "reopened": "#1565C0",
    "end_moved": "#6A3FA0",
    "belief": "#B08900",
    "other": "#5B6573",
}
_WORDS = 330.0  # width of the facts' words,
_TIME = 560.0  # of the time beside them,
_BELIEF = 110.0  # and of the beliefs behind it
_ROW, _HEAD, _FOOT, _EDGE = 34.0, 78.0, 16.0, 14.0
_CUT = 46  # characters of a fact


def draw(found: WhatIf, kind: Format) -> bytes:
    """A row for each fact that would stand otherwise: a grey bar as stored, one in the colour of
    the change as it would be.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    diffs = found.facts[:MOST]
    width = 2 * _EDGE + _WORDS + _TIME + _BELIEF
    height = _HEAD + _ROW * max(1, len(diffs)) + _FOOT

    def paint(axes: Axes) -> None:
        _title(axes, found, len(diffs))
        first, last = _span(diffs)
        for number, diff in enumerate(diffs):
            _row(axes, diff, _HEAD + _ROW * number, first, last)

    return painted(paint, width, height, kind)


def _title(axes: Axes, found: WhatIf, shown: int) -> None:
    rules = ", ".join([found.preset, *(f"{k}={v:g}" for k, v in found.numbers.items())])
    of = f", the first {shown} here" if shown < len(found.facts) else ""
    axes.text(
        _EDGE,
        20,
        f"{one_line(found.namespace)}: what if {rules}",
        fontsize=15 * POINT,
        fontweight="bold",
        va="center",
        color=_INK,
    )
    axes.text(
        _EDGE,
        41,
        f"facts that would stand otherwise: {len(found.facts)}{of}",
        fontsize=11.5 * POINT,
        va="center",
        color=_SOFT,
    )
    keys = {"as stored": _STORED} | {
        change.replace("_", " "): colour
        for change, colour in _COLOURS.items()
        if any(diff.change == change for diff in found.facts)
    }
    for number, (words, colour) in enumerate(keys.items()):
        x = _EDGE + 120.0 * number
        axes.plot([x, x + 22], [61, 61], color=colour, linewidth=4, solid_capstyle="butt")
        axes.text(x + 28, 61, words, fontsize=10 * POINT, va="center_baseline", color=_INK)


def _row(axes: Axes, diff: FactDiff, top: float, first: datetime, last: datetime) -> None:
    text = one_line(diff.fact.text)
    words = text if len(text) <= _CUT else text[: _CUT - 1] + "…"
    middle = top + _ROW / 2
    axes.text(_EDGE, middle, words, fontsize=11 * POINT, va="center_baseline", color=_INK)
    colour = _COLOURS[diff.change]
    for fact, y, shade in ((diff.before, middle - 6, _STORED), (diff.after, middle + 6, colour)):
        if fact is not None:
            _bar(axes, fact, y, shade, first, last)
    beliefs = [f"{each.belief:.2f}" if each else "–" for each in (diff.before, diff.after)]
    axes.text(
        _EDGE + _WORDS + _TIME + 14,
        middle,
        " → ".join(dict.fromkeys(beliefs)),
        fontsize=10.5 * POINT,
        va="center_baseline",
        color=_SOFT,
    )


def _bar(axes: Axes, fact: Fact, y: float, colour: str, first: datetime, last: datetime) -> None:
    """From its start to its end; one that is open goes on to the arrow."""

    def x(moment: datetime) -> float:
        return _EDGE + _WORDS + _TIME * ((moment - first) / (last - first))

    begin, end = x(fact.valid_from), x(min(fact.valid_until or last, last))
    axes.plot(
        [begin, max(end, begin + 2)], [y, y], color=colour, linewidth=5, solid_capstyle="butt"
    )
    if fact.valid_until is None:
        axes.plot([end], [y], marker=">", markersize=6, color=colour)


def _span(diffs: tuple[FactDiff, ...]) -> tuple[datetime, datetime]:
    facts = [fact for diff in diffs for fact in (diff.before, diff.after) if fact]
    moments = [fact.valid_from for fact in facts]
    moments += [fact.valid_until for fact in facts if fact.valid_until]
    moments += [now()]
    return min(moments) - timedelta(days=1), max(moments)
