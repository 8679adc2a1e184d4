"""What every flow works with: the graph, the models, the numbers, and how vectors are made."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from weakref import WeakValueDictionary

from engram_graph import clock, telemetry
from engram_graph.errors import EmbedderMismatchError, EmbeddingError
from engram_graph.flows.reads import ReadNotes
from engram_graph.flows.speakers import Speakers
from engram_graph.graph import schema
from engram_graph.graph.driver import Graph
from engram_graph.graph.places import Vectors
from engram_graph.models.facts import Vector
from engram_graph.ports import Decider, Embedder, Extractor, Reranker
from engram_graph.rules.method import DEFAULT, Method
from engram_graph.rules.tokens import Counter, estimate_tokens

log = logging.getLogger(__name__)
NO_EMBEDDER = "embedder: none installed, full text only"


@dataclass(slots=True)
class Runtime:
    """An open connection with its models.

    Attributes:
        embedder: None when none is installed; vectors are then absent and search uses full text.
        method: gates, belief and numbers. escalation: asked where the decider is too unsure.
        reranker: says which of the found items help; None leaves them in the order they were found.
        rerank_timeout_s: what a search waits for it at most.
        fits: the record of stored vectors that the embedder was found to fit.
        without: parts of the order of a search that are switched off.
        count, counted_by: how tokens of a context are counted, and by what.
        now: the moment that decisions are dated with; the wall clock, but for a replay.
        near_ids: facts nearest to a new one, where a replay knows them; None asks the index.
        reads: the facts that searches gave, noted later. speakers: who speaks, by namespace.
    """

    graph: Graph
    embedder: Embedder | None
    extractor: Extractor
    decider: Decider
    method: Method = DEFAULT
    escalation: Decider | None = None
    reranker: Reranker | None = None
    rerank_timeout_s: float = 20.0
    fits: Vectors | None = None
    without: frozenset[str] = frozenset()
    count: Counter = estimate_tokens
    counted_by: str = "estimate"
    now: Callable[[], datetime] = lambda: clock.now()
    near_ids: Sequence[str] | None = None
    reads: ReadNotes = field(init=False)
    speakers: Speakers = field(init=False)
    _locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    def __post_init__(self) -> None:
        self.reads = ReadNotes(self.graph)
        self.speakers = Speakers(self.graph)

    async def embed(
        self, texts: Sequence[str], *, query: bool = False
    ) -> tuple[list[Vector | None], str | None]:
        """A vector per text, or None for all and the reason in words.

        Raises:
            DimensionError, EmbedderMismatchError: the stored vectors are another embedder's.
        """
        if self.embedder is None:
            return [None] * len(texts), NO_EMBEDDER
        try:
            if self.fits is None or self.fits != self.graph.vectors:
                # Here and not at the start: who only reads facts needs no embedder at all.
                if not self.embedder.dimension:
                    await self.embedder.embed(["dimension"])  # some tell it only by working
                await schema.migrate(self.graph, self.embedder.model, self.embedder.dimension)
                self.fits = self.graph.vectors
            with telemetry.part("embed", self.embedder.model, texts=len(texts)):
                return list(await self.embedder.embed(texts, query=query)), None
        except EmbedderMismatchError:
            raise
        except EmbeddingError as error:
            telemetry.count("engram.degraded", part="embed")
            log.warning("embedder failed: %s", error.code)
            return [None] * len(texts), f"embedder: {error.message}"

    def writer_lock(self, namespace: str, subject_key: str) -> asyncio.Lock:
        """One writer per subject within this process, so that plans seldom go stale."""
        key = (namespace, subject_key)
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    async def aclose(self) -> None:
        """Note what was read, close the models and the pool."""
        await self.reads.aclose()
        for part in (
            self.embedder,
            self.extractor,
            self.decider,
            self.escalation,
            self.reranker,
        ):
            if part is not None:
                await part.aclose()
        await self.graph.close()
