"""The graph as data: labels, relationship types, properties, constraints, indexes.

Types of properties come from the models, constraints and indexes from the migrations, meanings
from ``words``. Names of types are Neo4j's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from engram_graph.errors import SchemaError
from engram_graph.graph.queries import load, migrations
from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.facts import Entity, Fact, Message, Record
from engram_graph.models.feedback import Feedback
from engram_graph.models.items import Item
from engram_graph.schemas import words
from engram_graph.vocabulary import NEGATED, PREDICATES

Clock = Literal["valid", "transaction"]
_MODELS: dict[str, type] = {
    "Message": Message,
    "Entity": Entity,
    "Fact": Fact,
    "Request": RequestLog,
    "Decision": Decision,
    "Feedback": Feedback,
    "Item": Item,
}
_ELSEWHERE: dict[str, set[str]] = {  # fields that are no property: relationships, or counted
    "Entity": {"facts"},
    "Fact": {"subject", "subject_key", "object", "object_key"},
    "Request": {"ladder"},
    "Decision": {
        *("fact_id", "candidate_id", "request_id", "belief_before", "belief_after"),
        *("candidate_belief_before", "candidate_belief_after"),
    },
    "Feedback": {"fact_id", "decision_id"},
    "Item": {"path"},
}
_TEXT, _NUMBER, _MOMENT = "STRING", "INTEGER", "ZONED DATETIME"
_TEXTS = "LIST<STRING NOT NULL>"
_STORED: dict[str, str] = {  # what no model has: name of the property → its type
    **dict.fromkeys(("namespace", "namespace_key", "search_text", "key", "name", "id"), _TEXT),
    **dict.fromkeys(("drafts", "metadata", "answers", "question_versions"), _TEXT),  # JSON
    **dict.fromkeys(("value", "folder", "text"), _TEXT),
    **dict.fromkeys(("entity_id", "merge_id", "kept_id", "gone_id", "fact_id"), _TEXT),
    **dict.fromkeys(("embedder", "next_embedder", "reason", "was", "replaced_key"), _TEXT),
    **dict.fromkeys(("preset", "numbers", "vectors", "state"), _TEXT),  # JSON
    **dict.fromkeys(("created_at", "entity_created_at", "migrated_at", "decided_at"), _MOMENT),
    "applied_at": _MOMENT,
    **dict.fromkeys(("replaced_version", "facts", "links"), _NUMBER),
    **dict.fromkeys(("version", "entity_version", "position", "dimension", "place"), _NUMBER),
    **dict.fromkeys(("next_dimension", "next_place"), _NUMBER),
    **dict.fromkeys(("candidate", "moves_end", "leftovers"), "BOOLEAN"),
    **dict.fromkeys(("apart", "alias_keys", "moved", "of", "sources", "requests"), _TEXTS),
    **dict.fromkeys(("p", "belief_before", "belief_after"), "FLOAT"),
    "embedding": "LIST<FLOAT NOT NULL>",
}
_EMPTY = {"metadata", "unsettled", "pieces"}  # fields that are absent rather than empty or false
_OPTIONAL = {  # of those no model has
    *("drafts", "embedding", "apart", "alias_keys", "moved", "merge_id", "kept_id", "gone_id"),
    *("created_at", "entity_id", "entity_created_at", "entity_version", "embedder", "dimension"),
    *("migrated_at", "place", "next_embedder", "next_dimension", "next_place", "leftovers", "of"),
    *("replaced_key", "replaced_version", "sources", "requests", "state"),
    *("p", "reason", "decided_at", "belief_before", "belief_after"),  # of relationships
}
_CLOCKS: dict[str, Clock] = {
    **dict.fromkeys(("said_at", "valid_from", "valid_until"), "valid"),
    **dict.fromkeys(("valid_until_before", "valid_until_after"), "valid"),
    **dict.fromkeys(("recorded_at", "closed_at", "changed_at", "read_at"), "transaction"),
    **dict.fromkeys(("archived_at", "decided_at", "sent_at", "given_at"), "transaction"),
    **dict.fromkeys(("created_at", "entity_created_at", "migrated_at"), "transaction"),
    "updated_at": "transaction",
    "applied_at": "transaction",
}
_PLAIN: tuple[tuple[type, str], ...] = (  # a bool is an int, too
    (StrEnum, _TEXT),
    (str, _TEXT),
    (bool, "BOOLEAN"),
    (int, _NUMBER),
    (float, "FLOAT"),
    (datetime, _MOMENT),
)
_CREATED = re.compile(
    r"CREATE (?P<kind>CONSTRAINT|FULLTEXT INDEX|VECTOR INDEX|INDEX) (?P<name>\w+) IF NOT EXISTS "
    r"FOR \(\w*(?::(?P<label>\w+))?\)(?:-\[\w+:(?P<type>\w+)\]-\(\))?\s+(?P<rest>.*)"
)
_DROPPED = re.compile(r"DROP (?:CONSTRAINT|INDEX) (\w+) IF EXISTS")
_PROPERTY = re.compile(r"\b[a-z]\.(\w+)")


class Property(Record):
    """One property.

    Attributes:
        type: as Neo4j's ``valueType`` names it, its NOT NULL left out.
        required: every node or relationship of the kind has it.
        clock: which of the two a moment is on.
        doc: what it is.
    """

    type: str
    required: bool
    clock: Clock | None = None
    doc: str


class Nodes(Record):
    """All nodes of one label."""

    label: str
    doc: str
    properties: dict[str, Property]


class Relationships(Record):
    """All relationships of one type, or of several that are alike.

    ``ends``: labels where they start and where they end.
    """

    types: tuple[str, ...]
    ends: tuple[tuple[str, str], ...]
    doc: str
    properties: dict[str, Property]


class Constraint(Record):
    """A rule of the database. ``on``: a label or relationship type. ``type``: Neo4j's name."""

    name: str
    type: Literal["NODE_PROPERTY_UNIQUENESS", "RELATIONSHIP_PROPERTY_UNIQUENESS"]
    on: str
    properties: tuple[str, ...]


