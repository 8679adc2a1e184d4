"""Writing: store a message, read what a new fact is compared with, apply a plan whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram_graph.clock import new_id
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.models.decisions import Judgement
from engram_graph.models.facts import Extracted, Fact, Message, Vector
from engram_graph.models.plans import WritePlan
from engram_graph.rules.situation import Candidate
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import PREDICATES, MessageStatus

_RELATED_SCAN = 200  # newest facts of one subject and predicate that are compared by vector
_RARE_SCAN = 125  # facts counted at most: a fifth of them is a hub's degree of 25


class StalePlanError(Exception):
    """Another writer changed what the plan rests on: plan again. Never leaves the package."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it stands in the store.

    Attributes:
        created: it was not there before. drafts: None while nothing was extracted.
    """

    message: Message
    created: bool
    drafts: Extracted | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the store holds around a new fact."""

    subject_version: int
    mentions: tuple[str, ...]
    candidates: tuple[Candidate, ...]


async def store_message(
    graph: Graph, message: Message, embedding: Vector | None, drafts: Extracted | None
) -> Stored:
    """Store ``message`` once by its source_id; what is known stays as it is."""
    kept = None if drafts is None else records.drafts_json(drafts)
    rows = await graph.write(
        load("write")["store_message"],
        namespace=message.namespace,
        conversation=message.conversation,
        source_id=message.source_id,
        id=message.id,
        said_at=message.said_at,
        recorded_at=message.recorded_at,
        properties=records.message_properties(message, embedding, kept),
    )
    return _stored(rows[0]["message"], rows[0]["created"])


async def surroundings(
    graph: Graph,
    namespace: str,
    subject_key: str,
    predicate: str,
    object_key: str,
    embedding: Vector | None,
    named: Sequence[str],
    thresholds: Thresholds,
    begins: datetime,
    now: datetime,
) -> Surroundings:
    """G(f) for a new fact valid from ``begins``, and the entities ``named`` (keys) in its text."""
    params: dict[str, Any] = {
        "namespace": namespace,
        "subject_key": subject_key,
        "object_key": object_key,
    }

    async def work(tx: Tx) -> Surroundings:
        known = await tx.run(load("write")["known_entities"], keys=list(named), **params)
        rows = await tx.run(
            load("write")["candidates"],
            predicate=predicate,
            type=PREDICATES[predicate].neo4j_type,
            embedding=embedding,
            near=thresholds.near,
            related=thresholds.related,
            related_scan=_RELATED_SCAN,
            rare_keys=list(named),
            rare_scan=_RARE_SCAN,
            rare_share=thresholds.rare_entity_share,
            rare_min=thresholds.rare_entity_min,
            single=PREDICATES[predicate].single,
            begins=begins,
            now=now,
            **params,
        )
        return Surroundings(
            subject_version=known[0]["version"],
            mentions=tuple(known[0]["mentions"]),
            candidates=tuple(candidate(row) for row in rows),
        )

    return await graph.look("surroundings", work)


def candidate(row: dict[str, Any]) -> Candidate:
    """A row with a fact, its speakers and what superseded it."""
    return Candidate(
        fact=records.fact(row["fact"]),
        speakers=frozenset(row["speakers"]),
        how=frozenset(row.get("how") or ()),
        superseded_by=tuple(row["superseded_by"]),
    )


async def apply(graph: Graph, plan: WritePlan, *, finish: bool) -> bool:
    """Carry out ``plan`` in one transaction; False when it had been applied before.

    Args:
        finish: the message is done with it.

    Raises:
        StalePlanError: an entity or fact changed since the plan was made; nothing was written.
    """

    async def work(tx: Tx) -> bool:
        applied = await _lock(tx, plan)
        if not applied:
            await _write(tx, plan)
        if finish:
            await _set_status(tx, plan.namespace, plan.message_id, MessageStatus.DONE, None)
        return not applied

    return await graph.transact("apply_plan", work)


async def _lock(tx: Tx, plan: WritePlan) -> bool:
    """Take the locks; whether the plan's fact is there already."""
    names = {plan.subject_key: plan.fact.subject if plan.fact else plan.subject_key}
    if plan.fact:
        names.setdefault(plan.fact.object_key, plan.fact.object)
    rows = await tx.run(
        load("write")["lock_entities"],
        namespace=plan.namespace,
        subject_key=plan.subject_key,
        draft_id=plan.fact.id if plan.fact else plan.judgements[0].id,
        entities=[{"key": k, "name": n, "id": new_id()} for k, n in sorted(names.items())],
        now=plan.decided_at,
    )
    if any(row["applied"] for row in rows):
        return True
    seen = {row["key"]: row["version"] for row in rows}
    if seen[plan.subject_key] != plan.subject_version:
        raise StalePlanError
    if plan.changes:
        wanted = {change.id: change.version for change in plan.changes}
        locked = await tx.run(
            load("write")["lock_facts"], namespace=plan.namespace, ids=sorted(wanted)
        )
        if {row["id"]: row["version"] for row in locked} != wanted:
            raise StalePlanError
    return False


