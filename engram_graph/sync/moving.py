"""The blocking twins: move_graphiti, move_agent_memory, move_mem0."""

from __future__ import annotations

from pathlib import Path

from engram_graph.memory import AsyncMemory
from engram_graph.models.moving import Moved
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingMoving(BlockingConnection):
    """``move_graphiti``, ``move_agent_memory`` and ``move_mem0``."""

    @twin_of(AsyncMemory.move_graphiti)
    def move_graphiti(
        self,
        group: str,
        *,
        namespace: str | None = None,
        uri: str | None = None,
        username: str = "neo4j",
        password: str = "",
        database: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Moved:
        return self._call(
            lambda: self._inner.move_graphiti(
                group,
                namespace=namespace,
                uri=uri,
                username=username,
                password=password,
                database=database,
                dry_run=dry_run,
                progress=progress,
            )
        )

    @twin_of(AsyncMemory.move_agent_memory)
    def move_agent_memory(
        self,
        user: str | None = None,
        *,
        namespace: str | None = None,
        uri: str | None = None,
        username: str = "neo4j",
        password: str = "",
        database: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Moved:
        return self._call(
            lambda: self._inner.move_agent_memory(
                user,
                namespace=namespace,
                uri=uri,
                username=username,
                password=password,
                database=database,
                dry_run=dry_run,
                progress=progress,
            )
        )

    @twin_of(AsyncMemory.move_mem0)
    def move_mem0(
        self,
        path: str | Path,
        history: str | Path | None = None,
        *,
        user_id: str | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Moved:
        return self._call(
            lambda: self._inner.move_mem0(
                path,
                history,
                user_id=user_id,
                namespace=namespace,
                dry_run=dry_run,
                progress=progress,
            )
        )
