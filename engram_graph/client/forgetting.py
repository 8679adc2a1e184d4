"""The client's methods: forget."""

from __future__ import annotations

from engram_graph.client.base import Connection


class Forgetting(Connection):
    """``forget``."""
