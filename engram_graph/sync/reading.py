"""The blocking reading methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram_graph.client.base import Moment
from engram_graph.client.reading import Period
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import (
    Clock,
    Diff,
    Explanation,
    Lines,
    Mode,
    NamespaceInfo,
    Page,
    Recall,
    Report,
    Stats,
    Timeline,
)
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingReading(BlockingConnection):
    """``search``, ``facts``, ``history``, ``diff``, ``explain`` and what belongs to them."""

    @twin_of(AsyncMemory.search)
    def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        mode: Mode = "facts",
        limit: int | None = None,
        as_of: Moment | None = None,
        between: Period | None = None,
        context_tokens: int | None = None,
        wide: bool = False,
        lines: Lines = "compact",
    ) -> Recall:
        return self._call(
            lambda: self._inner.search(
                query,
                namespace=namespace,
                mode=mode,
                limit=limit,
                as_of=as_of,
                between=between,
                context_tokens=context_tokens,
                wide=wide,
                lines=lines,
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
        between: Period | None = None,
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
                between=between,
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

    @twin_of(AsyncMemory.diff)
    def diff(
        self,
        start: Moment,
        end: Moment | None = None,
        *,
        clock: Clock = "valid",
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        limit: int = 1_000,
    ) -> Diff:
        return self._call(
            lambda: self._inner.diff(
                start,
                end,
                clock=clock,
                namespace=namespace,
                subject=subject,
                predicate=predicate,
                limit=limit,
            )
        )

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


async def _next(facts: Any) -> Fact | None:
    return await anext(facts, None)
