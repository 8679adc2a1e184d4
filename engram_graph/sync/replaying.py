"""The blocking twins of ``whatif`` and ``take_back``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engram_graph.memory import AsyncMemory
from engram_graph.models.whatif import TakenBack, WhatIf
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingReplaying(BlockingConnection):
    """``whatif``, ``take_back``."""

    @twin_of(AsyncMemory.whatif)
    def whatif(
        self,
        *,
        preset: str | None = None,
        numbers: Mapping[str, float] | None = None,
        ask: bool = False,
        apply: bool | Callable[[WhatIf], bool] = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> WhatIf:
        return self._call(
            lambda: self._inner.whatif(
                preset=preset,
                numbers=numbers,
                ask=ask,
                apply=apply,
                namespace=namespace,
                progress=progress,
            )
        )

    @twin_of(AsyncMemory.take_back)
    def take_back(self, *, namespace: str | None = None) -> TakenBack:
        return self._call(lambda: self._inner.take_back(namespace=namespace))
