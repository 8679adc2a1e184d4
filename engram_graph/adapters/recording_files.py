"""The two files a recording can be, JSON lines and SQLite, with the same fields in both.

Neither knows what a call is about: a line is a plain mapping, found by its key; of two lines with
one key the first stays. A file that is no recording is refused and left as it is. Both are made
for their owner's eyes only: they hold what people said.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

from engram_graph.errors import ConfigurationError
from engram_graph.rules.text import encodable

log = logging.getLogger(__name__)
VERSION = 1
"""Of the fields and of what a key covers; change it with either."""
Line = dict[str, Any]
Origin = tuple[str, str, str]
"""Kind, backend and model of a call."""
_FIELDS = frozenset(
    {"key", "kind", "backend", "model", "request", "answer"}
    | {"failed", "latency_ms", "cost_usd", "recorded_at"}
)


class File(Protocol):
    """What both have in common; every method blocks."""

    def get(self, key: str) -> Line | None:
        """The line with this key."""
        ...

    def put(self, line: Line) -> None:
        """Add ``line``, unless its key is there."""
        ...

    def lines(self) -> Iterator[Line]:
        """All lines, in the order they came."""
        ...

    def origins(self) -> set[Origin]:
        """Where the answers in it come from."""
        ...

    def close(self) -> None:
        """Make sure of what was written and let go; the next use opens it again."""
        ...


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """``value`` as one line of JSON that can be written as UTF-8."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys
    )
    return encodable(text)


