"""Labels in the store: given under the locks of the facts they are about, and read with the log."""

from __future__ import annotations

from datetime import datetime

from engram_graph.errors import NotFoundError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.models.feedback import Feedback
from engram_graph.rules.labels import Logged

_FIELDS = frozenset(Feedback.model_fields)
_CHUNK = 500  # facts whose decisions are read at once


def label(row: Row) -> Feedback:
    """A ``feedback`` map of a statement as a Feedback."""
    return Feedback.model_validate({k: v for k, v in records.native(row).items() if k in _FIELDS})


async def label_fact(
    graph: Graph, namespace: str, fact_id: str, properties: Row, now: datetime
) -> Feedback:
    """Label a fact as it stands.

    Raises:
        NotFoundError: there is no such fact in the namespace.
    """

    async def work(tx: Tx) -> Feedback:
        await tx.run(load("write")["lock_facts"], namespace=namespace, ids=[fact_id])
        return await _give(tx, "fact", namespace, fact_id, properties, now)

    return await until_done(graph, "label_fact", work, f"fact {fact_id}")


async def label_decision(
    graph: Graph, namespace: str, decision_id: str, properties: Row, now: datetime
) -> Feedback:
    """Label a decision.

    Raises:
        NotFoundError: there is no such decision in the namespace.
    """

    async def work(tx: Tx) -> Feedback:
        about = await tx.run(
            load("feedback")["facts_of_decision"], namespace=namespace, id=decision_id
        )
        facts = sorted(fact for row in about for fact in row["facts"])
        await tx.run(load("write")["lock_facts"], namespace=namespace, ids=facts)
        return await _give(tx, "decision", namespace, decision_id, properties, now)

    return await until_done(graph, "label_decision", work, f"decision {decision_id}")


async def labelled(
    graph: Graph, namespace: str
) -> tuple[list[Feedback], list[Logged], dict[str, int]]:
    """Every label, every decision on a fact it may tell of, and answers by question."""
    queries = load("feedback")

    async def work(tx: Tx) -> tuple[list[Feedback], list[Logged], dict[str, int]]:
        rows = await tx.run(queries["labels"], namespace=namespace)
        facts = sorted({fact for row in rows for fact in row["facts"]})
        log: dict[str, Logged] = {}
        for start in range(0, len(facts), _CHUNK):
            ids = facts[start : start + _CHUNK]
            for row in await tx.run(queries["decisions_of_facts"], namespace=namespace, ids=ids):
                decision = records.decision(row["decision"])
                log[decision.id] = Logged(decision, row["position"], row["moves_end"])
        counts = await tx.run(queries["answers_by_question"], namespace=namespace)
        return (
            [label(row["feedback"]) for row in rows],
            list(log.values()),
            {row["question"]: row["answers"] for row in counts},
        )

    return await graph.look("calibrate", work)


async def _give(
    tx: Tx, kind: str, namespace: str, id_: str, properties: Row, now: datetime
) -> Feedback:
    rows = await tx.run(
        load("feedback")[f"label_{kind}"],
        namespace=namespace,
        id=id_,
        properties=properties,
        now=now,
    )
    if not rows:
        raise NotFoundError(f"no {kind} {id_!r} in namespace {namespace!r}", id=id_)
    return label(rows[0]["feedback"])
