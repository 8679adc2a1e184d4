"""The ports: what decides, what extracts, what embeds, what reranks. Settings choose adapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from engram_graph.models.decisions import Ask, Reply, Turn
from engram_graph.models.facts import Draft, Fact, Message, Vector
from engram_graph.models.ranking import Ranking


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


@runtime_checkable
class Reranker(Protocol):
    """Says which of the items that a search found help to answer its question.

    ``name`` is how results call it, such as ``decider`` or ``llm``; ``window`` is how many items
    one request may hold.
    """

    name: str
    window: int

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        """One request about up to ``window`` items, each of another id.

        Args:
            items: in the order they were found in.
            relation: say as well which relation the question asks about, if that can be told.

        Returns:
            A number for each item, in the one scale of this reranker; an item may be without.

        Raises:
            RerankError: no usable answer came.
        """
        ...

    async def aclose(self) -> None:
        """Release the model or its connections; a later ``rerank`` may take them up again."""
        ...