class Index(Record):
    """An index besides those of the constraints. ``on``: a label.

    Of a vector index the first of ``properties`` is searched, the others filter.
    """

    name: str
    type: Literal["RANGE", "FULLTEXT", "VECTOR"]
    on: str
    properties: tuple[str, ...]


class GraphSchema(Record):
    """The graph of a database, whole. ``version``: number of its last migration."""

    format: Literal["engram_graph/graph"] = "engram_graph/graph"
    version: int
    nodes: tuple[Nodes, ...]
    relationships: tuple[Relationships, ...]
    constraints: tuple[Constraint, ...]
    indexes: tuple[Index, ...]


def described() -> GraphSchema:
    """The graph that this version of the package writes.

    Raises:
        SchemaError: ``words`` does not describe a field of a model or a label that has an index,
            or a migration cannot be read.
    """
    nodes = tuple(_nodes(label, *told) for label, told in words.NODES.items())
    fact = next(each for each in nodes if each.label == "Fact").properties
    typed = Relationships(
        types=(*(each.neo4j_type for each in PREDICATES.values()), NEGATED),
        ends=(("Entity", "Entity"),),
        doc=words.TYPED,
        properties={
            name: fact[name] if name in fact else _property({}, name, "id of the fact")
            for name in words.TYPED_PROPERTIES
        },
    )
    others = (
        Relationships(
            types=(name,),
            ends=ends,
            doc=doc,
            properties={each: _property({}, each, said) for each, said in properties.items()},
        )
        for name, (ends, doc, properties) in words.RELATIONSHIPS.items()
    )
    made: dict[str, Constraint | Index] = {}
    for statement in _statements():
        if dropped := _DROPPED.search(statement):
            made.pop(dropped[1], None)
        else:
            one = _made(statement)
            made[one.name] = one
    relationships = (typed, *others)
    known = {each.label for each in nodes} | {name for each in relationships for name in each.types}
    if unknown := {each.on for each in made.values()} - known:
        raise SchemaError(f"say in schemas/words.py what these are: {sorted(unknown)}")
    return GraphSchema(
        version=len(migrations()),
        nodes=nodes,
        relationships=relationships,
        constraints=tuple(each for each in made.values() if isinstance(each, Constraint)),
        indexes=tuple(each for each in made.values() if isinstance(each, Index)),
    )


def _nodes(label: str, doc: str, told: Mapping[str, str]) -> Nodes:
    known = _fields(label)
    missing = known.keys() - _ELSEWHERE.get(label, set()) - told.keys()
    if missing:
        raise SchemaError(f"{label}: say in schemas/words.py what these are: {sorted(missing)}")
    properties = {name: _property(known, name, said) for name, said in told.items()}
    return Nodes(label=label, doc=doc, properties=properties)


def _fields(label: str) -> dict[str, Any]:
    """Field → annotation of the model behind a label; empty where there is none."""
    model = _MODELS.get(label)
    if model is None:
        return {}
    hints = get_type_hints(model)
    names = [f.name for f in fields(model)] if is_dataclass(model) else model.model_fields  # type: ignore[attr-defined]
    return {name: hints[name] for name in names}


def _property(known: Mapping[str, Any], name: str, doc: str) -> Property:
    kind, required = _STORED.get(name), name not in _OPTIONAL
    if name in known:
        found, always = _typed(known[name])
        kind, required = found or kind, always and name not in _EMPTY
    if kind is None:
        raise SchemaError(f"schemas/graph.py does not know the type of {name!r}")
    return Property(type=kind, required=required, clock=_CLOCKS.get(name), doc=doc)


def _typed(annotation: Any) -> tuple[str | None, bool]:
    """Neo4j's type of a field, None if it is stored in another form; and whether it is there."""
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = [each for each in get_args(annotation) if each is not type(None)]
        return _typed(inner)[0], False
    if get_origin(annotation) in (tuple, list):
        return f"LIST<{_typed(get_args(annotation)[0])[0]} NOT NULL>", True
    if get_origin(annotation) is Literal:
        return _TEXT, True
    plain = annotation if isinstance(annotation, type) else object
    return next((name for one, name in _PLAIN if issubclass(plain, one)), None), True


def _statements() -> Iterable[str]:
    yield load("schema")["singleton_schema"].text
    for migration in migrations():
        yield from migration.statements
    yield load("schema")["create_fact_vectors"].text
    yield load("schema")["create_message_vectors"].text
    yield load("schema")["create_item_vectors"].text


def _made(statement: str) -> Constraint | Index:
    """What a schema statement creates."""
    text = " ".join(statement.split())
    found = _CREATED.search(text)
    if found is None:
        raise SchemaError(f"schemas/graph.py cannot read: {text}")
    properties = tuple(_PROPERTY.findall(found["rest"].partition(" OPTIONS ")[0]))
    if found["kind"] == "CONSTRAINT":
        return Constraint(
            name=found["name"],
            type="NODE_PROPERTY_UNIQUENESS"
            if found["label"]
            else "RELATIONSHIP_PROPERTY_UNIQUENESS",
            on=found["label"] or found["type"],
            properties=properties,
        )
    kind = found["kind"].removesuffix("INDEX").strip() or "RANGE"
    return Index(
        name=found["name"],
        type=kind,
        on=found["label"],
        properties=properties,
    )
