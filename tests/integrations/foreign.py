"""What other memories stored, put into the test's database under names of the test's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, cast

import neo4j
from neo4j.time import DateTime

DATA = Path(__file__).parents[1] / "data" / "foreign"
_CREATE = """CYPHER 25
UNWIND $nodes AS node
CREATE (n:$(node.labels))
SET n = node.properties
RETURN node.n AS n, elementId(n) AS place"""
_JOIN = """CYPHER 25
UNWIND $relationships AS row
MATCH (a) WHERE elementId(a) = row.from
MATCH (b) WHERE elementId(b) = row.to
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties"""
_REMOVE = """CYPHER 25
UNWIND $places AS place
MATCH (n) WHERE elementId(n) = place
DETACH DELETE n"""


def data(name: str) -> Any:
    """A file of ``tests/data/foreign``."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


@contextmanager
def stored(server: Any, name: str, own: str, *names: str) -> Iterator[neo4j.Driver]:
    """A dump in the database while the block runs: ids, and each of ``names``, end in ``-own``."""
    text = (DATA / f"{name}.json").read_text(encoding="utf-8")
    dump = json.loads(text, object_hook=lambda value: _value(value, own, names))
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        made = driver.execute_query(cast(LiteralString, _CREATE), nodes=dump["nodes"]).records
        places = {row["n"]: row["place"] for row in made}
        try:
            rows = [
                row | {"from": places[row["from"]], "to": places[row["to"]]}
                for row in dump["relationships"]
            ]
            driver.execute_query(cast(LiteralString, _JOIN), relationships=rows)
            yield driver
        finally:
            driver.execute_query(cast(LiteralString, _REMOVE), places=list(places.values()))


_IDS = ("id", "uuid", "episodes", "source_message_ids", "group_id", "user_identifier")


def _value(value: dict[str, Any], own: str, names: tuple[str, ...]) -> Any:
    if value.keys() == {"$datetime"}:
        return DateTime.from_iso_format(value["$datetime"])
    return {
        key: _named(inner, own) if key in _IDS or (inner in names) else inner
        for key, inner in value.items()
    }


def _named(value: Any, own: str) -> Any:
    if isinstance(value, list):
        return [f"{each}-{own}" for each in value]
    return f"{value}-{own}" if isinstance(value, str) else value
