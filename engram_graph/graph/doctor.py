"""Reading what ``doctor`` checks: ids that break a rule, chains, and every stored word by page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engram_graph.graph import places, records, schema
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.rules.text import namespace_key

TEXTS = (
    *("fact_texts", "message_texts", "entity_texts", "decision_texts", "request_texts"),
    *("feedback_texts", "item_texts"),
)
_CHUNK = 1000  # namespaces in one statement
_TOGETHER = 50  # namespaces whose texts are read at once
_PAGE = 500  # records of each in one page
_START = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one record.

    Attributes:
        texts: plain properties. json: parsed ones. search_text: None where there is none.
    """

    id: str
    texts: tuple[str, ...]
    json: tuple[Any, ...]
    search_text: str | None


async def namespaces(graph: Graph) -> list[str]:
    """Every namespace that any record carries."""
    rows = await graph.read(load("doctor")["all_namespaces"])
    return [row["namespace"] for row in rows]


async def namespaces_starting(graph: Graph, prefix: str) -> list[str]:
    """Every namespace whose name starts with ``prefix``."""
    rows = await graph.read(load("doctor")["namespaces_starting"], prefix=prefix)
    return [row["namespace"] for row in rows]


async def counts(graph: Graph, names: Sequence[str]) -> dict[str, int]:
    """Kind of record → how many there are in ``names``."""
    total: dict[str, int] = {}
    for chunk in _chunks(names):
        rows = await graph.read(load("doctor")["counts"], namespaces=chunk)
        for kind, number in rows[0].items():
            total[kind] = total.get(kind, 0) + number
    return total


async def broken(
    graph: Graph, query: str, names: Sequence[str], limit: int, dimension: int | None
) -> list[str]:
    """Up to ``limit`` ids that the named query finds in ``names``, seen in two looks.

    A writer may commit between the parts of one look; what two looks find is not of that sort.
    """
    found: list[str] = []
    for chunk in _chunks(names):
        first = await _look(graph, query, chunk, limit, dimension)
        if first:
            second = set(await _look(graph, query, chunk, limit, dimension))
            found += [found_id for found_id in first if found_id in second]
        if len(found) >= limit:
            break
    return found[:limit]


async def _look(
    graph: Graph, query: str, chunk: list[str], limit: int, dimension: int | None
) -> list[str]:
    statement = load("doctor")[query]
    known: dict[str, Any] = {"namespaces": chunk, "limit": limit, "dimension": dimension}
    if "tokens" in statement.params:
        known["tokens"] = {name: namespace_key(name) for name in chunk}
    rows = await graph.read(statement, **{k: known[k] for k in statement.params})
    return [row["id"] for row in rows]


async def incomplete_records(graph: Graph, limit: int) -> list[str]:
    """Records of any namespace without what every look-up starts from."""
    rows = await graph.read(load("doctor")["incomplete_records"], limit=limit)
    return [row["id"] for row in rows]


async def supersedes(graph: Graph, names: Sequence[str]) -> list[tuple[str, str]]:
    """Every (newer, older) pair."""
    pairs = []
    for chunk in _chunks(names):
        rows = await graph.read(load("doctor")["supersedes"], namespaces=chunk)
        pairs += [(row["new"], row["old"]) for row in rows]
    return pairs


async def dimension(graph: Graph) -> int | None:
    """The dimension every stored vector must have; None while none is recorded."""
    await graph.locate()
    return graph.vectors.dimension if graph.vectors else None


async def reembedding(graph: Graph) -> list[str]:
    """The embedder whose vectors are being made, or were left over when that broke off."""
    rows = await graph.locate()
    return [row["next_embedder"] or row["embedder"] or "" for row in rows if row["leftovers"]]


async def broken_indexes(graph: Graph, wanted: int | None) -> list[str]:
    """Indexes that are not ONLINE, and vector indexes of another dimension or gone."""
    found = set(await schema.offline_indexes(graph))
    made = await schema.dimensions(graph)
    if wanted is not None:
        found |= {name for name in places.INDEXES if made.get(name) != wanted}
    return sorted(found)


async def words(graph: Graph, query: str, names: Sequence[str]) -> AsyncIterator[Words]:
    """The words of every record in ``names`` that the named page query goes through."""
    statement = load("doctor")[query]
    for at in range(0, len(names), _TOGETHER):
        places = [
            {"namespace": name, "at": _START, "after": ""} for name in names[at : at + _TOGETHER]
        ]
        while places:
            rows = await graph.read(statement, places=places, limit=_PAGE)
            read: Counter[str] = Counter()
            last: dict[str, dict[str, Any]] = {}
            for row in rows:
                name = row["namespace"]
                read[name] += 1
                # A moment as the driver gives it names its zone, and so it equals no stored one.
                moment = records.native(row["at"])
                last[name] = {"namespace": name, "at": moment, "after": row["after"]}
                yield Words(
                    id=row["id"],
                    texts=tuple(text or "" for text in row["texts"]),
                    json=tuple(_parsed(text) for text in row["json"] if text),
                    search_text=row.get("search_text"),
                )
            places = [last[name] for name, number in read.items() if number == _PAGE]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _chunks(names: Sequence[str]) -> list[list[str]]:
    return [list(names[at : at + _CHUNK]) for at in range(0, len(names), _CHUNK)]
