"""Whether texts are nowhere: in no stored property, no export, no log line, no search result."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engram_graph.evaluation.scenarios.world import World
from engram_graph.graph.inspect import Stored
from engram_graph.rules.names import entity_key

_SCOPE = frozenset({"namespace", "namespace_key"})  # the scenario's own names
_HEXADECIMAL = frozenset("0123456789abcdef")
_MOST = 150  # items of a search


async def places(world: World, texts: Sequence[str]) -> list[str]:
    """Where any of ``texts`` is found, in words."""
    found = [
        f"{text!r} is in {place}"
        for place, value in _stored(await world.everything())
        for text in texts
        if _holds(value, text)
    ]
    exports = [*world.exports, *[each async for each in _exports(world)]]
    for number, export in enumerate(exports, 1):
        lines = [_parsed(line) for line in export.splitlines()]
        found += [f"{t!r} is in export {number}" for t in texts if _holds([export, lines], t)]
    for line in world.log:
        found += [f"{text!r} is in a log line" for text in texts if _within(line, text)]
    for text in texts:
        found += await _searched(world, text)
    return list(dict.fromkeys(found))


def _stored(records: Sequence[Stored]) -> Iterator[tuple[str, Any]]:
    for record in records:
        for name, value in record.properties.items():
            if name not in _SCOPE:
                yield f"{record.label}.{name}", _Key(value) if name == "key" else value
        for each in record.leaving:
            for name, value in each.properties.items():
                if name not in _SCOPE:
                    yield f"[{each.type}].{name}", value


class _Key(str):
    """An entity's normalised name: there a text stands in its own normal form."""


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, _Key):
        return value == entity_key(text) or _within(value, text)
    if isinstance(value, str):
        parsed = _parsed(value)
        return _within(value, text) or (parsed is not None and _holds(parsed, text))
    if isinstance(value, dict):
        return any(_holds(key, text) or _holds(each, text) for key, each in value.items())
    if isinstance(value, list | tuple):
        return any(_holds(each, text) for each in value)
    return False


def _within(value: str, text: str) -> bool:
    """Whether a text stands in a value. A few digits stand in random ids and in numbers as well:
    they count where they are a word of their own."""
    if not set(text) <= _HEXADECIMAL:
        return text in value
    return re.search(rf"(?<![\w.]){text}(?!\w)", value) is not None


def _parsed(text: str) -> Any:
    """What JSON in a text says; None where it is none."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def _exports(world: World) -> Any:
    """A fresh export of every namespace."""
    with tempfile.TemporaryDirectory(prefix="engram-scenario-") as folder:
        for number, name in enumerate(world.namespaces()):
            file = Path(folder) / f"{number}.jsonl"
            await world.client.export(file, namespace=name)
            yield file.read_text(encoding="utf-8")


async def _searched(world: World, text: str) -> list[str]:
    """The text asked for, in every namespace: it is in the question, and may be nowhere else."""
    found = []
    for name in world.namespaces():
        recall = await world.client.search(text, namespace=name, mode="both", limit=_MOST)
        held = recall.model_dump(mode="json", exclude={"query", "namespace"})
        for items in (held["facts"], held["turns"]):
            for item in items:
                inner = item.get("fact") or item.get("message")
                inner.pop("namespace")
        if _holds(held, text):
            found.append(f"{text!r} is in what a search for it finds")
    return found
