"""Where vectors stand: each embedder has a property and three indexes of its own, numbered.

Statements say ``embedding``, ``fact_vector``, ``message_vector``, ``item_vector``: place 1. While
another place is current, these names mean ``embedding_2``, ``fact_vector_2``, … A number is never
used again, so vectors of two embedders cannot mix, however old a client is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, LiteralString

from engram_graph.graph.queries import NamedQuery

PROPERTY = "embedding"
_QUESTIONS = (PROPERTY, "content")
"""Parameters that hold a question's vectors: as it is, and without speakers' names."""
INDEXES = ("fact_vector", "message_vector", "item_vector")
"""The vector indexes, as they are called at place 1."""
_NAMES = re.compile(rf"(?<![$\w])({PROPERTY}|{'|'.join(INDEXES)})\b")
_INDEX = re.compile(rf"({'|'.join(INDEXES)})(?:_(\d+))?")


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is recorded about the stored vectors.

    Attributes:
        place: the current one. embedder: made what stands there; None while none is known.
    """

    place: int = 1
    embedder: str | None = None
    dimension: int | None = None


def named(name: str, place: int) -> str:
    """A property or index as it is called at ``place``."""
    return name if place == 1 else f"{name}_{place}"


def place_of(index: str) -> int | None:
    """The place of a vector index of ours; None for any other."""
    found = _INDEX.fullmatch(index)
    return int(found[2] or 1) if found else None


def base(index: str) -> str:
    """A vector index without the number of its place."""
    found = _INDEX.fullmatch(index)
    return found[1] if found else index


@cache
def at(query: NamedQuery, place: int) -> NamedQuery:
    """``query`` with the names of ``place``; one that has its names already stays as it is."""
    if query.placed:
        return query
    # Still literal in spirit: only a number of ours was added to names of ours.
    return replace(query, text=spelled(query.text, place), placed=True)


def spelled(text: str, place: int) -> LiteralString:
    """A statement with the names of ``place``."""
    return _NAMES.sub(lambda found: named(found[1], place), text)


def carries(params: dict[str, Any]) -> bool:
    """Whether parameters hold a vector that an embedder made: of a question, or to be stored (any
    map's ``embedding``)."""
    asked = any(params.get(name) is not None for name in _QUESTIONS)
    return asked or any(_within(value) for value in params.values())


def _within(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get(PROPERTY) is not None or any(map(_within, value.values()))
    return _maps(value) and any(map(_within, value))


def renamed(value: Any, place: int) -> Any:
    """The maps inside a parameter with the property called as at ``place``."""
    if isinstance(value, dict):
        return {
            named(name, place) if name == PROPERTY else name: renamed(each, place)
            for name, each in value.items()
        }
    return [renamed(each, place) for each in value] if _maps(value) else value


def _maps(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], dict)
