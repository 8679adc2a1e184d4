"""The blocking twins: export and import_."""

from __future__ import annotations

from pathlib import Path

from engram_graph.memory import AsyncMemory
from engram_graph.models.export import Exported
from engram_graph.models.results import Imported
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingTransfer(BlockingConnection):
    """``export`` and ``import_``."""

    @twin_of(AsyncMemory.export)
    def export(
        self,
        path: str | Path | None = None,
        *,
        namespace: str | None = None,
        vectors: bool = False,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        return self._call(
            lambda: self._inner.export(
                path,
                namespace=namespace,
                vectors=vectors,
                overwrite=overwrite,
                progress=progress,
            )
        )

    @twin_of(AsyncMemory.import_)
    def import_(
        self,
        path: str | Path,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        return self._call(lambda: self._inner.import_(path, namespace=namespace, progress=progress))
