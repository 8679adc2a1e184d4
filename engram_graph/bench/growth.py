"""``engram bench --growth``: searches among ten, a hundred, a thousand times as many records."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from engram_graph.bench import sentences, tenant
from engram_graph.bench.load import Loader
from engram_graph.bench.searches import Sort, timed, warming
from engram_graph.bench.setting import Setting
from engram_graph.bench.timing import Times, row
from engram_graph.errors import InputError

TARGETS: dict[Sort, float] = {"facts": 2.0, "turns": 4.0}
"""What a search may take of the bare statement's time."""
WORK: dict[Sort, str] = {"facts": "hybrid search", "turns": "turn search with windows"}
_SMALLEST = 100

Row = dict[str, Any]


def checked(sizes: Sequence[int]) -> list[int]:
    """``sizes``, if each is larger than the one before.

    Raises:
        InputError: none, too small, or not growing.
    """
    grows = all(a < b for a, b in itertools.pairwise(sizes))
    if not sizes or sizes[0] < _SMALLEST or not grows:
        raise InputError(
            f"sizes must grow, from {_SMALLEST} or more",
            hint="Such as 10000,100000,1000000.",
            field="growth",
        )
    return list(sizes)


async def measured(
    setting: Setting, sizes: Sequence[int], rounds: int, step: Callable[[int], None]
) -> list[Row]:
    """Load up to each size in turn; search there, and look for the sparse tenant's records.

    Args:
        sizes: facts, and as many turns, of the others' namespace.
        step: told how much of ``steps`` is done.

    Returns:
        For each size a row for each load (with seconds and per_s), for each search (as of
        ``engram bench``, with per_x10: how much the median grew since the size before, as a factor
        for ten times as many records) and for each index of the tenant (found, of).
    """
    others = Loader(setting.runtime, setting.vectors, setting.namespace)
    own = Loader(setting.runtime, setting.vectors, setting.tenant)
    await tenant.settle(own, others)
    given = sentences.stream(1)
    rows: list[Row] = []
    before: dict[Sort, tuple[int, Times]] = {}
    for begin, size in itertools.pairwise([0, *sizes]):
        began = others.facts_taken.total, others.turns_taken.total
        left = size - begin
        while left:
            items = list(itertools.islice(given, min(left, 10_000)))
            left -= len(items)
            await others.facts(items, step)
            await others.turns(items, arrived=step)
        taken = others.facts_taken.total - began[0], others.turns_taken.total - began[1]
        rows += [
            _loaded("import of facts", size, size - begin, taken[0]),
            _loaded("turns written at once", size, size - begin, taken[1]),
        ]
        for seed, sort in enumerate(TARGETS, 6):
            times, bare = await timed(
                setting.runtime,
                setting.vectors,
                setting.bare,
                setting.namespace,
                sort,
                sentences.questions(seed),
                rounds,
                step,
            )
            found = row(WORK[sort], size, times, bare, TARGETS[sort], times.at(0.5) / bare.at(0.5))
            if sort in before:
                found |= {"per_x10": round(per_x10(size, times, *before[sort]), 2)}
            before[sort] = size, times
            rows.append(found)
        for each in await tenant.found(setting.runtime, setting.vectors, setting.tenant):
            rows.append(each | {"facts": size})
    return rows


def steps(sizes: Sequence[int], rounds: int) -> int:
    """How many steps ``measured`` reports."""
    return 2 * sizes[-1] + len(sizes) * len(TARGETS) * (rounds + warming(rounds))


def per_x10(size: int, times: Times, smaller: int, before: Times) -> float:
    """Growth of the median as a factor for each tenfold size."""
    return math.pow(times.at(0.5) / before.at(0.5), 1 / math.log10(size / smaller))


def _loaded(work: str, size: int, count: int, seconds: float) -> Row:
    return {
        "work": work,
        "facts": size,
        "seconds": round(seconds, 1),
        "per_s": round(count / seconds, 1),
    }
