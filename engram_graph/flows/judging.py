"""What a reranker says of the shortlists of one search, within a time limit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from engram_graph import telemetry
from engram_graph.errors import RerankError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import read
from engram_graph.models.decisions import Turn, total_cost
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
from engram_graph.models.results import FactHit, TurnHit
from engram_graph.ports import Reranker
from engram_graph.rules import selection
from engram_graph.rules.ranking import merged, sufficient

log = logging.getLogger(__name__)
_TOLD = 200  # characters of a reason


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reranker said of what a search found.

    Attributes:
        facts, turns: None when there is no reranker.
        sufficient: whether anything helps; None when that is not known.
        degraded: what fell back, in words. cost_usd: None when unknown.
    """

    facts: Ranking | None = None
    turns: Ranking | None = None
    sufficient: bool | None = None
    degraded: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    latency_ms: float = 0.0


async def judged(
    runtime: Runtime,
    namespace: str,
    query: str,
    facts: Sequence[FactHit],
    turns: Sequence[TurnHit],
    *,
    relation: bool,
) -> Judged:
    """What the runtime's reranker says of both shortlists.

    Args:
        relation: ask as well which relation the query is about.
    """
    reranker = runtime.reranker
    if reranker is None:
        return Judged()
    ids = [hit.message.id for hit in turns]
    before = await read.turns_before(runtime.graph, namespace, ids)
    shortlists = (
        [hit.fact for hit in facts],
        [Turn(hit.message, before.get(hit.message.id)) for hit in turns],
    )
    on_facts, on_turns = await rankings(
        reranker, query, shortlists, within_s=runtime.rerank_timeout_s, relation=relation
    )
    numbers = runtime.method.thresholds
    verdicts = [
        *selection.verdicts(facts, on_facts, numbers),
        *selection.verdicts(turns, on_turns, numbers),
    ]
    return Judged(
        facts=on_facts,
        turns=on_turns,
        sufficient=sufficient(verdicts),
        degraded=(
            *_degraded(reranker.name, on_facts, "facts"),
            *_degraded(reranker.name, on_turns, "turns"),
        ),
        cost_usd=total_cost((on_facts.cost_usd, on_turns.cost_usd)),
        latency_ms=max(on_facts.latency_ms, on_turns.latency_ms),
    )


async def rankings(
    reranker: Reranker,
    query: str,
    shortlists: Sequence[Sequence[Fact | Turn]],
    *,
    within_s: float,
    relation: bool = False,
) -> list[Ranking]:
    """What the reranker says of each shortlist; all requests are made at once.

    A request that fails, or has no answer in time, leaves its items without one; then it is
    cancelled, and has ended when this returns.

    Args:
        within_s: time for all of it, in seconds.
        relation: ask with the first items of the first shortlist which relation the query is about.
    """
    size = reranker.window
    parts = [
        [items[start : start + size] for start in range(0, len(items), size)]
        for items in shortlists
    ]
    found: dict[tuple[int, int], Ranking] = {}
    faults: list[Exception] = []

    async def put(at: tuple[int, int], items: Sequence[Fact | Turn]) -> None:
        try:
            with_relation = relation and at == (0, 0)
            with telemetry.part("rerank", reranker.name, items=len(items)):
                found[at] = await reranker.rerank(query, items, relation=with_relation)
            telemetry.count("engram.cost", found[at].cost_usd or 0.0, part="rerank")
        except RerankError as error:
            telemetry.count("engram.degraded", part="rerank")
            # Its code only: the words of somebody's own reranker may hold the question.
            log.warning("reranker %s failed: %s", reranker.name, error.code)
            found[at] = _lost(items, error.message[:_TOLD])
        except Exception as error:  # a fault in the reranker: raised as it is, not in a group
            faults.append(error)

    # An anyio scope, not asyncio.timeout: it also waits for what a worker thread has begun.
    with anyio.move_on_after(within_s):
        async with anyio.create_task_group() as group:
            for which, chunks in enumerate(parts):
                for place, items in enumerate(chunks):
                    group.start_soon(put, (which, place), items)
    if faults:
        raise faults[0]
    late = f"no answer within {within_s:g} s"
    return [
        merged([found.get((which, place)) or _lost(items, late) for place, items in enumerate(own)])
        for which, own in enumerate(parts)
    ]


def _degraded(name: str, ranking: Ranking, what: str) -> list[str]:
    """What of a ranking fell back, in words."""
    reasons = [why[:_TOLD] for why in ranking.problems]
    if not ranking.missing:
        return [f"{name}: {'; '.join(reasons)}"] if reasons else []
    told = "; ".join(reasons or ["no usable answer"])
    return [f"{name}: {told} ({ranking.missing} of {ranking.asked} {what} not judged)"]


def _lost(items: Sequence[Fact | Turn], why: str) -> Ranking:
    return Ranking(asked=len(items), problems=(why,), cost_usd=None)
