"""The client's methods: move_graphiti, move_agent_memory, move_mem0."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from engram_graph.client.base import Connection
from engram_graph.errors import EngramError
from engram_graph.flows import moving
from engram_graph.flows.runtime import Runtime
from engram_graph.graph.driver import Graph
from engram_graph.models.moving import Moved
from engram_graph.rules.validate import clean_text
from engram_graph.wiring import Progress

_THERE = "Check uri, username and password of the Neo4j to read from."


class Moving(Connection):
    """``move_graphiti``, ``move_agent_memory`` and ``move_mem0``."""

    async def move_graphiti(
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
        """Bring a group of graphiti (graphiti-core 0.31) into a namespace.

        Episodes become messages, relationships facts with both clocks. Nothing is decided, and the
        graph read from is not changed. What was moved before stays as it is.

        Args:
            group: the ``group_id``.
            uri: of the Neo4j that graphiti uses, with ``username``, ``password``, ``database``;
                None: this memory's own. It must be 2026.02 or later.
            dry_run: only count.

        Raises:
            InputError: there is no such group; nothing was written.
        """
        scope = self._scope(namespace)
        clean_text(group, "group")
        runtime = await self.open()
        async with _source(runtime, uri, username, password, database) as graph:
            found = await moving.graphiti(graph, group)
        return await moving.move(runtime, scope, found, dry_run=dry_run, progress=progress)

    async def move_agent_memory(
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
        """Bring what neo4j-agent-memory (0.8) holds into a namespace.

        Messages, facts, preferences and relationships between entities come in, reasoning traces
        do not.

        Args:
            user: only what is known to be this user's; facts are nobody's there, and are left out.
                None: all of it.
            uri, username, password, database, dry_run: as of ``move_graphiti``.

        Raises:
            InputError: there is nothing; nothing was written.
        """
        scope = self._scope(namespace)
        if user is not None:
            clean_text(user, "user")
        runtime = await self.open()
        async with _source(runtime, uri, username, password, database) as graph:
            found = await moving.agent_memory(graph, user)
        return await moving.move(runtime, scope, found, dry_run=dry_run, progress=progress)

    async def move_mem0(
        self,
        path: str | Path,
        history: str | Path | None = None,
        *,
        user_id: str | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Moved:
        """Bring memories of mem0 (2.2) into a namespace, from files.

        A memory becomes one fact, ``related_to``, with its sentence as it is. Those that mem0 has
        deleted stay deleted.

        Args:
            path: JSON as ``get_all`` gives it. history: a JSON list of rows of ``history``, of any
                memories: the versions before become facts that ended.
            user_id: whose; needed when the file has memories of several.

        Raises:
            InputError: a file is not usable, or has several owners; nothing was written.
        """
        scope = self._scope(namespace)
        found = await moving.mem0(Path(path), None if history is None else Path(history), user_id)
        runtime = await self.open()
        return await moving.move(runtime, scope, found, dry_run=dry_run, progress=progress)


@asynccontextmanager
async def _source(
    runtime: Runtime, uri: str | None, username: str, password: str, database: str | None
) -> AsyncIterator[Graph]:
    """The database to read from: another one, or this memory's own."""
    if uri is None:
        yield runtime.graph
        return
    graph: Graph | None = None
    try:
        try:
            graph = Graph(uri, username, password, database)
            await graph.connect()
        except EngramError as error:  # it speaks of this memory's own settings
            message = error.message.replace("NEO4J_URI", "uri")
            raise type(error)(message, hint=_THERE, **error.details) from None
        yield graph
    finally:
        if graph is not None:
            await graph.close()
