"""Emptying a namespace in many transactions, so that a large one needs no more memory."""

from __future__ import annotations

from collections.abc import Sequence

from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.forget_scope import source
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.rules.forget import turns_over

_BATCH = 1000  # records that one transaction removes
_PASSES = 10  # over a namespace that others go on writing to


async def forget_namespace(graph: Graph, namespace: str) -> dict[str, int]:
    """Remove all of it; how many of each record went. If it breaks off, call it again.

    Each transaction leaves what others write meanwhile in one piece.
    """
    kinds = ("facts", "decisions", "requests", "messages", "entities", "feedback", "items")
    gone = dict.fromkeys(kinds, 0)
    await _remove_replaced(graph, namespace)
    for _ in range(_PASSES):
        before = sum(gone.values())
        for kind in gone:  # facts first: the others stay while a fact hangs on them
            while removed := await _remove_some(graph, namespace, kind):
                gone[kind] += removed
        if sum(gone.values()) == before:
            break
    return gone


async def _remove_replaced(graph: Graph, namespace: str) -> None:
    """What is kept for taking a replay back; it counts as no record."""
    query = load("whatif")
    scope = {"namespace": namespace}
    while (await graph.write(query["drop_some_replaced"], limit=_BATCH, **scope))[0]["gone"]:
        pass
    await graph.write(query["drop_replay"], **scope)


async def _remove_some(graph: Graph, namespace: str, kind: str) -> int:
    query = load("forget")

    async def work(tx: Tx) -> int:
        rows = await tx.run(query[f"some_{kind}"], namespace=namespace, limit=_BATCH)
        if kind == "messages":
            return await _remove_messages(tx, namespace, rows)
        ids = sorted(row["id"] for row in rows)
        if kind == "entities":
            return await _remove_entities(tx, namespace, ids)
        await tx.run(query[f"erase_{kind}"], namespace=namespace, ids=ids)
        return len(ids)

    return await until_done(graph, f"forget_{kind}", work, "the namespace")


async def _remove_messages(tx: Tx, namespace: str, rows: Sequence[Row]) -> int:
    query = load("forget")
    names = sorted({row["conversation"] for row in rows})
    ids = sorted(row["id"] for row in rows)
    await tx.run(query["lock_conversations"], namespace=namespace, names=names)
    await tx.run(query["lock_messages"], namespace=namespace, ids=ids)
    around = await tx.run(query["messages_around"], namespace=namespace, ids=[], messages=ids)
    leaving = [source(row) for row in around if not row["states_more"]]
    turns = [list(turn) for turn in turns_over(leaving)]
    await tx.run(query["close_turns"], namespace=namespace, turns=turns)
    await tx.run(query["erase_messages"], namespace=namespace, ids=[each.id for each in leaving])
    await tx.run(query["erase_conversations"], namespace=namespace, names=names)
    return len(leaving)


async def _remove_entities(tx: Tx, namespace: str, keys: list[str]) -> int:
    query = load("forget")
    await tx.run(load("merge")["lock_known_entities"], namespace=namespace, keys=keys)
    around = await tx.run(query["entities_around"], namespace=namespace, keys=keys, ids=[])
    unused = [row["key"] for row in around if not row["used"]]
    await tx.run(query["erase_entities"], namespace=namespace, keys=unused)
    return len(unused)
