"""The client's methods for deciding a namespace again: what other rules would have made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engram_graph.client.base import Connection
from engram_graph.errors import InputError
from engram_graph.flows import whatif_apply
from engram_graph.flows.whatif import whatif
from engram_graph.models.whatif import TakenBack, WhatIf
from engram_graph.rules.method import preset as named
from engram_graph.rules.whatif import adjusted
from engram_graph.wiring import Progress


class Replaying(Connection):
    """``whatif``, ``take_back``."""

    async def whatif(
        self,
        *,
        preset: str | None = None,
        numbers: Mapping[str, float] | None = None,
        ask: bool = False,
        apply: bool | Callable[[WhatIf], bool] = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> WhatIf:
        """Decide all drafts of a namespace again under other rules, and say what differs.

        Nothing is asked: the answers come from the log. Corrections, aliases, merges, upkeep and
        imports are taken as they were. The replay stands in a namespace of its own,
        ``<namespace>/what-if/<id>``, until this returns. Nothing is changed unless you ``apply``
        it; then one transaction puts the replay in the place of what is stored. Ids of messages,
        and of facts that exist in both, stay what they are, and ``take_back`` undoes it.

        Args:
            preset: the rules; by default those of this client.
            numbers: thresholds in place of the preset's, such as ``{"close_below": 0.3}``.
            ask: put the questions that the log has no answer to, to this client's decider;
                otherwise they count as unanswered.
            apply: make it so, if anything differs; or a function that is shown what differs and
                says whether. Messages from then on are decided by this client's rules as ever.
            progress: told (done, total).

        Raises:
            InputError: no such preset or threshold, a value out of range, or both ``ask`` and
                ``apply``: what is asked now is not kept.
            ConflictError: the namespace kept changing while it was read, or has changed since;
                nothing was applied.
        """
        scope = self._scope(namespace)
        if ask and apply:
            raise InputError(
                "ask and apply exclude each other: what is asked now is not kept",
                hint="Apply it, then call resume: it asks what was never asked, and keeps that.",
                field="ask",
            )
        method = named(preset) if preset is not None else None
        adjusted(method or named("default"), numbers or {})  # refused before anything is opened
        runtime = await self.open()
        rules = adjusted(method or runtime.method, numbers or {})
        return await whatif(
            runtime,
            scope,
            rules,
            numbers or {},
            ask=ask,
            apply=apply if callable(apply) else lambda _: apply,
            progress=progress,
        )

    async def take_back(self, *, namespace: str | None = None) -> TakenBack:
        """Undo the last ``whatif`` that was applied: all stands again exactly as before it.

        What that step replaced is kept until then. It goes for good with the next step that is
        applied, and as soon as anything is forgotten.

        Raises:
            NotFoundError: there is no step to take back.
            ConflictError: the namespace has changed since; nothing was done. What was written
                since would be lost: decide it again by the rules of before.
        """
        scope = self._scope(namespace)
        return await whatif_apply.take_back(await self.open(), scope)
