"""A namespace decided again under other rules, in a copy that is removed afterwards.

Every message, draft and answer is in the store, so nothing is asked: the same flows write the same
drafts in the same order, at the moments of then, and a decider answers from the log.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import anyio

from engram_graph.errors import ConflictError
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.whatif_apply import apply as make_so
from engram_graph.flows.whatif_apply import sweep
from engram_graph.flows.whatif_replay import Progress, Replay
from engram_graph.graph import transfer
from engram_graph.graph.driver import Row
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.models.decisions import total_cost
from engram_graph.models.whatif import WhatIf
from engram_graph.rules.method import Method
from engram_graph.rules.replay_log import Log
from engram_graph.rules.whatif import fact_diffs, link_diffs

_ATTEMPTS = 5


async def whatif(
    runtime: Runtime,
    namespace: str,
    method: Method,
    numbers: Mapping[str, float],
    *,
    ask: bool,
    apply: Callable[[WhatIf], bool],
    progress: Progress | None,
) -> WhatIf:
    """See ``AsyncMemory.whatif``."""
    async with replayed(runtime, namespace, method, ask=ask, progress=progress) as copy:
        facts, links = await copy.result()
        found = WhatIf(
            namespace=namespace,
            preset=method.name,
            numbers=dict(numbers),
            drafts=copy.drafts,
            given=copy.given,
            facts=fact_diffs([r.fact for r in copy.log.facts.values()], facts),
            links=link_diffs(copy.log.links, links),
            unanswered=tuple(copy.decider.unanswered),
            passed_over=tuple(copy.passed_over),
            incomplete=copy.incomplete,
            requests=len(copy.decider.costs),
            cost_usd=total_cost(copy.decider.costs),
        )
        if found.same or not apply(found):
            return found
        await make_so(runtime, copy, found)
        return found.model_copy(update={"applied": True})


@asynccontextmanager
async def replayed(
    runtime: Runtime,
    namespace: str,
    method: Method,
    *,
    ask: bool = False,
    progress: Progress | None = None,
) -> AsyncIterator[Replay]:
    """A namespace as it would stand, in another one that is gone when the context ends.

    Raises:
        ConflictError: it kept changing while it was read.
    """
    await sweep(runtime, namespace)
    log, seen = await _read(runtime, namespace)
    copy = Replay(runtime, namespace, log, seen, method, ask)
    try:
        await copy.run(progress)
        yield copy
    finally:
        with anyio.CancelScope(shield=True):
            await forget_namespace(runtime.graph, copy.namespace)


async def _read(runtime: Runtime, namespace: str) -> tuple[Log, Row]:
    for _ in range(_ATTEMPTS):
        _, before = await transfer.state(runtime.graph, namespace)
        log = Log()
        async for page in transfer.pages(runtime.graph, namespace, vectors=True):
            log.take(page)
        _, after = await transfer.state(runtime.graph, namespace)
        if before == after:
            return log, before
    raise ConflictError(
        f"namespace {namespace!r} kept changing while it was read",
        hint="Try again while nobody writes to it.",
    )
