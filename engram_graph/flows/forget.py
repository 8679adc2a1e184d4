"""Forgetting: one record with what hangs on it, or a whole namespace; counted first if asked."""

from __future__ import annotations

from engram_graph.flows.runtime import Runtime
from engram_graph.flows.whatif_apply import sweep
from engram_graph.graph import doctor
from engram_graph.graph import forget as store
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.graph.forget_scope import Target
from engram_graph.models.results import Forgotten
from engram_graph.rules.forget import ForgetPlan


async def forget(runtime: Runtime, namespace: str, target: Target, *, dry_run: bool) -> Forgotten:
    """Forget ``target``, or only count what would go.

    Raises:
        NotFoundError: there is no such record in the namespace.
        ConflictError: others kept removing what it touches; nothing was removed here.
    """
    if dry_run:
        return _forgotten(await store.look(runtime.graph, namespace, target), dry_run=True)
    plan = await store.forget(runtime.graph, namespace, target)
    await sweep(runtime, namespace, running=True)  # a replay's copy has it, too
    return _forgotten(plan)


async def forget_everything(runtime: Runtime, namespace: str, *, dry_run: bool) -> Forgotten:
    """Forget a whole namespace, or only count what it holds."""
    if dry_run:
        counts = await doctor.counts(runtime.graph, [namespace])
    else:
        counts = await forget_namespace(runtime.graph, namespace)
        await sweep(runtime, namespace, running=True)
    return Forgotten(
        facts=counts["facts"],
        messages=counts["messages"],
        entities=counts["entities"],
        decisions=counts["decisions"],
        requests=counts["requests"],
        items=counts["items"],
        dry_run=dry_run,
    )


def _forgotten(plan: ForgetPlan, *, dry_run: bool = False) -> Forgotten:
    return Forgotten(
        facts=len(plan.facts),
        messages=len(plan.messages),
        entities=len(plan.entities),
        decisions=len(plan.decisions),
        requests=len(plan.requests),
        fact_ids=plan.facts,
        dry_run=dry_run,
    )
