"""A model's judgement of a shortlist: does each item help, and which relation is asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from engram_graph.flows.asking import answered
from engram_graph.models.decisions import Ask, Question, Reply, Turn, total_cost
from engram_graph.models.facts import Draft, Fact
from engram_graph.ports import Decider
from engram_graph.rules import questions as about
from engram_graph.rules.selection import Judged, judged
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import FALLBACK, Role

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)  # a question has no date: asked again, it is the same
_TOLD = 200  # characters of a reason


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of asking about a shortlist.

    Attributes:
        said: what the answers say. asked: a model was there to be asked.
        failed: items were put to it, and no answer about any can be used.
        degraded: what fell back, in words. cost_usd: None when unknown.
    """

    said: Judged = field(default_factory=Judged)
    asked: bool = False
    failed: bool = False
    degraded: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    latency_ms: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether there is something to select by."""
        return self.asked and not self.failed


NOT_ASKED = Judgement()


async def judge(
    decider: Decider,
    query: str,
    items: Sequence[Fact | Turn],
    numbers: Thresholds,
    *,
    relation: bool = False,
) -> Judgement:
    """Ask whether each of ``items`` helps to answer ``query``; many are asked about in parallel.

    A request that fails leaves its items without an answer, and nothing raises.

    Args:
        relation: ask as well which relation the query is about.
    """
    questions = [about.relevant(item) for item in items]
    size = numbers.per_request
    parts = [questions[at : at + size] for at in range(0, len(questions), size)]
    if parts and relation:
        parts[0].append(about.question(about.QUERY_RELATION))
    replies = await asyncio.gather(*(_ask(decider, query, tuple(part)) for part in parts))
    said = judged(replies, numbers)
    reasons = dict.fromkeys(reply.error[:_TOLD] for reply in replies if reply.error)
    missing = len(items) - len(said.relevance)
    if missing and not reasons:
        reasons = {"no usable answer": None}
    told = f" ({missing} of {len(items)} not judged)" if missing else ""
    return Judgement(
        said=said,
        asked=True,
        failed=bool(items) and not said.relevance,
        degraded=(f"decider: {'; '.join(reasons)}{told}",) if reasons else (),
        cost_usd=total_cost(reply.cost_usd for reply in replies),
        latency_ms=max((reply.latency_ms for reply in replies), default=0.0),
    )


async def _ask(decider: Decider, query: str, questions: tuple[Question, ...]) -> Reply:
    ask = Ask(
        draft=Draft(subject="", predicate=FALLBACK, object="", text=query),
        valid_from=_UNDATED,
        speaker="",
        role=Role.USER.value,
        message=query,
        questions=questions,
    )
    return await answered(decider, ask)
