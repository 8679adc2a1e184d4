"""The client's methods: feedback and calibrate."""

from __future__ import annotations

from typing import cast, get_args

from engram_graph.client.base import Connection, fact_id
from engram_graph.errors import InputError
from engram_graph.flows import feedback as flow
from engram_graph.models.facts import Fact
from engram_graph.models.feedback import Calibration, Feedback, Label
from engram_graph.rules.validate import MAX_NAME, clean_text

MAX_WHY = 10_000  # characters


class Labelling(Connection):
    """``feedback`` and ``calibrate``."""

    async def feedback(
        self,
        fact: Fact | str | None,
        verdict: str,
        *,
        decision: str | None = None,
        why: str | None = None,
        by: str | None = None,
        namespace: str | None = None,
    ) -> Feedback:
        """Say whether a fact stands rightly, or a decision was right.

        Nothing is changed by it, neither belief nor an end (``correct`` does that): it is what
        ``calibrate`` counts with. Of several labels on one thing the last one counts.

        Args:
            fact: it, or what ``explain`` takes; None with ``decision``.
            verdict: ``right`` or ``wrong``. Of a fact: whether it stands rightly, open or ended
                as it is now. Of a decision: whether its answer is right.
            decision: id of a decision, such as one of ``explain``.
            why: in words. by: who says so.

        Raises:
            InputError: neither or both of fact and decision, or another verdict.
            NotFoundError: not in this namespace. AmbiguousError: several facts.
        """
        scope = self._scope(namespace)
        if verdict not in get_args(Label):
            raise InputError(
                f"no verdict: {verdict!r}", hint="Say right or wrong.", field="verdict"
            )
        if (fact is None) == (decision is None):
            raise InputError(
                "feedback takes a fact or a decision, one of them",
                hint="Pass fact, or None and decision=….",
                field="fact",
            )
        return await flow.give(
            await self.open(),
            scope,
            cast("Label", verdict),
            fact=None if fact is None else fact_id(fact),
            decision=None if decision is None else clean_text(decision, "decision"),
            why=None if why is None else clean_text(why, "why", max_chars=MAX_WHY),
            given_by=None if by is None else clean_text(by, "by", max_chars=MAX_NAME),
        )

    async def calibrate(self, *, bound: float = 0.05, namespace: str | None = None) -> Calibration:
        """How well the probabilities in the log agree with the labels that ``feedback`` gave.

        Args:
            bound: on the share of closes that are wrong, from .001 to below 1; the thresholds that
                would have held it are part of the answer.

        Raises:
            InputError: the bound lies elsewhere.
        """
        scope = self._scope(namespace)
        number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not number or not 0.001 <= bound < 1:
            raise InputError(
                f"bound must be a share from 0.001 to below 1, not {bound!r}",
                hint="Such as 0.05: one close of twenty may be wrong.",
                field="bound",
            )
        return await flow.calibrate(await self.open(), scope, float(bound))
