"""Export and import on the graph: a namespace read page by page, and written in batches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.write import Stored
from engram_graph.models.decisions import RequestLog
from engram_graph.models.export import (
    KINDS,
    AnyRecord,
    ConversationRecord,
    Counts,
    DecisionRecord,
    Embedding,
    EntityRecord,
    FactRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Entity, Fact, Link, Vector

_PAGE = 500
_START = datetime(1, 1, 1, tzinfo=UTC)
_ON_RELATIONSHIPS = frozenset(
    {
        *("fact_id", "candidate_id", "request_id", "belief_before", "belief_after"),
        *("candidate_belief_before", "candidate_belief_after"),
    }
)
_CLOSING = ("valid_until_before", "valid_until_after", "reason_before", "reason_after")
Row = dict[str, Any]


async def state(graph: Graph, namespace: str) -> tuple[Counts, Row]:
    """How much there is, and numbers that differ once anything has changed."""
    row = (await graph.read(load("transfer")["export_state"], namespace=namespace))[0]
    return Counts(**{kind: row[kind] for kind in KINDS}), row


async def embedding(graph: Graph) -> Embedding | None:
    """What made the stored vectors."""
    rows = await graph.read(load("schema")["read_schema"])
    if not rows or rows[0]["embedder"] is None or rows[0]["dimension"] is None:
        return None
    return Embedding(model=rows[0]["embedder"], dimension=rows[0]["dimension"])


async def pages(graph: Graph, namespace: str, vectors: bool) -> AsyncIterator[list[AnyRecord]]:
    """Every record of a namespace, in the order of a file."""
    statements = load("transfer")
    scope = {"namespace": namespace, "limit": _PAGE}
    by_name: Row = {"after": ""}
    while rows := await graph.read(statements["export_conversations"], **by_name, **scope):
        by_name = {"after": rows[-1]["name"]}
        yield [ConversationRecord(name=row["name"]) for row in rows]

    place: Row = {"conversation": "", "said_at": _START, "recorded_at": _START, "after": ""}
    while rows := await graph.read(
        statements["export_messages"], vectors=vectors, **place, **scope
    ):
        last = rows[-1]["message"]
        place = {"conversation": last["conversation"], "after": last["id"]} | {
            name: records.native(last[name]) for name in ("said_at", "recorded_at")
        }
        yield [
            MessageRecord(
                message=records.message(row["message"]),
                drafts=records.drafts(row["message"]),
                vector=row["message"].get("embedding"),
            )
            for row in rows
        ]

    by_key: Row = {"after": ""}
    while rows := await graph.read(statements["export_entities"], **by_key, **scope):
        by_key = {"after": rows[-1]["entity"]["key"]}
        yield [_entity(records.native(row["entity"])) for row in rows]

    seen = _first()
    while rows := await graph.read(statements["export_facts"], vectors=vectors, **seen, **scope):
        seen = _seen(rows[-1]["fact"], "recorded_at")
        yield [
            FactRecord(
                fact=records.fact(row["fact"]),
                sources=tuple(row["sources"]),
                vector=row["fact"].get("embedding"),
            )
            for row in rows
        ]

    for kind in ("mention", "link"):
        seen = _first()
        while rows := await graph.read(statements["export_ties"], **seen, **scope):
            seen = _seen(rows[-1], "at")
            if kind == "mention":
                yield [
                    MentionRecord(fact=r["id"], entity=key) for r in rows for key in r["mentions"]
                ]
            else:
                yield [LinkRecord(link=records.link(link)) for r in rows for link in r["links"]]

    seen = _first()
    while rows := await graph.read(statements["export_decisions"], **seen, **scope):
        seen = _seen(rows[-1]["decision"], "decided_at")
        yield [
            DecisionRecord(
                decision=records.decision(row["decision"]),
                position=row["decision"].get("position") or 0,
                moves_end=bool(row["decision"].get("moves_end")),
            )
            for row in rows
        ]

    seen = _first()
    while rows := await graph.read(statements["export_requests"], **seen, **scope):
        seen = _seen(rows[-1]["request"], "sent_at")
        yield [
            RequestRecord(request=_request(row["request"]), decisions=tuple(row["decisions"]))
            for row in rows
        ]


def _first() -> Row:
    return {"at": _START, "after": ""}


def _seen(last: Row, clock: str) -> Row:
    # A moment as the driver gives it names its zone, and so it equals no stored one.
    return {"at": records.native(last[clock]), "after": last["id"]}


def _entity(row: Row) -> EntityRecord:
    return EntityRecord(
        entity=Entity(
            id=row["id"],
            namespace=row["namespace"],
            key=row["key"],
            name=row["name"],
            aliases=tuple(row.get("aliases") or ()),
        ),
        version=row.get("version") or 0,
        created_at=row.get("created_at"),
    )


def _request(row: Row) -> RequestLog:
    plain = records.native(row)
    return RequestLog(
        id=plain["id"],
        backend=plain["backend"],
        model=plain["model"],
        question_versions=json.loads(plain["question_versions"]),
        candidates=tuple(plain["candidates"]),
        answers=json.loads(plain["answers"]),
        latency_ms=plain["latency_ms"],
        cost_usd=plain.get("cost_usd"),
        request_id=plain.get("request_id"),
        error=plain.get("error"),
        sent_at=plain["sent_at"],
    )


# -- import ---------------------------------------------------------------------------------------


async def elsewhere(graph: Graph, namespace: str, ids: Sequence[str]) -> list[str]:
    """Those of ``ids`` that records of other namespaces have."""
    rows = await graph.read(load("transfer")["ids_elsewhere"], namespace=namespace, ids=list(ids))
    return [row["id"] for row in rows]


async def conversations(graph: Graph, namespace: str, names: Sequence[str]) -> None:
    """Make those that are missing."""
    await graph.write(
        load("transfer")["transfer_conversations"], namespace=namespace, names=sorted(names)
    )


async def known_messages(graph: Graph, namespace: str, sources: Sequence[str]) -> dict[str, Stored]:
    """The stored messages with these source_ids."""
    rows = await graph.read(
        load("transfer")["transfer_known_messages"], namespace=namespace, source_ids=list(sources)
    )
    found = (row["message"] for row in rows)
    return {
        row["source_id"]: Stored(records.message(row), False, records.drafts(row)) for row in found
    }


async def messages(graph: Graph, namespace: str, items: Sequence[MessageRecord]) -> int:
    """Store new messages, each in its place; how many were made."""
    rows = [
        {
            "id": item.message.id,
            "source_id": item.message.source_id,
            "conversation": item.message.conversation,
            "said_at": item.message.said_at,
            "recorded_at": item.message.recorded_at,
            "properties": records.message_properties(
                item.message,
                item.vector,
                None if item.drafts is None else records.drafts_json(item.drafts),
            ),
        }
        for item in items
    ]

    async def work(tx: Tx) -> int:
        names = sorted({item.message.conversation for item in items})
        scope = {"namespace": namespace}
        await tx.run(load("transfer")["transfer_conversations"], names=names, **scope)
        found = await tx.run(load("transfer")["transfer_messages"], rows=rows, **scope)
        return int(found[0]["made"])

    return await graph.transact("transfer_messages", work)


async def known_facts(graph: Graph, namespace: str, ids: Sequence[str]) -> dict[str, bool]:
    """The stored ones of ``ids`` → whether their import is under way."""
    rows = await graph.read(
        load("transfer")["transfer_known_facts"], namespace=namespace, ids=list(ids)
    )
    return {row["id"]: row["importing"] for row in rows}


async def facts(
    graph: Graph,
    namespace: str,
    entities: Sequence[EntityRecord],
    new: Sequence[tuple[Fact, Vector | None, str]],
    sources: Sequence[tuple[str, Sequence[str]]],
) -> None:
    """Store one batch.

    Args:
        entities: those the new facts need. new: each with its vector and its subject's id in the
            file. sources: fact id and ids of messages that state it, also of known facts.
    """
    rows = [
        {
            "subject_key": fact.subject_key,
            "object_key": fact.object_key,
            "subject_id": subject_id,
            "type": records.edge_type(fact),
            "properties": records.fact_properties(fact, vector),
        }
        for fact, vector, subject_id in new
    ]
    stated = [{"id": fact_id, "sources": list(ids)} for fact_id, ids in sources]

    async def work(tx: Tx) -> None:
        statements = load("transfer")
        scope = {"namespace": namespace}
        if rows:
            await tx.run(
                statements["transfer_entities"], entities=_entity_parameters(entities), **scope
            )
            await tx.run(statements["transfer_facts"], rows=rows, **scope)
        await tx.run(statements["transfer_sources"], rows=stated, **scope)

    await graph.transact("transfer_facts", work)


def _entity_parameters(items: Sequence[EntityRecord]) -> list[Row]:
    rows = [
        {
            "key": item.entity.key,
            "properties": {
                "id": item.entity.id,
                "name": item.entity.name,
                "aliases": list(item.entity.aliases),
                "version": item.version,
                "created_at": item.created_at,
            },
        }
        for item in items
    ]
    return sorted(rows, key=lambda row: str(row["key"]))  # locks in one order: no deadlock


async def mentions(
    graph: Graph, namespace: str, entities: Sequence[EntityRecord], pairs: Sequence[tuple[str, str]]
) -> None:
    """Add (fact id, entity key) pairs."""
    rows = [{"fact": fact_id, "key": key} for fact_id, key in pairs]

    async def work(tx: Tx) -> None:
        scope = {"namespace": namespace}
        await tx.run(
            load("transfer")["transfer_entities"], entities=_entity_parameters(entities), **scope
        )
        await tx.run(load("transfer")["transfer_mentions"], rows=rows, **scope)

    await graph.transact("transfer_mentions", work)


async def links(graph: Graph, namespace: str, items: Sequence[Link]) -> None:
    """Add links of which one end is new."""
    await graph.write(
        load("transfer")["transfer_links"],
        namespace=namespace,
        links=[records.link_parameters(item) for item in items],
    )


async def decisions(graph: Graph, namespace: str, items: Sequence[DecisionRecord]) -> None:
    """Add decisions on new facts."""
    await graph.write(
        load("transfer")["transfer_decisions"],
        namespace=namespace,
        rows=[_decision_row(item, namespace) for item in items],
    )


def _decision_row(record: DecisionRecord, namespace: str) -> Row:
    item = record.decision
    plain = item.model_dump(exclude=set(_ON_RELATIONSHIPS))
    properties = {
        name: (list(value) or None) if isinstance(value, list | tuple) else value
        for name, value in plain.items()
        if name not in _CLOSING
    }
    return {
        "properties": properties | {"namespace": namespace, "position": record.position},
        "closing": {"moves_end": record.moves_end}
        | ({name: plain[name] for name in _CLOSING} if record.moves_end else {}),
        "fact_id": item.fact_id,
        "candidate_id": item.candidate_id,
        "about": {"belief_before": item.belief_before, "belief_after": item.belief_after},
        "compared": {
            "belief_before": item.candidate_belief_before,
            "belief_after": item.candidate_belief_after,
        },
    }


async def requests(
    graph: Graph, namespace: str, items: Sequence[tuple[RequestLog, Sequence[str], bool]]
) -> None:
    """Add calls to deciders, with the decisions that rest on each; or True: none ever did."""
    await graph.write(
        load("transfer")["transfer_requests"],
        namespace=namespace,
        rows=[
            {
                "properties": records.request_properties(request, namespace),
                "decisions": list(ids),
                "orphan": orphan,
            }
            for request, ids, orphan in items
        ],
    )


async def done(graph: Graph, namespace: str, ids: Sequence[str]) -> None:
    """Take the mark of an import under way from messages and facts."""
    await graph.write(load("transfer")["transfer_done"], namespace=namespace, ids=list(ids))
