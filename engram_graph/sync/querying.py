"""The blocking twin of ``query``."""

from __future__ import annotations

from typing import Any

from engram_graph.memory import AsyncMemory
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingQuerying(BlockingConnection):
    """``query``."""

    @twin_of(AsyncMemory.query)
    def query(
        self, name: str, /, *, namespace: str | None = None, **params: Any
    ) -> list[dict[str, Any]]:
        return self._call(lambda: self._inner.query(name, namespace=namespace, **params))
