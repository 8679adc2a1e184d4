"""Upkeep: reads what may be the same or may be archived, writes what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.models.decisions import Judgement, RequestLog
from engram_graph.rules.hygiene import Ageing, Compared, Known
from engram_graph.vocabulary import Outcome


async def count_pairs(graph: Graph, namespace: str, newest: int) -> int:
    """How many pairs there are, those that are not asked about included."""
    rows = await graph.read(load("hygiene")["count_pairs"], namespace=namespace, newest=newest)
    return int(rows[0]["pairs"])


async def groups(
    graph: Graph, namespace: str, after: str, newest: int, limit: int
) -> tuple[list[list[Known]], str | None]:
    """The comparable facts of up to ``limit`` subjects after the key ``after``, and where to go on.

    None: there are no more subjects.
    """
    rows = await graph.read(
        load("hygiene")["groups"], namespace=namespace, after_key=after, newest=newest, limit=limit
    )
    found = [
        [Known(records.fact(one["fact"]), frozenset(one["same_as"])) for one in row["facts"]]
        for row in rows
    ]
    return found, rows[-1]["subject_key"] if len(rows) == limit else None


async def decided_before(graph: Graph, namespace: str, ids: Sequence[str]) -> set[str]:
    """Those of ``ids`` that are decisions already."""
    if not ids:
        return set()
    query = load("hygiene")["decided_before"]
    return {row["id"] for row in await graph.read(query, namespace=namespace, ids=list(ids))}


async def apply_compared(
    graph: Graph,
    namespace: str,
    items: Sequence[Compared],
    request: RequestLog,
    decided_at: datetime,
) -> list[Compared]:
    """Change links and write the decisions and their request down, in one transaction.

    A pair of which a fact changed or went since it was read is left for the next pass, and one
    that another pass has decided meanwhile is decided. Returns what was carried out.
    """
    facts = {fact.id: fact for one in items for fact in (one.pair.newer, one.pair.older)}

    async def work(tx: Tx) -> list[Compared]:
        scope = {"namespace": namespace}
        locked = await tx.run(load("write")["lock_facts"], ids=sorted(facts), **scope)
        same = {row["id"] for row in locked if row["version"] == facts[row["id"]].version}
        ids = [one.judgement.id for one in items]
        known = await tx.run(load("hygiene")["decided_before"], ids=ids, **scope)
        decided = {row["id"] for row in known}
        done = [
            one
            for one in items
            if {one.pair.newer.id, one.pair.older.id} <= same and one.judgement.id not in decided
        ]
        for change, query in (("link", "link_same"), ("unlink", "unlink_same")):
            links = [one.link(decided_at) for one in done if one.change == change]
            if links:
                parameters = [records.link_parameters(link) for link in links]
                await tx.run(load("hygiene")[query], links=parameters, **scope)
        await _log(tx, namespace, [one.judgement for one in done], [request], decided_at)
        return done

    return await graph.transact("apply_same_as", work)


async def stale_ids(graph: Graph, namespace: str, before: datetime) -> list[str]:
    """Ids of extracted facts not recorded, read or judged worth keeping since ``before``."""
    rows = await graph.read(load("hygiene")["stale_ids"], namespace=namespace, before=before)
    return [row["id"] for row in rows]


async def short_lived_ids(graph: Graph, namespace: str, before: datetime) -> list[str]:
    """Ids of extracted short-lived facts recorded before a moment."""
    rows = await graph.read(load("hygiene")["short_lived_ids"], namespace=namespace, before=before)
    return [row["id"] for row in rows]


async def ageing_facts(graph: Graph, namespace: str, ids: Sequence[str]) -> list[Ageing]:
    """Facts with what states them; those that are gone are left out."""
    rows = await graph.read(load("hygiene")["ageing_facts"], namespace=namespace, ids=list(ids))
    return [_ageing(row) for row in rows if row["messages"]]


async def apply_archiving(
    graph: Graph,
    namespace: str,
    items: Mapping[str, Ageing],
    judgements: Sequence[Judgement],
    requests: Sequence[RequestLog],
    now: datetime,
) -> set[str]:
    """Archive what ``judgements`` archive, and write them down with their requests.

    A fact that was changed, read or said again since it was looked at stays as it is, undecided.

    Returns:
        Ids of the facts that were archived.
    """
    archives = [
        {
            "id": judgement.fact_id,
            "version": items[judgement.fact_id].fact.version,
            "read_at": items[judgement.fact_id].fact.read_at,
            "sources": items[judgement.fact_id].sources,
        }
        for judgement in judgements
        if judgement.outcome is Outcome.ARCHIVED and judgement.fact_id
    ]

    async def work(tx: Tx) -> set[str]:
        scope = {"namespace": namespace}
        locked = await tx.run(load("write")["lock_facts"], ids=sorted(items), **scope)
        there = {row["id"] for row in locked}
        rows = await tx.run(load("hygiene")["archive_facts"], archives=archives, now=now, **scope)
        done = {row["id"] for row in rows}
        kept = [
            judgement
            for judgement in judgements
            if judgement.fact_id in (done if judgement.outcome is Outcome.ARCHIVED else there)
        ]
        await _log(tx, namespace, kept, requests, now)
        return done

    return await graph.transact("archive", work)


async def restore(
    graph: Graph, namespace: str, fact_id: str, judgement: Judgement, now: datetime
) -> bool:
    """Give an archived fact back to search; False when it was not archived."""

    async def work(tx: Tx) -> bool:
        query = load("hygiene")["restore_fact"]
        if not await tx.run(query, namespace=namespace, id=fact_id):
            return False
        await _log(tx, namespace, [judgement], [], now)
        return True

    return await graph.transact("restore", work)


async def note_reads(graph: Graph, namespace: str, reads: Iterable[tuple[str, datetime]]) -> None:
    """Note when facts were last read, in one statement."""
    rows = [{"id": fact_id, "at": at} for fact_id, at in sorted(reads)]  # locks in one order
    await graph.write(load("hygiene")["note_reads"], namespace=namespace, reads=rows)


def _ageing(row: dict[str, Any]) -> Ageing:
    fact = records.fact(row["fact"])
    messages = [records.message(message) for message in row["messages"]]
    drafts = [records.drafts(message) for message in row["messages"]]
    return Ageing(
        fact=fact,
        message=messages[0],
        sources=len(messages),
        makers=frozenset([fact.extractor, *(each.extractor for each in drafts if each)]),
        told_at=max(fact.recorded_at, messages[-1].recorded_at),
    )


async def _log(
    tx: Tx,
    namespace: str,
    judgements: Sequence[Judgement],
    requests: Sequence[RequestLog],
    decided_at: datetime,
) -> None:
    if requests:
        properties = [records.request_properties(each, namespace) for each in requests]
        await tx.run(load("write")["record_requests"], requests=properties)
    if judgements:
        parameters = [
            records.judgement_parameters(each, namespace, decided_at, position, requests)
            for position, each in enumerate(judgements)
        ]
        await tx.run(load("write")["record_decisions"], decisions=parameters)
