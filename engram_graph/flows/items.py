"""Items: a value is checked, freed of secrets and stored with its vectors; and found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engram_graph.flows.runtime import Runtime
from engram_graph.graph import items as store
from engram_graph.models.items import Item, ItemHit
from engram_graph.rules.secrets import find_in_json, redact, redact_json, redact_values

Where = Callable[[Mapping[str, Any]], bool]
_PAGE = 500
_MOST = 2**31 - 1  # that a vector index is asked for
_FIRST = 64  # texts that the first look by vector takes; each further look takes four times more


async def put(
    runtime: Runtime,
    namespace: str,
    path: Sequence[str],
    key: str,
    value: dict[str, Any],
    texts: Sequence[str],
) -> Item:
    """Store a value with the vectors of ``texts``; without an embedder the texts have none."""
    secrets = find_in_json(value)
    plain = [redact(redact_values(text, secrets))[0] for text in texts]
    vectors, _ = await runtime.embed(plain) if plain else ([], None)
    return await store.put(
        runtime.graph,
        namespace,
        path,
        key,
        redact_json(value, secrets),
        list(zip(plain, vectors, strict=True)),
        runtime.now(),
    )


async def find(
    runtime: Runtime,
    namespace: str,
    prefix: Sequence[str],
    query: str | None,
    where: Where | None,
    limit: int,
    offset: int,
) -> list[ItemHit]:
    """See ``AsyncMemory.find_items``."""
    wanted = min(offset + limit, _MOST)
    hits: list[ItemHit] = []
    vector = None
    if query:
        (vector,), _ = await runtime.embed([query], query=True)
    if vector is not None:
        hits = await _near(runtime, namespace, prefix, vector, where, wanted)
    skip = 0
    while len(hits) < wanted:
        size = _PAGE if where else min(_PAGE, wanted - len(hits))
        page = await store.below(
            runtime.graph, namespace, prefix, skip, size, textless=vector is not None
        )
        hits += [ItemHit(item=each) for each in page if where is None or where(each.value)]
        skip += size
        if len(page) < size:
            break
    return hits[offset:wanted]


async def _near(
    runtime: Runtime,
    namespace: str,
    prefix: Sequence[str],
    vector: Sequence[float],
    where: Where | None,
    wanted: int,
) -> list[ItemHit]:
    """The best ``wanted`` items that ``where`` lets through, or all that there are."""
    size = max(_FIRST, wanted)
    while True:
        found, all_of_them = await store.near(runtime.graph, namespace, prefix, list(vector), size)
        hits = [
            ItemHit(item=item, score=score)
            for item, score in found
            if where is None or where(item.value)
        ]
        if all_of_them or len(hits) >= wanted:
            return hits[:wanted]
        size *= 4
