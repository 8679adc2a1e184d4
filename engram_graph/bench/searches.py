"""Searches through the whole read path, beside bare statements over the same records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from engram_graph.bench.bare import Bare
from engram_graph.bench.timing import Times, in_turn
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.flows import read
from engram_graph.flows.runtime import Runtime
from engram_graph.models.results import Recall

LIMIT = 30
"""Facts or turns that are asked for, and that the bare statement takes from each index."""
_TOKENS = 1500

Sort = Literal["facts", "turns"]


async def timed(
    runtime: Runtime,
    vectors: ReadyVectors,
    bare: Bare,
    namespace: str,
    sort: Sort,
    asked: Iterator[str],
    rounds: int,
    step: Callable[[int], None],
) -> tuple[Times, Times]:
    """The product's times and the bare statement's; a tenth more rounds come first, uncounted."""
    measured, bared = Times(), Times()
    for number in range(-warming(rounds), rounds):
        if number == 0:
            measured, bared = Times(), Times()
        query = next(asked)
        vectors.prepare([query])
        parameters = bare.question(namespace, query, LIMIT)
        await in_turn(
            number,
            (measured, partial(find, runtime, namespace, query, sort)),
            (bared, partial(bare.search, sort, parameters)),
        )
        step(1)
    return measured, bared


async def find(runtime: Runtime, namespace: str, query: str, sort: Sort) -> Recall:
    """One search as a caller makes it."""
    return await read.search(
        runtime,
        namespace,
        query,
        mode=sort,
        limit=LIMIT,
        within=None,
        token_budget=_TOKENS,
    )


def warming(rounds: int) -> int:
    """Rounds before those that count."""
    return max(2, rounds // 10)
