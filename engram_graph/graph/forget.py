"""Forgetting in the store: one transaction locks, reads, mends what stays and removes the rest."""

from __future__ import annotations

import json

from engram_graph.clock import new_id
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.forget_scope import NOTHING, Reach, Target, gather
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.rules.forget import Carried, ForgetPlan, forget_plan


async def look(graph: Graph, namespace: str, target: Target) -> ForgetPlan:
    """What would go; reads only.

    Raises:
        NotFoundError: there is no such record in the namespace.
    """

    async def work(tx: Tx) -> ForgetPlan:
        forgetting, _ = await gather(tx, namespace, target)
        return forget_plan(forgetting, new_id)

    return await graph.look("look_before_forgetting", work)


async def forget(graph: Graph, namespace: str, target: Target) -> ForgetPlan:
    """Remove it and mend what stays; what went.

    What others wrote about it before its locks were granted is locked as well, under them: from
    then on nobody adds to it, so that no writer can keep this one from its end.

    Raises:
        NotFoundError: there is no such record in the namespace.
        ConflictError: others kept removing what it touches; nothing was removed here.
    """

    async def work(tx: Tx) -> ForgetPlan:
        held = NOTHING
        forgetting, reach = await gather(tx, namespace, target)
        while not held.holds(reach):
            await _lock(tx, namespace, reach)
            held = held.and_also(reach)
            forgetting, reach = await gather(tx, namespace, target)
        plan = forget_plan(forgetting, new_id)
        await _mend(tx, namespace, plan)
        await _erase(tx, namespace, plan)
        # What a replay replaced has it too, and cannot be mended: no step is taken back any more.
        await tx.run(load("whatif")["drop_replay"], namespace=namespace)
        return plan

    return await until_done(graph, "forget", work, "what was to be forgotten")


async def _lock(tx: Tx, namespace: str, reach: Reach) -> None:
    query = load("forget")
    await tx.run(
        query["lock_conversations"], namespace=namespace, names=sorted(reach.conversations)
    )
    await tx.run(load("merge")["lock_known_entities"], namespace=namespace, keys=sorted(reach.keys))
    await tx.run(load("write")["lock_facts"], namespace=namespace, ids=sorted(reach.facts))
    await tx.run(query["lock_messages"], namespace=namespace, ids=sorted(reach.messages))


async def _mend(tx: Tx, namespace: str, plan: ForgetPlan) -> None:
    """Write what stands in the place of what goes."""
    query, write = load("forget"), load("write")
    await tx.run(
        query["close_chains"],
        namespace=namespace,
        links=[records.link_parameters(link) for link in plan.links],
    )
    await tx.run(
        write["record_decisions"], decisions=[_decision(each, namespace) for each in plan.carried]
    )
    await tx.run(
        write["change_facts"],
        namespace=namespace,
        changes=[{"id": fact, "properties": new} for fact, new in plan.changes.items()],
    )
    await tx.run(
        query["rewrite_requests"],
        namespace=namespace,
        requests=[
            {
                "id": request,
                "candidates": candidates,
                "answers": json.dumps(answers, ensure_ascii=False),
            }
            for request, (candidates, answers) in plan.asked.items()
        ],
    )
    await tx.run(
        query["rewrite_drafts"],
        namespace=namespace,
        messages=[
            {"id": message, "drafts": records.drafts_json(drafts)}
            for message, drafts in plan.drafts.items()
        ],
    )
    await tx.run(
        query["close_turns"], namespace=namespace, turns=[list(turn) for turn in plan.turns]
    )


async def _erase(tx: Tx, namespace: str, plan: ForgetPlan) -> None:
    query = load("forget")
    await tx.run(query["erase_decisions"], namespace=namespace, ids=list(plan.decisions))
    await tx.run(query["erase_requests"], namespace=namespace, ids=list(plan.requests))
    await tx.run(query["erase_facts"], namespace=namespace, ids=list(plan.facts))
    await tx.run(query["erase_messages"], namespace=namespace, ids=list(plan.messages))
    await tx.run(query["erase_conversations"], namespace=namespace, names=list(plan.conversations))
    await tx.run(query["erase_entities"], namespace=namespace, keys=list(plan.entities))


def _decision(carried: Carried, namespace: str) -> records.Row:
    return records.judgement_parameters(
        carried.judgement, namespace, carried.decided_at, carried.position
    )
