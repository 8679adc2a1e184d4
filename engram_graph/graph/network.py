"""All facts of a view and the entities they connect, read in one transaction."""

from __future__ import annotations

from datetime import datetime

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.read import ends
from engram_graph.models.facts import Entity, Fact
from engram_graph.rules.timeline import Span

_PAGE = 10_000  # rows that one statement returns


async def read(
    graph: Graph, namespace: str, *, within: Span | None, known_at: datetime | None
) -> tuple[list[Fact], list[Entity]]:
    """The facts as ``history.facts`` gives them, and their subjects and objects."""
    facts_of = load("history")["facts_of_namespace"]
    entities_of = load("network")["entities_of_keys"]
    filters = {"predicate": None, "object_key": None, "open": None, "known_at": known_at}

    async def work(tx: Tx) -> tuple[list[Fact], list[Entity]]:
        facts: list[Fact] = []
        full = True
        while full:
            last = facts[-1] if facts else None
            rows = await tx.run(
                facts_of,
                namespace=namespace,
                after=last.recorded_at if last else None,
                after_id=last.id if last else None,
                limit=_PAGE,
                **filters,
                **ends(within),
            )
            facts += [records.fact(row["fact"]) for row in rows]
            full = len(rows) == _PAGE
        keys = list(dict.fromkeys(key for f in facts for key in (f.subject_key, f.object_key)))
        entities: list[Entity] = []
        for start in range(0, len(keys), _PAGE):
            rows = await tx.run(entities_of, namespace=namespace, keys=keys[start : start + _PAGE])
            entities += [Entity.model_validate(row["entity"]) for row in rows]
        return facts, entities

    return await graph.look("network", work)
