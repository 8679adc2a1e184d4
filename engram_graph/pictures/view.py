"""What a picture shows: facts of all times, and which of them hold at one moment."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from engram_graph.clock import instant, now
from engram_graph.errors import NotFoundError
from engram_graph.intake import whole_number
from engram_graph.models.facts import Fact
from engram_graph.pictures.colours import colour_of
from engram_graph.pictures.layout import caption

if TYPE_CHECKING:
    from engram_graph.client.base import Moment
    from engram_graph.memory import AsyncMemory

State = Literal["coming", "holds", "ended"]
LIMIT, MOST = 150, 300
_AT_ONCE = 4  # stories read side by side


@dataclass(frozen=True, slots=True)
class View:
    """The facts of a picture.

    Attributes:
        facts: in recording order. total: how many there are; the latest of them are drawn.
        at: the moment of valid time that is shown; ``dated``: somebody asked for it.
        stories: fact id → the text of ``explain``; empty unless asked for.
    """

    namespace: str
    facts: tuple[Fact, ...]
    total: int
    at: datetime
    dated: bool = False
    known_at: datetime | None = None
    stories: dict[str, str] = field(default_factory=dict)

    @property
    def capped(self) -> bool:
        """Whether there are more facts than those here."""
        return self.total > len(self.facts)

    def state(self, fact: Fact) -> State:
        """Whether ``fact`` holds at the moment that is shown."""
        if fact.valid_from > self.at:
            return "coming"
        return "holds" if fact.holds_at(self.at) else "ended"

    def moments(self) -> list[datetime]:
        """When anything changes, and the moment that is shown; each once, in order."""
        ends = [fact.valid_until for fact in self.facts if fact.valid_until is not None]
        return sorted({self.at, *ends, *(fact.valid_from for fact in self.facts)})


def legend(facts: Iterable[Fact]) -> list[tuple[str, str, bool]]:
    """(words, colour, whether it means an end): each relation once, then what has ended."""
    given = list(facts)
    words = {("not: denied" if f.negated else caption(f), colour_of(f), False) for f in given}
    ended = any(fact.valid_until is not None for fact in given)
    return [*sorted(words), *([("has ended", "#5B6573", True)] if ended else [])]


async def look(
    memory: AsyncMemory,
    *,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    limit: int | None = None,
    begun: bool = False,
    stories: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> View:
    """Read what a picture shows.

    Args:
        as_of: the moment shown; now by default.
        limit: most facts, 1 to 300; 150 by default. Of more, the latest recorded are drawn.
        begun: leave out what began after the moment shown.
        stories: read also the story of each fact. progress: told (done, all) while they are read.
    """
    limit = whole_number(limit, LIMIT, "limit", 1, MOST)
    at = instant(as_of, "as_of") if as_of is not None else now()
    last: deque[Fact] = deque(maxlen=limit)
    total = 0
    async for fact in memory.iter_facts(
        known_at=known_at, subject=subject, predicate=predicate, limit=10_000
    ):
        if not (begun and fact.valid_from > at):
            last.append(fact)
            total += 1
    return View(
        namespace=memory.namespace or "",
        facts=tuple(last),
        total=total,
        at=at,
        dated=as_of is not None,
        known_at=instant(known_at, "known_at") if known_at is not None else None,
        stories=await _stories(memory, last, progress) if stories else {},
    )


async def _stories(
    memory: AsyncMemory,
    facts: Sequence[Fact],
    progress: Callable[[int, int], None] | None,
) -> dict[str, str]:
    free = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def tell(fact: Fact) -> str:
        nonlocal done
        async with free:
            try:
                text = (await memory.explain(fact.id)).text
            except NotFoundError:  # forgotten since
                text = ""
        done += 1
        if progress is not None:
            progress(done, len(facts))
        return text

    texts = await asyncio.gather(*(tell(fact) for fact in facts))
    return {fact.id: text for fact, text in zip(facts, texts, strict=True) if text}
