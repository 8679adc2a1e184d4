"""A cache of recent vectors around any embedder, in memory."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder

_Key = tuple[str, bool, bytes]


class CachedEmbedder:
    """Embeds each text once while it stays among the ``size`` most recently used ones.

    Texts are kept as hashes, vectors as 8-byte floats (3 kB for 384 dimensions). Equal texts
    within one call are embedded once. Safe to share between tasks and threads; two calls at the
    same moment may both embed the same new text.
    """

    def __init__(self, inner: Embedder, size: int = 4096) -> None:
        if size < 1:
            raise ValueError("size must be at least 1")
        self.inner = inner
        self.size = size
        self.hits = 0
        self.misses = 0
        self._vectors: OrderedDict[_Key, array[float]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The inner embedder's model."""
        return self.inner.model

    @property
    def dimension(self) -> int:
        """The inner embedder's dimension."""
        return self.inner.dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """As the inner embedder; every call gets lists of its own.

        Raises:
            EmbeddingError: the inner embedder failed; nothing of this call was cached.
        """
        model = self.inner.model  # names prefixes too
        keys = [_key(model, query, text) for text in texts]
        known: dict[_Key, array[float]] = {}
        missing: dict[_Key, str] = {}
        with self._lock:
            for key, text in zip(keys, texts, strict=True):
                found = self._vectors.get(key)
                if found is None:
                    missing[key] = text
                else:
                    self._vectors.move_to_end(key)
                    known[key] = found
            self.hits += len(keys) - len(missing)
            self.misses += len(missing)
        if missing:
            vectors = await self.inner.embed(list(missing.values()), query=query)
            fresh = {key: array("d", vector) for key, vector in zip(missing, vectors, strict=True)}
            known |= fresh
            with self._lock:
                self._vectors |= fresh
                while len(self._vectors) > self.size:
                    self._vectors.popitem(last=False)
        return [known[key].tolist() for key in keys]

    async def aclose(self) -> None:
        """Forget everything and release the inner embedder."""
        with self._lock:
            self._vectors.clear()
        await self.inner.aclose()


def cached(embedder: Embedder) -> Embedder:
    """``embedder`` with a cache around it; one that has a cache, as it is."""
    return embedder if isinstance(embedder, CachedEmbedder) else CachedEmbedder(embedder)


def _key(model: str, query: bool, text: str) -> _Key:
    return model, query, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
