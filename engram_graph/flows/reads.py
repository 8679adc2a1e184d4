"""Which facts were read: collected while searching, written down by a write of their own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from contextvars import Context
from datetime import datetime

from engram_graph import clock
from engram_graph.errors import EngramError
from engram_graph.graph import hygiene
from engram_graph.graph.driver import Graph

log = logging.getLogger(__name__)
EVERY_FACTS = 200
EVERY_SECONDS = 20.0
_CLOSING_SECONDS = 5.0


class ReadNotes:
    """Reads not written yet; a search neither waits for them nor fails with them.

    They are written when there are ``EVERY_FACTS``, after ``EVERY_SECONDS``, and at the end. What a
    crash or a failing database takes is lost: then facts seem unread for longer than they are, and
    upkeep asks about some of them once too often.
    """

    def __init__(self, graph: Graph, every_seconds: float = EVERY_SECONDS) -> None:
        self._graph = graph
        self._every_seconds = every_seconds
        self._waiting: dict[str, dict[str, datetime]] = {}
        self._count = 0
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def note(self, namespace: str, ids: Iterable[str]) -> None:
        """Facts that were read just now."""
        now = clock.now()
        facts = self._waiting.setdefault(namespace, {})
        before = len(facts)
        facts |= dict.fromkeys(ids, now)
        self._count += len(facts) - before
        if self._count >= EVERY_FACTS:
            self._full.set()
        if self._count and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(
                self._later(),
                name="engram_graph reads",
                context=Context(),  # no part of the search that happened to begin it
            )

    async def flush(self) -> None:
        """Write them now; what fails is dropped."""
        waiting, self._waiting, self._count = self._waiting, {}, 0
        self._full.clear()
        for namespace, facts in waiting.items():
            try:
                await hygiene.note_reads(self._graph, namespace, facts.items())
            except EngramError as error:
                log.info("reads were not noted: %s", error.code)

    async def aclose(self) -> None:
        """Write what is left, within a few seconds."""
        if self._task is not None:
            self._full.set()  # no more waiting
            await asyncio.wait({self._task}, timeout=_CLOSING_SECONDS)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _later(self) -> None:
        while self._count:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_seconds):
                    await self._full.wait()
            await self.flush()
