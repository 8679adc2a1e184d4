"""Which entities may be the same: what their names have in common, what their facts say to it.

Names alone never prove it: "Maya" may be any Maya. Only the same words in the same order do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from engram_graph.models.entities import Profile
from engram_graph.models.facts import Entity, Fact
from engram_graph.rules.gates import one_valued
from engram_graph.rules.names import entity_key
from engram_graph.vocabulary import TemporalStatus


class Likeness(StrEnum):
    """What two names have in common, the strongest first."""

    SAME_WORDS = "same words"
    OTHER_ORDER = "same words in another order"
    INITIALS = "initials"
    CONTAINED = "one name within the other"
    SPELLING = "one letter differs"
    NICKNAME = "one word begins the other"


_WEIGHT = {
    Likeness.SAME_WORDS: 0.95,
    Likeness.OTHER_ORDER: 0.6,
    Likeness.INITIALS: 0.6,
    Likeness.CONTAINED: 0.6,
    Likeness.SPELLING: 0.5,
    Likeness.NICKNAME: 0.5,
}
_SHARED = 0.1  # for each neighbour they share
_UNPROVED = 0.8  # the most that likeness of names and neighbours give: below what merges
_OPPOSED = 0.1  # two values where there is one
_BETWEEN = 0.05  # who is a friend of Maya is not Maya
_WORD = re.compile(r"[^\W_]+")
_PLAIN_SIGNS = frozenset(" ,.-_'’\"()/")
_SHORTEST = 5  # letters below which one other letter makes another name
_LONGEST = 40
_PREFIX = 3
_CROWD = 50  # entities: what so many names share tells nothing


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities whose names are alike."""

    first: Entity
    second: Entity
    why: tuple[Likeness, ...]


def likeness(first: Entity, second: Entity) -> tuple[Likeness, ...]:
    """What any name of ``first`` has in common with any of ``second``."""
    found = {
        like
        for one in (first.name, *first.aliases)
        for other in (second.name, *second.aliases)
        for like in _alike(one, other)
    }
    return tuple(like for like in Likeness if like in found)


def candidate_pairs(entities: Sequence[Entity], limit: int) -> list[Pair]:
    """The pairs with like names, the likest first. Not every pair is looked at: names meet where
    they share a word, a beginning, or all letters but one."""
    rooms: dict[str, dict[int, None]] = {}
    for place, entity in enumerate(entities):
        for name in (entity.name, *entity.aliases):
            for room in _rooms(name):
                rooms.setdefault(room, {})[place] = None
    places = {
        pair
        for inside in rooms.values()
        if len(inside) <= _CROWD
        for pair in combinations(sorted(inside), 2)
    }
    pairs = [
        Pair(entities[a], entities[b], why)
        for a, b in places
        if (why := likeness(entities[a], entities[b]))
    ]
    pairs.sort(key=lambda pair: (-_strength(pair.why), pair.first.key, pair.second.key))
    return pairs[:limit]


def same_entity(first: Profile, second: Profile) -> float:
    """How likely the two are one, by rules: certain enough to merge for the same words only."""
    keys = {first.entity.key, second.entity.key}
    if any({fact.subject_key, fact.object_key} == keys for fact in (*first.facts, *second.facts)):
        return _BETWEEN
    if opposed(first, second):
        return _OPPOSED
    why = likeness(first.entity, second.entity)
    weight = _strength(why)
    if Likeness.SAME_WORDS in why or not why:
        return weight
    shared = len(neighbours(first) & neighbours(second))
    return min(weight + _SHARED * shared, _UNPROVED)


def neighbours(profile: Profile) -> frozenset[tuple[str, str, bool]]:
    """What a profile's facts tie its entity to: relation, other end, and which end it is."""
    key = profile.entity.key
    return frozenset(
        (f.predicate, f.object_key if f.subject_key == key else f.subject_key, f.subject_key == key)
        for f in profile.facts
        if not f.negated
    )


def opposed(first: Profile, second: Profile) -> bool:
    """Whether both have an open value of a one-valued relation, and not the same."""
    mine, theirs = _values(first), _values(second)
    return any(mine[predicate].isdisjoint(theirs[predicate]) for predicate in mine.keys() & theirs)


def kept_first(first: Entity, second: Entity) -> tuple[Entity, Entity]:
    """Which of two entities stays when they are merged: the one with more facts."""
    order = sorted((first, second), key=lambda e: (-(e.facts or 0), -len(e.key), e.key))
    return order[0], order[1]


