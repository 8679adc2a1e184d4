"""Reading a namespace for an export, page by page along an index."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph
from engram_graph.graph.feedback import label
from engram_graph.graph.items import item
from engram_graph.graph.queries import load
from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.export import (
    KINDS,
    AliasRecord,
    AnyRecord,
    ConversationRecord,
    Counts,
    DecisionRecord,
    Embedding,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    ItemRecord,
    ItemText,
    LinkRecord,
    MentionRecord,
    MergedEntity,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Entity

_PAGE = 500
_START = datetime(1, 1, 1, tzinfo=UTC)
Row = dict[str, Any]


async def state(graph: Graph, namespace: str) -> tuple[Counts, Row]:
    """How much there is, and numbers that differ once anything has changed."""
    row = (await graph.read(load("transfer")["export_state"], namespace=namespace))[0]
    return Counts(**{kind: row[kind] for kind in KINDS}), row


async def embedding(graph: Graph) -> Embedding | None:
    """What made the stored vectors."""
    rows = await graph.locate()
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
                vector=row["message"]["vector"],
            )
            for row in rows
        ]

    by_key: Row = {"after": ""}
    while rows := await graph.read(statements["export_entities"], **by_key, **scope):
        # One that went while it was read has no key; that the namespace changed is found later.
        there = [row["entity"] for row in rows if "key" in row["entity"]]
        if not there:
            break
        by_key = {"after": there[-1]["key"]}
        yield [_entity(records.native(entity)) for entity in there]

    seen = _first()
    while rows := await graph.read(statements["export_facts"], vectors=vectors, **seen, **scope):
        seen = _seen(rows[-1]["fact"], "recorded_at")
        yield [
            FactRecord(
                fact=records.fact(row["fact"]),
                sources=tuple(row["sources"]),
                vector=row["fact"]["vector"],
            )
            for row in rows
        ]

    for kind in ("mention", "link"):
        seen = _first()
        while rows := await graph.read(statements["export_ties"], **seen, **scope):
            seen = _seen(rows[-1], "at")
            if kind == "mention":
                yield [
                    MentionRecord(fact=r["id"], entity=each["key"], of=tuple(each["of"]))
                    for r in rows
                    for each in r["mentions"]
                ]
            else:
                yield [LinkRecord(link=records.link(link)) for r in rows for link in r["links"]]

    seen = _first()
    while rows := await graph.read(statements["export_decisions"], **seen, **scope):
        seen = _seen(rows[-1]["decision"], "decided_at")
        yield [
            _decision(records.decision(row["decision"]), records.native(row["decision"]))
            for row in rows
        ]

    seen = _first()
    while rows := await graph.read(statements["export_requests"], **seen, **scope):
        seen = _seen(rows[-1]["request"], "sent_at")
        yield [
            RequestRecord(request=_request(row["request"]), decisions=tuple(row["decisions"]))
            for row in rows
        ]

    by_key = {"after": ""}
    while rows := await graph.read(statements["export_aliases"], **by_key, **scope):
        by_key = {"after": rows[-1]["alias"]["key"]}
        yield [_alias(records.native(row)) for row in rows]

    seen = _first()
    while rows := await graph.read(statements["export_feedback"], **seen, **scope):
        seen = _seen(rows[-1]["feedback"], "given_at")
        yield [FeedbackRecord(feedback=label(row["feedback"])) for row in rows]

    by_path: Row = {"folder": "", "after": ""}
    while rows := await graph.read(statements["export_items"], vectors=vectors, **by_path, **scope):
        by_path = {"folder": rows[-1]["item"]["folder"], "after": rows[-1]["item"]["key"]}
        yield [
            ItemRecord(
                item=item(row["item"]), texts=tuple(ItemText(**text) for text in row["texts"])
            )
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
        apart=tuple(row.get("apart") or ()),
    )


def _alias(row: Row) -> AliasRecord:
    alias = row["alias"]
    merged = None
    if alias.get("entity_id"):
        merged = MergedEntity(
            id=alias["entity_id"],
            version=alias.get("entity_version") or 0,
            created_at=alias.get("entity_created_at"),
            apart=tuple(alias.get("apart") or ()),
            alias_keys=tuple(alias.get("alias_keys") or ()),
        )
    return AliasRecord(
        key=alias["key"],
        name=alias["name"],
        entity=row["entity"],
        created_at=alias.get("created_at"),
        merged=merged,
        decisions=tuple(row["decisions"]),
    )


def _decision(decision: Decision, row: Row) -> DecisionRecord:
    named = {*Decision.model_fields, "namespace", "position", "moves_end"}
    return DecisionRecord(
        decision=decision,
        position=row.get("position") or 0,
        moves_end=bool(row.get("moves_end")),
        more={name: value for name, value in row.items() if name not in named},
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
        preset=plain.get("preset"),
        sent_at=plain["sent_at"],
    )
