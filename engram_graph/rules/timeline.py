"""Views of facts by valid time, and what changed between two views. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from engram_graph.models.facts import Fact


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that is in both views with different values.

    Attributes:
        fields: names of the fields that differ, in their declared order.
    """

    before: Fact
    after: Fact
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two views, each part in timeline order (of the view it came from).

    Attributes:
        added: only in the later view. removed: only in the earlier one.
        closed: open before, closed after. reopened: the other way round.
        changed: same openness, other values (belief, dispute, end date …).
    """

    added: tuple[Fact, ...] = ()
    removed: tuple[Fact, ...] = ()
    closed: tuple[Change, ...] = ()
    reopened: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.closed or self.reopened or self.changed)


# These say how often a fact was handled, not what is known: no difference worth telling.
_BOOKKEEPING = frozenset({"version", "read_at"})


def order(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """By valid_from, then recorded_at, then id."""
    return tuple(sorted(facts, key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id)))


def as_of(facts: Iterable[Fact], moment: datetime) -> tuple[Fact, ...]:
    """The facts whose interval [valid_from, valid_until) holds ``moment`` (UTC), in order.

    The interval alone decides; a planned or hypothetical fact is in as well and says what it is.
    """
    return order(fact for fact in facts if fact.holds_at(moment))


def diff(before: Iterable[Fact], after: Iterable[Fact]) -> Diff:
    """What changed from one view to another; facts are matched by id."""
    old = {fact.id: fact for fact in before}
    new = {fact.id: fact for fact in after}
    closed, reopened, changed = [], [], []
    for fact in order(new[each] for each in new.keys() & old.keys()):
        earlier = old[fact.id]
        fields = tuple(
            name
            for name in Fact.model_fields
            if name not in _BOOKKEEPING and getattr(earlier, name) != getattr(fact, name)
        )
        if not fields:
            continue
        change = Change(earlier, fact, fields)
        if earlier.open and not fact.open:
            closed.append(change)
        elif fact.open and not earlier.open:
            reopened.append(change)
        else:
            changed.append(change)
    return Diff(
        added=order(new[each] for each in new.keys() - old.keys()),
        removed=order(old[each] for each in old.keys() - new.keys()),
        closed=tuple(closed),
        reopened=tuple(reopened),
        changed=tuple(changed),
    )
