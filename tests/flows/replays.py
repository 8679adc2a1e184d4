"""Replays of what a test has stored: what is equal but for ids and names of namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from canonical import Canonical, canonical

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.evaluation.scenarios.database import Database
from engram_graph.evaluation.scenarios.format import Scenario
from engram_graph.evaluation.scenarios.scripted import ScriptedDecider, ScriptedExtractor
from engram_graph.evaluation.scenarios.steps import perform
from engram_graph.evaluation.scenarios.world import World
from engram_graph.flows.whatif import replayed
from engram_graph.memory import AsyncMemory
from engram_graph.rules.method import Method, preset

DATA = Path(__file__).parents[1] / "data"
_REPLAYED = ("facts", "links", "decisions", "entities")
_OWN = ("merge ",)


async def differences(
    memory: AsyncMemory, namespace: str, method: Method | None = None
) -> dict[str, list[Any]]:
    """What a replay made otherwise, in a word and in the whole graph; nothing when all is equal."""
    runtime = await memory.open()
    stored = await canonical(runtime.graph, namespace)
    async with replayed(runtime, namespace, method or runtime.method) as copy:
        made = await canonical(runtime.graph, copy.namespace)
        found: dict[str, list[Any]] = {
            kind: _apart(stored, made, kind) for kind in _REPLAYED if stored[kind] != made[kind]
        }
        if copy.passed_over:
            found["passed_over"] = copy.passed_over
        if copy.decider.unanswered:
            found["unanswered"] = copy.decider.unanswered
    return found


def _apart(stored: Canonical, made: Canonical, kind: str) -> list[Any]:
    mine, other = list(stored[kind]), list(made[kind])
    for item in list(mine):
        if item in other:
            mine.remove(item)
            other.remove(item)
    return [("stored", item) for item in mine] + [("replayed", item) for item in other]


async def played(scenario: Scenario, settings: Any, prefix: str, method: str) -> World:
    """A scenario after its last step; the caller closes its client."""
    asked = preset(scenario.preset or method)
    decider, extractor = ScriptedDecider(), ScriptedExtractor()
    database = Database(settings)

    def make() -> AsyncMemory:
        return AsyncMemory(
            settings=database.settings,
            embedder=HashEmbedder(settings.embedding_dimension or 384),
            extractor=extractor,
            decider=None if asked.decider else decider,
            method=asked,
        )

    world = World(scenario, prefix, make, decider, extractor, make())
    refused = {one.step for one in scenario.errors()}
    for number, step in enumerate(scenario.steps, 1):
        try:
            await perform(world, step, world.client, database.reopen)
        except Exception:
            if number not in refused:
                raise
    return world
