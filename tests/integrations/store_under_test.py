"""A pytest plugin for the store tests of langgraph-checkpoint: its InMemoryStore is EngramStore.

Each store gets a namespace of its own, below the one in ENGRAM_TEST_NAMESPACE.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import langgraph.store.memory
import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.integrations.langgraph import EngramStore
from engram_graph.settings import Settings
from engram_graph.sync import Memory

LEFT_OUT = {  # name of a test → why it says nothing of this store
    "test_dedupe_ops_maps_repeated_reads_and_puts_to_one_op": "a function of the library",
    "test_get_text_at_path": "a function of the library",
    "test_get_text_at_path_with_non_dict_mapping": "a function of the library",
    "test_validate_op_namespace_rejects_invalid_labels": "a function of the library",
    "test_validate_op_namespace_allows_empty_prefix_and_wildcards": "a function of the library",
    "test_async_batch_store": "the library's queue, before a store of the test's own",
    "test_async_batch_store_handles_cancellation": "the same queue and store",
    "test_vector_store_initialization": "an attribute of InMemoryStore: the embedder's settings",
}
_numbers = itertools.count(1)
_opened: list[Memory] = []


class TheirEmbedder:
    """The embeddings that a test brings, in the dimension of the database's vector indexes."""

    def __init__(self, theirs: Any) -> None:
        known = HashEmbedder()
        self.model, self.dimension = known.model, known.dimension
        self._theirs = type(theirs)(dims=known.dimension)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        found: list[list[float]] = self._theirs.embed_documents(list(texts))
        return found

    async def aclose(self) -> None:
        """Nothing to release."""


class StoreUnderTest(EngramStore):
    """EngramStore with the constructor of InMemoryStore."""

    def __init__(self, *, index: Any = None) -> None:
        memory = Memory(
            f"{os.environ['ENGRAM_TEST_NAMESPACE']}-{next(_numbers)}",
            settings=Settings(embedder="none", extractor="patterns"),
            embedder=TheirEmbedder(index["embed"]) if index else None,
        )
        _opened.append(memory)
        super().__init__(memory, fields=(index or {}).get("fields", ["$"]))


langgraph.store.memory.InMemoryStore = StoreUnderTest  # type: ignore[misc, assignment]


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    gone = [item for item in items if item.originalname in LEFT_OUT]
    assert {item.originalname for item in gone} == LEFT_OUT.keys()
    items[:] = [item for item in items if item not in gone]
    config.hook.pytest_deselected(items=gone)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()
