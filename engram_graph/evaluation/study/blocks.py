"""The memory block that the answering model is given, and how long it is. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engram_graph.rules.tokens import Counter

MEASURED = 30
"""Lines up to which every arm's block is measured, before anything is answered."""


def block(lines: Sequence[str]) -> str:
    """``lines`` as a JSON array, a line each, indented by four."""
    return json.dumps(list(lines), indent=4, ensure_ascii=False)


def tokens(lines: Sequence[str], count: Counter) -> int:
    """Tokens of the block less those of an empty one."""
    return count(block(lines)) - count(block(()))


def sweep(lines: Sequence[str], most: int, count: Counter) -> tuple[int, ...]:
    """``tokens`` of the first 1, 2, … ``most`` lines; where there are fewer, of all."""
    found: list[int] = []
    for k in range(1, most + 1):
        found.append(found[-1] if found and k > len(lines) else tokens(lines[:k], count))
    return tuple(found)
