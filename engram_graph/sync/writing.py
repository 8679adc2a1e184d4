"""The blocking writing methods."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from engram_graph.client.base import Moment
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.models.results import Added, Imported
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingWriting(BlockingConnection):
    """``add``, ``remember``, ``correct``, ``ingest`` and what belongs to them."""

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
        metadata: Mapping[str, Any] | None = None,
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
                metadata=metadata,
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
