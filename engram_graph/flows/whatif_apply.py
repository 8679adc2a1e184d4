"""A what-if made so, in one recorded step, and that step taken back."""

from __future__ import annotations

from datetime import timedelta

from engram_graph import clock
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.whatif_replay import Replay
from engram_graph.graph import whatif_apply as store
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.graph.whatif_apply import Step
from engram_graph.models.whatif import TakenBack, WhatIf
from engram_graph.rules.replay_adopt import adopt
from engram_graph.rules.scratch import replay_begun, scratch

_LEFT_AFTER = timedelta(hours=1)  # no replay takes as long


async def apply(runtime: Runtime, copy: Replay, found: WhatIf) -> None:
    """Put ``copy`` in the place of what it was made from.

    Raises:
        ConflictError: the namespace has changed since it was read; nothing was done.
    """
    step = Step(
        id=clock.new_id(),
        preset=found.preset,
        numbers=found.numbers,
        applied_at=clock.now(),
        facts=len(found.facts),
        links=len(found.links),
    )
    adoption = adopt(copy.log, await copy.records(), copy.names.original)
    await store.apply(runtime.graph, found.namespace, copy.namespace, copy.seen, adoption, step)


async def take_back(runtime: Runtime, namespace: str) -> TakenBack:
    """See ``AsyncMemory.take_back``."""
    step = await store.take_back(runtime.graph, namespace)
    return TakenBack(
        namespace=namespace,
        preset=step.preset,
        numbers=dict(step.numbers),
        applied_at=step.applied_at,
        facts=step.facts,
        links=step.links,
    )


async def sweep(runtime: Runtime, namespace: str, *, running: bool = False) -> None:
    """Remove what replays of a namespace left behind when they were killed, an hour ago or more.

    Args:
        running: remove the copies of replays that are under way, too.
    """
    for name in await store.left(runtime.graph, scratch(namespace)):
        begun = replay_begun(name)
        if begun and (running or clock.now() - begun > _LEFT_AFTER):
            await forget_namespace(runtime.graph, name)
