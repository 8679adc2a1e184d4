"""What a merge of two entities moves, what taking it back moves, and what then stands twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from engram_graph.models.facts import Fact
from engram_graph.rules.gates import one_valued
from engram_graph.vocabulary import TemporalStatus

SUBJECT, OBJECT = "subject", "object"


@dataclass(frozen=True, slots=True)
class Around:
    """A fact around an entity, with the keys of its ends."""

    id: str
    subject: str
    object: str


@dataclass(frozen=True, slots=True)
class Step:
    """Where one fact goes.

    Attributes:
        subject, object: keys of its ends from now on. ends: which of them is another than before;
            none of a fact that only mentions the entity.
    """

    id: str
    subject: str
    object: str
    ends: tuple[str, ...]


def forth(facts: Iterable[Around], kept: str, gone: str) -> list[Step]:
    """The steps that make every fact of ``gone`` one of ``kept``.

    A fact between the two becomes one from ``kept`` to itself: it is somebody's word, and a merge
    throws nothing away.
    """
    return [
        _step(
            fact,
            kept if fact.subject == gone else fact.subject,
            kept if fact.object == gone else fact.object,
        )
        for fact in facts
    ]


def back(
    facts: Iterable[Around], log: Mapping[str, Sequence[str]], holder: str, gone: str
) -> list[Step]:
    """The steps that undo a merge, as far as its facts still are where it put them.

    Args:
        log: fact id → the ends that were moved. holder: the entity that holds them now.
    """
    return [
        _step(
            fact,
            gone if SUBJECT in log[fact.id] and fact.subject == holder else fact.subject,
            gone if OBJECT in log[fact.id] and fact.object == holder else fact.object,
        )
        for fact in facts
        if fact.id in log
    ]


def _step(fact: Around, subject: str, object_: str) -> Step:
    moved = ((SUBJECT, subject != fact.subject), (OBJECT, object_ != fact.object))
    return Step(fact.id, subject, object_, tuple(end for end, other in moved if other))


def twice(facts: Sequence[Fact], moved: frozenset[str]) -> list[tuple[str, str]]:
    """Pairs (later, earlier) that say the same since facts ``moved``: one triple, one time."""
    found = []
    for one, other in combinations(sorted(facts, key=lambda f: (f.recorded_at, f.id)), 2):
        if not moved & {one.id, other.id} or one.never_held or other.never_held:
            continue
        if _triple(one) == _triple(other) and _overlap(one, other):
            found.append((other.id, one.id))
    return found


def conflicts(facts: Sequence[Fact], moved: frozenset[str]) -> tuple[tuple[Fact, ...], ...]:
    """The open values of each one-valued relation of a subject that has several since facts
    ``moved``, in recording order."""
    values: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda f: (f.recorded_at, f.id)):
        holds = fact.open and not fact.negated and fact.temporal_status == TemporalStatus.CURRENT
        if holds and one_valued(fact.predicate):
            values.setdefault((fact.subject_key, fact.predicate), []).append(fact)
    return tuple(
        tuple(group)
        for group in values.values()
        if len({fact.object_key for fact in group}) > 1
        and 0 < sum(fact.id in moved for fact in group) < len(group)
    )


def _triple(fact: Fact) -> tuple[str, str, str, bool, TemporalStatus]:
    return (
        fact.subject_key,
        fact.predicate,
        fact.object_key,
        fact.negated,
        fact.temporal_status,
    )


def _overlap(one: Fact, other: Fact) -> bool:
    first, second = sorted((one, other), key=lambda fact: fact.valid_from)
    return first.valid_until is None or second.valid_from < first.valid_until
