"""The blocking twins of the upkeep methods."""

from __future__ import annotations

from engram_graph.client.base import Moment
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.models.upkeep import HygieneReport, ReembedReport
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection
from engram_graph.wiring import Progress


class BlockingUpkeep(BlockingConnection):
    """``hygiene``, ``restore`` and ``reembed``."""

    @twin_of(AsyncMemory.hygiene)
    def hygiene(
        self,
        *,
        namespace: str | None = None,
        same_as: bool = True,
        worth: bool = False,
        short_lived: bool = False,
        apply: bool = False,
        progress: Progress | None = None,
        now: Moment | None = None,
    ) -> HygieneReport:
        return self._call(
            lambda: self._inner.hygiene(
                namespace=namespace,
                same_as=same_as,
                worth=worth,
                short_lived=short_lived,
                apply=apply,
                progress=progress,
                now=now,
            )
        )

    @twin_of(AsyncMemory.restore)
    def restore(self, fact: Fact | str, *, namespace: str | None = None) -> Fact:
        return self._call(lambda: self._inner.restore(fact, namespace=namespace))

    @twin_of(AsyncMemory.reembed)
    def reembed(self, *, dry_run: bool = False, progress: Progress | None = None) -> ReembedReport:
        return self._call(lambda: self._inner.reembed(dry_run=dry_run, progress=progress))
