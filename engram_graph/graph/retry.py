"""Transactions that are run again when another writer came between."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from engram_graph.errors import ConflictError, StoreError
from engram_graph.graph import write
from engram_graph.graph.driver import Graph, Tx
from engram_graph.models.plans import WritePlan

log = logging.getLogger(__name__)
_ATTEMPTS = 12
_RACES = (
    "Neo.ClientError.Statement.EntityNotFound",  # deleted while a statement waited for it
    "Neo.ClientError.Schema.ConstraintValidationFailed",  # made, or joined to, meanwhile
)
T = TypeVar("T")


async def until_done(graph: Graph, name: str, work: Callable[[Tx], Awaitable[T]], what: str) -> T:
    """What ``work`` gives, run again while it raises ``StalePlanError`` or loses a race.

    Raises:
        ConflictError: ``what`` kept changing.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return await graph.transact(name, work)
        except write.StalePlanError:
            pass
        except StoreError as error:
            if error.details.get("server_code") not in _RACES:
                raise
        await asyncio.sleep(random.uniform(0, 0.02 * (attempt + 1)))
    raise ConflictError(f"{what} kept changing", hint="Try again.")


async def apply_planned(
    graph: Graph,
    make: Callable[[], Awaitable[WritePlan | None]],
    *,
    finish: bool,
    what: str,
) -> bool:
    """Plan and apply until nothing changes in between; False: it was applied before, or no plan.

    Most plans meet nobody, and none waits for another's decider. One that went stale is made again
    while the others are kept out: on a busy subject it would be overtaken again and again.

    Raises:
        ConflictError: ``what`` kept changing. NotFoundError: the message was forgotten.
    """
    first = await make()
    if first is None:
        return False
    for attempt in range(_ATTEMPTS):
        try:
            if attempt == 0:
                return await write.apply(graph, first, finish=finish)
            return await write.apply_held(graph, first, make, finish=finish)
        except write.StalePlanError:
            log.debug("plan %d was stale", attempt + 1)
        await asyncio.sleep(random.uniform(0, 0.02 * attempt))
    raise ConflictError(f"{what} kept changing", hint="Try again.")
