"""An embedder without a model: hashed words and character n-grams. For tests and benchmarks.

Texts that share words or parts of words are near each other; meaning plays no role. Every process
on every machine gives the same vectors.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from engram_graph.models.facts import Vector

_GRAM = 3
_GRAM_WEIGHT = 0.4  # against 1 for the word itself: spelling counts, but less than the word
_MAX_WORD = 64
_Features = tuple[tuple[int, float], ...]


class HashEmbedder:
    """Deterministic embedder; ``dimension`` floats per text, no load time, no state."""

    def __init__(self, dimension: int = 384) -> None:
        if dimension < 2:
            raise ValueError("dimension must be at least 2")
        self.dimension = dimension
        self.model = f"hash-{dimension}"

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One unit vector per text; questions and statements are treated alike."""
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        """The unit vector of one text; a blank text has one too."""
        sums = [0.0] * self.dimension
        words = Counter(unicodedata.normalize("NFC", text).casefold().split()) or {"": 1}
        for word, count in words.items():
            weight = 1.0 + math.log(count)  # a word said ten times is not ten times the topic
            for index, value in _features(word[:_MAX_WORD], self.dimension):
                sums[index] += weight * value
        norm = math.sqrt(math.fsum(value * value for value in sums))
        if norm < 1e-9:  # all features cancelled out
            sums[0], norm = 1.0, 1.0
        return [value / norm for value in sums]

    async def aclose(self) -> None:
        """Nothing to release."""


@functools.lru_cache(maxsize=50_000)
def _features(word: str, dimension: int) -> _Features:
    """(index, signed weight) of a word without its outer punctuation, and of its n-grams."""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    bare = word[start:end] or word  # "?!" alone still has a place
    padded = f"^{bare}$"
    grams = {padded[at : at + _GRAM] for at in range(len(padded) - _GRAM + 1)} - {padded}
    weighted = [("w" + bare, 1.0), *(("g" + gram, _GRAM_WEIGHT) for gram in sorted(grams))]
    found = []
    for name, weight in weighted:
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        found.append(((number >> 1) % dimension, weight if number & 1 else -weight))
    return tuple(found)
