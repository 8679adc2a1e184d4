"""Bulk import: facts as they are, whose they are and when they began."""

from __future__ import annotations

import pytest

from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory

pytestmark = pytest.mark.anyio

FACTS = [
    {"subject": "Ann", "predicate": "lives_in", "object": "Rome", "said_at": "2024-01-01"},
    {"subject": "Ann", "predicate": "lives_in", "object": "Rome", "said_at": "2025-01-01"},
    {"subject": "Bo", "predicate": "owns", "object": "a kayak", "speaker": "Bo"},
]


async def test_two_stays_in_one_place_are_two_facts(memory: AsyncMemory) -> None:
    done = await memory.remember_many(FACTS, decide=False)
    assert (done.facts, done.skipped, done.messages) == (3, 0, 2)
    stays = (await memory.history("Ann", "lives_in")).facts
    assert [fact.valid_from.year for fact in stays] == [2024, 2025]


async def test_the_same_import_again_adds_nothing(memory: AsyncMemory) -> None:
    await memory.remember_many(FACTS, decide=False)
    again = await memory.remember_many(FACTS, decide=False)
    assert (again.facts, again.skipped, again.messages) == (0, 3, 0)


async def test_a_fact_keeps_who_said_it(memory: AsyncMemory) -> None:
    await memory.remember_many(FACTS, decide=False)
    kayak = (await memory.facts(subject="Bo")).facts[0]
    assert [m.speaker for m in (await memory.explain(kayak)).messages] == ["Bo"]


async def test_messages_of_one_moment_are_one_chain(memory: AsyncMemory, graph: Graph) -> None:
    speakers = ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus"]
    facts = [
        {"subject": name, "predicate": "prefers", "object": "tea", "speaker": name}
        for name in speakers
    ]
    await memory.remember_many(facts, decide=False)
    rows = await graph.statement(
        "CYPHER 25 MATCH (first:Message {namespace: $namespace}) "
        "WHERE NOT EXISTS { (:Message)-[:NEXT]->(first) } "
        "MATCH path = (first)-[:NEXT]->*(last WHERE NOT EXISTS { (last)-[:NEXT]->() }) "
        "RETURN [m IN nodes(path) | m.speaker] AS chain",
        namespace=memory.namespace,
    )
    assert [sorted(row["chain"]) for row in rows] == [speakers]
