"""What a command prints: its result on stdout, everything else on stderr.

``--json`` gives one object, or one array for lists, without an envelope; a failure is
``{"error": {code, message, hint, …}}``, also on stdout. Text from the store never reaches a
terminal with its control characters.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from engram_graph.errors import EngramError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Progress = Callable[[int, int], None]
_WIDE = 400  # columns when nobody's window limits them
_EVERY = 2.0  # seconds between two lines of progress where no bar can be drawn


class Output:
    """Where results and notes go."""

    def __init__(self, as_json: bool = False) -> None:
        self.json = as_json

    @cached_property
    def stdout(self) -> Console:
        return _console(sys.stdout)

    @cached_property
    def stderr(self) -> Console:
        return _console(sys.stderr)

    def data(self, value: Any) -> None:
        """The result as JSON."""
        sys.stdout.write(json_text(value) + "\n")
        sys.stdout.flush()

    def line(self, text: str | Text = "") -> None:
        """A line of the result for people."""
        self.stdout.print(text, soft_wrap=True)

    def lines(self, texts: Iterable[str | Text]) -> None:
        """Lines of the result for people."""
        for text in texts:
            self.line(text)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table for people; a column whose name starts with ``>`` is set to the right."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            right = name.startswith(">")
            table.add_column(name.lstrip(">"), justify="right" if right else "left")
        for row in rows:
            table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
        self.stdout.print(table)

    def note(self, text: str) -> None:
        """Something to know that is not the result."""
        self.stderr.print(text, soft_wrap=True)

    def degraded(self, reasons: Iterable[str]) -> None:
        """Notes on steps that fell back."""
        for reason in dict.fromkeys(reasons):
            self.note(f"note: {one_line(reason)}")

    def error(self, error: EngramError) -> None:
        """The failure of a command."""
        if self.json:
            self.data(error.as_dict())
            return
        self.note(f"error: {one_line(error.message)}")
        if error.hint:
            self.note(f"       {one_line(error.hint)}")

    @contextmanager
    def bar(self, label: str, *, say: bool = True) -> Iterator[Progress]:
        """A progress bar on stderr, shown from the first report on.

        Without a terminal there is one line at the start, and how far it is every few seconds
        after that, if ``say``.
        """
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bars

        if not self.stderr.is_terminal:
            last = None

            def tell(done: int, total: int) -> None:
                nonlocal last
                now = time.monotonic()
                if say and last is None:
                    self.note(f"{label} …")
                elif say and last is not None and now - last >= _EVERY:
                    self.note(f"{label}: {done}/{total}")
                else:
                    return
                last = now

            yield tell
            return
        columns = (
            SpinnerColumn(),  # moves also while one step takes long
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
        )
        bars = Bars(*columns, console=self.stderr, transient=True)
        task = None

        def show(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                bars.start()
                task = bars.add_task(label, total=total)
            bars.update(task, completed=done, total=total)

        try:
            yield show
        finally:
            bars.stop()


def json_text(value: Any) -> str:
    """``value`` as JSON: records by their fields, moments as ISO 8601 in UTC."""
    plain = _plain(value)
    text = json.dumps(plain, ensure_ascii=False, indent=2)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # a terminal of another alphabet, or half a surrogate pair
        return json.dumps(plain, indent=2)
    return text


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat is not None else str(value)


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 fact``, ``2 facts``; ``many`` where it is not ``one`` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def one_line(text: str) -> str:
    """``text`` on one line, without characters that could steer a terminal."""
    words = text.split()
    if all(map(str.isprintable, words)):  # as nearly always, and a message may be very long
        return " ".join(words)
    kept = "".join(char if char.isprintable() or char.isspace() else "�" for char in text)
    return " ".join(kept.split())


def _console(stream: Any) -> Console:
    from rich.console import Console

    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    return console if console.is_terminal else _wide(stream)


def _wide(stream: Any) -> Console:
    from rich.console import Console

    return Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        width=_WIDE,
        no_color=True,
        force_terminal=False,
        color_system=None,
    )
