"""What requests to models used, told by the adapters to whoever counts round a call.

A port returns answers and no bill; a recorder has to know it all the same. Told within a context,
so that calls made at the same time are not mixed up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from engram_graph.models.decisions import total_cost


@dataclass(slots=True)
class Used:
    """What was told since counting began.

    Attributes:
        input_tokens, output_tokens: sums; None when no request told any.
        costs: of each request in USD; None where unknown.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    costs: list[float | None] = field(default_factory=list)

    @property
    def cost_usd(self) -> float | None:
        """The sum; None when one is unknown, or none was told."""
        return total_cost(self.costs) if self.costs else None


_counting: ContextVar[Used | None] = ContextVar("engram_graph.usage", default=None)


@contextmanager
def counted() -> Iterator[Used]:
    """What adapters tell in this context from here on; the innermost ``counted`` gets it."""
    used = Used()
    before = _counting.set(used)
    try:
        yield used
    finally:
        _counting.reset(before)


def tokens(read: int | None, written: int | None = None) -> None:
    """Tokens of one request, as the server tells them."""
    if (used := _counting.get()) is not None:
        used.input_tokens = _sum(used.input_tokens, read)
        used.output_tokens = _sum(used.output_tokens, written)


def cost(usd: float | None) -> None:
    """Cost of one request; None when unknown."""
    if (used := _counting.get()) is not None:
        used.costs.append(usd)


def _sum(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more
