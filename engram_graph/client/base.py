"""What every method of the client stands on: the connection, its scope, work in the background."""

from __future__ import annotations

import asyncio
import logging
from datetime import date, datetime
from types import TracebackType
from typing import Any, Self

from engram_graph import telemetry
from engram_graph.adapters.recording import Recording
from engram_graph.errors import ConfigurationError, ExtractionError
from engram_graph.flows import write
from engram_graph.flows.runtime import Runtime
from engram_graph.graph.write import Stored
from engram_graph.models.facts import Fact
from engram_graph.models.results import Added
from engram_graph.ports import Decider, Embedder, Extractor, Reranker
from engram_graph.rules.method import Method
from engram_graph.rules.validate import clean_namespace, clean_text
from engram_graph.settings import Settings
from engram_graph.vocabulary import MessageStatus
from engram_graph.wiring import Progress, open_runtime

Moment = datetime | date | str
log = logging.getLogger(__name__)


class Connection:
    """An open client; see ``AsyncMemory`` for the arguments."""

    def __init__(
        self,
        namespace: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        decider: Decider | None = None,
        reranker: Reranker | None = None,
        method: Method | None = None,
        recording: Recording | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.settings = settings or Settings.load()
        self.namespace = namespace if namespace is not None else self.settings.namespace
        if self.namespace is not None:
            clean_namespace(self.namespace)
        self._parts: dict[str, Any] = {
            "embedder": embedder,
            "extractor": extractor,
            "decider": decider,
            "reranker": reranker,
            "method": method,
            "recording": recording,
            "progress": progress,
        }
        self._runtime: Runtime | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._waiting: asyncio.Queue[tuple[Stored, telemetry.Context]] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    async def open(self) -> Runtime:
        """Connect now rather than at the first call."""
        loop = asyncio.get_running_loop()
        if self._runtime is not None and self._loop is not loop:
            raise ConfigurationError(
                "this client was opened in another event loop",
                hint="Make one in each asyncio.run, or use Memory.",
            )
        async with self._opening:
            if self._runtime is None:
                self._runtime = await open_runtime(self.settings, **self._parts)
                self._loop = loop
            return self._runtime

    async def aclose(self) -> None:
        """Finish what ``wait=False`` left, then close the connection."""
        try:
            if self._worker is not None:
                if not self._worker.done():
                    await self._waiting.join()
                await self._end_worker()
            if self._failure is not None:  # nobody called flush
                # Its kind only: the words of a fault may hold the message.
                log.error("a message is unfinished, resume it: %s", type(self._failure).__name__)
        finally:
            if self._runtime is not None:
                await self._runtime.aclose()
                self._runtime = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            await self._end_worker()  # what is left for later is safe: ``resume`` finishes it
        await self.aclose()

    async def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
            self._worker = None

    def _scope(self, namespace: str | None) -> str:
        return clean_namespace(namespace if namespace is not None else self.namespace)

    def _later(self, stored: Stored, degraded: tuple[str, ...]) -> Added:
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="engram_graph writer")
        self._waiting.put_nowait((stored, telemetry.here()))
        return Added(message=stored.message, duplicate=not stored.created, degraded=degraded)

    async def _work(self) -> None:
        """Write the facts of stored messages one after the other, in the order they came."""
        while True:
            stored, asked = await self._waiting.get()
            try:
                with telemetry.continued(asked), telemetry.span("engram.process"):
                    added = await write.process(await self.open(), stored)
                if added.message.status is MessageStatus.FAILED:
                    raise ExtractionError(added.message.error or "the extractor failed")
            except Exception as error:  # kept for flush; the message itself is safe
                self._failure = self._failure or error
            finally:
                self._waiting.task_done()


def fact_id(fact: Fact | str) -> str:
    """The id of a fact given as itself or as its id."""
    return fact.id if isinstance(fact, Fact) else clean_text(fact, "fact id")
