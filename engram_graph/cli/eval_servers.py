"""The databases of a study: a server on an empty folder for each conversation.

Full text weighs a word by how rare it is on the whole server, in all namespaces. What a search
finds is the same in a replay only where the same is stored, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engram_graph.cli.output import Output

if TYPE_CHECKING:
    from engram_graph.settings import Settings

_SERVER = ("neo4j_uri", "neo4j_username", "neo4j_password", "neo4j_database")


class OwnServers:
    """Starts a server when the first client asks for one; NEO4J_URI takes the place of all.

    A context manager: at its end the server is stopped and removed.
    """

    def __init__(self, out: Output) -> None:
        self._out = out
        self._stack = ExitStack()
        self._running: Settings | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def settings(self, given: Settings) -> Settings:
        """``given`` with the server that is running, which is started if there is none.

        Raises:
            ServerError: it does not start.
        """
        from engram_graph.cli.client import own_server

        if given.neo4j_uri:
            return given
        if self._running is None:
            server = self._stack.enter_context(own_server(self._out, given, "engram-study-"))
            self._running = server.settings
        return given.model_copy(update={name: getattr(self._running, name) for name in _SERVER})

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """What is asked for within is a server that nothing was stored on."""
        self._end()
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        self._running = None
        self._stack.close()
