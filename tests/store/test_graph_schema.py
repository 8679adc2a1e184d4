"""The graph as schemas/graph.json describes it, against a database with every kind of record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import neo4j
import pytest
from analyst_world import build

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import DecisionUnavailableError, ExtractionError, SchemaError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.facts import Draft
from engram_graph.schemas import diagram, words
from engram_graph.schemas import graph as schema_graph
from engram_graph.schemas.graph import described
from engram_graph.sync import Memory
from engram_graph.vocabulary import Durability

GRAPH = described()
NODES = {each.label: each for each in GRAPH.nodes}
RELATIONSHIPS = {name: each for each in GRAPH.relationships for name in each.types}
UNDER_WAY = {  # properties that only a reembed that runs, or was broken off, has
    *("next_embedder", "next_dimension", "next_place", "leftovers", "place"),
}


def test_a_new_field_needs_words_and_a_new_label_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    doc, properties = words.NODES["Fact"]
    fewer = {name: said for name, said in properties.items() if name != "belief"}
    monkeypatch.setitem(words.NODES, "Fact", (doc, fewer))
    with pytest.raises(SchemaError, match="belief"):
        described()
    monkeypatch.setitem(words.NODES, "Fact", (doc, properties | {"mood": "how it feels"}))
    with pytest.raises(SchemaError, match="mood"):
        described()
    monkeypatch.setitem(words.NODES, "Fact", (doc, properties))
    monkeypatch.setitem(words.NODES, "Mood", ("", {"id": "its id"}))
    with pytest.raises(SchemaError, match="Mood"):
        diagram.svg(described())


def test_a_statement_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(SchemaError, match="TEXT"):
        schema_graph._made("CREATE TEXT INDEX a IF NOT EXISTS FOR (f:Fact) ON (f.text)")


# -- the database ---------------------------------------------------------------------------------

_NODES = """CYPHER 25
MATCH (n)
WHERE n.namespace STARTS WITH $namespace OR n:EngramSchema
UNWIND keys(n) AS name
RETURN labels(n) AS labels, n.was AS was, name, collect(DISTINCT valueType(n[name])) AS types,
  count(*) AS held"""
_HOW_MANY = """CYPHER 25
MATCH (n)
WHERE n.namespace STARTS WITH $namespace OR n:EngramSchema
RETURN labels(n) AS labels, count(*) AS nodes"""
_EDGES = """CYPHER 25
MATCH (a)-[r]->(b)
WHERE a.namespace STARTS WITH $namespace
CALL (r) {
  UNWIND keys(r) AS name
  RETURN collect([name, valueType(r[name])]) AS properties
}
WITH a, r, b, properties, type(r) <> 'REPLACED' AS own  // what was replaced keeps its relationships
RETURN type(r) AS type, properties,
  CASE WHEN own THEN coalesce(a.was, labels(a)[0]) ELSE labels(a)[0] END AS start,
  CASE WHEN own THEN coalesce(b.was, labels(b)[0]) ELSE labels(b)[0] END AS end"""


class Asked(RulesDecider):
    """The rules, with what a paid model's reply has besides; or no reply."""

    def __init__(self, *, away: bool = False) -> None:
        super().__init__()
        self.away = away

    async def ask(self, ask: Ask) -> Reply:
        if self.away:
            raise DecisionUnavailableError("nobody answers")
        return replace(await super().ask(ask), cost_usd=0.01, request_id="call-1")


class Extractor:
    """Gives these drafts, or fails without any."""

    name = "scripted"

    def __init__(self, *drafts: Draft) -> None:
        self.drafts = drafts

    async def extract(self, *_: Any) -> Sequence[Draft]:
        if not self.drafts:
            raise ExtractionError("the reply is no JSON")
        return self.drafts

    async def aclose(self) -> None:
        """Nothing to release."""