def _values(profile: Profile) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for fact in profile.facts:
        if fact.subject_key == profile.entity.key and _is_value(fact):
            found.setdefault(fact.predicate, set()).add(fact.object_key)
    return found


def _is_value(fact: Fact) -> bool:
    holds = fact.open and not fact.negated and fact.temporal_status == TemporalStatus.CURRENT
    return holds and one_valued(fact.predicate)


def _strength(why: Iterable[Likeness]) -> float:
    return max((_WEIGHT[like] for like in why), default=0.05)


# Names


def _alike(one: str, other: str) -> Iterator[Likeness]:
    mine, theirs = words(one), words(other)
    if not mine or not theirs or _numbers(mine) != _numbers(theirs):
        return  # kite 1 is not kite 2
    if _signs(one) != _signs(other):
        return  # C is neither C++ nor C#
    if mine == theirs:
        yield Likeness.SAME_WORDS
        return
    if sorted(mine) == sorted(theirs):
        yield Likeness.OTHER_ORDER
    if _one_letter(" ".join(mine), " ".join(theirs)):
        yield Likeness.SPELLING
    if not _is_proper(one) or not _is_proper(other):
        return
    short, long = sorted((mine, theirs), key=len)
    if len(short) < len(long):
        if short in (long[: len(short)], long[-len(short) :]) and len("".join(short)) > 1:
            yield Likeness.CONTAINED
        if len(short) == 1 and len(long) > 2 and short[0] == "".join(word[0] for word in long):
            yield Likeness.INITIALS
    elif len(mine) > 1 and _pairwise(mine, theirs, _is_initial):
        yield Likeness.INITIALS
    elif _pairwise(mine, theirs, _is_prefix):
        yield Likeness.NICKNAME


def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case; "Lindqvist, Maya" is read as it is spoken."""
    key = entity_key(name)
    last, comma, first = key.partition(",")
    spoken = f"{first} {last}" if comma and "," not in first else key
    return tuple(_WORD.findall(spoken))


def _rooms(name: str) -> Iterator[str]:
    """Where a name meets those it may be like."""
    own = words(name)
    if not own:
        return
    yield from (f"word {word}" for word in own if len(word) > 1)
    yield f"words {' '.join(sorted(own))}"
    yield f"start {own[0][:_PREFIX]}"
    if len(own) > 2:
        yield f"word {''.join(word[0] for word in own)}"
    plain = _bare(" ".join(own))
    if _SHORTEST <= len(plain) <= _LONGEST:
        yield f"letters {plain}"
        yield from (f"letters {plain[:at]}{plain[at + 1 :]}" for at in range(len(plain)))


def _is_proper(name: str) -> bool:
    """Whether every word of a name begins as names do, and nothing belongs to another in it."""
    if re.search(r"['’]s\b", name):
        return False  # Maya's bike is not Maya
    return all(not word[0].islower() for word in _WORD.findall(name))


def _numbers(name: Sequence[str]) -> list[str]:
    return sorted(word for word in name if any(char.isdigit() for char in word))


def _signs(name: str) -> list[str]:
    return sorted(c for c in entity_key(name) if not c.isalnum() and c not in _PLAIN_SIGNS)


def _pairwise(mine: Sequence[str], theirs: Sequence[str], like: Callable[[str, str], bool]) -> bool:
    """Whether the words are equal or alike, place by place; at least one is only alike."""
    return mine != theirs and all(
        a == b or like(*sorted((a, b), key=len)) for a, b in zip(mine, theirs, strict=True)
    )


def _is_initial(short: str, long: str) -> bool:
    return len(short) == 1 < len(long) and long.startswith(short)


def _is_prefix(short: str, long: str) -> bool:
    return len(short) >= _PREFIX and long.startswith(short)


def _bare(text: str) -> str:
    """``text`` without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def _one_letter(one: str, other: str) -> bool:
    """Whether one letter is missing, another, or swapped with its neighbour; accents aside."""
    one, other = sorted((_bare(one), _bare(other)), key=len)
    if len(one) < _SHORTEST or len(other) > _LONGEST or len(other) - len(one) > 1:
        return False
    if one == other:
        return True
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[:at] + one[at : at + 2][::-1] + one[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped == other
