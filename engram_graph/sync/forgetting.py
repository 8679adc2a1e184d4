"""The blocking twins: forget."""

from __future__ import annotations

from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import Forgotten
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingForgetting(BlockingConnection):
    """``forget``."""

    @twin_of(AsyncMemory.forget)
    def forget(
        self,
        *,
        fact: Fact | str | None = None,
        message: Message | str | None = None,
        entity: str | None = None,
        everything: bool = False,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        return self._call(
            lambda: self._inner.forget(
                fact=fact,
                message=message,
                entity=entity,
                everything=everything,
                namespace=namespace,
                dry_run=dry_run,
            )
        )
