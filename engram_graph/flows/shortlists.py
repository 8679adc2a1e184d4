"""What may bear on a question, best first: hybrid shortlists of facts and of turns.

Each is an ordered list of hits with its score parts; selection asks nothing else of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram_graph.flows.runtime import Runtime
from engram_graph.graph import read
from engram_graph.models.facts import Vector
from engram_graph.models.results import FactHit, TurnHit
from engram_graph.rules.fusion import fuse, fuse_turns


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is looked up.

    Attributes:
        lucene: full-text query, the namespace in it; None when it has no word.
        as_of: only what was true at that moment (turns: said by then).
    """

    text: str
    namespace: str
    vector: Vector | None
    lucene: str | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class FactList:
    """Facts found. ``chained``: ids of those that superseded something."""

    hits: list[FactHit]
    chained: frozenset[str]


async def facts(runtime: Runtime, query: Query, limit: int) -> FactList:
    """Up to ``limit`` facts by vector and as many by full text, in their fused order."""
    rows = await read.shortlist_facts(
        runtime.graph, query.namespace, query.vector, query.lucene, limit, query.as_of
    )
    by_id = {row.fact.id: row for row in rows if not row.fact.never_held}
    order = fuse(
        {
            "vector": {each: r.vector for each, r in by_id.items() if r.vector is not None},
            "text": {each: r.text for each, r in by_id.items() if r.text is not None},
        }
    )
    hits = [
        FactHit(fact=by_id[each].fact, scores=scores, successor=by_id[each].successor)
        for each, scores in order
    ]
    return FactList(hits, frozenset(each for each, row in by_id.items() if row.chained))


async def turns(runtime: Runtime, query: Query, limit: int) -> list[TurnHit]:
    """Up to ``limit`` turns in their fused order."""
    rows = await read.shortlist_turns(
        runtime.graph, query.namespace, query.vector, query.lucene, 2 * limit, query.as_of
    )
    by_id = {row.message.id: row for row in rows}
    order = fuse_turns(
        {r.message.id: r.vector for r in rows if r.vector is not None},
        {r.message.id: r.text for r in rows if r.text is not None},
        {r.message.id: r.neighbours for r in rows},
    )
    return [
        TurnHit(message=by_id[turn].message, scores=scores)
        for turn, scores in order
        if turn in by_id
    ][:limit]
