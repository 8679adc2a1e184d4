"""The three ports: what decides, what extracts, what embeds. Adapters are chosen by settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.facts import Draft, Message, Vector


@runtime_checkable
class Decider(Protocol):
    """Answers narrow questions about a new fact with probabilities."""

    name: str

    async def ask(self, ask: Ask) -> Reply:
        """Answer every question of ``ask``.

        Raises:
            DecisionError: no usable answer came; the caller falls back and loses nothing.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Turns one message into drafts.

    ``name`` goes into each fact's provenance, such as ``patterns`` or ``llm:gpt-4o-mini``.
    """

    name: str

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """Drafts of what ``message`` states; ``recent`` holds up to 10 earlier turns, oldest first.

        Raises:
            ExtractionError: the answer could not be read whole; the message stays unfinished.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``model`` names what made a vector (stored with the index); ``dimension`` is its length, 0 while
    a model only tells it by working.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One unit vector of ``dimension`` floats per text, in order.

        Args:
            query: the texts are questions; some models want another prefix for those.

        Raises:
            EmbeddingError: the model failed.
        """
        ...

    async def aclose(self) -> None:
        """Release the model or its connections."""
        ...
