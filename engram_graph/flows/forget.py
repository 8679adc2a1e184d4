"""Forgetting: one record with what hangs on it, or a whole namespace; counted first if asked."""

from __future__ import annotations

import asyncio
import random

from engram_graph.errors import ConflictError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import doctor
from engram_graph.graph import forget as store
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.graph.forget_scope import Target
from engram_graph.graph.write import StalePlanError
from engram_graph.models.results import Forgotten
from engram_graph.rules.forget import ForgetPlan

_ATTEMPTS = 12


async def forget(runtime: Runtime, namespace: str, target: Target, *, dry_run: bool) -> Forgotten:
    """Forget ``target``, or only count what would go.

    Raises:
        NotFoundError: there is no such record in the namespace.
        ConflictError: other writers kept changing what it touches.
    """
    if dry_run:
        return _forgotten(await store.look(runtime.graph, namespace, target), dry_run=True)
    for attempt in range(_ATTEMPTS):
        try:
            return _forgotten(await store.forget(runtime.graph, namespace, target))
        except StalePlanError:
            await asyncio.sleep(random.uniform(0, 0.02 * (attempt + 1)))
    raise ConflictError(
        "what was to be forgotten kept changing", hint="Nothing was forgotten: try again."
    )


async def forget_everything(runtime: Runtime, namespace: str, *, dry_run: bool) -> Forgotten:
    """Forget a whole namespace, or only count what it holds."""
    if dry_run:
        counts = await doctor.counts(runtime.graph, [namespace])
    else:
        counts = await forget_namespace(runtime.graph, namespace)
    return Forgotten(
        facts=counts["facts"],
        messages=counts["messages"],
        entities=counts["entities"],
        decisions=counts["decisions"],
        requests=counts["requests"],
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
