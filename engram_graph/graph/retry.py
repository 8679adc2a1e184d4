"""Transactions that are run again when another writer came between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from engram_graph.errors import ConflictError, StoreError
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.write import StalePlanError

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
        except StalePlanError:
            pass
        except StoreError as error:
            if error.details.get("server_code") not in _RACES:
                raise
        await asyncio.sleep(random.uniform(0, 0.02 * (attempt + 1)))
    raise ConflictError(f"{what} kept changing", hint="Try again.")
