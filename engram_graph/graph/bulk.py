"""Writing many given facts at once, without a plan for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engram_graph.clock import new_id
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
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
        await tx.run(
            load("write")["import_entities"],
            namespace=message.namespace,
            entities=[{"key": k, "name": n, "id": new_id()} for k, n in sorted(names.items())],
            now=now,
        )
        found = await tx.run(
            load("write")["import_facts"],
            namespace=message.namespace,
            rows=rows,
            message_id=message.id,
        )
        return int(found[0]["stored"])

    return await graph.transact("import_facts", work)
