"""Replays of what a test has stored: what is equal but for ids and names of namespaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import flow_fakes
import pytest
from canonical import Canonical, canonical

from engram_graph import clock
from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.evaluation.scenarios.database import Database
from engram_graph.evaluation.scenarios.format import Scenario
from engram_graph.evaluation.scenarios.scripted import ScriptedDecider, ScriptedExtractor
from engram_graph.evaluation.scenarios.steps import perform
from engram_graph.evaluation.scenarios.world import World
from engram_graph.flows.whatif import replayed
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.rules.method import Method, preset
from engram_graph.testing import scripted

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


async def a_life(make_memory: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> AsyncMemory:
    """Corrections, merges there and back, aliases, repetitions, upkeep, a bulk import."""
    script = {
        "relation_to_candidate": [
            {"fact": "works at Saltway", "candidate": "Hollin", "p": {"update": 0.97, "new": 0.03}},
            {"fact": "drives", "candidate": "at Saltway", "p": {"duplicate": 0.9, "new": 0.1}},
            {"fact": "crowds", "candidate": "markets", "p": {"contradiction": 0.9, "new": 0.1}},
            {"fact": "night", "candidate": "prefers markets", "p": {"refinement": 0.95}},
        ],
        "same_fact": 0.9,
        "durability": {"short_lived": 1.0},
        "worth_remembering": 0.3,
    }
    told = flow_fakes.ScriptedExtractor([flow_fakes.draft("Bero hums", "Bero|related_to|humming")])
    memory: AsyncMemory = make_memory(decider=scripted.ScriptedDecider(script), extractor=told)

    async def say(fact: str, day: str, **more: Any) -> Any:
        subject, predicate, obj = fact.split("|")
        text = f"{subject} {predicate.replace('_', ' ')} {obj}"
        values = {"text": text, "said_at": f"2025-{day}"} | more
        return (await memory.remember(subject, predicate, obj, **values)).facts

    (press,) = await say("Mirelle|works_at|Hollin Press", "01-01")
    await say("Mirelle|works_at|Saltway Freight", "03-01")
    drives = {"speaker": "Bero", "text": "Mirelle drives for Saltway Freight"}
    await say("Mirelle|works_at|Saltway Freight", "03-09", **drives)
    await say("Mirelle|prefers|markets", "03-10")
    await say("Mirelle|dislikes|crowds", "03-11")
    (night,) = await say("Mirelle|prefers|night markets", "03-12", valid_until="2025-04-01")
    await say("Mirelle|works_at|Saltway Freight", "03-13", speaker="Bero")  # repeats
    await memory.correct(press, object="Hollin House", reason="misheard")
    await memory.correct(night, valid_until="2025-05-01")
    await memory.add("I hum.", speaker="Bero", said_at="2025-03-14")
    await say("Berold|speaks|Welsh", "01-05")
    await say("Bero|speaks|Welsh", "01-06")
    await memory.add_alias("Mirelle", "Mimi")
    await memory.add_alias("Berold", "Old Ber")
    await memory.merge_entities("Bero", "Berold", reason="one man: both")
    await say("Old Ber|owns|a ferry", "06-01")
    await memory.remember_many(
        [
            {"subject": "Odo", "predicate": "owns", "object": "a lathe"},
            {"subject": "Odo", "predicate": "lives_in", "object": "Velden"}
            | {"valid_from": "2020-01-01", "valid_until": "2021-01-01"},
        ],
        decide=False,
    )
    await memory.merge_entities("Mirelle", "Odo", reason="a pen name")
    await say("Mimi|owns|the ferry", "06-02")
    await memory.unmerge("Odo", reason="no")
    done = await memory.hygiene(apply=True, worth=True, short_lived=True, now="2030-06-01")
    assert done.same_as
    (hums,) = done.archived
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: datetime(2031, 1, 1, tzinfo=UTC))
        await memory.restore(hums.fact)
    return memory


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


UPDATE: dict[str, Any] = {
    "relation_to_candidate": [{"fact": "Ostwick", "p": {"update": 0.97, "new": 0.03}}]
}


async def moved(memory: AsyncMemory) -> tuple[str, str]:
    """Ilka moved from Tarnfold, which is closed with a belief of .0448, to Ostwick."""
    old = await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    new = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    return old.facts[0].id, new.facts[0].id


async def kept(graph: Graph, namespace: str) -> int:
    """How many records are kept for taking a step back, the step itself included."""
    rows = await graph.statement(
        "MATCH (n:Replay|Replaced {namespace: $namespace}) RETURN count(n) AS kept",
        namespace=namespace,
    )
    return int(rows[0]["kept"])


async def left(graph: Graph, namespace: str) -> int:
    """How many records replays of a namespace left behind."""
    rows = await graph.statement(
        "MATCH (n) WHERE n.namespace STARTS WITH $prefix RETURN count(n) AS left",
        prefix=f"{namespace}/what-if/",
    )
    return int(rows[0]["left"])
