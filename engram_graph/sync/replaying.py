"""The blocking twin of ``whatif``."""

from __future__ import annotations

from collections.abc import Mapping

from engram_graph.memory import AsyncMemory
from engram_graph.models.whatif import WhatIf
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingReplaying(BlockingConnection):
    """``whatif``."""

    @twin_of(AsyncMemory.whatif)
    def whatif(
        self,
        *,
        preset: str | None = None,
        numbers: Mapping[str, float] | None = None,
        ask: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> WhatIf:
        return self._call(
            lambda: self._inner.whatif(
                preset=preset, numbers=numbers, ask=ask, namespace=namespace, progress=progress
            )
        )
