"""A report in Markdown; its plots are files beside it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from engram_graph.evaluation.markdown import plain, table
from engram_graph.evaluation.report.parts import Plot, Report, Section, Table


def page(report: Report) -> str:
    """The page; it shows ``NAME.svg`` for each plot."""
    blocks = [f"# {plain(report.title)}", *map(plain, report.lead)]
    for section in report.sections:
        blocks += _section(section)
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"{'#' * section.level} {plain(section.title)}"
    yield from map(plain, section.text)
    for part in section.parts:
        yield from _table(part) if isinstance(part, Table) else _plot(part)


def _table(part: Table) -> Iterator[str]:
    yield f"**{plain(part.caption)}**"
    if not part.rows:
        yield plain(part.empty)
        return
    head = [f">{plain(name[1:])}" if name.startswith(">") else plain(name) for name in part.head]
    yield table(head, ([plain(cell) for cell in row] for row in part.rows))
    if part.note:
        yield plain(part.note)


def _plot(part: Plot) -> Iterator[str]:
    if part.svg:
        yield f"![{plain(part.caption)}]({part.name}.svg)"
    else:
        yield f"{plain(part.caption)}: {plain(part.empty)}"
