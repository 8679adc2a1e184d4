"""The blocking twin of ``to_networkx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram_graph.client.base import Moment
from engram_graph.memory import AsyncMemory
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection

if TYPE_CHECKING:
    import networkx as nx


class BlockingNetworks(BlockingConnection):
    """``to_networkx``."""

    @twin_of(AsyncMemory.to_networkx)
    def to_networkx(
        self,
        *,
        namespace: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> nx.MultiDiGraph:
        return self._call(
            lambda: self._inner.to_networkx(namespace=namespace, as_of=as_of, known_at=known_at)
        )
