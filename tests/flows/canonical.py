"""A namespace's graph in a form that two runs of the same work share: no ids, no clocks.

Facts are named by what they say and when it holds; messages by their source_id. What a decision
or a belief is worth stays in, when it was decided does not.
"""

from __future__ import annotations

import re
from typing import Any

from engram_graph.graph.driver import Graph
from engram_graph.graph.records import native

Canonical = dict[str, list[Any]]

_FACT = """{.text, .predicate, .negated, .valid_from, .valid_until, .belief, .against_count,
  .closed_reason, .open, .candidate, .tentative, .disputed, .temporal_status, .kind, .extractor,
  .valid_from_stated, .source_quote, .confidence}"""
_FACTS = f"""CYPHER 25
MATCH (f:Fact {{namespace: $namespace}})
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f.id AS id, s.key AS subject, o.key AS object, f {_FACT} AS fact,
  f.embedding IS NULL AS blank,
  COLLECT {{ MATCH (f)-[:STATED_IN]->(m:Message) RETURN m.source_id }} AS sources,
  COLLECT {{ MATCH (f)-[:MENTIONS]->(e:Entity) RETURN e.key }} AS mentions,
  COLLECT {{ MATCH (s)-[r]->(o) WHERE r.fact_id = f.id
    RETURN [type(r), r.text, r.belief, r.open, r.valid_from, r.valid_until, r.closed_reason]
  }} AS edges"""
_LINKS = """CYPHER 25
MATCH (a:Fact {namespace: $namespace})-[r:SUPERSEDES|SAME_AS|CONTRADICTS|REFINES]->(b:Fact)
RETURN a.id AS source, type(r) AS type, b.id AS target, r.reason AS reason, r.p AS p"""
_DECISIONS = """CYPHER 25
MATCH (d:Decision {namespace: $namespace})
OPTIONAL MATCH (d)-[about:ABOUT]->(f:Fact)
OPTIONAL MATCH (d)-[compared:COMPARED_WITH]->(g:Fact)
RETURN d {.question, .outcome, .chosen, .p, .reason, .backend, .valid_until_before,
    .valid_until_after, .reason_before, .reason_after} AS decision,
  f.id AS about, g.id AS compared, about.belief_before AS before, about.belief_after AS after,
  compared.belief_before AS other_before, compared.belief_after AS other_after"""
_MESSAGES = """CYPHER 25
MATCH (m:Message {namespace: $namespace})
RETURN m {.source_id, .conversation, .speaker, .role, .text, .said_at, .metadata, .drafts,
    .status, .error} AS message,
  COLLECT { MATCH (m)-[:NEXT]->(n:Message) RETURN n.source_id } AS next,
  m.embedding IS NULL AS blank"""
_ENTITIES = """CYPHER 25
MATCH (e:Entity {namespace: $namespace})
RETURN e.key AS key, e.name AS name, e.aliases AS aliases"""


async def canonical(graph: Graph, namespace: str) -> Canonical:
    """Everything the namespace holds, sorted, as plain comparable values."""

    async def rows(text: Any) -> list[dict[str, Any]]:
        return [native(row) for row in await graph.statement(text, namespace=namespace)]

    facts = await rows(_FACTS)
    name = {row["id"]: _name(row) for row in facts}
    return {
        "facts": _sorted(
            (
                name[row["id"]],
                _plain(row["fact"]),
                row["blank"],
                sorted(row["sources"]),
                sorted(row["mentions"]),
                [_plain(edge) for edge in row["edges"]],
            )
            for row in facts
        ),
        "links": _sorted(
            (name[row["source"]], row["type"], name[row["target"]], row["reason"], row["p"])
            for row in await rows(_LINKS)
        ),
        "decisions": _sorted(
            (
                _plain(row["decision"]),
                name.get(row["about"]),
                name.get(row["compared"]),
                [row["before"], row["after"], row["other_before"], row["other_after"]],
            )
            for row in await rows(_DECISIONS)
        ),
        "messages": _sorted(
            (_plain(row["message"]), row["next"], row["blank"]) for row in await rows(_MESSAGES)
        ),
        "entities": _sorted(
            (row["key"], row["name"], row["aliases"]) for row in await rows(_ENTITIES)
        ),
    }


def _name(row: dict[str, Any]) -> str:
    fact = row["fact"]
    start, end = fact["valid_from"], fact.get("valid_until")
    interval = f"{start.isoformat()}..{end.isoformat() if end else ''}"
    triple = f"{row['subject']}|{fact['predicate']}|{row['object']}"
    return f"{triple} {fact['text']!r} {interval}"


def _plain(value: Any) -> Any:
    """Instants as text, floats to 9 places, maps as sorted pairs."""
    if isinstance(value, dict):
        return [[key, _plain(value[key])] for key in sorted(value)]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return round(value, 9) if isinstance(value, float) else value


def _sorted(items: Any) -> list[Any]:
    return sorted(items, key=repr)


_EVERYTHING = """CYPHER 25
MATCH (n:Conversation|Message|Entity|Alias|Fact|Decision|Request|Feedback|Item
    |ItemText
  {namespace: $namespace})
RETURN labels(n) AS labels, properties(n) AS properties, elementId(n) AS place,
  COLLECT { MATCH (n)-[r]->(m) RETURN [type(r), properties(r), elementId(m)] } AS out"""
_OWN = ("id", "namespace", "namespace_key", "fact_id", "entity_id", "apart")
_OWN += ("merge_id", "gone_id", "kept_id")  # ids of a merge and its entities
_MERGE = re.compile(r"^merge [0-9a-f-]{36}$")


async def exact(graph: Graph, namespace: str) -> list[Any]:
    """Everything the namespace holds, clocks too, but for its name and for ids.

    Each node stands with its properties and relationships, and each neighbour by its properties; an
    id inside a value is replaced by what the fact of that id says, or by the entity's name.
    """
    rows = [native(row) for row in await graph.statement(_EVERYTHING, namespace=namespace)]
    said: dict[str, str] = {}
    for row in rows:
        (label,), own = row["labels"], row["properties"]
        if label in ("Fact", "Entity"):
            said[own["id"]] = str(own["text" if label == "Fact" else "name"])
        elif label == "Alias" and "entity_id" in own:  # what it was before a merge
            said[own["entity_id"]] = str(own["name"])

    def told(value: Any) -> Any:
        if isinstance(value, str):
            for fact_id, text in said.items():
                value = value.replace(fact_id, text)
            return _MERGE.sub("merge", value)
        return [told(item) for item in value] if isinstance(value, list) else value

    def bare(properties: dict[str, Any]) -> Any:
        return _plain({k: told(v) for k, v in properties.items() if k not in _OWN})

    nodes = {row["place"]: bare(row["properties"]) for row in rows}
    return _sorted(
        (
            row["labels"],
            nodes[row["place"]],
            _sorted((kind, bare(more), nodes[other]) for kind, more, other in row["out"]),
        )
        for row in rows
    )
