"""Recorded calls to models, in one file: what was asked, what came, how long it took, its cost.

The key of a call is the SHA-256 of its canonical JSON: everything that shapes the answer, nothing
that differs from run to run. Keys of an API are no part of it.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio.to_thread

from engram_graph import clock
from engram_graph.adapters.recording_files import File, JsonLines, Line, Origin, SqliteFile, dumps
from engram_graph.errors import ConfigurationError

Json = Any
Tokens = tuple[int | None, int | None]
_T = TypeVar("_T")
_FILES: dict[str, Callable[[Path, bool], File]] = {
    ".jsonl": JsonLines,
    ".sqlite": SqliteFile,
    ".db": SqliteFile,
}


@dataclass(frozen=True)
class Asked:
    """A call as it is looked up.

    Attributes:
        kind: ``decision``, ``extraction``, or what another user of recordings names.
        backend, model: who answers; ``model`` may be empty.
        request: plain JSON values, without ids, clocks and keys.
    """

    kind: str
    backend: str
    model: str
    request: Json

    @functools.cached_property
    def key(self) -> str:
        """The canonical hash of all of it."""
        return canonical_hash([self.kind, self.backend, self.model, self.request])


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is kept of a call.

    Attributes:
        answer: plain JSON values; of a failure its class, message, hint and details.
        cost_usd: what it cost when it was made, None when unknown. A replay costs nothing.
        recorded_at: when it was made.
    """

    answer: Json
    latency_ms: float
    cost_usd: float | None
    recorded_at: datetime
    failed: bool = False


class Watcher(Protocol):
    """Sees every call that passes through a recording, made or replayed."""

    def before(self, asked: Asked) -> None:
        """A call that is not recorded would be made now.

        Raises:
            EngramError: it may not; it is not made then.
        """
        ...

    def after(self, asked: Asked, call: Recorded, tokens: Tokens | None) -> None:
        """A call gave ``call``; a new one is kept after this, whatever it raises.

        Args:
            tokens: in and out, as the server told them; None for a call that was replayed.

        Raises:
            EngramError: it was the last that may be made.
        """
        ...


@dataclass(frozen=True, slots=True)
class Summary:
    """The calls of one kind to one model.

    Attributes:
        failures: calls that were refused, and are on replay.
        cost_usd: the sum of what is known. unpriced: calls whose cost is unknown.
    """

    kind: str
    backend: str
    model: str
    calls: int
    failures: int
    cost_usd: float
    unpriced: int
    first: datetime
    last: datetime


class Recording:
    """One file of recorded calls, JSON lines (``.jsonl``) or SQLite (``.sqlite``, ``.db``).

    Made when it does not exist. Several recorders may share one; with SQLite also several
    processes. The event loop never waits for the disk.

    Args:
        read_only: nothing is written; the file must exist.

    Attributes:
        spent_usd: the cost of new calls, as far as it is known.
        watcher: is told of every call; None for nobody.

    Raises:
        ConfigurationError: the file is no recording (it stays as it is), or cannot be used.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.spent_usd = 0.0
        self.watcher: Watcher | None = None
        self._lock = threading.Lock()
        kind = _FILES.get(self.path.suffix.lower())
        if kind is None:
            raise ConfigurationError(
                f"a recording's name ends in {', '.join(_FILES)}, not {self.path.name!r}"
            )
        with self._usable():
            self._file = kind(self.path, read_only)

    async def get(self, asked: Asked) -> Recorded | None:
        """What is recorded of this call."""
        return await self._in_thread(lambda: self.get_now(asked))

    async def put(self, asked: Asked, recorded: Recorded) -> None:
        """Keep a call that was made; one recorded already stays as it is."""
        await self._in_thread(lambda: self.put_now(asked, recorded))

    async def aclose(self) -> None:
        """Make sure of what was written and close the file; the next use opens it again."""
        await self._in_thread(self.close)

    def get_now(self, asked: Asked) -> Recorded | None:
        """``get``, blocking."""
        with self._usable(), self._lock:
            line = self._file.get(asked.key)
        return _recorded(line) if line is not None else None

    def put_now(self, asked: Asked, recorded: Recorded) -> None:
        """``put``, blocking."""
        with self._usable(), self._lock:
            self._file.put(_line(asked, recorded))

    def charge(self, cost_usd: float) -> None:
        """Count the cost of a new call."""
        with self._lock:
            self.spent_usd += cost_usd

    def origins(self) -> set[Origin]:
        """Kind, backend and model of every call there is."""
        with self._usable(), self._lock:
            return self._file.origins()

    def summary(self) -> list[Summary]:
        """What it holds, by kind, backend and model."""
        groups: dict[Origin, list[Recorded]] = {}
        with self._usable(), self._lock:
            for line in self._file.lines():
                origin = line["kind"], line["backend"], line["model"]
                groups.setdefault(origin, []).append(_recorded(line, answer=False))
        return [_summary(origin, groups[origin]) for origin in sorted(groups)]

    def close(self) -> None:
        """``aclose``, blocking."""
        with self._usable(), self._lock:
            self._file.close()

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await anyio.to_thread.run_sync(work)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """What the file system or SQLite says against the file, as our own error."""
        try:
            yield
        except FileNotFoundError:
            raise ConfigurationError(
                f"there is no recording {self.path.name}, or no folder for it",
                hint="Make its folder; or record first, with a budget, and replay then.",
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the recording {self.path.name} cannot be used: {_reason(error)}",
                hint="Check the file, its folder, and the room on the disk.",
            ) from None


def canonical_hash(value: Json) -> str:
    """SHA-256 of ``value`` as JSON: keys sorted, text in NFC, 1.0 as 1.

    Raises:
        ValueError, TypeError: a number that is none, or a value that is not JSON.
    """
    return hashlib.sha256(dumps(canonical(value), sort_keys=True).encode()).hexdigest()


def canonical(value: Json) -> Json:
    """``value`` in the form that is hashed; the order of lists stays."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {canonical(str(key)): canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _line(asked: Asked, recorded: Recorded) -> Line:
    return {
        "key": asked.key,
        "kind": asked.kind,
        "backend": asked.backend,
        "model": asked.model,
        "request": canonical(asked.request),
        "answer": recorded.answer,
        "failed": recorded.failed,
        "latency_ms": recorded.latency_ms,
        "cost_usd": recorded.cost_usd,
        "recorded_at": recorded.recorded_at.isoformat(),
    }


def _recorded(line: Line, *, answer: bool = True) -> Recorded:
    return Recorded(
        answer=line["answer"] if answer else None,
        latency_ms=line["latency_ms"],
        cost_usd=line["cost_usd"],
        recorded_at=clock.instant(line["recorded_at"]),
        failed=line["failed"],
    )


def _summary(origin: Origin, calls: list[Recorded]) -> Summary:
    kind, backend, model = origin
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    moments = [call.recorded_at for call in calls]
    return Summary(
        kind=kind,
        backend=backend,
        model=model,
        calls=len(calls),
        failures=sum(call.failed for call in calls),
        cost_usd=math.fsum(costs),
        unpriced=len(calls) - len(costs),
        first=min(moments),
        last=max(moments),
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
