"""Reading what other memories keep in a Neo4j, page by page, and what of it is here already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.models.facts import Message

_PAGE = 500
Row = dict[str, Any]


async def pages(graph: Graph, name: str, part: str | None, inner: str, key: str) -> list[Row]:
    """All rows of the statement ``name``.

    Args:
        part: group or user. inner: the column whose ``key`` the next page goes on from.
    """
    query = load("moving")[name]
    found: list[Row] = []
    after = ""
    while rows := await graph.read(query, namespace=part, after=after, limit=_PAGE):
        found += [records.native(row) for row in rows]
        after = rows[-1][inner][key]
    return found


async def rest(graph: Graph, name: str, part: str | None) -> Row:
    """The one row of the statement ``name``."""
    return (await graph.read(load("moving")[name], namespace=part))[0]


async def parts(graph: Graph, name: str) -> list[str]:
    """Some groups or users that are there."""
    return [str(row["name"]) for row in await graph.read(load("moving")[name])]


async def open_here(graph: Graph, namespace: str, ids: Sequence[str]) -> set[str]:
    """Those of the facts that are open."""
    rows = await graph.read(load("moving")["moved_ends"], namespace=namespace, ids=list(ids))
    return {row["id"] for row in rows}


async def messages_here(graph: Graph, namespace: str, ids: Sequence[str]) -> list[str]:
    """Those of the messages that are here."""
    rows = await graph.read(load("moving")["moved_messages"], namespace=namespace, ids=list(ids))
    return [row["id"] for row in rows]


async def stating(graph: Graph, namespace: str, ids: Sequence[str]) -> dict[str, list[Message]]:
    """The messages that state each of the facts ``ids``, in the order they were said."""
    rows = await graph.read(load("moving")["messages_stating"], namespace=namespace, ids=list(ids))
    found: dict[str, list[Message]] = {}
    for row in rows:
        found.setdefault(row["id"], []).append(records.message(row["message"]))
    return found
