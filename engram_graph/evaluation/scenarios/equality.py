"""Whether two namespaces hold the same graph, but for the namespace and the ids.

Each record gets a name from what it holds; round after round the names of what it is joined to
become part of its own, until names tell apart all that can be told. An id inside a property
stands for the record it names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from engram_graph.graph.inspect import Stored

_OWN = frozenset({"namespace", "namespace_key", "id", "fact_id"})
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ROUNDS = 8  # more than any path that tells two records apart is long
_SHOWN = 3


def differences(a: Sequence[Stored], b: Sequence[Stored]) -> list[str]:
    """What only one of two graphs holds, in words; empty when they are equal."""
    before, after = _names(a, 0), _names(b, 0)
    found = _unlike(a, before, b, after, "holds")
    if found:
        return found
    return _unlike(a, _names(a, _ROUNDS), b, _names(b, _ROUNDS), "joins otherwise")


def _unlike(
    a: Sequence[Stored], names_a: list[str], b: Sequence[Stored], names_b: list[str], how: str
) -> list[str]:
    only = []
    for side, records, own, other in (("a", a, names_a, names_b), ("b", b, names_b, names_a)):
        spare = Counter(other)
        for record, name in zip(records, own, strict=True):
            if spare[name]:
                spare[name] -= 1
            else:
                only.append(f"only {side} {how}: {_words(record)}")
    shown = only[:_SHOWN]
    return shown + ([f"and {len(only) - _SHOWN} more"] if len(only) > _SHOWN else [])


def _names(records: Sequence[Stored], rounds: int) -> list[str]:
    """A name for each record, after ``rounds`` looks at what is round it."""
    place = {record.place: at for at, record in enumerate(records)}
    ids = {str(r.properties["id"]): at for at, r in enumerate(records) if "id" in r.properties}
    arriving: list[list[tuple[str, dict[str, Any], int]]] = [[] for _ in records]
    for at, record in enumerate(records):
        for each in record.leaving:
            if each.to in place:
                arriving[place[each.to]].append((each.type, each.properties, at))
    names = [""] * len(records)
    for turn in range(rounds + 1):
        known = {key: names[at] for key, at in ids.items()}
        names = [
            _digest(
                [
                    record.label,
                    _plain(record.properties, known),
                    sorted(
                        [each.type, _plain(each.properties, known), _name(names, place, each.to)]
                        for each in record.leaving
                    )
                    if turn
                    else [],
                    sorted(
                        [kind, _plain(properties, known), names[start]]
                        for kind, properties, start in arriving[at]
                    )
                    if turn
                    else [],
                ]
            )
            for at, record in enumerate(records)
        ]
    return names


def _name(names: list[str], place: dict[str, int], to: str) -> str:
    return names[place[to]] if to in place else "elsewhere"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:24]


def _plain(properties: dict[str, Any], known: dict[str, str]) -> str:
    """The properties as text: known ids by their record's name, JSON in one order of its keys."""
    kept = {
        key: value if key == "source_id" else _with_names(value, known)  # the caller's own word
        for key, value in properties.items()
        if key not in _OWN
    }
    return json.dumps(kept, sort_keys=True, default=str)


def _with_names(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, str):
        if value[:1] in ("{", "["):
            try:
                return _with_names(json.loads(value), known)
            except ValueError:
                pass
        return _ID.sub(lambda found: f"<{known.get(found[0], found[0])}>", value)
    if isinstance(value, dict):
        return {_with_names(key, known): _with_names(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_names(each, known) for each in value]
    return value


def _words(record: Stored) -> str:
    """A record in a line: its kind and what it says, without vectors."""
    shown = {
        key: value
        for key, value in sorted(record.properties.items())
        if key not in _OWN and key not in ("embedding", "search_text")
    }
    line = f"{record.label} {json.dumps(shown, ensure_ascii=False, default=str)}"
    return line if len(line) <= 600 else line[:600] + "…"
