"""A recorder round an embedder over a network: a vector is bought once."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Sequence
from sys import byteorder

from engram_graph.adapters.recorder_calls import Made, Recorder
from engram_graph.adapters.recording import Asked, Json, Recording
from engram_graph.errors import BudgetError, EmbeddingError
from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder
from engram_graph.rules.text import encodable
from engram_graph.rules.tokens import estimate_tokens

EMBEDDING = "embedding"
BACKEND = "openai"


class RecordingEmbedder:
    """An embedder whose vectors are recorded text by text, and replayed when a text comes again.

    Vectors are kept as 32-bit floats and given so the first time too. What a request cost and took
    is parted among its texts by their length.

    Args:
        inner: asked for what is not recorded; None only replays.
        model: the name stored with vectors. dimension: None is learned from the first vector.
        budget_usd: see ``Recorder``.
    """

    def __init__(
        self,
        inner: Embedder | None,
        recording: Recording,
        *,
        model: str,
        dimension: int | None = None,
        budget_usd: float | None = None,
    ) -> None:
        self.model = model
        self.dimension = dimension or 0
        self._inner = inner
        self._recorder = Recorder(
            recording, budget_usd=budget_usd, failure=EmbeddingError, missing=BudgetError
        )

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """The recorded vectors; those that are not recorded are asked for in one call.

        Raises:
            BudgetError: one is not recorded, and may not be asked for.
            EmbeddingError: as the embedder within raised it, now or when it was recorded.
        """
        inner = self._inner

        async def make(places: Sequence[int]) -> list[Made]:
            assert inner is not None
            vectors = await inner.embed([texts[place] for place in places], query=query)
            return [Made(_form(vector)) for vector in vectors]

        asked = [
            Asked(EMBEDDING, BACKEND, self.model, {"text": encodable(text), "query": query})
            for text in texts
        ]
        sizes = [float(max(estimate_tokens(text), 1)) for text in texts]
        calls = await self._recorder.call_together(asked, sizes, make if inner else None)
        vectors = [_vector(call.answer) for call in calls]
        if vectors and not self.dimension:
            self.dimension = len(vectors[0])
        return vectors

    async def aclose(self) -> None:
        """Close the embedder within, and the recording even if that fails."""
        try:
            if self._inner is not None:
                await self._inner.aclose()
        finally:
            await self._recorder.aclose()


def _form(vector: Vector) -> Json:
    floats = array("f", vector)
    if byteorder == "big":
        floats.byteswap()
    return base64.b64encode(floats.tobytes()).decode()


def _vector(form: Json) -> Vector:
    floats = array("f", base64.b64decode(form))
    if byteorder == "big":
        floats.byteswap()
    return floats.tolist()
