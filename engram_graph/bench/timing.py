"""Two things timed in turn, so that a machine that slows down slows both."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[], Awaitable[Any]]


@dataclass(slots=True)
class Times:
    """Milliseconds of each round."""

    values: list[float] = field(default_factory=list)

    async def take(self, work: Work) -> None:
        """Run ``work`` once."""
        began = time.perf_counter()
        await work()
        self.values.append((time.perf_counter() - began) * 1000)

    def at(self, share: float) -> float:
        """The value that ``share`` of the rounds do not exceed."""
        if not self.values:
            return 0.0
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def total(self) -> float:
        """All rounds together, in seconds."""
        return sum(self.values) / 1000


async def in_turn(number: int, one: tuple[Times, Work], other: tuple[Times, Work]) -> None:
    """Time both once; which one goes first changes with ``number``."""
    for times, work in (one, other) if number % 2 else (other, one):
        await times.take(work)


def row(
    work: str, facts: int, measured: Times, beside: Times, target: float, ratio: float
) -> dict[str, Any]:
    """One line of the result."""
    return {
        "work": work,
        "p50_ms": round(measured.at(0.5), 2),
        "p90_ms": round(measured.at(0.9), 2),
        "bare_p50_ms": round(beside.at(0.5), 2),
        "bare_p90_ms": round(beside.at(0.9), 2),
        "ratio": round(ratio, 2),
        "n": len(measured.values),
        "facts": facts,
        "target": target,
        "met": ratio <= target,
    }
