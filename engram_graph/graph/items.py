"""Items in the store: put, read by path or by vector, deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from engram_graph import clock
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.graph.write import StalePlanError
from engram_graph.models.facts import Vector
from engram_graph.models.items import Item
from engram_graph.rules.paths import behind, folder, path_of

Text = tuple[str, Vector | None]
"""A text that finds an item, and its vector."""


def item(row: Row) -> Item:
    """An ``item`` map of a statement as an Item."""
    plain = records.native(row)
    return Item(
        path=path_of(plain["folder"]),
        value=json.loads(plain["value"]),
        **{name: plain[name] for name in ("id", "namespace", "key", "said", "source")},
        **{name: plain[name] for name in ("created_at", "updated_at")},
    )


def text_rows(texts: Sequence[Text]) -> list[Row]:
    """Texts as the statements take them, each with an id of its own."""
    return [
        {"properties": {"id": clock.new_id(), "text": text, "embedding": vector}}
        for text, vector in texts
    ]


def value_text(value: object) -> str:
    """A value as it is stored."""
    return json.dumps(value, ensure_ascii=False)


async def put(
    graph: Graph,
    namespace: str,
    path: Sequence[str],
    key: str,
    value: object,
    texts: Sequence[Text],
    now: datetime,
) -> Item:
    """Store a value in the place of the one that is there."""
    rows = await _changed(
        graph,
        "put_item",
        always=True,
        id=clock.new_id(),
        value=value_text(value),
        rows=text_rows(texts),
        now=now,
        **_place(namespace, path, key),
    )
    return item(rows[0]["item"])


async def get(graph: Graph, namespace: str, path: Sequence[str], key: str) -> Item | None:
    """The item there; None when there is none."""
    rows = await graph.read(load("items")["get_item"], **_place(namespace, path, key))
    return item(rows[0]["item"]) if rows else None


async def count_said(graph: Graph, namespace: str, path: Sequence[str], key: str) -> int | None:
    """The number of the next message that says what an item says; None: it is gone."""
    rows = await _changed(graph, "count_said", **_place(namespace, path, key))
    return int(rows[0]["said"]) if rows else None


async def delete(graph: Graph, namespace: str, path: Sequence[str], key: str) -> Item | None:
    """The item that was deleted, as it was at last; None when there was none."""
    rows = await _changed(graph, "delete_item", **_place(namespace, path, key))
    return item(rows[0]["item"]) if rows else None


async def below(
    graph: Graph, namespace: str, prefix: Sequence[str], skip: int, limit: int, *, textless: bool
) -> list[Item]:
    """Items at or below a path, oldest first. ``textless``: only those that no vector finds."""
    name = "items_without_text" if textless else "items_below"
    rows = await graph.read(
        load("items")[name], skip=skip, limit=limit, **_range(namespace, prefix)
    )
    return [item(row["item"]) for row in rows]


async def near(
    graph: Graph, namespace: str, prefix: Sequence[str], vector: Vector, limit: int
) -> tuple[list[tuple[Item, float]], bool]:
    """Items by the nearest of up to ``limit`` texts, best first; whether these were all texts."""
    rows = await graph.read(
        load("items")["items_near"], embedding=vector, limit=limit, **_range(namespace, prefix)
    )
    found = [(item(row["item"]), float(row["score"])) for row in rows]
    return found, sum(row["texts"] for row in rows) < limit


async def paths(graph: Graph, namespace: str) -> list[tuple[str, ...]]:
    """Every path that has an item, sorted."""
    rows = await graph.read(load("items")["item_folders"], namespace=namespace)
    return sorted(path_of(row["folder"]) for row in rows)


async def _changed(graph: Graph, name: str, *, always: bool = False, **params: Any) -> list[Row]:
    """Rows of a statement, run again when its item was deleted while it waited for the lock.

    ``always``: no row means just that.
    """
    query = load("items")[name]

    async def work(tx: Tx) -> list[Row]:
        rows = await tx.run(query, **params)
        if always and not rows:
            raise StalePlanError
        return rows

    return await until_done(graph, name, work, "the item")


def _place(namespace: str, path: Sequence[str], key: str) -> Row:
    return {"namespace": namespace, "folder": folder(path), "key": key}


def _range(namespace: str, prefix: Sequence[str]) -> Row:
    first = folder(prefix)
    return {"namespace": namespace, "folder": first, "behind": behind(first)}
