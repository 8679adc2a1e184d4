"""Where scenarios run: a server that is there, or an embedded one for the run alone."""

from __future__ import annotations

from collections.abc import Callable

import anyio.to_thread

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.embedders import make_embedder
from engram_graph.errors import DimensionError, EmbedderMismatchError
from engram_graph.graph import schema
from engram_graph.memory import AsyncMemory
from engram_graph.ports import Embedder
from engram_graph.settings import Settings

Restart = Callable[[], Settings]


class Database:
    """The server of ``settings``, and the embedder its vectors allow.

    Args:
        restart: stops the server and starts it again; its settings then. None for a server that
            is not ours to stop.
    """

    def __init__(self, settings: Settings, restart: Restart | None = None) -> None:
        self._restart = restart
        self.settings = _unbound(settings)
        self.embedder: Embedder | None = HashEmbedder(
            settings.embedding_dimension or schema.DEFAULT_DIMENSION
        )

    async def prepare(self) -> None:
        """Connect once. Where another embedder made the stored vectors, take that of the settings.

        Raises:
            EngramError: no connection, or no embedder that fits.
        """
        async with AsyncMemory(settings=self.settings, embedder=self.embedder) as memory:
            try:
                await (await memory.open()).embed(["fits"])
                return
            except (DimensionError, EmbedderMismatchError):
                self.embedder = make_embedder(self.settings)

    async def reopen(self) -> None:
        """Stop the server and start it again, if it is ours."""
        if self._restart is not None:
            self.settings = _unbound(await anyio.to_thread.run_sync(self._restart))


def _unbound(settings: Settings) -> Settings:
    """Without a namespace or models of the user's: a scenario names what it uses."""
    return settings.model_copy(
        update={
            "namespace": None,
            "decider": "rules",
            "escalation": "none",
            "extractor": "patterns",
            "recording": None,
        }
    )
