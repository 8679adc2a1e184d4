"""Migrations, indexes awaited ONLINE, and the check that embedder and vector indexes agree."""

from __future__ import annotations

import asyncio
import logging
import re
import time

from engram_graph.errors import DimensionError, EmbedderMismatchError, EmbeddingError, SchemaError
from engram_graph.graph import places
from engram_graph.graph.driver import Graph, Row
from engram_graph.graph.queries import load, migrations

log = logging.getLogger(__name__)
DEFAULT_DIMENSION = 384  # of the packaged model; used while no embedder is installed
_WAIT_SECONDS = 120
_CREATED = re.compile(r"CREATE (?:CONSTRAINT|(?:FULLTEXT |VECTOR )?INDEX) (\w+)")
_MAKE = ("create_fact_vectors", "create_message_vectors", "create_item_vectors")
_DROP = {
    "fact_vector": "drop_fact_vectors",
    "message_vector": "drop_message_vectors",
    "item_vector": "drop_item_vectors",
}


async def migrate(graph: Graph, embedder: str | None, dimension: int | None) -> int:
    """Bring the schema forward and ONLINE; the schema version.

    Safe to call from many processes at once: every statement is idempotent.

    Args:
        embedder: model name of the embedder in use; None when there is none.
        dimension: of its vectors.

    Raises:
        SchemaError: the graph was written by a newer version of this package.
        DimensionError, EmbedderMismatchError: stored vectors are not of this embedder.
        EmbeddingError: not yet: ``reembed`` is making this embedder's vectors.
    """
    known = migrations()
    state = await graph.locate()
    if not state:
        await graph.schema(load("schema")["singleton_schema"])
        await graph.write(load("schema")["lock_schema"])
        state = await graph.locate()
    version, stored_dimension = state[0]["version"], state[0]["dimension"]
    fits = (embedder, dimension) if embedder is not None and dimension else None
    if version > len(known):
        raise SchemaError(
            f"the graph has schema version {version}, this package knows up to {len(known)}",
            hint="Upgrade engram-graph.",
        )
    for migration in known[version:]:
        for statement in migration.statements:
            await graph.statement(places.spelled(statement, graph.place), "migration")
        await graph.write(load("schema")["record_version"], version=migration.version)
        log.info("schema: applied %04d_%s", migration.version, migration.name)
    if stored_dimension is None:
        await _make_vectors(graph, embedder, dimension or DEFAULT_DIMENSION)
        graph.embedder = fits or graph.embedder
        return len(known)
    if version < len(known):
        await create_vectors(graph, graph.place, stored_dimension)  # a migration may drop one
        await wait_online(graph)
    if embedder is not None and (state[0]["embedder"], stored_dimension) != (embedder, dimension):
        await _change_embedder(graph, embedder, dimension or 0, state[0])
    graph.embedder = fits or graph.embedder
    return len(known)


async def dimensions(graph: Graph) -> dict[str, int]:
    """Vector index in use, without the number of its place → its dimension."""
    rows = await graph.schema(load("schema")["vector_dimensions"])
    return {places.base(row["name"]): row["dimension"] for row in rows}


async def create_vectors(graph: Graph, place: int, dimension: int) -> None:
    """The vector indexes of ``place``, where they are not there yet."""
    for name in _MAKE:
        await graph.schema(places.at(load("schema")[name], place), dimension=dimension)


async def drop_vectors(graph: Graph, index: str) -> None:
    """Drop a vector index of ours. Returns when no transaction that wrote its records is left."""
    place = places.place_of(index)
    if place is not None:
        name = _DROP[places.base(index)]
        await graph.schema(places.at(load("schema")[name], place))


async def offline_indexes(graph: Graph) -> dict[str, str]:
    """Our indexes that are not ONLINE → their state; those of others are none of our business."""
    made = [
        *(s for m in migrations() for s in m.statements),
        *(places.at(load("schema")[n], graph.place).text for n in _MAKE),
    ]
    names = [found[1] for text in made if (found := _CREATED.search(text))]
    rows = await graph.schema(load("schema")["index_states"], names=names)
    return {row["name"]: row["state"] for row in rows}


async def _make_vectors(graph: Graph, embedder: str | None, dimension: int) -> None:
    await create_vectors(graph, graph.place, dimension)
    await wait_online(graph)
    for index, found in (await dimensions(graph)).items():
        if found != dimension:
            raise _wrong_dimension(index, dimension, found)
    await graph.write(load("schema")["record_embedder"], embedder=embedder, dimension=dimension)
    await graph.locate()


async def wait_online(graph: Graph) -> None:
    """Return when our indexes are ONLINE; another process may be making one anew meanwhile."""
    deadline = time.monotonic() + _WAIT_SECONDS
    await graph.schema(load("schema")["await_indexes"], seconds=_WAIT_SECONDS)
    while broken := await offline_indexes(graph):
        if "FAILED" in broken.values() or time.monotonic() > deadline:
            raise SchemaError(f"indexes are not online: {broken}", hint="See the server's log.")
        await asyncio.sleep(0.1)


async def _change_embedder(graph: Graph, embedder: str, dimension: int, state: Row) -> None:
    """Accept another embedder only while nothing is embedded; else say what stands in the way."""
    old, old_dimension = state["embedder"], state["dimension"]
    if (state["next_embedder"], state["next_dimension"]) == (embedder, dimension):
        raise EmbeddingError(
            f"vectors are being made anew by {embedder!r}, full text only until that is done",
            hint="`engram reembed` goes on with it, should it have broken off.",
        )
    empty = not (await graph.read(load("schema")["any_vector"]))[0]["found"]
    if empty or (old is None and old_dimension == dimension):
        for index, found in (await dimensions(graph)).items():
            if found != dimension:
                await graph.schema(load("schema")[_DROP[index]])  # of the current place
        await _make_vectors(graph, embedder, dimension)
    elif old_dimension != dimension:
        raise _wrong_dimension("fact_vector", dimension, old_dimension)
    else:
        raise EmbedderMismatchError(
            f"stored vectors were made by {old!r}, the embedder in use is {embedder!r}",
            hint=f"Use {old!r} (ENGRAM_EMBEDDER, ENGRAM_EMBEDDING_MODEL and its prefixes; unset "
            "means the packaged model), make all vectors anew (`engram reembed`), or use another "
            "database.",
        )


def _wrong_dimension(index: str, wanted: int, found: int | None) -> DimensionError:
    return DimensionError(
        f"vector index {index} has {found} dimensions, the embedder makes {wanted}",
        hint="Use the embedder that made the stored vectors (ENGRAM_EMBEDDING_MODEL), make all "
        "vectors anew (`engram reembed`), or use another database.",
        index=index,
        wanted=wanted,
        found=found,
    )
