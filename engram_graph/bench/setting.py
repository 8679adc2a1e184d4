"""Where a benchmark takes place: namespaces of its own, and no model but the hash embedder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from engram_graph import clock
from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.bench.bare import Bare
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.errors import ConfigurationError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load

_REMOVE = 2000


@dataclass(frozen=True, slots=True)
class Setting:
    """A runtime whose vectors are ready, the bare side beside it, and where both write."""

    runtime: Runtime
    vectors: ReadyVectors
    bare: Bare
    namespace: str
    tenant: str


@asynccontextmanager
async def prepared(runtime: Runtime) -> AsyncIterator[Setting]:
    """Namespaces for one run; all that was written there is removed at the end.

    Raises:
        ConfigurationError: the runtime has other models.
    """
    if not isinstance(runtime.embedder, HashEmbedder) or not isinstance(
        runtime.decider, RulesDecider
    ):
        raise ConfigurationError(
            "the benchmark measures the product, not a model",
            hint="Use ENGRAM_EMBEDDER=hash and the rules decider.",
        )
    vectors = ReadyVectors(runtime.embedder)
    name = f"bench-{clock.new_id()}"
    bare = Bare(runtime.graph, vectors, f"{name}-bare")
    setting = Setting(replace(runtime, embedder=vectors), vectors, bare, name, f"{name}-tenant")
    try:
        yield setting
    finally:
        for namespace in (setting.namespace, setting.tenant, bare.namespace):
            await remove(runtime.graph, namespace)


async def remove(graph: Graph, namespace: str) -> None:
    """Delete every record of ``namespace``, in batches."""
    query = load("bench")["remove"]
    while (await graph.write(query, namespace=namespace, limit=_REMOVE))[0]["removed"]:
        pass
