"""The blocking twins: feedback and calibrate."""

from __future__ import annotations

from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.models.feedback import Calibration, Feedback
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingLabelling(BlockingConnection):
    """``feedback`` and ``calibrate``."""

    @twin_of(AsyncMemory.feedback)
    def feedback(
        self,
        fact: Fact | str | None,
        verdict: str,
        *,
        decision: str | None = None,
        why: str | None = None,
        by: str | None = None,
        namespace: str | None = None,
    ) -> Feedback:
        return self._call(
            lambda: self._inner.feedback(
                fact, verdict, decision=decision, why=why, by=by, namespace=namespace
            )
        )

    @twin_of(AsyncMemory.calibrate)
    def calibrate(self, *, bound: float = 0.05, namespace: str | None = None) -> Calibration:
        return self._call(lambda: self._inner.calibrate(bound=bound, namespace=namespace))
