"""Vectors made before the clock starts, so that no embedder is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.models.facts import Vector


class ReadyVectors:
    """The hash embedder, which knows the texts it was told of by heart."""

    def __init__(self, embedder: HashEmbedder) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._ready: dict[str, Vector] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Have the vectors of ``texts`` ready, and of no others."""
        self._ready = {text: self._embedder.vector(text) for text in texts}

    def saying(self, same: Mapping[str, str]) -> ReadyVectors:
        """Another one, to which each key of ``same`` means what its value does."""
        other = ReadyVectors(self._embedder)
        other._ready = {text: self._embedder.vector(meant) for text, meant in same.items()}
        return other

    def vector(self, text: str) -> Vector:
        """The vector of one text."""
        return self._ready.get(text) or self._embedder.vector(text)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """A vector per text."""
        return [self.vector(text) for text in texts]

    async def aclose(self) -> None:
        """Nothing to release."""
