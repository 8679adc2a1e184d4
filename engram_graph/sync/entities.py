"""The blocking twins: entities, aliases, merge_entities and taking a merge back."""

from __future__ import annotations

from engram_graph.sync.base import BlockingConnection


class BlockingEntities(BlockingConnection):
    """``entities``, aliases, ``merge_entities`` and taking a merge back."""
