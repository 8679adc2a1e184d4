"""Tables in Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"([\\`*\[\]])")


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table; a column whose name starts with ``>`` is set to the right."""
    names = [str(each) for each in head]
    lines = [
        [name.removeprefix(">") for name in names],
        ["---:" if name.startswith(">") else "---" for name in names],
        *rows,
    ]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(value: object) -> str:
    """One line, and no sign that would end the cell: names come from a file."""
    return " ".join(str(value).split()).replace("|", "\\|")


def plain(text: str) -> str:
    """Text that is to be read as it stands: no HTML, no links, no emphasis."""
    marked = _SIGNS.sub(r"\\\1", text)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
