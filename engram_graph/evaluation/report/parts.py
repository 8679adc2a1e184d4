"""What a report is made of before it has a form: sections of tables and plots. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engram_graph.rules.render import one_line

NONE = "–"
MINUS = "−"
MANY = 1000
"""Lines beyond any list of them: a block that large is a whole conversation."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    Attributes:
        head: a column whose name starts with ``>`` is set to the right.
        note: said below it. empty: said instead of a table without rows.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    empty: str = "Nothing to show."


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture.

    Attributes:
        name: of its file, without ``.svg``. alt: what it shows, for those who do not see it.
        svg: empty if there is nothing to draw; ``empty`` is said then.
    """

    name: str
    caption: str
    alt: str
    svg: str = ""
    empty: str = "Nothing to draw."


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it.

    Attributes:
        id: for links to it. level: 2, or 3 inside the one before.
    """

    id: str
    title: str
    text: tuple[str, ...] = ()
    parts: tuple[Table | Plot, ...] = ()
    level: int = 2


@dataclass(frozen=True, slots=True)
class Report:
    """All of it."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Those that show something."""
        return tuple(
            part
            for section in self.sections
            for part in section.parts
            if isinstance(part, Plot) and part.svg
        )


def percent(share: float | None) -> str:
    """A share as percent, to one place; a dash for None."""
    return NONE if share is None else f"{100 * share:.1f}"


def points(difference: float) -> str:
    """A difference of shares in points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", MINUS)


def number(value: float | None, places: int = 0) -> str:
    """A number, thousands set apart; a dash for None."""
    return NONE if value is None else f"{value:,.{places}f}".replace("-", MINUS)


def usd(value: float | None) -> str:
    """Dollars to three significant places, never in powers of ten; a dash for None."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    places = 2
    while places < 9 and round(abs(value), places) < 10 ** (2 - places):
        places += 1
    return f"{value:.{places}f}"


def size(k: int) -> str:
    """How many lines a block has."""
    return "whole" if k > MANY else str(k)


def chance(p: float) -> str:
    """A p-value."""
    if p < 1e-30:
        return "<1e-30"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def short(text: object, most: int = 140) -> str:
    """One line of at most ``most`` characters."""
    line = one_line(str(text))
    return line if len(line) <= most else line[: most - 1] + "…"
