"""A replay takes the place of what it was made from, and gives it back: each in one transaction.

What is replaced is set aside node by node (``cypher/whatif.cypher`` says how), so that taking it
back is exact; it goes for good with the next step, and with anything that is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from engram_graph.errors import ConflictError, NotFoundError, StoreError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.places import PROPERTY, named
from engram_graph.graph.queries import load
from engram_graph.rules.replay_adopt import Adoption
from engram_graph.rules.text import namespace_key

_AGAIN = "engram whatif --preset NAME --apply"
_TOO_LARGE = (
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    "Neo.TransientError.General.OutOfMemoryError",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded step.

    Attributes:
        preset, numbers: the rules that were applied. applied_at: when.
        facts, links: how many of each came to stand otherwise.
    """

    id: str
    preset: str
    numbers: Mapping[str, float]
    applied_at: datetime
    facts: int
    links: int


async def apply(
    graph: Graph,
    namespace: str,
    replayed: str,
    seen: Row,
    adoption: Adoption,
    step: Step,
) -> None:
    """Put the records of the namespace ``replayed`` in the place of the namespace's own.

    Args:
        seen: how the namespace stood when it was read.

    Raises:
        ConflictError: the namespace has changed since, or somebody is writing; nothing was done.
        StoreError: it is too large for one transaction of the server; nothing was done.
    """
    whole = {"namespace": namespace}
    both = whole | {"replayed": replayed}

    async def work(tx: Tx) -> None:
        query = load("whatif")
        await tx.run(query["hold_all"], **whole)
        await _need_the_same(tx, namespace, seen)
        await tx.run(query["drop_replay"], **whole)
        properties = {
            "id": step.id,
            "preset": step.preset,
            "numbers": json.dumps(dict(step.numbers)),
            "applied_at": step.applied_at,
            "facts": step.facts,
            "links": step.links,
            "vectors": _vectors(graph),
        }
        await tx.run(query["begin_replay"], properties=properties, **whole)
        labels = [row["label"] for row in adoption.staying]
        await tx.run(
            query["set_labels_aside"], staying=labels, leaving=list(adoption.leaving), **whole
        )
        for kind in ("facts", "decisions", "names"):
            await tx.run(query[f"set_{kind}_aside"], **whole)
        # Who writes about entities nobody knew waits for no lock: what came in between must stay.
        _need_all(seen, await tx.run(query["count_replaced"], **whole), _changed(namespace))
        await _adopt(tx, both, adoption)
        await tx.run(query["put_labels"], rows=list(adoption.staying), **whole)
        after = await _state(tx, namespace)
        made = {"fact": len(adoption.facts), "decision": len(adoption.decisions)}
        if any(after[kind] != number for kind, number in made.items()):
            raise _changed(namespace)  # somebody wrote about what is not locked: new entities
        await tx.run(query["end_replay"], state=json.dumps(after), **whole)

    async with _within_memory():
        await graph.transact("apply_replay", work)


async def _adopt(tx: Tx, both: Mapping[str, str], adoption: Adoption) -> None:
    query, namespace = load("whatif"), both["namespace"]
    await tx.run(query["adopt_entities"], rows=list(adoption.entities), **both)
    await tx.run(query["adopt_aliases"], rows=list(adoption.aliases), **both)
    await tx.run(
        query["adopt_facts"],
        rows=list(adoption.facts),
        namespace_key=namespace_key(namespace),
        **both,
    )
    await tx.run(query["adopt_mentions"], rows=list(adoption.mentions), namespace=namespace)
    await tx.run(query["adopt_links"], rows=list(adoption.links), namespace=namespace)
    await tx.run(query["adopt_decisions"], rows=list(adoption.decisions), **both)


async def take_back(graph: Graph, namespace: str) -> Step:
    """Give back what the last step replaced; the step that was taken back.

    Raises:
        NotFoundError: there is none. ConflictError: the namespace has changed since.
        StoreError: it is too large for one transaction of the server.
    """
    scope = {"namespace": namespace}

    async def work(tx: Tx) -> Step:
        query = load("whatif")
        rows = await tx.run(query["last_replay"], **scope)
        if not rows:
            raise NotFoundError(
                f"no step to take back in namespace {namespace!r}",
                hint="A step can be taken back once; another one, or forgetting anything, ends "
                f"that. To decide again by other rules: {_AGAIN}",
            )
        step = records.native(rows[0]["replay"])
        await tx.run(query["hold_all"], **scope)
        changed = ConflictError(
            f"namespace {namespace!r} has changed since the step: what was written since "
            "would be lost",
            hint=f"Decide it again, by the rules of before: {_AGAIN}",
        )
        state = json.loads(step["state"])
        if state != await _state(tx, namespace):
            raise changed
        if step.get("vectors") != _vectors(graph):
            raise ConflictError(
                "vectors were made anew since the step: those of before do not fit any more",
                hint=f"Decide it again, by the rules of before: {_AGAIN}",
            )
        labels = await tx.run(query["labels_there"], **scope)
        reads = await tx.run(query["reads_there"], **scope)
        _need_all(state, await tx.run(query["remove_replayed"], **scope), changed)
        for kind in ("names", "facts", "decisions", "labels"):
            await tx.run(query[f"restore_{kind}"], **scope)
        await tx.run(query["put_labels"], rows=labels, **scope)
        await tx.run(query["restore_reads"], reads=reads, **scope)
        await tx.run(query["drop_replay"], **scope)
        return Step(
            id=step["id"],
            preset=step["preset"],
            numbers=json.loads(step["numbers"]),
            applied_at=step["applied_at"],
            facts=step["facts"],
            links=step["links"],
        )

    async with _within_memory():
        return await graph.transact("take_back_replay", work)


@asynccontextmanager
async def _within_memory() -> AsyncIterator[None]:
    """One transaction holds the whole namespace: the server may not allow that much."""
    try:
        yield
    except StoreError as error:
        if getattr(error.__cause__, "code", None) not in _TOO_LARGE:
            raise
        raise StoreError(
            "the namespace is too large for one transaction of this server; nothing was done",
            hint="Give the server a larger heap, or raise dbms.memory.transaction.total.max.",
        ) from error


async def left(graph: Graph, prefix: str) -> list[str]:
    """Namespaces whose names begin with ``prefix``."""
    rows = await graph.read(load("whatif")["replays_left"], namespace=prefix)
    return [row["name"] for row in rows]


async def _need_the_same(tx: Tx, namespace: str, seen: Row) -> None:
    pending = await tx.run(load("whatif")["count_pending"], namespace=namespace)
    if pending[0]["pending"]:
        raise ConflictError(
            f"messages of namespace {namespace!r} are being written",
            hint="Wait for it; what was broken off, `engram resume` finishes.",
        )
    if await _state(tx, namespace) != seen:
        raise _changed(namespace)


def _need_all(state: Mapping[str, int], counted: list[Row], changed: ConflictError) -> None:
    if any(state[kind] != number for kind, number in counted[0].items()):
        raise changed


def _changed(namespace: str) -> ConflictError:
    return ConflictError(
        f"namespace {namespace!r} has changed since it was decided again; nothing was applied",
        hint="Try again while nobody writes to it.",
    )


async def _state(tx: Tx, namespace: str) -> Row:
    rows = await tx.run(load("transfer")["export_state"], namespace=namespace)
    return rows[0]


def _vectors(graph: Graph) -> str:
    """Which of the vectors that may stand beside each other are in use."""
    known = graph.vectors
    return f"{named(PROPERTY, graph.place)} {known and known.embedder}"
