"""``docs/schema.md``: the graph as a page for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engram_graph.schemas.graph import GraphSchema, Property, Relationships
from engram_graph.vocabulary import PREDICATES

_INTRO = """\
# The graph

Made by `python -m engram_graph.schemas` from the models and migrations, as is
[`schemas/graph.json`](../schemas/graph.json), the same for programs; a test compares both with a
database that holds every kind of record. Schema version {version}.

![Labels and relationship types of the graph](schema.svg)

Every record is a node, and every node and typed edge carries its `namespace`. A **fact** is there
twice: as a `:Fact` node, which has its sources, its decisions and what it took the place of; and as
one edge between two entities, `(:Entity)-[:LIVES_IN]->(:Entity)`, for queries and pictures. Both
are written in one transaction, and `engram doctor` proves that they agree.

```cypher
MATCH (:Entity {{namespace: 'demo', name: 'Maya'}})-[home:LIVES_IN]->(place:Entity)
RETURN place.name, home.valid_from, home.valid_until ORDER BY home.valid_from
```

## Two clocks

**valid**: when something was true, or was said, in the world. **transaction**: when the memory knew
it, or did it; set by the memory alone. Intervals are closed-open, [`valid_from`, `valid_until`); an
end that is absent means *open*. All moments are `ZONED DATETIME` in UTC. The columns *clock* below
say which of the two a moment is on. To see what the memory knew earlier, use
`facts(as_of=…, known_at=…)` or the query `world_as_of`
([cypher/README.md](../cypher/README.md)): the ends a fact had before are in its decisions.
"""
_NODES = """
## Nodes

`type` is Neo4j's. ✓ marks what every node of the label has; the others are absent where there is
nothing to say. Where vectors were made anew by `engram reembed`, `embedding` and the two vector
indexes carry the number of their place, such as `embedding_2`.
"""
_RELATIONSHIPS = """
## Relationships

### Typed edges

`(:Entity)-[…]->(:Entity)`. {doc} A relation with *one* value has one at a time: a new
home ends the one before. A fact that says no is a `NEGATED` edge, whatever its relation, so that
`LIVES_IN` holds homes only. Closed edges stay, with their end.

| type | values | |
| --- | --- | --- |
{types}

| property | type | | clock | |
| --- | --- | --- | --- | --- |
{properties}

### Others

| type | from → to | | properties |
| --- | --- | --- | --- |
{others}

Their properties, none of which is always there:

| property | type | on | clock | |
| --- | --- | --- | --- | --- |
{of_others}
"""
_RULES = """
## Constraints

The database refuses two of the same. {typed} more say that of `fact_id`, one for each type of typed
edge (`edge_lives_in`, …).

| name | unique |
| --- | --- |
{constraints}

## Indexes

Besides those of the constraints. All but `entity_any_name`, which finds a name in any namespace,
begin with the namespace or filter on it inside the index: one tenant's data does not slow down
another's.

| name | type | on | properties |
| --- | --- | --- | --- |
{indexes}
"""
_RECORDS = """
## Records

What methods return and `--json` prints; `extracted_facts` is what a language model answers when it
is asked for the facts of a message. Each has a JSON Schema in [`schemas/`](../schemas/README.md),
shipped inside the package, too.

| schema | |
| --- | --- |
{records}
"""


def page(graph: GraphSchema, records: Mapping[str, type]) -> str:
    """The page as it should stand.

    Args:
        records: what has a JSON Schema, by the name of its file.
    """
    typed, *others = graph.relationships
    lines = [_INTRO.format(version=graph.version), _NODES.strip("\n")]
    for each in graph.nodes:
        lines += ["", f"### {each.label}", "", each.doc, ""]
        lines += ["| property | type | | clock | |", "| --- | --- | --- | --- | --- |"]
        lines += _properties(each.properties)
    types = [
        f"| `{each.neo4j_type}` | {'one' if each.single else 'many'} | {each.help} |"
        for each in PREDICATES.values()
    ]
    lines.append(
        _RELATIONSHIPS.format(
            doc=typed.doc,
            types="\n".join([*types, "| `NEGATED` | many | a fact that says no |"]),
            properties="\n".join(_properties(typed.properties)),
            others="\n".join(map(_other, others)),
            of_others="\n".join(_of_others(others)),
        ).rstrip("\n")
    )
    edges = set(typed.types)
    lines.append(
        _RULES.format(
            typed=sum(each.on in edges for each in graph.constraints),
            constraints="\n".join(
                f"| `{each.name}` | `{each.on}`: {_names(each.properties)} |"
                for each in graph.constraints
                if each.on not in edges
            ),
            indexes="\n".join(
                f"| `{each.name}` | {each.type} | `{each.on}` | {_names(each.properties)} |"
                for each in graph.indexes
            ),
        ).rstrip("\n")
    )
    lines.append(
        _RECORDS.format(
            records="\n".join(
                f"| [`{name}`](../schemas/{name}.schema.json) | {_first_line(each)} |"
                for name, each in sorted(records.items())
            )
        ).rstrip("\n")
    )
    return "\n".join(lines) + "\n"


def _first_line(record: type) -> str:
    """What a docstring begins with, up to the end of its sentence."""
    paragraph = " ".join((record.__doc__ or "").split("\n\n")[0].split())
    return paragraph.replace("``", "`")


def _properties(properties: Mapping[str, Property]) -> Iterator[str]:
    for name, each in properties.items():
        always = "✓" if each.required else ""
        yield f"| `{name}` | {_type(each)} | {always} | {each.clock or ''} | {each.doc} |"


def _type(each: Property) -> str:
    return each.type.replace(" NOT NULL", "").replace("<", "&lt;").replace(">", "&gt;")


def _other(each: Relationships) -> str:
    ends = ", ".join(f"`{start}` → `{end}`" for start, end in each.ends)
    return f"| `{each.types[0]}` | {ends} | {each.doc} | {_names(each.properties)} |"


def _of_others(others: list[Relationships]) -> Iterator[str]:
    """Each property once, with the types that have it."""
    told: dict[tuple[str, str], tuple[Property, list[str]]] = {}
    for one in others:
        for name, each in one.properties.items():
            told.setdefault((name, each.doc), (each, []))[1].append(one.types[0])
    for (name, doc), (each, types) in told.items():
        yield f"| `{name}` | {_type(each)} | {_names(types)} | {each.clock or ''} | {doc} |"


def _names(names: tuple[str, ...] | list[str] | Mapping[str, Property]) -> str:
    return ", ".join(f"`{name}`" for name in names)
