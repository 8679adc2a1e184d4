"""Upkeep, decided: which facts are compared, what an answer does to a link, what is archived.

Source: decision_rules §2 (numbers) and §8. Only links change and only search forgets: no belief
moves, nothing closes, nothing is deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, groupby
from typing import Literal

from engram_graph.models.decisions import Answer, Judgement
from engram_graph.models.facts import Fact, Link, Message
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import yes
from engram_graph.rules.order import another_interval
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import ClosedReason, Outcome

SHORT_LIVED = "short_lived"
RESTORE = "restore"
_GIVEN = frozenset({"caller", "import"})
"""What made a fact that was handed over as it is: its worth is the caller's."""


@dataclass(frozen=True, slots=True)
class Known:
    """A fact, with the ids of those it is linked to as the same."""

    fact: Fact
    same_as: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two facts of one subject and predicate, by recording order; ``linked``: as the same."""

    newer: Fact
    older: Fact
    linked: bool

    @property
    def shown(self) -> tuple[str, ...]:
        """All that a decider is told of the two. Once it changes they are another pair."""
        return tuple(part for fact in (self.newer, self.older) for part in _shown(fact))


@dataclass(frozen=True, slots=True)
class Compared:
    """A pair with its answer. ``change``: what becomes of its link; ``p``: that it is the same."""

    pair: Pair
    p: float
    change: Literal["link", "unlink"] | None
    judgement: Judgement

    def link(self, decided_at: datetime) -> Link:
        """The link in question."""
        newer, older = self.pair.newer.id, self.pair.older.id
        return Link(type="SAME_AS", source=newer, target=older, p=self.p, decided_at=decided_at)


@dataclass(frozen=True, slots=True)
class Ageing:
    """A fact that may be archived.

    Attributes:
        message: the first that states it. sources: how many state it.
        makers: the ``extractor`` of each of those, and its own.
        told_at: when it was recorded or last said again.
    """

    fact: Fact
    message: Message
    sources: int
    makers: frozenset[str]
    told_at: datetime

    @property
    def given(self) -> bool:
        """Whether a caller handed it over, rather than a message from which it was extracted."""
        return bool(self.makers & _GIVEN)


def pairs(known: Sequence[Known], newest: int) -> list[Pair]:
    """Every pair to compare among the facts of one subject, its newest facts first.

    The ``newest`` of each predicate are compared, closed ones too. Left out: a pair with a denial
    and no denial, one whose intervals do not meet (house rule 3), and what a person corrected.
    """
    found = []
    for _, group in groupby(sorted(known, key=_place), key=lambda one: one.fact.predicate):
        latest = list(group)[-newest:][::-1]
        found += [
            Pair(newer.fact, older.fact, older.fact.id in newer.same_as)
            for newer, older in combinations(latest, 2)
            if may_be_same(newer.fact, older.fact)
        ]
    return found


def count_pairs(known: Sequence[Known]) -> int:
    """How many pairs of one predicate there are, those left out included."""
    sizes = Counter(one.fact.predicate for one in known)
    return sum(size * (size - 1) // 2 for size in sizes.values())


def may_be_same(one: Fact, other: Fact) -> bool:
    """Whether a link between the two could be right at all."""
    corrected = ClosedReason.CORRECTED in (one.closed_reason, other.closed_reason)
    return one.negated == other.negated and not corrected and not another_interval(one, other)


def compared(
    pair: Pair, answer: Answer, judgement_id: str, request: str, thresholds: Thresholds
) -> Compared:
    """What one usable answer does to the link of its pair, and the decision that says so."""
    p = yes(answer)
    change: Literal["link", "unlink"] | None = None
    if p >= thresholds.act and not pair.linked:
        change = "link"
    elif p <= thresholds.unlink_at and pair.linked:
        change = "unlink"
    judgement = Judgement(
        id=judgement_id,
        question=ask.SAME_FACT,
        outcome=Outcome.APPLIED if change else Outcome.KEPT,
        chosen=answer.chosen,
        p=answer.p(answer.chosen),
        reason="" if change is None else f"same_as {change}ed",
        fact_id=pair.newer.id,
        candidate_id=pair.older.id,
        backend=answer.backend,
        request=request,
    )
    return Compared(pair, p, change, judgement)


def is_stale(ageing: Ageing, now: datetime, thresholds: Thresholds) -> bool:
    """Whether its worth is asked again: not given, and neither read nor said for 30 days."""
    touched = max(ageing.told_at, ageing.fact.read_at or ageing.told_at)
    return not ageing.given and touched < now - timedelta(days=thresholds.stale_days)


def has_expired(ageing: Ageing, now: datetime, thresholds: Thresholds) -> bool:
    """Whether it was short-lived, and is a week old: since it began, or was last said."""
    since = max(ageing.told_at, ageing.fact.valid_from)
    short = ageing.fact.durability == SHORT_LIVED and not ageing.given
    return short and since < now - timedelta(days=thresholds.short_lived_days)


def worth(
    ageing: Ageing, answer: Answer, judgement_id: str, request: str, thresholds: Thresholds
) -> Judgement:
    """Archive a fact that is no longer worth keeping, or note that it is."""
    low = yes(answer) < thresholds.worth_drop
    return Judgement(
        id=judgement_id,
        question=ask.WORTH,
        outcome=Outcome.ARCHIVED if low else Outcome.KEPT,
        chosen=answer.chosen,
        p=answer.p(answer.chosen),
        reason=f"asked again, unread for {thresholds.stale_days} days",
        fact_id=ageing.fact.id,
        backend=answer.backend,
        request=request,
    )


def expired(ageing: Ageing, judgement_id: str, thresholds: Thresholds) -> Judgement:
    """Archive a short-lived fact; a rule, without a question."""
    return Judgement(
        id=judgement_id,
        question=SHORT_LIVED,
        outcome=Outcome.ARCHIVED,
        reason=f"short-lived, older than {thresholds.short_lived_days} days",
        fact_id=ageing.fact.id,
    )


def restored(fact: Fact, judgement_id: str) -> Judgement:
    """Take an archiving back by hand."""
    return Judgement(
        id=judgement_id,
        question=RESTORE,
        outcome=Outcome.RESTORED,
        reason="restored by hand",
        fact_id=fact.id,
    )


def _place(known: Known) -> tuple[str, datetime, str]:
    return known.fact.predicate, known.fact.recorded_at, known.fact.id


def _shown(fact: Fact) -> tuple[str, ...]:
    until = fact.valid_until.isoformat() if fact.valid_until else ""
    return fact.id, fact.text, fact.subject, fact.object, fact.valid_from.isoformat(), until
