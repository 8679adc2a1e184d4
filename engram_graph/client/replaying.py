"""The client's method for deciding a namespace again: what other rules would have made of it."""

from __future__ import annotations

from collections.abc import Mapping

from engram_graph.client.base import Connection
from engram_graph.flows.whatif import whatif
from engram_graph.models.whatif import WhatIf
from engram_graph.rules.method import preset as named
from engram_graph.rules.whatif import adjusted
from engram_graph.wiring import Progress


class Replaying(Connection):
    """``whatif``."""

    async def whatif(
        self,
        *,
        preset: str | None = None,
        numbers: Mapping[str, float] | None = None,
        ask: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> WhatIf:
        """Decide all drafts of a namespace again under other rules, and say what differs.

        Nothing is changed, and nothing is asked: the answers come from the log. Corrections,
        aliases, merges, upkeep and imports are taken as they were. The replay stands in a
        namespace of its own, ``<namespace>/what-if/<id>``, until this returns.

        Args:
            preset: the rules; by default those of this client.
            numbers: thresholds in place of the preset's, such as ``{"close_below": 0.3}``.
            ask: put the questions that the log has no answer to, to this client's decider;
                otherwise they count as unanswered.
            progress: told (done, total).

        Raises:
            InputError: no such preset or threshold, or a value out of range.
            ConflictError: the namespace kept changing while it was read.
        """
        scope = self._scope(namespace)
        method = named(preset) if preset is not None else None
        adjusted(method or named("default"), numbers or {})  # refused before anything is opened
        runtime = await self.open()
        rules = adjusted(method or runtime.method, numbers or {})
        return await whatif(runtime, scope, rules, numbers or {}, ask=ask, progress=progress)
