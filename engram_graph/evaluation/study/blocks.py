"""How long the memory block is that the answering model is given. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram_graph.questions.answering import block
from engram_graph.rules.tokens import Counter

MEASURED = 30
"""Lines up to which every arm's block is measured, before anything is answered."""


def tokens(lines: Sequence[str], count: Counter) -> int:
    """Tokens of the block less those of an empty one."""
    return count(block(lines)) - count(block(()))


def sweep(lines: Sequence[str], most: int, count: Counter) -> tuple[int, ...]:
    """``tokens`` of the first 1, 2, … ``most`` lines; where there are fewer, of all."""
    found: list[int] = []
    for k in range(1, most + 1):
        found.append(found[-1] if found and k > len(lines) else tokens(lines[:k], count))
    return tuple(found)
