"""``docs/schema.svg``: labels and relationship types as a picture that asks for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from engram_graph.errors import SchemaError
from engram_graph.schemas.graph import GraphSchema

_SAID = ("#dce9f7", "#8fb3d9")
_KNOWN = ("#ffe9b8", "#e0b24c")
_DECIDED = ("#e4dbf7", "#a98fdc")
_OTHER = ("#edeff2", "#b4bac4")
_PLACES: dict[str, tuple[int, int, tuple[str, str], str]] = {
    "Conversation": (115, 60, _SAID, "a chat"),
    "Message": (115, 250, _SAID, "what was said"),
    "Fact": (460, 250, _KNOWN, "what is known"),
    "Entity": (865, 250, _KNOWN, "whom it is about"),
    "Alias": (865, 480, _KNOWN, "another name"),
    "Feedback": (665, 365, _DECIDED, "what people say of it"),
    "Decision": (460, 480, _DECIDED, "what was decided"),
    "Request": (115, 480, _DECIDED, "what was asked"),
    "Item": (115, 600, _OTHER, "what an application keeps"),
    "ItemText": (460, 600, _OTHER, "what finds it"),
    "Replay": (345, 60, _OTHER, "an applied what-if"),
    "Replaced": (630, 60, _OTHER, "what it replaced"),
    "EngramSchema": (865, 60, _OTHER, "one node: the version"),
}
"""Label → centre, fill and border, a word on it. Colours as in Neo4j Browser, by group."""
_WIDTH, _HEIGHT = 1000, 660
_HALF_WIDTH, _HALF_HEIGHT = 80, 26
_LETTER = 6.4  # average width of a letter of a caption
_LINE = "#5b6472"


def svg(graph: GraphSchema) -> str:
    """The picture.

    Raises:
        SchemaError: a label has no place in it.
    """
    lacking = [each.label for each in graph.nodes if each.label not in _PLACES]
    if lacking:
        raise SchemaError(f"schemas/diagram.py has no place for {lacking}")
    captions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in graph.relationships:
        many = len(each.types) > 1
        name = f"{each.types[0]}, {each.types[2]} … ({len(each.types)})" if many else each.types[0]
        for ends in each.ends:
            captions[ends].append(name)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="Helvetica, Arial, sans-serif" '
        'role="img">',
        "<title>Labels and relationship types of the graph</title>",
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0 10 5 0 10z" fill="{_LINE}"/></marker>'
        "</defs>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="12" fill="#ffffff"/>',
    ]
    for (start, end), names in captions.items():
        lines += _loop(start, names) if start == end else _arrow(start, end, names)
    for node in graph.nodes:
        lines += _box(node.label)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(label: str) -> Iterator[str]:
    x, y, (fill, border), word = _PLACES[label]
    yield (
        f'<rect x="{x - _HALF_WIDTH}" y="{y - _HALF_HEIGHT}" width="{2 * _HALF_WIDTH}" '
        f'height="{2 * _HALF_HEIGHT}" rx="12" fill="{fill}" stroke="{border}" stroke-width="2"/>'
    )
    yield _text(x, y - 2, label, size=15, weight="bold")
    yield _text(x, y + 15, word, size=11)


def _arrow(start: str, end: str, names: list[str]) -> Iterator[str]:
    x1, y1 = _border(start, end)
    x2, y2 = _border(end, start)
    yield _path(f"M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}")
    yield from _caption((x1 + x2) / 2, (y1 + y2) / 2 + 4, [" · ".join(names)])


def _loop(label: str, names: list[str]) -> Iterator[str]:
    x, y, *_ = _PLACES[label]
    top = y - _HALF_HEIGHT
    yield _path(f"M{x - 35} {top} C{x - 60} {top - 60} {x + 60} {top - 60} {x + 35} {top - 2}")
    half = (len(names) + 1) // 2
    rows = [names[:half], names[half:]] if len(names) > 2 else [names]
    yield from _caption(x, top - 50 - 16 * (len(rows) - 1), [" · ".join(row) for row in rows])


def _border(of: str, towards: str) -> tuple[float, float]:
    """Where the line between two centres leaves the box of the first."""
    x, y, *_ = _PLACES[of]
    to_x, to_y, *_ = _PLACES[towards]
    dx, dy = to_x - x, to_y - y
    part = min(
        _HALF_WIDTH / abs(dx) if dx else 1.0,
        _HALF_HEIGHT / abs(dy) if dy else 1.0,
    )
    return x + dx * part, y + dy * part


def _path(course: str) -> str:
    return (
        f'<path d="{course}" fill="none" stroke="{_LINE}" stroke-width="1.5" '
        'marker-end="url(#arrow)"/>'
    )


def _caption(x: float, y: float, rows: list[str]) -> Iterator[str]:
    for number, row in enumerate(rows):
        wide, low = len(row) * _LETTER + 8, y + 16 * number
        yield (
            f'<rect x="{x - wide / 2:.0f}" y="{low - 12:.0f}" width="{wide:.0f}" height="16" '
            'fill="#ffffff"/>'
        )
        yield _text(x, low, row, size=11)


def _text(x: float, y: float, text: str, *, size: int, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="middle" fill="#1f2430">{text}</text>'
    )
