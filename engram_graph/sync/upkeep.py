"""The blocking twins: hygiene: what keeps a store in order."""

from __future__ import annotations

from engram_graph.sync.base import BlockingConnection


class BlockingUpkeep(BlockingConnection):
    """``hygiene``: what keeps a store in order."""
