"""A question becomes a recall: shortlist in one statement, fuse, chains, lines for the prompt."""

from __future__ import annotations

from datetime import datetime

from engram_graph import clock
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import read
from engram_graph.models.facts import Fact, Vector
from engram_graph.models.results import FactHit, Mode, Recall, TurnHit
from engram_graph.rules.fusion import fuse, fuse_turns
from engram_graph.rules.render import context_block, fact_line, turn_line
from engram_graph.rules.text import lucene_query, namespace_key


async def search(
    runtime: Runtime,
    namespace: str,
    query: str,
    *,
    mode: Mode,
    limit: int,
    as_of: datetime | None,
    token_budget: int,
) -> Recall:
    """Find what bears on ``query``; see ``AsyncMemory.search``."""
    (vector,), reason = await runtime.embed([query], query=True)
    lucene = lucene_query(query, namespace_key(namespace))
    facts: list[FactHit] = []
    turns: list[TurnHit] = []
    if mode in ("facts", "both"):
        facts = await _facts(runtime, namespace, vector, lucene, limit, as_of)
    if mode in ("turns", "both"):
        turns = await _turns(runtime, namespace, vector, lucene, limit, as_of)
    if mode == "both":
        turns = _without_told(turns, facts)
    runtime.reads.note(namespace, (hit.fact.id for hit in facts if hit.why == "shortlist"))
    lines = [hit.line for hit in facts] + [hit.line for hit in turns]
    return Recall(
        query=query,
        namespace=namespace,
        mode=mode,
        facts=tuple(facts),
        turns=tuple(turns),
        context=context_block(lines, token_budget),
        degraded=(reason,) if reason else (),
    )


async def _facts(
    runtime: Runtime,
    namespace: str,
    vector: Vector | None,
    lucene: str | None,
    limit: int,
    as_of: datetime | None,
) -> list[FactHit]:
    rows = await read.shortlist_facts(runtime.graph, namespace, vector, lucene, limit, as_of)
    rows = [row for row in rows if not row.fact.never_held]
    by_id = {row.fact.id: row for row in rows}
    order = fuse(
        {
            "vector": {r.fact.id: r.vector for r in rows if r.vector is not None},
            "text": {r.fact.id: r.text for r in rows if r.text is not None},
        }
    )

    def weight(fact: Fact) -> float:
        # What closed a fact says nothing against its own interval.
        return 1.0 if as_of is not None and not fact.open else fact.belief

    # Relevance weighed with belief, as in decision_rules §11; ties keep the fused order.
    order = sorted(order, key=lambda each: -each[1].fused * weight(by_id[each[0]].fact))[:limit]
    chained = [fact_id for fact_id, _ in order if by_id[fact_id].chained]
    behind = {} if as_of else _by_head(await read.chains(runtime.graph, namespace, chained))
    hits: dict[str, FactHit] = {}
    own = dict(order)
    now = clock.now()
    for fact_id, scores in order:
        row = by_id[fact_id]
        hits.setdefault(
            fact_id,
            FactHit(
                fact=row.fact,
                scores=scores,
                successor=row.successor,
                line=fact_line(row.fact, now=now),
            ),
        )
        for link in behind.get(fact_id, ()):
            if link.fact.never_held:
                continue
            hits.setdefault(
                link.fact.id,
                FactHit(
                    fact=link.fact,
                    scores=own.get(link.fact.id, scores),
                    why="history",
                    successor=link.successor,
                    line=fact_line(link.fact, now=now),
                ),
            )
    return list(hits.values())


def _by_head(rows: list[read.ChainRow]) -> dict[str, list[read.ChainRow]]:
    behind: dict[str, list[read.ChainRow]] = {}
    for row in rows:
        behind.setdefault(row.of, []).append(row)
    return behind


async def _turns(
    runtime: Runtime,
    namespace: str,
    vector: Vector | None,
    lucene: str | None,
    limit: int,
    as_of: datetime | None,
) -> list[TurnHit]:
    rows = await read.shortlist_turns(runtime.graph, namespace, vector, lucene, 2 * limit, as_of)
    by_id = {row.message.id: row for row in rows}
    order = fuse_turns(
        {r.message.id: r.vector for r in rows if r.vector is not None},
        {r.message.id: r.text for r in rows if r.text is not None},
        {r.message.id: r.neighbours for r in rows},
    )
    return [
        TurnHit(message=by_id[turn].message, scores=scores, line=turn_line(by_id[turn].message))
        for turn, scores in order
        if turn in by_id
    ][:limit]


def _without_told(turns: list[TurnHit], facts: list[FactHit]) -> list[TurnHit]:
    """Turns whose words a fact's line does not hold already."""
    told = {hit.fact.source_quote or hit.fact.text for hit in facts}
    return [hit for hit in turns if hit.message.text not in told]
