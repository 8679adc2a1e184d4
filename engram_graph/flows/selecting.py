"""What of a shortlist is shown: selection by the rules, with what the graph adds around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engram_graph.flows.runtime import Runtime
from engram_graph.flows.shortlists import FactList, Query
from engram_graph.graph import read
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
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
    looked_at: Sequence[FactHit],
    ranking: Ranking | None,
) -> list[Shown]:
    """The facts to show, in order.

    Args:
        looked_at: those of ``found`` that were put to a reranker.
        ranking: what it said; None when there is none.
    """
    query, numbers = wanted.query, runtime.method.thresholds
    weigh = selection.weight(query.about)
    if ranking is None or not ranking.counts:
        hits = selection.unjudged(found.hits, weigh, wanted.limit)
        if not wanted.wide:
            behind = await _behind(runtime, query, hits, found.chained, {})
            # Of a time named, each value counts by itself; else the older ones follow the newest.
            hits = selection.with_history(hits, behind, chosen=bool(query.named))
        return [Shown(hit) for hit in hits]
    judged = selection.scored(looked_at, ranking)
    if wanted.wide:
        return [Shown(hit) for hit in selection.ranked(judged, ranking, numbers)[: wanted.limit]]
    kept = selection.kept(judged, ranking, weigh, numbers)
    hits = [*kept, *selection.floor(judged, ranking, numbers)]
    chained = found.chained
    own = {hit.fact.id: hit.scores for hit in judged}
    if ranking.relation is not None:
        pulled = await read.facts_of_predicate(
            runtime.graph,
            query.namespace,
            ranking.relation,
            query.vector,
            numbers.pull,
            query.within,
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
        within=query.within,
    )
    hits += [_along(row, "neighbour", own) for row in around]
    links = await read.same_among(runtime.graph, query.namespace, [hit.fact.id for hit in hits])
    return [Shown(hit, same) for hit, same in selection.one_each(hits, links)][: wanted.limit]


def select_turns(
    runtime: Runtime, wanted: Wanted, turns: Sequence[TurnHit], ranking: Ranking | None
) -> list[TurnHit]:
    """The turns to show, in order; there may be more than wanted."""
    numbers = runtime.method.thresholds
    if ranking is None or not ranking.counts:
        return list(turns)
    turns = selection.scored(turns, ranking)
    if wanted.wide:
        return selection.ranked(turns, ranking, numbers)
    weigh = selection.weight(wanted.query.about)
    kept = selection.kept(turns, ranking, weigh, numbers)
    return [*kept, *selection.floor(turns, ranking, numbers)]


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
    if query.within is not None:
        return {}
    ids = [hit.fact.id for hit in hits if hit.fact.id in chained]
    behind: dict[str, list[FactHit]] = {}
    for row in await read.chains(runtime.graph, query.namespace, ids):
        if not row.fact.never_held:
            scores = own.get(row.fact.id, Scores())
            hit = FactHit(fact=row.fact, scores=scores, why="history", successor=row.successor)
            behind.setdefault(row.of, []).append(hit)
    return behind
