"""What a replay under other rules would have made of a namespace."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from engram_graph.models.facts import Fact, Link, Record

Change = Literal["stored", "left_out", "closed", "reopened", "end_moved", "belief", "other"]


class FactDiff(Record):
    """A fact that would stand otherwise.

    Attributes:
        change: the first that holds of: it would be ``stored`` or ``left_out``, ``closed`` or
            ``reopened`` (open instead of closed), its end, the reason of it or the moment it was
            noted another (``end_moved``), its ``belief`` another, anything ``other``.
        before: as stored; None when it is not. after: as it would be, under the stored ids.
        fields: names of all that differs.
    """

    change: Change
    before: Fact | None = None
    after: Fact | None = None
    fields: tuple[str, ...] = ()

    @property
    def fact(self) -> Fact:
        """The fact as stored, or, if it is not, as it would be."""
        fact = self.before or self.after
        assert fact is not None
        return fact


class LinkDiff(Record):
    """A link between two facts that would be ``added`` or ``dropped``."""

    change: Literal["added", "dropped"]
    link: Link


class Unanswered(Record):
    """A question that the other rules would have asked, and that was never asked.

    Attributes:
        fact: id of the fact it is about, also when that is not stored.
        candidate: id of the fact it compares with; None for a question on the fact alone.
        asked: it was put to the decider now, and answered.
    """

    question: str
    fact: str
    text: str
    candidate: str | None = None
    asked: bool = False


class WhatIf(Record):
    """How a namespace would stand, had other rules decided.

    Attributes:
        preset, numbers: the rules: a preset, and the thresholds that differ from it.
        drafts: decided again. given: corrections, merges and other deeds, taken as they were.
        facts, links: what would stand otherwise. unanswered: questions without an answer in the
            log; as when a decider is away, they prove nothing.
        passed_over: deeds that could not be repeated, in words.
        incomplete: ids of stored facts that were compared with something forgotten since, or told
            by a message that was: such a fact may differ for that alone.
        requests, cost_usd: calls to the decider now; the cost is None when it is not known.
        applied: it stands so now; else nothing was changed.
    """

    namespace: str
    preset: str
    numbers: dict[str, float] = Field(default_factory=dict)
    drafts: int = 0
    given: int = 0
    facts: tuple[FactDiff, ...] = ()
    links: tuple[LinkDiff, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    passed_over: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    requests: int = 0
    cost_usd: float | None = 0.0
    applied: bool = False

    @property
    def same(self) -> bool:
        """Whether nothing would stand otherwise."""
        return not self.facts and not self.links


class TakenBack(Record):
    """A what-if that was applied, and is no more: the namespace stands as before.

    Attributes:
        preset, numbers: the rules that were applied. applied_at: when.
        facts, links: how many of each had come to stand otherwise.
    """

    namespace: str
    preset: str
    numbers: dict[str, float] = Field(default_factory=dict)
    applied_at: datetime
    facts: int
    links: int