async def _write(tx: Tx, plan: WritePlan) -> None:
    scope = {"namespace": plan.namespace}
    write = load("write")
    if plan.fact:
        await tx.run(
            write["create_fact"],
            subject_key=plan.fact.subject_key,
            object_key=plan.fact.object_key,
            type=records.edge_type(plan.fact),
            properties=records.fact_properties(plan.fact, plan.embedding),
            message_id=plan.message_id,
            mentions=list(plan.mentions),
            **scope,
        )
    if plan.repeats:
        await tx.run(write["add_source"], fact_id=plan.repeats, message_id=plan.message_id, **scope)
    if plan.changes:
        await tx.run(
            write["change_facts"],
            changes=[
                {
                    "id": c.id,
                    "properties": {
                        "belief": c.belief,
                        "against_count": c.against_count,
                        "disputed": c.disputed,
                        "valid_until": c.valid_until,
                        "closed_at": c.closed_at,
                        "closed_reason": c.closed_reason.value if c.closed_reason else None,
                        "open": c.valid_until is None,
                        "candidate": records.is_candidate(c.valid_until, c.closed_reason),
                    },
                }
                for c in plan.changes
            ],
            **scope,
        )
    if plan.links:
        await tx.run(
            write["link_facts"], links=[records.link_parameters(x) for x in plan.links], **scope
        )
    if plan.drop_links:
        await tx.run(
            write["unlink_facts"],
            links=[records.link_parameters(x) for x in plan.drop_links],
            **scope,
        )
    if plan.requests:
        await tx.run(
            write["record_requests"],
            requests=[records.request_properties(r, plan.namespace) for r in plan.requests],
        )
    if plan.judgements:
        await tx.run(
            write["record_decisions"],
            decisions=[
                records.judgement_parameters(
                    j, plan.namespace, plan.decided_at, position, plan.requests
                )
                for position, j in enumerate(plan.judgements)
            ],
        )


async def set_drafts(graph: Graph, message: Message, drafts: Extracted) -> Extracted:
    """Keep what was extracted, so that resuming never asks again; what is kept, which may be
    what another client extracted first."""
    rows = await graph.write(
        load("write")["set_drafts"],
        namespace=message.namespace,
        message_id=message.id,
        drafts=records.drafts_json(drafts),
    )
    return (records.drafts(rows[0]) if rows else None) or drafts


async def set_status(
    graph: Graph, message: Message, status: MessageStatus, error: str | None = None
) -> None:
    """Note how far ``message`` is; ``error`` never holds its text."""

    async def work(tx: Tx) -> None:
        await _set_status(tx, message.namespace, message.id, status, error)

    await graph.transact("set_status", work)


async def _set_status(
    tx: Tx, namespace: str, message_id: str, status: MessageStatus, error: str | None
) -> None:
    await tx.run(
        load("write")["set_status"],
        namespace=namespace,
        message_id=message_id,
        status=status.value,
        error=error,
    )


async def unfinished(graph: Graph, namespace: str) -> list[Stored]:
    """Messages that are pending or failed, oldest first."""
    rows = await graph.read(load("write")["unfinished"], namespace=namespace)
    return [_stored(row["message"], False) for row in rows]


async def facts_of_message(graph: Graph, message: Message) -> list[Fact]:
    """Facts stated in ``message``, in recording order."""
    rows = await graph.read(
        load("write")["facts_of_message"], namespace=message.namespace, message_id=message.id
    )
    return [records.fact(row["fact"]) for row in rows]


async def recent_messages(graph: Graph, message: Message, limit: int) -> list[Message]:
    """Up to ``limit`` turns of its conversation before ``message``, oldest first."""
    rows = await graph.read(
        load("write")["recent_messages"],
        namespace=message.namespace,
        conversation=message.conversation,
        said_at=message.said_at,
        message_id=message.id,
        limit=limit,
    )
    return [records.message(row["message"]) for row in reversed(rows)]


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


def _stored(row: dict[str, Any], created: bool) -> Stored:
    return Stored(records.message(row), created, records.drafts(row))
