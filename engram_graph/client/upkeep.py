"""The client's methods: hygiene: what keeps a store in order."""

from __future__ import annotations

from engram_graph.client.base import Connection


class Upkeep(Connection):
    """``hygiene``: what keeps a store in order."""
