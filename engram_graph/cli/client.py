"""The commands' client: ``AsyncMemory`` that tells what it starts, and can be interrupted."""

from __future__ import annotations

from typing import Any, Self

from engram_graph.cli.output import Output
from engram_graph.cli.run import interruptible
from engram_graph.flows.runtime import Runtime
from engram_graph.memory import AsyncMemory
from engram_graph.server import EmbeddedServer, ServerInfo


class Client(AsyncMemory):
    """Connects at the first call, not on entering: input is checked before a server is started."""

    def __init__(self, namespace: str | None = None, *, out: Output, **parts: Any) -> None:
        super().__init__(namespace, **parts)
        self._out = out

    async def __aenter__(self) -> Self:
        return self

    async def open(self) -> Runtime:
        """As ``AsyncMemory.open``; the embedded server starts here, with its progress shown."""
        if self._runtime is None and not self.settings.neo4j_uri:
            start_server(EmbeddedServer(), self._out)
        return await super().open()


def start_server(server: EmbeddedServer, out: Output) -> ServerInfo:
    """Find or start the embedded server."""
    running = server.status()
    if running is not None:
        return running
    out.note("Starting the embedded Neo4j …")
    with interruptible(), out.bar("Fetching Neo4j, once a machine") as progress:
        return server.up(progress)
