"""The blocking twins: export and import_."""

from __future__ import annotations

from engram_graph.sync.base import BlockingConnection


class BlockingTransfer(BlockingConnection):
    """``export`` and ``import_``."""
