"""Making all vectors anew: the record of it, records by page, the switch, and what is left over.

Every batch locks the record first: who was overtaken by another plan notices, and stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engram_graph.errors import ConflictError
from engram_graph.graph import places, schema
from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.queries import NamedQuery, load
from engram_graph.models.facts import Vector
from engram_graph.rules.text import turn_text

Kind = Literal["fact", "message", "item"]
KINDS: tuple[Kind, ...] = ("fact", "message", "item")
_CLEANED = 1000  # records in one transaction


@dataclass(frozen=True, slots=True)
class Target:
    """Where the new vectors go. ``switches``: it is to become the current place."""

    place: int
    switches: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are, and how many of them have a vector at some place."""

    facts: int
    fact_vectors: int
    messages: int
    message_vectors: int
    items: int
    item_vectors: int

    @property
    def missing(self) -> int:
        """Records without one."""
        held = self.fact_vectors + self.message_vectors + self.item_vectors
        return self.facts + self.messages + self.items - held


@dataclass(frozen=True, slots=True)
class Text:
    """A record to embed: ``words`` as its vector is made of, ``text`` as it is stored."""

    id: str
    words: str
    text: str


def target(state: Row, embedder: str, dimension: int) -> Target:
    """Where the vectors of an embedder are, or would go by the record."""
    current, planned = state["place"] or 1, state["next_place"]
    if (state["embedder"], state["dimension"]) == (embedder, dimension):
        return Target(current, False)
    if (state["next_embedder"], state["next_dimension"]) == (embedder, dimension):
        return Target(planned, True)
    return Target(max(current, planned or 0) + 1, True)


async def begin(graph: Graph, embedder: str, dimension: int) -> Target:
    """Note the plan and make its indexes; goes on with an equal plan, replaces another one."""

    async def work(tx: Tx) -> Target:
        (state,) = await tx.run(load("schema")["lock_schema"])
        found = target(state, embedder, dimension)
        if found.switches:
            await tx.run(
                load("reembed")["plan_reembed"],
                embedder=embedder,
                dimension=dimension,
                place=found.place,
            )
        elif state["next_place"]:
            await tx.run(load("reembed")["drop_reembed_plan"])
        return found

    found = await graph.transact("begin_reembed", work)
    if found.switches:
        await schema.create_vectors(graph, found.place, dimension)
        await schema.wait_online(graph)
    return found


async def counts(graph: Graph, place: int) -> Counts:
    """Records of all namespaces, and their vectors at ``place``."""
    rows = await graph.read(_at("count_vectors", place))
    return Counts(**rows[0])


async def without_vector(
    graph: Graph, kind: Kind, place: int, after: str, limit: int
) -> list[Text]:
    """The next records without a vector at ``place``, by id."""
    rows = await graph.read(_at(f"{kind}s_without_vector", place), after=after, limit=limit)
    return [
        Text(
            row["id"],
            turn_text(row["speaker"], row["text"]) if kind == "message" else row["text"],
            row["text"],
        )
        for row in rows
    ]


async def fill(
    graph: Graph, kind: Kind, place: int, texts: Sequence[Text], vectors: Sequence[Vector]
) -> int:
    """Store the vectors of records that still say the same and have none; how many.

    Raises:
        ConflictError: the place is no longer wanted.
    """
    rows = [
        {"id": one.id, "text": one.text, "vector": vector}
        for one, vector in zip(texts, vectors, strict=True)
    ]

    async def work(tx: Tx) -> int:
        (state,) = await tx.run(load("schema")["lock_schema"])
        _need(place in (state["place"] or 1, state["next_place"]))
        return int((await tx.run(_at(f"set_{kind}_vectors", place), rows=rows))[0]["written"])

    return await graph.transact("reembed", work)


async def switch(graph: Graph, place: int) -> None:
    """Make ``place`` the current one, for all clients at once.

    Raises:
        ConflictError: another plan replaced this one.
    """

    async def work(tx: Tx) -> None:
        (state,) = await tx.run(load("schema")["lock_schema"])
        if (state["place"] or 1) != place:
            _need(state["next_place"] == place)
            await tx.run(load("reembed")["switch_vectors"])

    await graph.transact("switch_vectors", work)
    await graph.locate()


async def drop_others(graph: Graph, place: int) -> None:
    """Drop the vector indexes of all other places.

    A dropped index waits for every transaction that has written a fact or message, and what begins
    later sees the record of now: no vector of an old place comes after this.
    """
    for row in await graph.schema(load("reembed")["vector_indexes"]):
        if places.place_of(row["name"]) not in (place, None):
            await schema.drop_vectors(graph, row["name"])


async def clean(graph: Graph, kind: Kind, place: int) -> None:
    """Take the vectors of all other places off every record.

    Raises:
        ConflictError: another plan has begun.
    """
    last: str | None = ""
    while last is not None:

        async def work(tx: Tx, after: str = last) -> str | None:
            (state,) = await tx.run(load("schema")["lock_schema"])
            _need((state["place"] or 1) == place and not state["next_place"])
            rows = await tx.run(_at(f"clean_{kind}s", place), after=after, limit=_CLEANED)
            found: str | None = rows[0]["last"]
            return found

        last = await graph.transact("clean_vectors", work)


async def end(graph: Graph, place: int) -> None:
    """Note that nothing is left over."""
    await graph.write(load("reembed")["end_reembed"], place=place)


def _at(name: str, place: int) -> NamedQuery:
    return places.at(load("reembed")[name], place)


def _need(ours: bool) -> None:
    if not ours:
        raise ConflictError(
            "another reembed, for another embedder, has begun meanwhile",
            hint="Only the one begun last goes on. `engram reembed --dry-run` tells what is left.",
        )
