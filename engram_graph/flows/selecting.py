"""What of a shortlist is shown: selection by the rules, with what the graph adds around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engram_graph.flows.judging import Judgement
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.shortlists import FactList, Query
from engram_graph.graph import read
from engram_graph.models.facts import Fact
from engram_graph.models.results import FactHit, Scores, TurnHit
from engram_graph.rules import selection


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a search is to be answered: ``limit`` items of each sort, selected or all (``wide``)."""

    query: Query
    limit: int
    wide: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit, and the facts that say the same and stand behind it."""

    hit: FactHit
    same: tuple[Fact, ...] = ()


async def select_facts(
    runtime: Runtime,
    wanted: Wanted,
    found: FactList,
    judged: Sequence[FactHit],
    judgement: Judgement,
) -> list[Shown]:
    """The facts to show, in order.

    Args:
        judged: those of ``found`` that were put to a model, with what it said.
    """
    query, numbers = wanted.query, runtime.method.thresholds
    weigh = selection.weight(query.as_of)
    if not judgement.counts:
        hits = selection.unjudged(found.hits, weigh, wanted.limit)
        if not wanted.wide:
            behind = await _behind(runtime, query, hits, found.chained, {})
            hits = selection.with_history(hits, behind)
        return [Shown(hit) for hit in hits]
    if wanted.wide:
        return [Shown(hit) for hit in selection.ranked(judged, numbers)[: wanted.limit]]
    kept = selection.kept(judged, weigh, numbers)
    hits = [*kept, *selection.floor(judged, numbers)]
    chained = found.chained
    own = {hit.fact.id: hit.scores for hit in judged}
    if judgement.said.relation is not None:
        pulled = await read.facts_of_predicate(
            runtime.graph,
            query.namespace,
            judgement.said.relation,
            query.vector,
            numbers.pull,
            query.as_of,
        )
        hits = selection.added(hits, (_along(row, "relation", own) for row in pulled))
        chained |= {row.fact.id for row in pulled if row.chained}
    behind = await _behind(runtime, query, hits, chained, own)
    hits = selection.with_history(hits, behind, chosen=True)
    around = await read.neighbours(
        runtime.graph,
        query.namespace,
        [hit.fact.id for hit in kept],
        known=[hit.fact.id for hit in hits],
        hub=numbers.hub,
        limit=numbers.neighbours,
        as_of=query.as_of,
    )
    hits += [_along(row, "neighbour", own) for row in around]
    links = await read.same_among(runtime.graph, query.namespace, [hit.fact.id for hit in hits])
    return [Shown(hit, same) for hit, same in selection.one_each(hits, links)][: wanted.limit]


def select_turns(
    runtime: Runtime, wanted: Wanted, turns: Sequence[TurnHit], judgement: Judgement
) -> list[TurnHit]:
    """The turns to show, in order; there may be more than wanted."""
    numbers = runtime.method.thresholds
    if not judgement.counts:
        return list(turns)
    if wanted.wide:
        return selection.ranked(turns, numbers)
    weigh = selection.weight(wanted.query.as_of)
    return [*selection.kept(turns, weigh, numbers), *selection.floor(turns, numbers)]


def _along(
    row: read.FactRow, why: Literal["relation", "neighbour"], own: Mapping[str, Scores]
) -> FactHit:
    """A fact that comes along; with its ``own`` scores if it was on the shortlist too."""
    scores = own.get(row.fact.id, Scores(vector=row.vector))
    return FactHit(fact=row.fact, scores=scores, why=why, successor=row.successor)


async def _behind(
    runtime: Runtime,
    query: Query,
    hits: Iterable[FactHit],
    chained: frozenset[str],
    own: Mapping[str, Scores],
) -> dict[str, list[FactHit]]:
    """Id → the supersedes chain behind it. In a look back in time there is none."""
    if query.as_of is not None:
        return {}
    ids = [hit.fact.id for hit in hits if hit.fact.id in chained]
    behind: dict[str, list[FactHit]] = {}
    for row in await read.chains(runtime.graph, query.namespace, ids):
        if not row.fact.never_held:
            scores = own.get(row.fact.id, Scores())
            hit = FactHit(fact=row.fact, scores=scores, why="history", successor=row.successor)
            behind.setdefault(row.of, []).append(hit)
    return behind
