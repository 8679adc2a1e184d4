"""The picture of a view as SVG or PNG, drawn by matplotlib."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from engram_graph.pictures.colours import colour_of
from engram_graph.pictures.layout import Box, Layout, place
from engram_graph.pictures.parts import need
from engram_graph.pictures.view import View, legend
from engram_graph.rules.render import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Format = Literal["svg", "png"]
_INCH = 96.0  # pixels of the layout
POINT = 72.0 / _INCH
"""Of a pixel."""
_DPI = 160
_FADED = 0.3
_HEAD, _FOOT = 52.0, 26.0  # room for the title; for each row of the legend
_CELL = 190.0  # width of an entry of the legend
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "engram",  # the same names inside at each run
    "text.parse_math": False,  # a price is no formula
}
_FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Emoji")


def draw(view: View, kind: Format) -> bytes:
    """What holds at the view's moment in full colour, what has ended faded, the rest not at all.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    facts = [fact for fact in view.facts if view.state(fact) != "coming"]
    layout = place(facts)
    entries = legend(facts)
    width = max(layout.width, 640.0)
    columns = max(1, int((width - 20) // _CELL))
    foot = _FOOT * -(-len(entries) // columns) + 14
    height = max(layout.height, 80.0) + _HEAD + foot

    def paint(axes: Axes) -> None:
        _title(axes, view, len(facts))
        _graph(axes, view, layout, (width - layout.width) / 2, _HEAD)
        _keys(axes, entries, columns, height - foot + 10)

    return painted(paint, width, height, kind)


def painted(paint: Callable[[Axes], None], width: float, height: float, kind: Format) -> bytes:
    """A picture of ``width`` and ``height`` pixels; y counts from the top.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    need("matplotlib.figure")
    from matplotlib import font_manager, style
    from matplotlib.figure import Figure

    installed = set(font_manager.get_font_names())
    fonts = [name for name in _FONTS if name in installed]
    with style.context(["default", _STYLE | {"font.family": fonts}]), warnings.catch_warnings():
        # A sign that no installed font has is drawn as a box; in an SVG the reader's fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width / _INCH, height / _INCH))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        paint(axes)
        out = io.BytesIO()
        nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=_DPI, facecolor="white", metadata=nothing)
    if kind == "png":
        return out.getvalue()
    lines = out.getvalue().decode("utf-8").splitlines()
    return ("\n".join(line.rstrip() for line in lines) + "\n").encode("utf-8")


def heading(view: View) -> str:
    """What is shown, in words."""
    holds = sum(view.state(fact) == "holds" for fact in view.facts)
    ended = sum(view.state(fact) == "ended" for fact in view.facts)
    moment = f"as of {view.at:%Y-%m-%d %H:%M} UTC" if view.dated else f"on {view.at:%Y-%m-%d}"
    known = f", as known on {view.known_at:%Y-%m-%d %H:%M} UTC" if view.known_at else ""
    of = f"; the latest {len(view.facts):,} of {view.total:,}" if view.capped else ""
    verb, have = ("fact holds" if holds == 1 else "facts hold"), "has" if ended == 1 else "have"
    return f"{moment}{known}: {holds} {verb}, {ended} {have} ended{of}"


def _title(axes: Axes, view: View, shown: int) -> None:
    name = one_line(view.namespace)
    axes.text(14, 22, name, fontsize=15 * POINT, fontweight="bold", va="center", color="#13263B")
    words = heading(view) if shown else f"no facts {heading(view).partition(':')[0]}"
    axes.text(14, 42, words, fontsize=11.5 * POINT, va="center", color="#5B6573")


def _graph(axes: Axes, view: View, layout: Layout, left: float, top: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    facts = {fact.id: fact for fact in view.facts}
    alive = {
        k for f in view.facts if view.state(f) == "holds" for k in (f.subject_key, f.object_key)
    }
    order = sorted(layout.lines, key=lambda id_: view.state(facts[id_]) == "holds")
    for id_ in order:  # what holds lies on top
        line, fact = layout.lines[id_], facts[id_]
        points = [(x + left, y + top) for x, y in (line.start, line.first, line.second, line.end)]
        path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        axes.add_patch(
            FancyArrowPatch(
                path=path,
                arrowstyle="-|>",
                mutation_scale=9,
                linewidth=1.3,
                color=colour_of(fact),
                alpha=1.0 if view.state(fact) == "holds" else _FADED,
                linestyle="solid" if view.state(fact) == "holds" else (0, (5, 3)),
                zorder=1,
                joinstyle="round",
            )
        )
    for id_ in order:
        fact = facts[id_]
        faded = view.state(fact) != "holds"
        box = layout.facts[id_]
        _caption(axes, box, left, top, colour_of(fact), 12, faded=faded, style="caption")
    for key, box in layout.entities.items():
        _caption(axes, box, left, top, "#FFFFFF", 13, faded=key not in alive, style="name")


def _caption(
    axes: Axes,
    box: Box,
    left: float,
    top: float,
    colour: str,
    size: float,
    *,
    faded: bool,
    style: Literal["caption", "name"],
) -> None:
    from matplotlib.patches import FancyBboxPatch

    name = style == "name"
    fill = "white" if not name else "#A9B4C0" if faded else "#24405E"
    corner = 9.0 if name else 3.0
    x, y = box.x + left, box.y + top
    axes.add_patch(
        FancyBboxPatch(
            (x - box.width / 2 + corner, y - box.height / 2 + corner * 0.8),
            box.width - 2 * corner,
            box.height - 1.6 * corner,
            boxstyle=f"round,pad={corner * 0.8},rounding_size={corner}",
            facecolor=fill,
            edgecolor="none",
            alpha=1.0 if name else 0.86,
            zorder=4 if name else 2,
        )
    )
    axes.text(
        x,
        y,
        box.label,
        fontsize=size * POINT,
        color=colour,
        alpha=0.55 if faded and not name else 1.0,
        ha="center",
        va="center_baseline",
        zorder=5 if name else 3,
    )


def _keys(axes: Axes, entries: list[tuple[str, str, bool]], columns: int, top: float) -> None:
    for number, (words, colour, ended) in enumerate(entries):
        row, column = divmod(number, columns)
        x, y = 14 + column * _CELL, top + row * _FOOT
        dashes: Any = (0, (5, 3)) if ended else "solid"
        axes.plot(
            [x, x + 26],
            [y, y],
            color=colour,
            linewidth=1.8,
            linestyle=dashes,
            alpha=0.5 if ended else 1.0,
        )
        axes.text(x + 34, y, words, fontsize=11 * POINT, va="center_baseline", color="#333B46")
