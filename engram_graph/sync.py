"""``Memory``: the methods of ``AsyncMemory``, blocking; also usable inside a running event loop.

One thread with an event loop of its own opens the connection and runs every call, so a notebook or
a web handler may use it as it is.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from engram_graph.client.base import Moment
from engram_graph.errors import ConfigurationError
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import (
    Added,
    Explanation,
    Imported,
    Mode,
    NamespaceInfo,
    Page,
    Recall,
    Report,
    Stats,
    Timeline,
)
from engram_graph.portal import LoopThread, twin_of
from engram_graph.ports import Decider, Embedder, Extractor
from engram_graph.settings import Settings
from engram_graph.wiring import Progress

_running: weakref.WeakSet[Memory] = weakref.WeakSet()
T = TypeVar("T")


class Memory:
    """Long-term memory in Neo4j, blocking; see ``AsyncMemory`` for every argument.

    Use it in a ``with`` block, or call ``close``.
    """

    def __init__(
        self,
        namespace: str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        decider: Decider | None = None,
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

    @overload
    def add(
        self,
        content: str,
        *,
        namespace: str | None = ...,
        conversation: str | None = ...,
        speaker: str | None = ...,
        role: str = ...,
        said_at: Moment | None = ...,
        source_id: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        wait: bool = ...,
    ) -> Added: ...

    @overload
    def add(
        self,
        content: Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = ...,
        conversation: str | None = ...,
        speaker: str | None = ...,
        role: str = ...,
        said_at: Moment | None = ...,
        source_id: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        wait: bool = ...,
    ) -> list[Added]: ...

    @twin_of(AsyncMemory.add)
    def add(
        self,
        content: str | Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        role: str = "user",
        said_at: Moment | None = None,
        source_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Added | list[Added]:
        inner: Callable[..., Awaitable[Added | list[Added]]] = self._inner.add
        return self._call(
            lambda: inner(
                content,
                namespace=namespace,
                conversation=conversation,
                speaker=speaker,
                role=role,
                said_at=said_at,
                source_id=source_id,
                metadata=metadata,
                wait=wait,
            )
        )

    @twin_of(AsyncMemory.remember)
    def remember(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the triple's own word
        *,
        namespace: str | None = None,
        text: str | None = None,
        negated: bool = False,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        said_at: Moment | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        role: str = "user",
        source_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        return self._call(
            lambda: self._inner.remember(
                subject,
                predicate,
                object,
                namespace=namespace,
                text=text,
                negated=negated,
                valid_from=valid_from,
                valid_until=valid_until,
                said_at=said_at,
                conversation=conversation,
                speaker=speaker,
                role=role,
                source_id=source_id,
                metadata=metadata,
            )
        )

    @twin_of(AsyncMemory.remember_many)
    def remember_many(
        self,
        facts: Iterable[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        decide: bool = True,
        progress: Progress | None = None,
    ) -> Imported:
        return self._call(
            lambda: self._inner.remember_many(
                facts, namespace=namespace, decide=decide, progress=progress
            )
        )

    @twin_of(AsyncMemory.correct)
    def correct(
        self,
        fact: Fact | str,
        *,
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        text: str | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        reason: str = "",
        speaker: str | None = None,
    ) -> Added:
        return self._call(
            lambda: self._inner.correct(
                fact,
                namespace=namespace,
                subject=subject,
                predicate=predicate,
                object=object,
                text=text,
                valid_from=valid_from,
                valid_until=valid_until,
                reason=reason,
                speaker=speaker,
            )
        )

    @twin_of(AsyncMemory.ingest)
    def ingest(
        self,
        path: str | Path,
        *,
        namespace: str | None = None,
        conversation: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        return self._call(
            lambda: self._inner.ingest(
                path, namespace=namespace, conversation=conversation, progress=progress
            )
        )

    @twin_of(AsyncMemory.resume)
    def resume(self, *, namespace: str | None = None) -> list[Added]:
        return self._call(lambda: self._inner.resume(namespace=namespace))

    @twin_of(AsyncMemory.flush)
    def flush(self) -> None:
        self._call(lambda: self._inner.flush())

    @twin_of(AsyncMemory.search)
    def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        mode: Mode = "facts",
        limit: int | None = None,
        as_of: Moment | None = None,
        context_tokens: int | None = None,
    ) -> Recall:
        return self._call(
            lambda: self._inner.search(
                query,
                namespace=namespace,
                mode=mode,
                limit=limit,
                as_of=as_of,
                context_tokens=context_tokens,
            )
        )

    @twin_of(AsyncMemory.get)
    def get(self, id: str, *, namespace: str | None = None) -> Fact:  # noqa: A002
        return self._call(lambda: self._inner.get(id, namespace=namespace))

    @twin_of(AsyncMemory.get_message)
    def get_message(self, id: str, *, namespace: str | None = None) -> Message:  # noqa: A002
        return self._call(lambda: self._inner.get_message(id, namespace=namespace))

    @twin_of(AsyncMemory.facts)
    def facts(
        self,
        *,
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        open: bool | None = None,  # noqa: A002
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        return self._call(
            lambda: self._inner.facts(
                namespace=namespace,
                subject=subject,
                predicate=predicate,
                object=object,
                open=open,
                as_of=as_of,
                known_at=known_at,
                limit=limit,
                cursor=cursor,
            )
        )

    @twin_of(AsyncMemory.iter_facts)
    def iter_facts(self, **filters: Any) -> Iterator[Fact]:
        facts = self._inner.iter_facts(**filters)
        while (fact := self._call(_next, facts)) is not None:
            yield fact

    @twin_of(AsyncMemory.history)
    def history(
        self, subject: str, predicate: str | None = None, *, namespace: str | None = None
    ) -> Timeline:
        return self._call(lambda: self._inner.history(subject, predicate, namespace=namespace))

    @twin_of(AsyncMemory.explain)
    def explain(self, fact: Fact | str, *, namespace: str | None = None) -> Explanation:
        return self._call(lambda: self._inner.explain(fact, namespace=namespace))

    @twin_of(AsyncMemory.namespaces)
    def namespaces(self) -> list[NamespaceInfo]:
        return self._call(lambda: self._inner.namespaces())

    @twin_of(AsyncMemory.stats)
    def stats(self, *, namespace: str | None = None) -> Stats:
        return self._call(lambda: self._inner.stats(namespace=namespace))

    @twin_of(AsyncMemory.doctor)
    def doctor(self, *, namespace: str | None = None, everywhere: bool = False) -> Report:
        return self._call(lambda: self._inner.doctor(namespace=namespace, everywhere=everywhere))

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


async def _next(facts: Any) -> Fact | None:
    return await anext(facts, None)
