"""Migrations, indexes awaited ONLINE, and the check that embedder and vector indexes agree."""

from __future__ import annotations

import asyncio
import logging
import re
import time

from engram_graph.errors import DimensionError, EmbedderMismatchError, SchemaError
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load, migrations

log = logging.getLogger(__name__)
DEFAULT_DIMENSION = 384  # of the packaged model; used while no embedder is installed
_WAIT_SECONDS = 120
_CREATED = re.compile(r"CREATE (?:CONSTRAINT|(?:FULLTEXT |VECTOR )?INDEX) (\w+)")
_MAKE = ("create_fact_vectors", "create_message_vectors")
_DROP = {"fact_vector": "drop_fact_vectors", "message_vector": "drop_message_vectors"}


async def migrate(graph: Graph, embedder: str | None, dimension: int | None) -> int:
    """Bring the schema forward and ONLINE; the schema version.

    Safe to call from many processes at once: every statement is idempotent.

    Args:
        embedder: model name of the embedder in use; None when there is none.
        dimension: of its vectors.

    Raises:
        SchemaError: the graph was written by a newer version of this package.
        DimensionError, EmbedderMismatchError: stored vectors are not of this embedder.
    """
    known = migrations()
    state = await _state(graph)
    if state is None:
        await graph.schema(load("schema")["singleton_schema"])
        await graph.write(load("schema")["lock_schema"])
        state = await _state(graph) or (0, None, None)
    version, stored_embedder, stored_dimension = state
    if version > len(known):
        raise SchemaError(
            f"the graph has schema version {version}, this package knows up to {len(known)}",
            hint="Upgrade engram-graph.",
        )
    for migration in known[version:]:
        for statement in migration.statements:
            await graph.statement(statement)
        await graph.write(load("schema")["record_version"], version=migration.version)
        log.info("schema: applied %04d_%s", migration.version, migration.name)
    if version < len(known) or stored_dimension is None:
        await _make_vectors(graph, embedder, dimension or DEFAULT_DIMENSION)
    elif embedder is not None and (stored_embedder, stored_dimension) != (embedder, dimension):
        await _change_embedder(graph, embedder, dimension or 0, stored_embedder, stored_dimension)
    return len(known)


async def dimensions(graph: Graph) -> dict[str, int]:
    """Vector index → its dimension."""
    rows = await graph.schema(load("schema")["vector_dimensions"])
    return {row["name"]: row["dimension"] for row in rows}


async def offline_indexes(graph: Graph) -> dict[str, str]:
    """Our indexes that are not ONLINE → their state; those of others are none of our business."""
    made = [
        *(s for m in migrations() for s in m.statements),
        *(load("schema")[n].text for n in _MAKE),
    ]
    names = [found[1] for text in made if (found := _CREATED.search(text))]
    rows = await graph.schema(load("schema")["index_states"], names=names)
    return {row["name"]: row["state"] for row in rows}


async def _state(graph: Graph) -> tuple[int, str | None, int | None] | None:
    rows = await graph.read(load("schema")["read_schema"])
    return (rows[0]["version"], rows[0]["embedder"], rows[0]["dimension"]) if rows else None


async def _make_vectors(graph: Graph, embedder: str | None, dimension: int) -> None:
    for name in _MAKE:
        await graph.schema(load("schema")[name], dimension=dimension)
    await _wait_online(graph)
    for index, found in (await dimensions(graph)).items():
        if found != dimension:
            raise _wrong_dimension(index, dimension, found)
    await graph.write(load("schema")["record_embedder"], embedder=embedder, dimension=dimension)


async def _wait_online(graph: Graph) -> None:
    """Return when our indexes are ONLINE; another process may be making one anew meanwhile."""
    deadline = time.monotonic() + _WAIT_SECONDS
    await graph.schema(load("schema")["await_indexes"], seconds=_WAIT_SECONDS)
    while broken := await offline_indexes(graph):
        if "FAILED" in broken.values() or time.monotonic() > deadline:
            raise SchemaError(f"indexes are not online: {broken}", hint="See the server's log.")
        await asyncio.sleep(0.1)


async def _change_embedder(
    graph: Graph, embedder: str, dimension: int, old: str | None, old_dimension: int | None
) -> None:
    """Accept another embedder only while nothing is embedded; else say what stands in the way."""
    empty = not (await graph.read(load("schema")["any_vector"]))[0]["found"]
    if empty or (old is None and old_dimension == dimension):
        for index, found in (await dimensions(graph)).items():
            if found != dimension:
                await graph.schema(load("schema")[_DROP[index]])
        await _make_vectors(graph, embedder, dimension)
    elif old_dimension != dimension:
        raise _wrong_dimension("fact_vector", dimension, old_dimension)
    else:
        raise EmbedderMismatchError(
            f"stored vectors were made by {old!r}, the embedder in use is {embedder!r}",
            hint=f"Use {old!r} (ENGRAM_EMBEDDER, ENGRAM_EMBEDDING_MODEL; unset means the packaged "
            "model), or another database.",
        )


def _wrong_dimension(index: str, wanted: int, found: int | None) -> DimensionError:
    return DimensionError(
        f"vector index {index} has {found} dimensions, the embedder makes {wanted}",
        hint="Use the embedder that made the stored vectors (ENGRAM_EMBEDDING_MODEL), "
        "or use another database.",
        index=index,
        wanted=wanted,
        found=found,
    )
