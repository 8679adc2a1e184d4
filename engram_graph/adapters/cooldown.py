"""A rest for a decider that is away: its retries are not for every message to wait for."""

from __future__ import annotations

import math

from engram_graph.adapters.http import Timing
from engram_graph.errors import DecisionBudgetError, DecisionError, DecisionUnavailableError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.ports import Decider

FAILURES = 3
REST_S = 30.0


class Cooldown:
    """Asks ``inner``, unless it could not be reached several times in a row: then it rests.

    While it rests each ``ask`` fails at once. Afterwards a single one tries it again; the others
    fail until that one is back. Only ``DecisionUnavailableError`` counts as away: a reply that
    cannot be used, or a refused request, did reach somebody.

    Args:
        failures: in a row, before a rest. rest_s: how long it lasts.
        timing: for tests.
    """

    def __init__(
        self,
        inner: Decider,
        *,
        failures: int = FAILURES,
        rest_s: float = REST_S,
        timing: Timing | None = None,
    ) -> None:
        self._inner = inner
        self.name = inner.name
        self.model = str(getattr(inner, "model", ""))
        self._allowed = failures
        self._rest_s = rest_s
        self._timing = timing or Timing()
        self._failures = 0
        self._until = -math.inf
        self._trying = False

    async def ask(self, ask: Ask) -> Reply:
        """As the inner decider.

        Raises:
            DecisionUnavailableError: it rests, or the inner one says so.
            DecisionError: as the inner one.
        """
        if self._failures < self._allowed:
            return await self._counted(ask)
        left = self._until - self._timing.now()
        if left > 0 or self._trying:
            raise DecisionUnavailableError(
                f"the decider {self.name} is not asked: away {self._failures} times in a row",
                hint=f"It is tried again {_when(left)}; check its address and key.",
            )
        self._trying = True
        try:
            return await self._counted(ask)
        finally:
            self._trying = False

    async def aclose(self) -> None:
        """Close the inner decider."""
        await self._inner.aclose()

    async def _counted(self, ask: Ask) -> Reply:
        try:
            reply = await self._inner.ask(ask)
        except DecisionUnavailableError:
            self._failures += 1
            self._until = self._timing.now() + self._rest_s
            raise
        except DecisionBudgetError:
            raise  # nobody was asked
        except DecisionError:
            self._failures = 0
            raise
        self._failures = 0
        return reply


def _when(left_s: float) -> str:
    return f"in {math.ceil(left_s)} s" if left_s > 0 else "just now"
