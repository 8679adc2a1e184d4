"""History: facts on both clocks, timelines, everything behind one fact, counts."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.feedback import label
from engram_graph.graph.queries import load
from engram_graph.graph.read import ends
from engram_graph.models.facts import Fact
from engram_graph.models.results import (
    Clock,
    DiffEntry,
    Explanation,
    NamespaceInfo,
    QuestionStats,
    Stats,
    Timeline,
)
from engram_graph.rules.scratch import replay_begun
from engram_graph.rules.story import needed_facts
from engram_graph.rules.timeline import Span


async def facts(
    graph: Graph,
    namespace: str,
    *,
    subject_key: str | None = None,
    predicate: str | None = None,
    object_key: str | None = None,
    open_only: bool | None = None,
    within: Span | None = None,
    known_at: datetime | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int = 100,
) -> list[Fact]:
    """Facts in recording order, after the (recorded_at, id) of the last one seen.

    Args:
        within: only those true at one of its moments. known_at: as the memory knew it then.
    """
    params: dict[str, Any] = {
        "namespace": namespace,
        "predicate": predicate,
        "object_key": object_key,
        "open": open_only,
        **ends(within),
        "known_at": known_at,
        "after": after[0] if after else None,
        "after_id": after[1] if after else None,
        "limit": limit,
    }
    if subject_key is None:
        rows = await graph.read(load("history")["facts_of_namespace"], **params)
    else:
        rows = await graph.read(
            load("history")["facts_of_subject"], subject_key=subject_key, **params
        )
    return [records.fact(row["fact"]) for row in rows]


async def timeline(
    graph: Graph, namespace: str, subject: str, subject_key: str, predicate: str | None
) -> Timeline:
    """All facts of a subject by valid_from, with the SUPERSEDES among them."""
    rows = await graph.read(
        load("history")["timeline"],
        namespace=namespace,
        subject_key=subject_key,
        predicate=predicate,
    )
    found = [records.fact(row["fact"]) for row in rows]
    return Timeline(
        subject=found[0].subject if found else subject,
        predicate=predicate,
        facts=tuple(found),
        links=tuple(records.link(link) for row in rows for link in row["links"]),
    )


async def diff(
    graph: Graph,
    namespace: str,
    within: Span,
    *,
    clock: Clock,
    subject_key: str | None,
    predicate: str | None,
    limit: int,
) -> list[DiffEntry]:
    """The first ``limit`` changes of a stretch of time, by one of the clocks."""
    rows = await graph.read(
        load("history")[f"diff_{clock}"],
        namespace=namespace,
        subject_key=subject_key,
        predicate=predicate,
        limit=limit,
        **ends(within),
    )
    return [_entry(row) for row in rows]


def _entry(row: records.Row) -> DiffEntry:
    plain = records.native({name: row[name] for name in row if name != "fact"})
    by = plain.pop("by") or {}
    why = plain.pop("why") or ""
    return DiffEntry(
        **plain, fact=records.fact(row["fact"]), why=why, by=by.get("id"), by_text=by.get("text")
    )


async def by_prefix(graph: Graph, namespace: str, prefix: str, limit: int) -> list[Fact]:
    """Facts whose ids start with ``prefix``, oldest first."""
    rows = await graph.read(
        load("history")["facts_by_prefix"], namespace=namespace, prefix=prefix, limit=limit
    )
    return [records.fact(row["fact"]) for row in rows]


async def explain(graph: Graph, namespace: str, fact: Fact) -> Explanation:
    """Everything behind ``fact``, read in one transaction."""
    history = load("history")
    scope = {"namespace": namespace, "id": fact.id}

    async def work(tx: Tx) -> Explanation:
        messages = await tx.run(history["explain_messages"], **scope)
        rows = await tx.run(history["explain_decisions"], **scope)
        decisions = [records.decision(row["decision"]) for row in rows]
        chain = await tx.run(history["explain_chain"], **scope)
        links = [
            records.link(row["link"]) for row in await tx.run(history["explain_links"], **scope)
        ]
        asked = await tx.run(history["explain_requests"], **scope)
        labels = await tx.run(load("feedback")["explain_feedback"], **scope)
        requests = [_request(row["request"]) for row in asked]
        others = await tx.run(
            history["explain_others"],
            namespace=namespace,
            ids=list(needed_facts(fact.id, decisions, requests, links)),
        )
        return Explanation(
            fact=fact,
            messages=tuple(records.message(row["message"]) for row in messages),
            decisions=tuple(decisions),
            older=tuple(records.fact(row["fact"]) for row in chain if row["side"] == "older"),
            newer=tuple(records.fact(row["fact"]) for row in chain if row["side"] == "newer"),
            links=tuple(links),
            requests=tuple(requests),
            others=tuple(records.fact(row["fact"]) for row in others),
            feedback=tuple(label(row["feedback"]) for row in labels),
        )

    return await graph.look("explain", work)


def _request(row: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = records.native(row)
    for field in ("answers", "question_versions"):
        plain[field] = json.loads(plain[field])
    return plain


async def namespaces(graph: Graph) -> list[NamespaceInfo]:
    """Every namespace with its counts, but for those that replays work in."""
    rows = await graph.read(load("history")["namespaces"])
    found = [NamespaceInfo.model_validate(records.native(row)) for row in rows]
    return [each for each in found if not replay_begun(each.namespace)]


async def stats(graph: Graph, namespace: str) -> Stats:
    """Counts of one namespace, what its decider calls cost and how long they take."""
    row = (await graph.read(load("history")["stats"], namespace=namespace))[0]
    calls = row.pop("calls") or {}
    predicates = {p["predicate"]: p["facts"] for p in row.pop("predicates")}
    questions = {q.pop("question"): QuestionStats(**q) for q in row.pop("questions")}
    return Stats(
        namespace=namespace,
        predicates=predicates,
        questions=questions,
        requests=calls.get("requests", 0),
        failed_requests=calls.get("failed", 0),
        unpriced_requests=calls.get("unpriced", 0),
        cost_usd=calls.get("cost_usd", 0.0),
        latency_ms_p50=calls.get("p50"),
        latency_ms_p90=calls.get("p90"),
        latency_ms_p99=calls.get("p99"),
        **row,
    )
