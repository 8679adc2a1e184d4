"""A real memory as a networkx graph: the same facts, with all their fields, and their entities."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import networkx as nx
import pytest

from engram_graph import networks
from engram_graph.errors import InputError, ScopeError
from engram_graph.graph import network as store
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Entity, Fact

pytestmark = pytest.mark.anyio

DAYS = [None, "2025-01-15", "2025-03-05", "2025-03-20", "2026-01-01", "2024-01-01"]


def facts_of(graph: nx.MultiDiGraph) -> dict[str, Fact]:
    """Every edge as the fact it was made from."""
    found = {}
    for subject, object_, key, fields in graph.edges(keys=True, data=True):
        given = {name: value for name, value in fields.items() if name != "type"}
        assert given.keys() == Fact.model_fields.keys()
        fact = Fact(**given)
        assert (fact.subject_key, fact.object_key, fact.id) == (subject, object_, key)
        found[key] = fact
    return found


async def test_edges_are_the_facts_of_the_same_view(full: AsyncMemory) -> None:
    middle = (await full.facts()).facts[2].recorded_at
    sizes = set()
    for as_of in DAYS:
        for known_at in (None, middle):
            page = await full.facts(as_of=as_of, known_at=known_at, limit=1_000)
            graph = await full.to_networkx(as_of=as_of, known_at=known_at)
            assert facts_of(graph) == {fact.id: fact for fact in page.facts}
            keys = {key for f in page.facts for key in (f.subject_key, f.object_key)}
            assert set(graph.nodes) == keys
            assert graph.graph["namespace"] == full.namespace
            assert graph.graph["known_at"] == known_at
            sizes.add(graph.number_of_edges())
    assert len(sizes) > 3  # the views differ
    assert 0 in sizes


async def test_nodes_are_the_entities_with_their_other_names(full: AsyncMemory) -> None:
    graph = await full.to_networkx()
    nodes = {key: Entity(**fields) for key, fields in graph.nodes(data=True)}
    assert nodes == {each.key: each for each in await full.entities()}
    assert "Mimi" in nodes["mirelle"].aliases


async def test_values_are_pythons_own(full: AsyncMemory) -> None:
    graph = await full.to_networkx(as_of="2025-03-05")
    assert graph.graph["as_of"] == datetime(2025, 3, 5, tzinfo=UTC)
    ((_, _, fields),) = [
        edge for edge in graph.edges(data=True) if edge[2]["predicate"] == "works_at"
    ]
    assert fields["type"] == "WORKS_AT"
    assert type(fields["kind"]) is str
    assert type(fields["belief"]) is float
    assert type(fields["open"]) is bool
    assert type(fields["version"]) is int
    assert fields["valid_from"].tzinfo is UTC
    assert fields["archived_at"] is None


async def test_the_past_and_what_is_denied_are_edges_too(memory: AsyncMemory) -> None:
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2022-01-01")
    await memory.remember("Ann", "allergic_to", "nuts", negated=True)
    graph = await memory.to_networkx()
    assert graph.number_of_edges("ann", "bonn") == 2
    assert {d["type"] for _, _, d in graph.edges(data=True)} == {"LIVES_IN", "NEGATED"}
    now = await memory.to_networkx(as_of=datetime.now(UTC))
    assert now.number_of_edges("ann", "bonn") == 1
    assert "cork" not in now


async def test_pages_are_read_to_the_end(
    full: AsyncMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await full.to_networkx()
    for page in (1, 2, 3, whole.number_of_edges()):
        monkeypatch.setattr(store, "_PAGE", page)
        assert nx.utils.graphs_equal(await full.to_networkx(), whole)


async def test_an_entity_that_has_gone_meanwhile_keeps_its_name(full: AsyncMemory) -> None:
    facts = (await full.facts(predicate="works_at")).facts
    graph = networks.network("n", facts, [])
    assert graph.nodes["mirelle"] == {"namespace": "n", "key": "mirelle", "name": "Mirelle"}


async def test_an_empty_namespace_and_bad_input(memory: AsyncMemory) -> None:
    empty = await memory.to_networkx()
    assert isinstance(empty, nx.MultiDiGraph)
    assert len(empty) == 0
    with pytest.raises(InputError, match="as_of"):
        await memory.to_networkx(as_of="last spring")
    with pytest.raises(ScopeError):
        await memory.to_networkx(namespace=" ")


async def test_another_namespace_is_not_in_it(make_memory: Any, namespace: str) -> None:
    other = make_memory(namespace + "-2")
    await other.remember("Ann", "lives_in", "Bonn")
    mine = make_memory()
    await mine.remember("Ann", "lives_in", "Cork")
    assert set(await mine.to_networkx()) == {"ann", "cork"}
    assert set(await mine.to_networkx(namespace=namespace + "-2")) == {"ann", "bonn"}


def test_the_blocking_client_gives_the_same(sync_memory: Any) -> None:
    sync_memory.remember("Ann", "lives_in", "Bonn")
    graph = sync_memory.to_networkx()
    assert facts_of(graph).keys() == {fact.id for fact in sync_memory.facts().facts}
