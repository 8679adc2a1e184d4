"""Where names, facts and lines of a picture lie. Pure, and the same at each run.

A fact is a node of its own between subject and object, so that its caption gets a place too and
two facts about the same pair two lines. A force-directed layout (Fruchterman and Reingold, by
networkx) says who is near whom; then boxes that overlap are pushed apart, the least first.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engram_graph.models.facts import Fact
from engram_graph.rules.render import one_line

if TYPE_CHECKING:
    import networkx as nx

_SEED = 7
_LONGEST = 26  # characters of a name that are shown
_NAME, _CAPTION = 13.0, 12.0  # size of letters
_WIDE = 0.62  # of a letter, by its size
_GAP = 9.0  # between two boxes, at least
_MARGIN = 24.0
_ROOM = 2.6  # area of a picture by that of its boxes
_SHAPE = 1.5  # width by height
_ENOUGH = 1e-6  # overlaps smaller than this are none
_ROUND, _ROUNDS = 40, 40_000
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A caption with its middle and its size."""

    label: str
    x: float
    y: float
    width: float
    height: float

    def holds(self, point: Point, margin: float = 0.0) -> bool:
        """Whether ``point`` lies in it, or nearer to it than ``margin``."""
        return (
            abs(point[0] - self.x) <= self.width / 2 + margin
            and abs(point[1] - self.y) <= self.height / 2 + margin
        )


@dataclass(frozen=True, slots=True)
class Line:
    """A cubic Bézier curve from one name to another, through the caption of the fact."""

    start: Point
    first: Point
    second: Point
    end: Point

    def at(self, t: float) -> Point:
        """The point at ``t`` of [0, 1]."""
        u = 1 - t
        weights = (u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t)
        points = (self.start, self.first, self.second, self.end)
        x, y = (sum(w * p[i] for w, p in zip(weights, points, strict=True)) for i in (0, 1))
        return x, y

    def part(self, low: float, high: float) -> Line:
        """The piece between two of its points (de Casteljau)."""
        return self._until(high)._from(low / high)

    def _until(self, t: float) -> Line:
        a, b, c = (
            _mix(p, q, t)
            for p, q in (
                (self.start, self.first),
                (self.first, self.second),
                (self.second, self.end),
            )
        )
        d, e = _mix(a, b, t), _mix(b, c, t)
        return Line(self.start, a, d, _mix(d, e, t))

    def _from(self, t: float) -> Line:
        back = Line(self.end, self.second, self.first, self.start)._until(1 - t)
        return Line(back.end, back.second, back.first, back.start)


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of everything, in units of a pixel; x to the right, y downwards.

    Attributes:
        entities: by key. facts, lines: by the fact's id.
    """

    width: float
    height: float
    entities: dict[str, Box]
    facts: dict[str, Box]
    lines: dict[str, Line]


def caption(fact: Fact) -> str:
    """What stands on the line of a fact."""
    words = fact.predicate.replace("_", " ")
    return f"not: {words}" if fact.negated else words


def place(facts: Sequence[Fact]) -> Layout:
    """The layout of a picture with these facts and the entities at their ends."""
    import networkx as nx

    boxes: dict[Any, Box] = {}
    graph = nx.Graph()
    for fact in facts:
        ends = ((fact.subject_key, fact.subject), (fact.object_key, fact.object))
        for key, name in ends:
            boxes.setdefault(("entity", key), _box(name, _NAME, 20.0, 26.0))
        boxes["fact", fact.id] = _box(caption(fact), _CAPTION, 6.0, 16.0)
        for key, _ in ends:
            graph.add_edge(("entity", key), ("fact", fact.id))
    parts = sorted(nx.connected_components(graph), key=len, reverse=True)  # in order of the first
    # Parts that will lie above each other are drawn wider.
    shape = min(2.5, _SHAPE * len(graph) / len(parts[0])) if parts else _SHAPE
    placed = [_spread(_ordered(graph, part), boxes, shape) for part in parts]
    width, height, found = _packed(placed)
    entities = {key: box for (kind, key), box in found.items() if kind == "entity"}
    captions = {key: box for (kind, key), box in found.items() if kind == "fact"}
    lines = {
        fact.id: _line(entities[fact.subject_key], captions[fact.id], entities[fact.object_key])
        for fact in facts
    }
    return Layout(width, height, entities, captions, lines)


def _box(text: str, size: float, padding: float, height: float) -> Box:
    label = one_line(text[: 4 * _LONGEST])
    label = label if len(label) <= _LONGEST else label[: _LONGEST - 1].rstrip() + "…"
    cells = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in label)
    return Box(label, 0.0, 0.0, cells * size * _WIDE + padding, height)


def _ordered(graph: nx.Graph, part: set[Any]) -> nx.Graph:
    """One part of a graph with its nodes in the graph's order; that of a set is never the same."""
    import networkx as nx

    found = nx.Graph()
    found.add_nodes_from(node for node in graph if node in part)
    found.add_edges_from((a, b) for a, b in graph.edges if a in part)
    return found