def populate(settings: Any, namespace: str) -> None:
    """Every kind of record, with every property that any of them ever has."""
    build(settings, namespace)
    with Memory(namespace, settings=settings) as memory:
        memory.search("Where does Mirelle live?")
        memory.feedback("Mirelle|works_at|Hollin Press", "right")
        memory.add("The weather is fine.", metadata={"app": "test"}, source_id="m50")
        memory.remember("Odo K", "speaks", "Czech")
        memory.add_alias("Odo K", "Kern")
        memory.put_item(("odo",), "tea", {"likes": "tea"}, texts=["tea"], said="I like tea.")
        memory.remember("Iva", "speaks", "Welsh", text="Iva, like Odo K, speaks Welsh")
        for keep, other in (("Odo", "Odo K"), ("Mirelle", "Iva")):
            memory.merge_entities(keep, other)
            memory.unmerge(other)
        memory.merge_entities("Odo", "Odo K")
    broken = Extractor()
    with Memory(namespace, settings=settings, extractor=broken) as memory:
        memory.add("I live in Varn.", speaker="Iva")
    with Memory(namespace, settings=settings, decider=Asked(away=True)) as memory:
        memory.remember("Iva", "lives_in", "Tarn")
    soon_over = Draft(
        subject="Iva",
        predicate="attended",
        object="the fair",
        text="Iva is at the fair",
        quote="at the fair",
        durability=Durability.SHORT_LIVED,
    )
    with Memory(
        namespace, settings=settings, decider=Asked(), extractor=Extractor(soon_over)
    ) as memory:
        memory.add("I am at the fair.", speaker="Iva", said_at="2020-01-01")
        memory.hygiene(apply=True, short_lived=True, now="2100-01-01")

    # Somebody whose facts were decided again, and that was made so.
    with Memory(namespace + "/replayed", settings=settings) as memory:
        memory.remember("Ann", "lives_in", "Berlin", valid_from="2024-01-01")
        memory.remember("Ann", "lives_in", "Lisbon", valid_from="2025-01-01")
        memory.add_alias("Ann", "Annie")
        memory.feedback("Ann|lives_in|Berlin", "right")
        assert memory.whatif(numbers={"close_below": 0.01}, apply=True).applied


def plain(types: Iterable[str]) -> set[str]:
    """Types as the description names them; an empty list is one of any kind."""
    return {each.removesuffix(" NOT NULL") for each in types} - {"LIST<NOTHING>"}


def test_a_database_with_every_record_is_as_described(
    settings: Any, server: Any, namespace: str
) -> None:
    populate(settings, namespace)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        held, counts, edges = (
            driver.execute_query(query, namespace=namespace).records
            for query in (_NODES, _HOW_MANY, _EDGES)
        )
    total = {row["labels"][0]: row["nodes"] for row in counts}
    assert all(len(row["labels"]) == 1 for row in counts)
    assert total.keys() == NODES.keys()
    seen: dict[str, set[str]] = defaultdict(set)
    often: dict[tuple[str, str], int] = defaultdict(int)
    for row in held:
        label, name = row["labels"][0], row["name"]
        described_as = NODES[label].properties | (
            NODES[row["was"]].properties if row["was"] else {}
        )
        assert name in described_as, (label, name)
        told = described_as[name]
        assert plain(row["types"]) <= {told.type}, (label, name)
        often[label, name] += row["held"]
        seen[label].add(name)
    for label, each in NODES.items():
        always = {name for name, told in each.properties.items() if told.required}
        assert {name for name in always if often[label, name] < total[label]} == set(), label
    for label, each in NODES.items():
        assert each.properties.keys() - seen[label] <= UNDER_WAY, label

    found: dict[str, set[str]] = defaultdict(set)
    ends: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in edges:
        kind = RELATIONSHIPS[row["type"]]
        ends[kind.types[0]].add((row["start"], row["end"]))
        names = {name for name, _ in row["properties"]}
        always = {name for name, told in kind.properties.items() if told.required}
        assert always <= names <= kind.properties.keys(), row["type"]
        for name, held_type in row["properties"]:
            assert plain([held_type]) <= {kind.properties[name].type}, (row["type"], name)
        found[kind.types[0]] |= names
    for kind in GRAPH.relationships:
        assert ends[kind.types[0]] == set(kind.ends)
        assert found[kind.types[0]] == kind.properties.keys()


def test_constraints_and_indexes_are_as_described(server: Any, migrated: Any) -> None:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        constraints = driver.execute_query("SHOW CONSTRAINTS").records
        indexes = driver.execute_query("SHOW INDEXES").records
    ours = NODES.keys() | RELATIONSHIPS.keys()
    shown = {
        row["name"]: (row["type"], row["labelsOrTypes"], row["properties"])
        for row in [*constraints, *indexes]
        if row.get("owningConstraint") is None and ours & set(row["labelsOrTypes"] or ())
        # An index that belongs to a constraint is no other promise.
    }
    described_as = {
        each.name: (each.type, [each.on], list(each.properties))
        for each in [*GRAPH.constraints, *GRAPH.indexes]
    }
    assert shown == described_as
