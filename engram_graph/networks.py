"""Facts as a networkx graph: an entity is a node, a fact an edge."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from engram_graph.models.facts import Entity, Fact, Record
from engram_graph.vocabulary import NEGATED, PREDICATES

if TYPE_CHECKING:
    import networkx as nx


def network(
    namespace: str,
    facts: Iterable[Fact],
    entities: Iterable[Entity],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> nx.MultiDiGraph:
    """A graph with the entities by key and the facts by id, in the order given.

    An entity that a fact names and that is not among ``entities`` becomes a node with what the
    fact says of it.

    Args:
        as_of, known_at: kept as attributes of the graph, with the namespace.
    """
    import networkx as nx

    graph = nx.MultiDiGraph(namespace=namespace, as_of=as_of, known_at=known_at)
    for entity in entities:
        graph.add_node(entity.key, **_attributes(entity))
    for fact in facts:
        ends = {fact.subject_key: fact.subject, fact.object_key: fact.object}
        for key, name in ends.items():
            if key not in graph:  # renamed or merged while the two were read
                graph.add_node(key, namespace=namespace, key=key, name=name)
        graph.add_edge(
            fact.subject_key,
            fact.object_key,
            key=fact.id,
            type=relationship_type(fact),
            **_attributes(fact),
        )
    return graph


def relationship_type(fact: Fact) -> str:
    """The Neo4j type of its typed edge, such as ``LIVES_IN``; ``NEGATED`` of one that says no."""
    return NEGATED if fact.negated else PREDICATES[fact.predicate].neo4j_type


def _attributes(record: Record) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in type(record).model_fields}
    return {n: str(v.value) if isinstance(v, Enum) else v for n, v in fields.items()}
