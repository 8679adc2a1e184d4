"""Who comes before whom, and what a statement says about another interval.

Source: house rules 3 and 4; valid time decides, not arrival. Intervals are half-open.

**Statements with an end.** "Ilka lived in Velden from 2019 to 2022" is stored closed, reason
``stated``. Such a statement speaks of its own interval and of nothing else:

- It ends no fact that outlives it. If it was over when it was said, it cannot tell that something
  which goes on after its end is no longer so (``new_interval``); it may still move an end that the
  memory itself had inferred and that lies within it.
- A newer fact does not cut it where the two do not meet: an end stated before the newer one begins
  stays as it is, and there is no SUPERSEDES. If they overlap on a one-valued relation, the
  newer one ends it, as it would end a late statement without an end.
- An end still to come when it was said ("until next June") makes it a statement about now, which
  may close what was so before.
- Support for it, or by it, counts only where the two intervals meet.
"""

from __future__ import annotations

from datetime import datetime

from engram_graph.models.facts import Fact
from engram_graph.vocabulary import ClosedReason

INFERRED = frozenset({ClosedReason.BELIEF, ClosedReason.SUPERSEDED})
"""Ends the memory worked out by itself, so that it may move them."""


def begins_before(fact: Fact, old: Fact) -> bool:
    """Whether ``fact`` comes first: by valid_from, and of one instant by recording."""
    return (fact.valid_from, fact.recorded_at) < (old.valid_from, old.recorded_at)


def another_interval(fact: Fact, old: Fact) -> bool:
    """Whether one is over when the other begins, so that neither supports the other (rule 3)."""
    return _over_by(old, fact.valid_from) or _over_by(fact, old.valid_from)


def outlives(old: Fact, stated_end: datetime | None, said_at: datetime) -> bool:
    """Whether ``old`` goes on after a stated end that was past when it was said."""
    if stated_end is None or stated_end > said_at:
        return False
    return old.valid_until is None or old.valid_until > stated_end


def end_of(old: Fact, fact: Fact) -> datetime:
    """Where ``fact`` ends ``old``: at its own start, never before ``old`` began (§7)."""
    return max(fact.valid_from, old.valid_from)


def may_end(old: Fact, until: datetime, now: datetime) -> bool:
    """Whether ``old`` may be given the end ``until``.

    It may when it goes on, or when its end was inferred from a fact that came later still: B,
    arriving late between A and C, moves the end of A from C to B (rule 4). An end is never put off.
    """
    if old.valid_until is None:
        return True
    movable = old.valid_until > now or old.closed_reason in INFERRED
    return movable and until < old.valid_until


def _over_by(fact: Fact, moment: datetime) -> bool:
    return fact.valid_until is not None and fact.valid_until <= moment
