"""The commands' client: ``AsyncMemory`` that tells what it starts, and can be interrupted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from pydantic import SecretStr

from engram_graph.cli.interrupt import interruptible, terminable
from engram_graph.cli.output import Output
from engram_graph.flows.runtime import Runtime
from engram_graph.memory import AsyncMemory
from engram_graph.server import EmbeddedServer, ServerInfo
from engram_graph.settings import Settings


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


def start_server(server: EmbeddedServer, out: Output, *, http: bool = True) -> ServerInfo:
    """Find or start the embedded server, with Browser unless ``http`` is off."""
    running = server.status()
    if running is not None:
        return running
    out.note("Starting the embedded Neo4j …")
    with interruptible(), out.bar("Fetching Neo4j, once a machine") as progress:
        return server.up(progress, http=http)


class OwnServer:
    """A running server for one command alone. ``settings``: of a client on it."""

    def __init__(self, server: EmbeddedServer, info: ServerInfo, settings: Settings) -> None:
        self._server = server
        self.settings = _on(info, settings)

    def restart(self) -> Settings:
        """Stop the server and start it again as a new process; the settings then."""
        self._server.down()
        self.settings = _on(self._server.up(http=False), self.settings)
        return self.settings


@contextmanager
def own_server(out: Output, settings: Settings, prefix: str) -> Iterator[OwnServer]:
    """A server on an empty folder; stopped and removed at the end, also when terminated.

    Args:
        prefix: of the folder's name.
    """
    with terminable(), tempfile.TemporaryDirectory(prefix=prefix) as folder:
        server = EmbeddedServer(Path(folder) / "neo4j")
        try:
            yield OwnServer(server, start_server(server, out, http=False), settings)
        finally:
            server.down()


def _on(info: ServerInfo, settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "neo4j_uri": info.bolt_uri,
            "neo4j_username": info.username,
            "neo4j_password": SecretStr(info.password),
            "neo4j_database": None,
        }
    )
