"""The picture of a view as an HTML page: a slider over valid time, stories at a click."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from engram_graph.models.facts import Fact
from engram_graph.pictures.colours import colour_of
from engram_graph.pictures.layout import Box, Line, place
from engram_graph.pictures.page import page, source
from engram_graph.pictures.parts import d3
from engram_graph.pictures.view import View, legend
from engram_graph.rules.render import one_line


def render(view: View) -> str:
    """The page.

    Raises:
        MissingExtraError: jinja2 or mpld3 is not installed.
    """
    latest = f"the latest {len(view.facts):,} of {view.total:,} facts"
    known = f", as known on {view.known_at:%Y-%m-%d %H:%M} UTC" if view.known_at else ""
    about = (latest if view.capped else f"{view.total:,} facts") + known
    return page(
        "graph.html",
        css="graph.css",
        scripts={"d3": d3(), "code": source("graph.js")},
        title=one_line(view.namespace),
        about=about if view.facts else f"no facts{known}",
        data=content(view),
    )


def content(view: View) -> dict[str, Any]:
    """All that the page shows, as JSON."""
    layout = place(view.facts)
    names: dict[str, str] = {}
    for fact in view.facts:
        names |= {fact.subject_key: fact.subject, fact.object_key: fact.object}
    moments = view.moments()
    index = {moment: i for i, moment in enumerate(moments)}
    return {
        "width": round(layout.width, 1),
        "height": round(layout.height, 1),
        "moments": [{"ms": _milliseconds(each), "label": _label(each)} for each in moments],
        "at": index[view.at],
        "entities": [
            {"key": key, "name": one_line(names[key])} | _box(box)
            for key, box in layout.entities.items()
        ],
        "facts": [
            {
                "id": fact.id,
                "text": one_line(fact.text),
                "since": _since(fact),
                "story": view.stories.get(fact.id, ""),
                "from": index[fact.valid_from],
                "until": index[fact.valid_until] if fact.valid_until else None,
                "ends": [fact.subject_key, fact.object_key],
                "colour": colour_of(fact),
                **_line(layout.lines[fact.id]),
                **_box(layout.facts[fact.id]),
            }
            for fact in view.facts
        ],
        "legend": [
            {"label": label, "colour": colour, "ended": ended}
            for label, colour, ended in legend(view.facts)
        ],
    }


def _box(box: Box) -> dict[str, Any]:
    return {"label": box.label} | {
        name: round(getattr(box, name), 1) for name in ("x", "y", "width", "height")
    }


def _line(line: Line) -> dict[str, Any]:
    """Its path, and where its arrow stands and looks to (degrees)."""
    (x, y), (bx, by) = line.end, line.at(0.97)
    points = [f"{a:.1f},{b:.1f}" for a, b in (line.start, line.first, line.second, line.end)]
    return {
        "path": f"M{points[0]}C{' '.join(points[1:])}",
        "tip": f"{x:.1f},{y:.1f}",
        "turn": round(math.degrees(math.atan2(y - by, x - bx)), 1),
    }


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _label(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _since(fact: Fact) -> str:
    """Its interval, and how much it is believed while it is open."""
    if fact.never_held:
        return "never true"
    start = _label(fact.valid_from)
    if fact.valid_until is None:
        return f"since {start} · belief {fact.belief:.2f}"
    reason = f" · closed: {fact.closed_reason.value}" if fact.closed_reason else ""
    return f"{start} → {_label(fact.valid_until)}{reason}"
