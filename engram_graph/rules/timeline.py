"""Stretches of valid time: one moment, or all from one to another. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from engram_graph.models.facts import Fact

_TICK = timedelta(microseconds=1)  # the finest that is told apart


@dataclass(frozen=True, slots=True)
class Span:
    """The moments from ``first`` to ``last`` (UTC), both in it; one moment when they are equal."""

    first: datetime
    last: datetime

    @classmethod
    def at(cls, moment: datetime) -> Span:
        """That moment alone."""
        return cls(moment, moment)

    @classmethod
    def between(cls, start: datetime, end: datetime) -> Span:
        """[start, end): all moments from ``start`` on and before ``end``, which is later."""
        return cls(start, end - _TICK)

    def holds(self, moment: datetime) -> bool:
        """Whether ``moment`` is one of them."""
        return self.first <= moment <= self.last

    def touches(self, fact: Fact) -> bool:
        """Whether the fact was true at one of them: the interval alone decides.

        What has an empty interval was true at no moment.
        """
        if fact.valid_from > self.last:
            return False
        until = fact.valid_until
        return until is None or until > max(self.first, fact.valid_from)
