"""The blocking twins: forget."""

from __future__ import annotations

from engram_graph.sync.base import BlockingConnection


class BlockingForgetting(BlockingConnection):
    """``forget``."""
