"""What every blocking method stands on: a thread with a loop, and the asynchronous client in it."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from engram_graph.adapters.recording import Recording
from engram_graph.errors import ConfigurationError
from engram_graph.memory import AsyncMemory
from engram_graph.portal import LoopThread, twin_of
from engram_graph.ports import Decider, Embedder, Extractor, Reranker
from engram_graph.rules.method import Method
from engram_graph.settings import Settings
from engram_graph.wiring import Progress

_running: weakref.WeakSet[BlockingConnection] = weakref.WeakSet()
T = TypeVar("T")


class BlockingConnection:
    """An open client for threads that wait; see ``AsyncMemory`` for the arguments."""

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
        self._memory: AsyncMemory | None = None
        self._thread = LoopThread()
        _running.add(self)
        try:
            self._memory = self._call(
                _made,
                namespace,
                {
                    "settings": settings,
                    "embedder": embedder,
                    "extractor": extractor,
                    "decider": decider,
                    "reranker": reranker,
                    "method": method,
                    "recording": recording,
                    "progress": progress,
                },
            )
        except BaseException:
            self._stop()
            raise

    @property
    def namespace(self) -> str | None:
        """The namespace bound to this client."""
        return self._inner.namespace

    @property
    def settings(self) -> Settings:
        """The options in use."""
        return self._inner.settings

    def __enter__(self) -> Self:
        self._call(self._inner.open)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._stop(error)  # what still runs is cancelled, not waited for
        self.close()

    @twin_of(AsyncMemory.aclose)
    def close(self) -> None:
        if not self._thread.stopped:
            try:
                self._call(self._inner.aclose)
            finally:
                self._stop()

    @twin_of(AsyncMemory.open)
    def open(self) -> None:
        self._call(self._inner.open)

    # Inside

    @property
    def _inner(self) -> AsyncMemory:
        if self._memory is None or self._thread.stopped:
            raise ConfigurationError("this Memory is closed", hint="Make a new one.")
        return self._memory

    def _call(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        return self._thread.call(function, *args)

    def _stop(self, error: BaseException | None = None) -> None:
        _running.discard(self)
        self._thread.stop(error)


@atexit.register
def _close_all() -> None:
    """Close what a program has left open. Later its thread is gone, and closing would wait for it
    for ever."""
    for memory in list(_running):
        with suppress(Exception):
            memory.close()


async def _made(namespace: str | None, parts: dict[str, Any]) -> AsyncMemory:
    return AsyncMemory(namespace, **parts)