class JsonLines:
    """A header line, then one line per call, only ever appended; for one process at a time.

    A last line that a crash cut short is left out with a warning, and goes when the next one is
    written.
    """

    _HEADER = dumps({"engram_recording": VERSION}).encode() + b"\n"

    def __init__(self, path: Path, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._fd: int | None = None
        self._at: dict[str, tuple[int, int]] = {}
        self._origins: set[Origin] = set()
        self._broken_from: int | None = None
        self._unended = False
        self._scan()

    def get(self, key: str) -> Line | None:
        if key not in self._at:
            return None
        start, length = self._at[key]
        with open(self._opened(), "rb", closefd=False) as file:
            file.seek(start)
            line: Line = json.loads(file.read(length))
        return line

    def put(self, line: Line) -> None:
        if line["key"] not in self._at:
            raw = dumps(line).encode() + b"\n"
            self._learn(line, self._append(raw), len(raw))

    def lines(self) -> Iterator[Line]:
        with open(self._path, "rb") as file:
            for start, length in self._at.values():
                file.seek(start)
                yield json.loads(file.read(length))

    def origins(self) -> set[Origin]:
        return set(self._origins)

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            try:
                if not self._read_only:
                    os.fsync(fd)
            finally:
                os.close(fd)

    def _opened(self) -> int:
        if self._fd is None:
            flags = os.O_RDONLY if self._read_only else os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._fd = os.open(self._path, flags | getattr(os, "O_BINARY", 0), 0o600)
        return self._fd

    def _scan(self) -> None:
        """Learn what the file holds; a new one gets its header."""
        self._opened()
        with open(self._path, "rb") as file:
            header = file.readline()
            start = len(header)
            if header != self._HEADER:
                if not self._HEADER.startswith(header):
                    _refuse(self._path, _version(header))
                self._broken_from, start = 0, 0  # new, or cut short within the header
            for number, raw in enumerate(file, 2):
                line = _read(raw)
                if self._broken_from is not None:
                    raise _damaged(self._path, f"line {number - 1} cannot be read")
                if line is None:
                    self._broken_from = start
                else:
                    self._learn(line, start, len(raw))
                    self._unended = not raw.endswith(b"\n")
                start += len(raw)
        if self._broken_from:
            log.warning("the last line of the recording %s is broken and left out", self._path.name)
        if self._broken_from == 0 and not self._read_only:
            self._append(self._HEADER)
        self.close()

    def _append(self, raw: bytes) -> int:
        """Write a line at the end, whole or not at all; where it starts."""
        fd = self._opened()
        if self._broken_from is not None:
            os.ftruncate(fd, self._broken_from)
            self._broken_from = None
        if self._unended:
            os.write(fd, b"\n")
            self._unended = False
        start = os.lseek(fd, 0, os.SEEK_END)
        if os.write(fd, raw) < len(raw):
            os.ftruncate(fd, start)
            raise OSError("no room left")
        return start

    def _learn(self, line: Line, start: int, length: int) -> None:
        self._at.setdefault(line["key"], (start, length))
        self._origins.add((line["kind"], line["backend"], line["model"]))


class SqliteFile:
    """One table; safe with several processes and threads."""

    _ID = 0x456E6772
    _SCHEMA = f"""
PRAGMA application_id = {_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE calls (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL, backend TEXT NOT NULL, model TEXT NOT NULL,
  request TEXT NOT NULL, answer TEXT NOT NULL, failed INTEGER NOT NULL,
  latency_ms REAL NOT NULL, cost_usd REAL, recorded_at TEXT NOT NULL
);
CREATE INDEX calls_by_origin ON calls (kind, backend, model);
PRAGMA journal_mode = WAL;
"""

    def __init__(self, path: Path, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._made: sqlite3.Connection | None = None
        if not read_only and not path.exists():
            self._create()
        with open(path, "rb") as file:
            head = file.read(100)
        ours = head.startswith(b"SQLite format 3\0") and head[68:72] == self._ID.to_bytes(4, "big")
        _refuse(path, int.from_bytes(head[60:64], "big") if ours else None)

    def get(self, key: str) -> Line | None:
        found = self._opened().execute("SELECT * FROM calls WHERE key = ?", (key,)).fetchone()
        return _line(found) if found else None

    def put(self, line: Line) -> None:
        self._opened().execute(
            "INSERT OR IGNORE INTO calls (key, kind, backend, model, request, answer, failed,"
            " latency_ms, cost_usd, recorded_at) VALUES (:key, :kind, :backend, :model, :request,"
            " :answer, :failed, :latency_ms, :cost_usd, :recorded_at)",
            line | {name: dumps(line[name]) for name in ("request", "answer")},
        )

    def lines(self) -> Iterator[Line]:
        for row in self._opened().execute("SELECT * FROM calls ORDER BY number"):
            yield _line(row)

    def origins(self) -> set[Origin]:
        rows = self._opened().execute("SELECT DISTINCT kind, backend, model FROM calls")
        return {(row["kind"], row["backend"], row["model"]) for row in rows}

    def close(self) -> None:
        connection, self._made = self._made, None
        if connection is not None:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._made is None:
            folder = self._path.resolve()
            writable = os.access(folder, os.W_OK) and os.access(folder.parent, os.W_OK)
            how = "mode=rw" if writable else "immutable=1"  # WAL needs files beside it
            self._made = _connect(f"{folder.as_uri()}?{how}")
        return self._made

    def _create(self) -> None:
        """Make the file whole and only then put it in its place, where another may be by now."""
        handle, name = tempfile.mkstemp(prefix=f".{self._path.name}-", dir=self._path.parent)
        os.close(handle)
        try:
            with closing(_connect(Path(name).resolve().as_uri())) as connection:
                connection.executescript(self._SCHEMA)
            with suppress(FileExistsError):
                os.link(name, self._path)
        finally:
            os.unlink(name)


def _connect(uri: str) -> sqlite3.Connection:
    """A connection any thread may use, one at a time."""
    connection = sqlite3.connect(
        uri, uri=True, timeout=60, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    return connection


def _line(row: sqlite3.Row) -> Line:
    line = {name: row[name] for name in _FIELDS}
    return line | {
        "request": json.loads(line["request"]),
        "answer": json.loads(line["answer"]),
        "failed": bool(line["failed"]),
    }


def _read(raw: bytes) -> Line | None:
    """A line of a file; None when it is broken."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and set(line) == _FIELDS else None


def _version(header: bytes) -> int | None:
    try:
        found = json.loads(header)["engram_recording"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return found if isinstance(found, int) else None


def _refuse(path: Path, version: int | None) -> None:
    """Raise unless ``version`` is ours; None is that of a file which is no recording."""
    if version is None:
        raise ConfigurationError(
            f"{path.name} is no recording; it was left as it is",
            hint="Name another file; one that does not exist yet is made.",
        )
    if version != VERSION:
        raise ConfigurationError(
            f"the recording {path.name} has version {version}, not {VERSION}",
            hint="Another version of engram_graph wrote it; record into another file.",
        )


def _damaged(path: Path, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"the recording {path.name} is damaged: {what}",
        hint="Remove what is wrong, or record into another file.",
    )
