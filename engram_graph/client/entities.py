"""The client's methods: entities, aliases, merge_entities and taking a merge back."""

from __future__ import annotations

from engram_graph.client.base import Connection


class Entities(Connection):
    """``entities``, aliases, ``merge_entities`` and taking a merge back."""
