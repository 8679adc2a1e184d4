"""Writing what a replay takes as it was: what people, upkeep and imports did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.models.decisions import Decision, Judgement
from engram_graph.models.facts import Link
from engram_graph.vocabulary import ClosedReason, Outcome

Noted = tuple[Decision, int, bool]
"""A decision, its position, and whether it moves an end."""


async def present(graph: Graph, namespace: str, ids: Sequence[str]) -> set[str]:
    """Those of ``ids`` that are facts of the namespace."""
    rows = await graph.read(
        load("transfer")["transfer_known_facts"], namespace=namespace, ids=list(ids)
    )
    return {row["id"] for row in rows}


async def note(
    graph: Graph,
    namespace: str,
    at: datetime,
    decisions: Sequence[Noted],
    links: Sequence[Link],
    unlinked: Sequence[Link],
    against: Mapping[str, int],
) -> None:
    """Write down decisions on facts that are there, with what each did to them.

    Args:
        against: fact id → how much evidence there is against it.
    """

    async def work(tx: Tx) -> None:
        scope = {"namespace": namespace}
        for query, some in (("link_facts", links), ("unlink_same", unlinked)):
            if some:
                stem = "write" if query == "link_facts" else "hygiene"
                parameters = [records.link_parameters(link) for link in some]
                await tx.run(load(stem)[query], links=parameters, **scope)
        changes = [
            {"id": one.fact_id, "properties": found}
            for one, _, moves_end in decisions
            if (found := _effect(one, moves_end))
        ]
        changes += [{"id": k, "properties": {"against_count": v}} for k, v in against.items()]
        if changes:
            await tx.run(load("write")["change_facts"], changes=changes, **scope)
        rows = [
            records.judgement_parameters(_judgement(one, moves_end), namespace, at, position)
            for one, position, moves_end in decisions
        ]
        if rows:
            await tx.run(load("write")["record_decisions"], decisions=rows)

    await graph.transact("replay_noted", work)


def _effect(decision: Decision, moves_end: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if decision.outcome in (Outcome.ARCHIVED, Outcome.RESTORED):
        archived = decision.outcome == Outcome.ARCHIVED
        found["archived_at"] = decision.decided_at if archived else None
    if decision.outcome == Outcome.FORGOTTEN:
        if decision.belief_after is not None:
            found["belief"] = decision.belief_after
        if moves_end:
            until, reason = decision.valid_until_after, decision.reason_after
            found |= {
                "valid_until": until,
                "closed_reason": reason,
                "closed_at": None if until is None else decision.decided_at,
                "open": until is None,
                "candidate": records.is_candidate(until, reason),
            }
        if found:
            found["changed_at"] = decision.decided_at
    return found


def _judgement(decision: Decision, moves_end: bool) -> Judgement:
    """``decision`` to be written again, under its new id."""
    belief: dict[str, tuple[float | None, float]] = {}
    if decision.fact_id and decision.belief_after is not None:
        belief[decision.fact_id] = decision.belief_before, decision.belief_after
    return Judgement(
        id=decision.id,
        question=decision.question,
        outcome=Outcome(decision.outcome),
        chosen=decision.chosen,
        p=decision.p,
        reason=decision.reason,
        fact_id=decision.fact_id,
        candidate_id=decision.candidate_id,
        backend=decision.backend,
        belief=belief,
        closing=(
            (decision.valid_until_before, _reason(decision.reason_before)),
            (decision.valid_until_after, _reason(decision.reason_after)),
        )
        if moves_end
        else None,
    )


def _reason(reason: ClosedReason | None) -> str | None:
    return reason.value if reason else None
