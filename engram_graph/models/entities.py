"""Entities seen as one or two: what is known of each, a merge, and what it was taken back to."""

from __future__ import annotations

from dataclasses import dataclass

from engram_graph.models.facts import Entity, Fact, Link, Record


@dataclass(frozen=True, slots=True)
class Profile:
    """An entity with some of its facts, open and newest first.

    Attributes:
        apart: ids of the entities that a merge with it was taken back from.
    """

    entity: Entity
    facts: tuple[Fact, ...] = ()
    apart: frozenset[str] = frozenset()


class Merged(Record):
    """Two entities that became one.

    Attributes:
        id: of the decision; ``unmerge`` takes it.
        entity: the one that stays. merged: the one that went; its names are aliases now.
        facts: ids of the facts that moved.
        same: SAME_AS links between facts that say the same since then.
        conflicts: per one-valued relation, the open facts with different values. Nothing was
            closed or doubted for the sake of a name.
        loops: facts between the two, now from the entity to itself.
    """

    id: str
    entity: Entity
    merged: Entity
    facts: tuple[str, ...] = ()
    same: tuple[Link, ...] = ()
    conflicts: tuple[tuple[Fact, ...], ...] = ()
    loops: tuple[Fact, ...] = ()


class Unmerged(Record):
    """A merge taken back.

    Attributes:
        entity: the one that came back. kept: the one it was taken out of; None when all its facts
            went back, so that nothing was left of it.
        facts: ids of the facts that moved back.
    """

    entity: Entity
    kept: Entity | None
    facts: tuple[str, ...] = ()


class MergeSuggestion(Record):
    """Two entities that may be the same.

    Attributes:
        keep: the one with more facts. other: the one that would go.
        why: what their names have in common.
        p: probability that they are the same; None when the decider gave no answer.
        merged: what was done about it; None when nothing was.
    """

    keep: Entity
    other: Entity
    why: tuple[str, ...]
    p: float | None = None
    backend: str = ""
    merged: Merged | None = None
