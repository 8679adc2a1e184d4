"""Transactions that are run again when another writer came between.

Whoever holds the locks is never overtaken: a plan is made without them twice, and then under them;
what a merge or a ``forget`` finds under its locks it locks, too. So a busy store delays a writer
and stops none, and what is tried again here is only what others removed or made at that instant.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from engram_graph import telemetry
from engram_graph.errors import ConflictError, StoreError
from engram_graph.graph import write
from engram_graph.graph.driver import Graph, Tx
from engram_graph.models.plans import WritePlan

log = logging.getLogger(__name__)
HELD_SECONDS = 10.0
"""How long others wait at most while a plan is made under their locks."""
_WITHOUT_LOCKS = 2
_ATTEMPTS = 12
_PAUSE_SECONDS = 0.02
_RACES = (
    "Neo.ClientError.Statement.EntityNotFound",  # deleted while a statement waited for it
    "Neo.ClientError.Schema.ConstraintValidationFailed",  # made, or joined to, meanwhile
)
T = TypeVar("T")
Make = Callable[[float | None], Awaitable[WritePlan | None]]
"""Makes a plan; given a number of seconds, whoever is asked for longer counts as away."""


async def until_done(graph: Graph, name: str, work: Callable[[Tx], Awaitable[T]], what: str) -> T:
    """What ``work`` gives, run again while it raises ``StalePlanError`` or loses a race.

    Raises:
        ConflictError: ``what`` kept changing.
    """
    for attempt in range(_ATTEMPTS):
        await _pause(attempt)
        try:
            return await graph.transact(name, work)
        except write.StalePlanError:
            pass
        except StoreError as error:
            if error.details.get("server_code") not in _RACES:
                raise
    raise ConflictError(f"{what} kept changing", hint="Try again.")


async def apply_planned(graph: Graph, make: Make, *, finish: bool, what: str) -> bool:
    """Plan and apply until nothing changes in between; False: it was applied before, or no plan.

    Most plans meet nobody, and none waits for another's decider. One that went stale twice is made
    while the others are kept out: on a busy subject it would be overtaken again and again.

    Raises:
        ConflictError: ``what`` kept changing. NotFoundError: the message was forgotten.
    """
    stale: WritePlan | None = None
    latest: WritePlan | None = None

    async def made(within: float | None) -> WritePlan | None:
        nonlocal stale, latest
        plan = latest = await make(within)
        if plan is not None:
            stale = plan if stale is None else _holding_both(plan, stale)
        return plan

    for attempt in range(_ATTEMPTS):
        await _pause(attempt)
        try:
            if attempt < _WITHOUT_LOCKS or stale is None:
                plan = await made(None)
                applied = plan is not None and await write.apply(graph, plan, finish=finish)
            else:
                applied = await write.apply_held(
                    graph, stale, lambda: made(HELD_SECONDS), finish=finish
                )
        except write.StalePlanError:
            telemetry.count("engram.plans.stale")
            log.debug("plan %d was stale", attempt + 1)
            continue
        if applied and latest is not None:
            _count(latest)
        return applied
    raise ConflictError(f"{what} kept changing", hint="Try again.")


def _count(plan: WritePlan) -> None:
    """Tell the metrics what a plan has changed."""
    if plan.fact is not None and plan.settles is None:
        telemetry.count("engram.facts.stored", tentative=plan.fact.tentative)
    for each in plan.judgements:
        telemetry.count(
            "engram.decisions",
            question=each.question,
            outcome=each.outcome.value,
            backend=each.backend,
        )
        if each.closing and each.closing[0][0] is None and each.closing[1][0] is not None:
            telemetry.count("engram.facts.closed")


def _holding_both(plan: WritePlan, before: WritePlan) -> WritePlan:
    """``plan`` as one whose locks are those of ``before`` as well."""
    keys = {*plan.beside, *before.beside, *before.mentions, before.subject_key}
    keys |= {before.fact.object_key} if before.fact else set()
    return replace(plan, beside=tuple(sorted(keys)))


async def _pause(attempt: int) -> None:
    """Nothing before the first two attempts; then longer each time, and never for two the same."""
    await asyncio.sleep(random.uniform(0, _PAUSE_SECONDS * max(0, attempt - 1)))
