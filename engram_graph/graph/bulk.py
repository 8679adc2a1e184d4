"""Writing many given facts at once, without a plan for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engram_graph.clock import new_id
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.graph.write import StalePlanError
from engram_graph.models.decisions import Judgement
from engram_graph.models.facts import Fact, Message, Vector


async def import_facts(
    graph: Graph,
    message: Message,
    facts: Sequence[tuple[Fact, Vector | None, Judgement]],
    now: datetime,
) -> int:
    """Store one batch of facts, each with the judgement that starts it; how many were new."""
    rows = [
        {
            "id": fact.id,
            "subject_key": fact.subject_key,
            "object_key": fact.object_key,
            "type": records.edge_type(fact),
            "properties": records.fact_properties(fact, vector),
            "decision": records.judgement_parameters(judgement, fact.namespace, now, 0)[
                "properties"
            ],
        }
        for fact, vector, judgement in facts
    ]
    names: dict[str, str] = {}
    for fact, _, _ in facts:
        names.setdefault(fact.subject_key, fact.subject)
        names.setdefault(fact.object_key, fact.object)

    async def work(tx: Tx) -> int:
        scope = {"namespace": message.namespace}
        aliases = await tx.run(load("entities")["resolve_keys"], keys=sorted(names), **scope)
        own = {row["key"]: row["entity_key"] for row in aliases}
        made = await tx.run(
            load("write")["import_entities"],
            entities=[
                {"key": k, "name": n, "id": new_id()}
                for k, n in sorted(names.items())
                if k not in own
            ],
            now=now,
            **scope,
        )
        if any(row["is_alias"] for row in made):
            raise StalePlanError
        placed = [
            row | {end: own.get(row[end], row[end]) for end in ("subject_key", "object_key")}
            for row in rows
        ]
        found = await tx.run(
            load("write")["import_facts"],
            rows=placed,
            message_id=message.id,
            **scope,
        )
        return int(found[0]["stored"])

    return await until_done(graph, "import_facts", work, "the entities of an import")
