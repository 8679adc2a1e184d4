"""Writing what an import brings, in batches that may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.items import text_rows, value_text
from engram_graph.graph.queries import load
from engram_graph.graph.write import Stored
from engram_graph.models.decisions import RequestLog
from engram_graph.models.export import (
    AliasRecord,
    DecisionRecord,
    EntityRecord,
    FeedbackRecord,
    ItemRecord,
    MentionRecord,
    MessageRecord,
)
from engram_graph.models.facts import Fact, Link, Vector
from engram_graph.rules.paths import folder

_ON_RELATIONSHIPS = frozenset(
    {
        *("fact_id", "candidate_id", "request_id", "belief_before", "belief_after"),
        *("candidate_belief_before", "candidate_belief_after"),
    }
)
_CLOSING = ("valid_until_before", "valid_until_after", "reason_before", "reason_after")
Row = dict[str, Any]


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
                "aliases": [],  # they come as records of their own
                "version": item.version,
                "created_at": item.created_at,
                "apart": list(item.apart) or None,
            },
        }
        for item in items
    ]
    return sorted(rows, key=lambda row: str(row["key"]))  # locks in one order: no deadlock


async def mentions(
    graph: Graph,
    namespace: str,
    entities: Sequence[EntityRecord],
    items: Sequence[MentionRecord],
) -> None:
    """Add mentions of ``entities``."""
    rows = [{"fact": each.fact, "key": each.entity, "of": list(each.of)} for each in items]

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
        # What the file may add comes first: it takes no other property's place.
        "properties": record.more
        | properties
        | {"namespace": namespace, "position": record.position},
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


async def aliases(graph: Graph, namespace: str, items: Sequence[AliasRecord]) -> None:
    """Add aliases, but for names that are an entity's or another's alias already."""
    rows = []
    for item in items:
        properties: Row = {"name": item.name, "created_at": item.created_at}
        if was := item.merged:
            properties |= {
                "entity_id": was.id,
                "entity_version": was.version,
                "entity_created_at": was.created_at,
                "apart": list(was.apart) or None,
                "alias_keys": list(was.alias_keys),
            }
        rows.append(
            {
                "key": item.key,
                "entity": item.entity,
                "properties": properties,
                "decisions": list(item.decisions),
            }
        )

    async def work(tx: Tx) -> None:
        scope = {"namespace": namespace}
        await tx.run(load("transfer")["transfer_aliases"], rows=rows, **scope)
        keys = sorted({item.entity for item in items})
        await tx.run(load("entities")["show_aliases"], keys=keys, **scope)

    await graph.transact("transfer_aliases", work)


async def feedback(graph: Graph, namespace: str, items: Sequence[FeedbackRecord]) -> None:
    """Add labels on new facts and on the decisions that came with them."""
    rows = [
        {
            "fact_id": item.feedback.fact_id,
            "decision_id": item.feedback.decision_id,
            "properties": item.feedback.model_dump(exclude={"fact_id", "decision_id"}),
        }
        for item in items
    ]
    await graph.write(load("transfer")["transfer_feedback"], namespace=namespace, rows=rows)


async def items(graph: Graph, namespace: str, given: Sequence[ItemRecord]) -> None:
    """Store items whose path and key are free."""
    rows = [
        {
            "folder": folder(one.item.path),
            "key": one.item.key,
            "own": one.item.model_dump(include={"id", "created_at", "updated_at", "said", "source"})
            | {"value": value_text(one.item.value)},
            "texts": text_rows([(text.text, text.vector) for text in one.texts]),
        }
        for one in given
    ]
    await graph.write(load("transfer")["transfer_items"], namespace=namespace, rows=rows)


async def resolved(graph: Graph, namespace: str, keys: Sequence[str]) -> dict[str, str]:
    """Those of ``keys`` that are aliases here → the key of the entity they mean."""
    rows = await graph.read(load("entities")["resolve_keys"], namespace=namespace, keys=list(keys))
    return {row["key"]: row["entity_key"] for row in rows}


async def done(graph: Graph, namespace: str, ids: Sequence[str]) -> None:
    """Take the mark of an import under way from messages and facts."""
    await graph.write(load("transfer")["transfer_done"], namespace=namespace, ids=list(ids))
