"""Writing: store a message, apply a plan whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from engram_graph.clock import new_id
from engram_graph.errors import NotFoundError, StoreError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.models.facts import Extracted, Fact, Message, Vector
from engram_graph.models.plans import WritePlan
from engram_graph.rules.questions import RELATION
from engram_graph.vocabulary import SUPPORTING, MessageStatus, Outcome

DELETED = "Neo.ClientError.Statement.EntityNotFound"  # while the statement waited for it


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
class Unsettled:
    """A fact to be asked about again, its messages, oldest first, and the facts whose belief it
    moved."""

    fact: Fact
    messages: tuple[Message, ...]
    counted: frozenset[str]


async def store_message(
    graph: Graph, message: Message, embedding: Vector | None, drafts: Extracted | None
) -> Stored:
    """Store ``message`` once by its source_id; what is known stays as it is."""
    kept = None if drafts is None else records.drafts_json(drafts)
    rows: list[dict[str, Any]] = []
    while not rows:  # its conversation was forgotten while this waited for it
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


async def apply(graph: Graph, plan: WritePlan, *, finish: bool) -> bool:
    """Carry out ``plan`` in one transaction; False when it had been applied before.

    Args:
        finish: the message is done with it.

    Raises:
        StalePlanError: an entity or fact changed since the plan was made; nothing was written.
        NotFoundError: the message was forgotten.
    """

    async with _stale_if_deleted():
        return await graph.transact("apply_plan", lambda tx: _apply(tx, plan, finish))


async def apply_held(
    graph: Graph,
    stale: WritePlan,
    make: Callable[[], Awaitable[WritePlan | None]],
    *,
    finish: bool,
) -> bool:
    """Make a plan again and carry it out while nobody else writes about its entities.

    However many others write, one's turn comes: the server grants a lock in the order it was asked
    for. They wait while ``make`` asks its decider, so that this is for a plan that went stale.

    Args:
        stale: the plan that did; the locks of its entities are taken.
        make: plans from what it reads, with transactions of its own; None: there is nothing to do.

    Raises:
        StalePlanError: a fact about another entity changed. NotFoundError: as ``apply``.
    """

    async def work(tx: Tx) -> bool:
        held = [row["key"] for row in _entities(stale)]
        await tx.run(load("write")["hold_entities"], namespace=stale.namespace, keys=held)
        plan = await make()
        return plan is not None and await _apply(tx, plan, finish)

    async with _stale_if_deleted():
        return await graph.transact("apply_held_plan", work)


@asynccontextmanager
async def _stale_if_deleted() -> AsyncIterator[None]:
    try:
        yield
    except StoreError as error:
        if error.details.get("server_code") == DELETED:
            raise StalePlanError from error
        raise


async def _apply(tx: Tx, plan: WritePlan, finish: bool) -> bool:
    applied = await _lock(tx, plan)
    if not applied:
        await _write(tx, plan)
    if finish:
        await _set_status(tx, plan.namespace, plan.message_id, MessageStatus.DONE, None)
    return not applied


def _entities(plan: WritePlan) -> list[dict[str, Any]]:
    """The entities a plan writes to, in the order of their locks."""
    names: dict[str, str | None] = dict.fromkeys((*plan.mentions, *plan.beside))
    if plan.fact:
        names[plan.fact.object_key] = plan.fact.object
    names[plan.subject_key] = plan.fact.subject if plan.fact else plan.subject_key
    return [{"key": key, "name": name, "id": new_id()} for key, name in sorted(names.items())]


async def _lock(tx: Tx, plan: WritePlan) -> bool:
    """Take the locks; whether the plan was applied already."""
    if plan.fact is None and plan.repeats is None:  # nothing is stored, and no entity is made
        found = await tx.run(
            load("write")["is_decided"], namespace=plan.namespace, id=plan.judgements[0].id
        )
        return bool(found[0]["decided"])
    stored = plan.fact.id if plan.fact and plan.settles is None else plan.judgements[0].id
    rows = await tx.run(
        load("write")["lock_entities"],
        namespace=plan.namespace,
        subject_key=plan.subject_key,
        draft_id=stored,
        message_id=plan.message_id,
        entities=_entities(plan),
        now=plan.decided_at,
    )
    if any(row["applied"] for row in rows):
        return True
    if not all(row["told"] for row in rows):
        raise NotFoundError(
            "the message was forgotten while its facts were written", id=plan.message_id
        )
    seen = {row["key"]: row["version"] for row in rows}
    _need(None not in seen and not any(row["is_alias"] for row in rows))
    _need(seen[plan.subject_key] == plan.subject_version)
    wanted = {change.id: change.version for change in plan.changes}
    if plan.fact and plan.settles is not None:
        wanted[plan.fact.id] = plan.settles
    if joined := wanted.keys() | _joined(plan):
        locked = await tx.run(
            load("write")["lock_facts"], namespace=plan.namespace, ids=sorted(joined)
        )
        versions = {row["id"]: row["version"] for row in locked}
        _need(all(versions.get(fact_id) == version for fact_id, version in wanted.items()))
    return False


def _joined(plan: WritePlan) -> set[str]:
    """Ids of the known facts that get or lose a relationship: that takes their locks, too."""
    ends = {end for link in (*plan.links, *plan.drop_links) for end in (link.source, link.target)}
    ends |= {known for j in plan.judgements for known in (j.fact_id, j.candidate_id) if known}
    return ends - {plan.fact.id} if plan.fact else ends


async def _write(tx: Tx, plan: WritePlan) -> None:
    scope = {"namespace": plan.namespace}
    write = load("write")
    if plan.fact:
        values: dict[str, Any] = {
            "subject_key": plan.fact.subject_key,
            "object_key": plan.fact.object_key,
            "type": records.edge_type(plan.fact),
            "properties": records.fact_properties(plan.fact, plan.embedding),
        }
        if plan.settles is None:
            made = await tx.run(
                write["create_fact"],
                message_id=plan.message_id,
                mentions=list(plan.mentions),
                **values,
                **scope,
            )
            _need(made)
        else:
            for mark in ("read_at", "archived_at"):  # may be newer than what the plan rests on
                values["properties"].pop(mark)
            if plan.embedding is None:
                values["properties"].pop("embedding")
            await tx.run(write["settle_fact"], fact_id=plan.fact.id, **values, **scope)
    if plan.repeats:
        told = {"fact_id": plan.repeats, "message_id": plan.message_id}
        _need(await tx.run(write["add_source"], **told, **scope))
    if said := _said_again(plan):
        await tx.run(write["revive_facts"], ids=said, **scope)
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
                        "unsettled": c.unsettled or None,
                        "changed_at": plan.decided_at,
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
        logged = await tx.run(
            write["record_requests"],
            requests=[records.request_properties(r, plan.namespace) for r in plan.requests],
        )
        _need(all(row["known"] for row in logged))
    if plan.judgements:
        judged = await tx.run(
            write["record_decisions"],
            decisions=[
                records.judgement_parameters(
                    j, plan.namespace, plan.decided_at, position, plan.requests
                )
                for position, j in enumerate(plan.judgements)
            ],
        )
        _need(all(row["facts"] == row["named"] for row in judged))


def _need(there: object) -> None:
    """A plan that rests on what changed or was forgotten meanwhile is made again."""
    if not there:
        raise StalePlanError


def _said_again(plan: WritePlan) -> list[str]:
    """Ids of known facts that the new one supports: search gives them again, if it did not."""
    return sorted(
        judgement.candidate_id
        for judgement in plan.judgements
        if judgement.candidate_id
        and judgement.question == RELATION
        and judgement.chosen in SUPPORTING
        and judgement.outcome in (Outcome.APPLIED, Outcome.SAME_SOURCE)
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


async def redact_message(
    graph: Graph, message: Message, values: Sequence[str], embedding: Vector | None
) -> None:
    """Take ``values`` out of a stored message: text, metadata, drafts and what is searched."""

    async def work(tx: Tx) -> None:
        scope = {"namespace": message.namespace, "message_id": message.id}
        rows = await tx.run(load("write")["lock_message"], **scope)
        for row in rows:
            clean = records.redacted_message(row["message"], values, embedding)
            await tx.run(load("write")["rewrite_message"], properties=clean, **scope)
        # The facts that a replay replaced may hold them, too.
        await tx.run(load("whatif")["drop_replay"], namespace=message.namespace)

    await graph.transact("redact_message", work)


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


async def unsettled(graph: Graph, namespace: str) -> list[str]:
    """Ids of the facts a question about which got no usable answer, oldest first."""
    rows = await graph.read(load("write")["unsettled"], namespace=namespace)
    return [row["id"] for row in rows]


async def unsettled_fact(graph: Graph, namespace: str, fact_id: str) -> Unsettled | None:
    """One such fact as it stands; None when it is settled by now."""
    rows = await graph.read(load("write")["unsettled_fact"], namespace=namespace, id=fact_id)
    if not rows:
        return None
    row = rows[0]
    return Unsettled(
        fact=records.fact(row["fact"]),
        messages=tuple(records.message(message) for message in row["messages"]),
        counted=frozenset(row["counted"]),
    )


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


def _stored(row: dict[str, Any], created: bool) -> Stored:
    return Stored(records.message(row), created, records.drafts(row))
