"""The client's methods: export and import_."""

from __future__ import annotations

from engram_graph.client.base import Connection


class Transfer(Connection):
    """``export`` and ``import_``."""
