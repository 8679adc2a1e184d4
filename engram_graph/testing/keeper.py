"""After each test: ``doctor`` on the namespaces that are the test's, and their removal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.from_thread import BlockingPortal, start_blocking_portal

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.flows import doctor
from engram_graph.graph import doctor as store
from engram_graph.graph import schema
from engram_graph.graph.driver import Graph
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.models.results import Finding
from engram_graph.testing.database import Neo4jServer


class Keeper:
    """A connection and an event loop of its own, which no test can spoil.

    Attributes:
        portal: calls coroutines in that loop. graph: the connection, for use in there.
    """

    def __init__(self, portal: BlockingPortal, graph: Graph) -> None:
        self.portal = portal
        self.graph = graph

    def namespaces(self, prefix: str) -> list[str]:
        """The namespaces whose names start with ``prefix``."""
        return self.portal.call(store.namespaces_starting, self.graph, prefix)

    def findings(self, prefix: str) -> list[tuple[str, Finding]]:
        """What is broken in the namespaces whose names start with ``prefix``, each with its."""

        names = self.namespaces(prefix)

        async def look() -> list[tuple[str, Finding]]:
            return [
                (name, finding)
                for name in names
                for finding in (await doctor.check(self.graph, name)).findings
            ]

        return self.portal.call(look)

    def complaint(self, prefix: str) -> str | None:
        """``findings`` in words, to fail a test with; None without any."""
        lines = [f"{where}: {one.invariant}: {one.message}" for where, one in self.findings(prefix)]
        return "\n".join(["doctor found a broken graph", *lines]) if lines else None

    def remove(self, prefix: str) -> None:
        """Remove the namespaces whose names start with ``prefix``, with all that is in them."""

        for name in self.namespaces(prefix):
            self.portal.call(forget_namespace, self.graph, name)


@contextmanager
def keeper(server: Neo4jServer, embedder: HashEmbedder | None = None) -> Iterator[Keeper]:
    """A keeper on ``server``, which has the schema and the vector indexes of ``embedder`` by then.

    Raises:
        EmbedderMismatchError, DimensionError: vectors of another embedder are stored there.
    """
    made_by = embedder or HashEmbedder()

    async def open_graph() -> Graph:
        graph = Graph(server.uri, server.username, server.password)
        try:
            await graph.connect()
            await schema.migrate(graph, made_by.model, made_by.dimension)
        except BaseException:
            await graph.close()
            raise
        return graph

    with start_blocking_portal("asyncio") as portal:
        graph = portal.call(open_graph)
        try:
            yield Keeper(portal, graph)
        finally:
            portal.call(graph.close)