def _spread(graph: nx.Graph, boxes: dict[Any, Box], shape: float) -> dict[Any, Box]:
    """One connected part, without overlaps."""
    import networkx as nx
    import numpy as np

    nodes = list(graph)
    sizes = np.array([(boxes[node].width, boxes[node].height) for node in nodes]) + _GAP
    area = float((sizes[:, 0] * sizes[:, 1]).sum()) * _ROOM
    found = nx.spring_layout(
        graph, seed=_SEED, iterations=300, method="force", k=1.6 / math.sqrt(len(nodes))
    )
    points = np.array([found[node] for node in nodes])
    low, high = points.min(axis=0), points.max(axis=0)
    points = (points - low) / np.maximum(high - low, 1e-9)
    points *= (math.sqrt(area * shape), math.sqrt(area / shape))
    points = _apart(points, sizes)
    return {
        node: replace(boxes[node], x=float(x), y=float(y))
        for node, (x, y) in zip(nodes, points, strict=True)
    }


def _apart(points: Any, sizes: Any) -> Any:
    """Points moved so that no two boxes around them overlap.

    Each pair is pushed along the axis on which it overlaps less, half by half. Where that does not
    come to an end, everything gets more room.
    """
    import numpy as np

    wide, high = ((sizes[:, None, i] + sizes[None, :, i]) / 2 for i in (0, 1))
    points = points.copy()
    for done in range(1, _ROUNDS):
        x, y = points[:, 0], points[:, 1]
        hit = np.abs(x[:, None] - x) < wide - _ENOUGH
        hit &= np.abs(y[:, None] - y) < high - _ENOUGH
        one, other = np.nonzero(np.triu(hit, 1))
        if not len(one):
            break
        apart = points[one] - points[other]
        over = np.stack([wide[one, other], high[one, other]], axis=1) - np.abs(apart)
        push = np.where(apart < 0, -over, over) / 2
        sideways = over[:, 0] <= over[:, 1]
        push[sideways, 1] = push[~sideways, 0] = 0.0
        share = np.maximum(1, np.bincount(np.concatenate([one, other]), minlength=len(points)))
        np.add.at(points, one, push / share[one, None])
        np.add.at(points, other, -push / share[other, None])
        if done % _ROUND == 0:
            points *= 1.08
    return points


def _packed(parts: Iterable[dict[Any, Box]]) -> tuple[float, float, dict[Any, Box]]:
    """The parts in rows, the largest first; the whole picture's size, and all boxes."""
    sized = []
    for part in parts:
        left = min(box.x - box.width / 2 for box in part.values())
        right = max(box.x + box.width / 2 for box in part.values())
        top = min(box.y - box.height / 2 for box in part.values())
        bottom = max(box.y + box.height / 2 for box in part.values())
        sized.append((part, left, top, right - left, bottom - top))
    area = sum((w + 2 * _MARGIN) * (h + 2 * _MARGIN) for *_, w, h in sized)
    limit = max([math.sqrt(area * _SHAPE), *(w + 2 * _MARGIN for *_, w, _ in sized)])
    x = y = tallest = widest = 0.0
    found: dict[Any, Box] = {}
    for part, left, top, width, height in sized:
        if x and x + width + 2 * _MARGIN > limit + 1e-6:
            x, y, tallest = 0.0, y + tallest, 0.0
        for node, box in part.items():
            found[node] = replace(box, x=box.x - left + x + _MARGIN, y=box.y - top + y + _MARGIN)
        x += width + 2 * _MARGIN
        widest, tallest = max(widest, x), max(tallest, height + 2 * _MARGIN)
    return widest, y + tallest, found


def _line(subject: Box, fact: Box, obj: Box) -> Line:
    """From the border of one box through the caption to the border of the other."""
    s, m, o = (subject.x, subject.y), (fact.x, fact.y), (obj.x, obj.y)
    if s == o:  # about itself: out on one side of the caption and back on the other
        out = (m[0] - s[0], m[1] - s[1])
        far = math.hypot(*out) or 1.0
        aside = (-out[1] / far * 34, out[0] / far * 34)
        first, second = (
            (s[0] + out[0] * 4 / 3 + sign * aside[0], s[1] + out[1] * 4 / 3 + sign * aside[1])
            for sign in (1, -1)
        )
        whole = Line(s, first, second, o)
    else:
        bend = (2 * m[0] - (s[0] + o[0]) / 2, 2 * m[1] - (s[1] + o[1]) / 2)
        whole = Line(s, _mix(s, bend, 2 / 3), _mix(o, bend, 2 / 3), o)
    steps = 400
    low = next(i for i in range(steps) if i == steps // 2 or not subject.holds(whole.at(i / steps)))
    high = next(
        i for i in range(steps, -1, -1) if i == steps // 2 or not obj.holds(whole.at(i / steps), 3)
    )
    return whole.part(low / steps, high / steps) if low < high else whole


def _mix(a: Point, b: Point, t: float) -> Point:
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t
