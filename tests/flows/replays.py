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
from engram_graph.models.facts import Fact
from engram_graph.rules.method import Method, preset

DATA = Path(__file__).parents[1] / "data"
_REPLAYED = ("facts", "links", "decisions", "entities")


async def differences(
    memory: AsyncMemory, namespace: str, method: Method | None = None
) -> dict[str, list[Any]]:
    """What a replay made otherwise; nothing when the two graphs are equal.

    Left out: facts that lost an answer to ``forget``, and the decisions on them.
    """
    runtime = await memory.open()
    stored = await canonical(runtime.graph, namespace)
    async with replayed(runtime, namespace, method or runtime.method) as copy:
        made = await canonical(runtime.graph, copy.namespace)
        lost = tuple(_named(copy.log.facts[each].fact) for each in copy.incomplete)
        for graph in (stored, made):
            graph["links"] = [_without_merge(link) for link in graph["links"]]
        found = {kind: _apart(stored, made, kind, lost) for kind in _REPLAYED}
        found = {kind: items for kind, items in found.items() if items}
        if copy.passed_over:
            found["passed_over"] = copy.passed_over
        if copy.decider.unanswered:
            found["unanswered"] = copy.decider.unanswered
    return found


def _without_merge(link: Any) -> Any:
    """A link that a merge made, without the id of the merge."""
    source, kind, target, reason, p = link
    return source, kind, target, "merge" if (reason or "").startswith("merge ") else reason, p


def _named(fact: Fact) -> str:
    return f"{fact.subject_key}|{fact.predicate}|{fact.object_key} {fact.text!r} "


def _apart(stored: Canonical, made: Canonical, kind: str, lost: tuple[str, ...]) -> list[Any]:
    def whole(items: list[Any]) -> list[Any]:
        named = {"facts": (0,), "decisions": (1, 2)}.get(kind, ())
        return [i for i in items if not any((i[at] or "").startswith(lost) for at in named)]

    mine, other = whole(stored[kind]), whole(made[kind])
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
