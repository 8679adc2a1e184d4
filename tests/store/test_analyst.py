"""The queries for people: each answers rightly, enters through an index, and only reads."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, LiteralString, cast

import neo4j
import pytest
from analyst_answers import CASES, Case
from analyst_world import Town, build
from test_queries import SCANS, complaints, operators, properties_in_use

from engram_graph.errors import InputError, SchemaError, ScopeError
from engram_graph.graph import analyst, catalogue, queries
from engram_graph.graph.analyst import AnalystQuery, library
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import NamedQuery
from engram_graph.memory import AsyncMemory
from engram_graph.rules.thresholds import DEFAULT
from engram_graph.sync import Memory
from engram_graph.vocabulary import PREDICATES

ALL = list(library().values())
every_query = pytest.mark.parametrize("query", ALL, ids=lambda query: query.name)
OTHERS = 400  # facts of another tenant, about entities of the same names


# -- the files ------------------------------------------------------------------------------------


def test_every_file_is_a_query_with_a_known_answer() -> None:
    files = {path.stem for path in (queries.cypher_folder() / "analyst").iterdir()}
    assert files == set(library()) == {case.query for case in CASES}
    assert len(files) >= 25


@every_query
def test_each_file_says_what_it_answers(query: AnalystQuery) -> None:
    assert query.doc == "" or re.match(r"[A-Z].*\.$", query.doc)
    assert all(re.match(r"\S.*\.$", part.doc) for part in (*query.params, *query.columns))
    assert len(set(query.column_names)) == len(query.column_names)
    assert ";" not in query.query.text
    assert max(map(len, query.source.splitlines())) <= 100


@every_query
def test_an_example_is_a_value_that_the_query_takes(query: AnalystQuery) -> None:
    for each in query.params:
        value = analyst.literal(each.example, each.type, None, 0)
        assert value is not None, each.name
        assert analyst.value_of(each, value) == value


def test_no_name_is_that_of_a_named_statement() -> None:
    stems = [path.stem for path in queries.cypher_folder().glob("*.cypher")]
    assert not set(library()) & {name for stem in stems for name in queries.load(stem)}


def test_the_readme_is_made_of_the_files() -> None:
    stored = (queries.cypher_folder() / "README.md").read_text(encoding="utf-8")
    assert stored == catalogue.render(), "run: python -m engram_graph.graph.catalogue"


def test_numbers_and_lists_are_those_of_the_rules() -> None:
    near = {each.name: each.default for each in library()["decisions_near_threshold"].params}
    assert (near["act"], near["close_below"]) == (DEFAULT.act, DEFAULT.close_below)
    assert near["reopen_above"] == DEFAULT.reopen_above
    listed = re.search(r"predicate IN \[(.*?)\]", library()["rival_values"].source, re.DOTALL)
    assert listed is not None
    assert re.findall(r"'(\w+)'", listed[1]) == [p.name for p in PREDICATES.values() if p.single]


GOOD = """\
// Who is there?
// Everybody.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param since => datetime('2025-01-01')
//     ZONED DATETIME = null: only since then.
//
// Columns:
//   name, key: what it
//     is called.
CYPHER 25
MATCH (e:Entity {namespace: $namespace}) WHERE e.created_at >= $since  // not $this
RETURN e.name AS name, e.key AS key
"""


def test_a_file_is_read() -> None:
    found = analyst.parse("who", GOOD, "who.cypher")
    assert (found.title, found.doc) == ("Who is there?", "Everybody.")
    assert [(p.name, p.type, p.required, p.default) for p in found.params] == [
        ("namespace", "STRING", True, None),
        ("since", "ZONED DATETIME", False, None),
    ]
    assert (found.column_names, found.columns[0].doc) == (("name", "key"), "what it is called.")
    assert found.query.text.startswith("CYPHER 25\nMATCH")
    assert found.query.params == {"namespace", "since"}
    assert found.query.origin == "who.cypher:13"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Who is there?", "People.", "who.cypher:1: the first line is not a question"),
        (GOOD, "RETURN 1", "who.cypher:1: the first line is not a question"),
        ("CYPHER 25\n", "", "who.cypher:13: the statement does not begin with CYPHER 25"),
        ("// Parameters:\n", "", "who.cypher:12: no part 'Parameters:'"),
        ("// Columns:\n", "", "who.cypher:12: no part 'Columns:'"),
        ("=> 'demo'", "= 'demo'", "who.cypher:5: not of the form `:param"),
        ("STRING: whose", "TEXT: whose", "who.cypher:6: not of the form `TYPE"),
        ("STRING: whose", "STRING = 'me': whose", "who.cypher:4: the first parameter is not"),
        ("= null:", "= soon:", "who.cypher:8: soon is no ZONED DATETIME"),
        ("datetime('2025-01-01')", "2025", "who.cypher:7: 2025 is no ZONED DATETIME"),
        (">= $since", "IS NULL", "who.cypher:4: parameter 'since' is not used"),
        ("e.name AS", "$more AS", "who.cypher:4: no parameter 'more'"),
        ("//   name, key: what it\n//     is called.\n", "", "who.cypher:10: no column"),
        ("name, key: what", "name and key", "who.cypher:11: not of the form `column"),
    ],
)
def test_the_reader_says_where_a_file_is_wrong(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(SchemaError, match=f"^{re.escape(message)}"):
        analyst.parse("who", GOOD.replace(old, new), "who.cypher")


# -- names and parameters -------------------------------------------------------------------------


def test_a_name_is_found() -> None:
    assert analyst.named("relation-history") is library()["relation_history"]
    assert analyst.named("Relation_History.cypher") is library()["relation_history"]


@pytest.mark.parametrize(
    ("name", "hint"), [("relation_histori", "relation_history"), ("zzzz", "`engram query`")]
)
def test_an_unknown_name_is_refused(name: str, hint: str) -> None:
    with pytest.raises(InputError, match="no query is called") as caught:
        analyst.named(name)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("query", "given", "message", "hint"),
    [
        ("why_closed", {}, "why_closed needs subject", "subject: whom"),
        ("changes_in_world", {}, "needs after and before", "before: the moment"),
        ("why_closed", {"sbject": "A"}, "has no parameter 'sbject'", "Did you mean subject?"),
        ("speakers_compared", {"x": 1}, "has no parameter 'x'", "It takes none but the namespace."),
        ("hubs", {"zz": 1}, "has no parameter 'zz'", "It takes limit."),
        ("hubs", {"namespace": "b"}, "has no parameter 'namespace'", ""),
        ("hubs", {"limit": "ten"}, "limit must be a whole number, not 'ten'", "most rows."),
        ("hubs", {"limit": 2.5}, "limit must be a whole number", ""),
        ("hubs", {"limit": True}, "limit must be a whole number", ""),
        ("hubs", {"limit": None}, "limit must be a whole number, not None", ""),
        ("hubs", {"limit": 2**63}, "limit must be a whole number", ""),
        ("hubs", {"limit": -1}, "limit must not be negative", ""),
        ("similar_entities", {"alike": "x"}, "alike must be a number", ""),
        ("similar_entities", {"alike": float("nan")}, "alike must be a number", ""),
        ("why_closed", {"subject": 5}, "subject must be a text, not 5", ""),
        ("why_closed", {"subject": " "}, "subject is blank", ""),
        ("why_closed", {"subject": None}, "subject must be a text, not None", ""),
        ("world_as_of", {"as_of": "soon"}, "as_of is not a date", "ISO 8601"),
        ("world_as_of", {"as_of": datetime(2025, 1, 1)}, "no time zone", ""),  # noqa: DTZ001
        ("world_as_of", {"as_of": 5}, "as_of must be a datetime", ""),
    ],
)
def test_a_bad_parameter_is_refused(
    query: str, given: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        library()[query].arguments(given)
    assert hint in caught.value.hint


def test_parameters_get_their_type_and_default() -> None:
    near = library()["decisions_near_threshold"].arguments({"margin": "0.1", "limit": "7"})
    assert near == {
        "margin": 0.1,
        "act": 0.85,
        "close_below": 0.25,
        "reopen_above": 0.6,
        "limit": 7,
    }
    world = library()["world_as_of"].arguments({"as_of": date(2025, 1, 1), "known_at": None})
    assert world["as_of"].isoformat() == "2025-01-01T00:00:00+00:00"
    assert (world["known_at"], world["limit"]) == (None, 1000)
    assert isinstance(library()["similar_entities"].arguments({"alike": 1})["alike"], float)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.25, "0.25"),
        ("O'Neil \\", "'O\\'Neil \\\\'"),
        (
            datetime.fromisoformat("2025-01-01T00:00:00+00:00"),
            "datetime('2025-01-01T00:00:00+00:00')",
        ),
    ],
)
def test_values_are_written_as_cypher(value: Any, text: str, filled: neo4j.Session) -> None:
    assert analyst.as_cypher(value) == text
    record = filled.run(cast(LiteralString, f"RETURN {text} AS value")).single(strict=True)
    found = record["value"]
    assert (found.to_native() if isinstance(value, datetime) else found) == value


# -- on the server --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(server: Any, migrated: Any) -> Iterator[neo4j.Session]:
    """A session on a server that knows every property."""
    with (
        neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver,
        driver.session() as session,
    ):
        # Of a type that nothing has yet, the server warns.
        session.run("CALL db.createRelationshipType('MENTIONS')").consume()
        for name in sorted(properties_in_use()):
            session.run("CALL db.createProperty($name)", name=name).consume()
        yield session


@pytest.fixture(scope="module")
def lonely(
    settings: Any, migrated: Any, filled: neo4j.Session
) -> Iterator[tuple[Town, dict[str, int]]]:
    """The town, and the database hits of each query before anybody else comes."""
    name = f"town{uuid.uuid4().hex[:8]}"
    first, done = build(settings, name)
    with Memory(name, settings=settings) as memory:
        town = Town(memory, name, first, done)
        filled.run("CALL db.prepareForReplanning()").consume()
        yield town, {query.name: hits(profiled(filled, query, town)) for query in ALL}
    assert migrated.findings(name) == []


@pytest.fixture(scope="module")
def plans(town: Town, filled: neo4j.Session) -> dict[str, dict[str, Any]]:
    """The plan of each query, beside the other tenants."""
    return {query.name: profiled(filled, query, town) for query in ALL}


@pytest.fixture(scope="module")
def town(lonely: tuple[Town, dict[str, int]], filled: neo4j.Session, tmp_path_factory: Any) -> Town:
    """The town, beside other tenants: its copy, and one with many facts about the same names."""
    one = lonely[0]
    path: Path = tmp_path_factory.mktemp("town") / "town.jsonl"
    one.memory.export(path)
    one.memory.import_(path, namespace=f"{one.namespace}-copy")
    people, things = ("Mirelle", "Bero", "Odo", "Odo Kern"), ("works_at", "lives_in", "plans")
    one.memory.remember_many(
        [
            {
                "subject": people[i % 4],
                "predicate": things[i % 3],
                "object": ("Varn", "Saltway Freight", f"thing {i}")[i % 3],
                "text": f"{people[i % 4]} {things[i % 3]} {i}",
                "said_at": "2025-03-01",
                "source_id": f"m{i:02}",
                "speaker": people[i % 2],
            }
            for i in range(OTHERS)
        ],
        namespace=f"{one.namespace}-other",
        decide=False,
    )
    assert one.memory.stats(namespace=f"{one.namespace}-other").facts == OTHERS
    filled.run("CALL db.prepareForReplanning()").consume()
    return one


def arguments(query: AnalystQuery, town: Town) -> dict[str, Any]:
    """Values from the first case of ``query``, as the server gets them."""
    case = next(case for case in CASES if case.query == query.name)
    return query.arguments(given(case, town)) | {"namespace": town.namespace}


def given(case: Case, town: Town) -> dict[str, Any]:
    moments = {"first": town.first, "done": town.done}
    return {name: moments.get(str(value), value) for name, value in case.params.items()}


def profiled(session: neo4j.Session, query: AnalystQuery, town: Town) -> dict[str, Any]:
    """The plan of ``query`` as it ran."""
    text = cast(LiteralString, "PROFILE " + query.query.text)
    with session.begin_transaction() as tx:
        plan = tx.run(text, arguments(query, town)).consume().profile
    assert plan is not None
    return plan


def hits(plan: dict[str, Any]) -> int:
    """Database hits of a plan and all below it."""
    return int(plan.get("dbHits", 0)) + sum(hits(child) for child in plan.get("children", []))


def shown(value: Any) -> Any:
    """A value as the cases have it."""
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, datetime):
        assert value.utcoffset() is not None
        return value.date().isoformat()
    return round(value, 4) if isinstance(value, float) else value


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case.query}-{place}" for place, case in enumerate(CASES)]
)
def test_each_query_answers(case: Case, town: Town) -> None:
    rows = town.memory.query(case.query, **given(case, town))
    wanted = case.columns.split()
    assert [tuple(shown(row[name]) for name in wanted) for row in rows] == case.rows
    assert all(tuple(row) == library()[case.query].column_names for row in rows)


@every_query
def test_each_query_finds_nothing_in_an_empty_namespace(query: AnalystQuery, town: Town) -> None:
    params = {k: v for k, v in arguments(query, town).items() if k != "namespace"}
    assert town.memory.query(query.name, namespace=f"{town.namespace}-empty", **params) == []


@every_query
def test_each_query_is_accepted_without_a_warning(
    query: AnalystQuery, town: Town, filled: neo4j.Session
) -> None:
    text = cast(LiteralString, "EXPLAIN " + query.query.text)
    assert complaints(filled.run(text, arguments(query, town)).consume()) == []


@every_query
def test_each_query_enters_through_the_namespace(
    query: AnalystQuery, plans: dict[str, dict[str, Any]]
) -> None:
    found = operators(plans[query.name])
    assert [one for one in found if one[0].removeprefix("Directed") in SCANS] == []
    assert [one for one in found if one[0] == "CartesianProduct"] == []
    seeks = [details for op, details in found if "Seek" in op]
    assert seeks
    assert [details for details in seeks if "namespace" not in details] == []


@every_query
def test_other_tenants_cost_nothing(
    query: AnalystQuery,
    lonely: tuple[Town, dict[str, int]],
    plans: dict[str, dict[str, Any]],
) -> None:
    before = lonely[1][query.name]
    # Among more records the planner may choose otherwise. Reading the copy of the town would cost
    # as much again, and reading the other tenant a hit for each of its facts.
    assert 0 < hits(plans[query.name]) < before + min(before, OTHERS)


def test_what_was_read_or_archived_is_not_unread(town: Town, filled: neo4j.Session) -> None:
    def unread() -> set[str]:
        return {row["fact"] for row in town.memory.query("unread_facts", days=0)}

    change = "MATCH (f:Fact {namespace: $namespace, text: $text}) SET f.read_at = $at"
    scope = {"namespace": town.namespace, "text": "Odo sells maps"}
    later = datetime(2999, 1, 1, tzinfo=UTC)
    assert "Odo sells maps" in unread()
    filled.run(change, scope, at=later).consume()
    assert "Odo sells maps" not in unread()
    filled.run(change, scope, at=None).consume()
    archive = "MATCH (f:Fact {namespace: $namespace, text: $text}) SET f.archived_at = $at"
    filled.run(archive, scope, at=later).consume()
    assert "Odo sells maps" not in unread()
    filled.run(archive, scope, at=None).consume()
    assert len(unread()) == 24


def test_a_contradiction_ends_with_one_of_the_two(town: Town, filled: neo4j.Session) -> None:
    change = "MATCH (f:Fact {namespace: $namespace, text: $text}) SET f.open = $open"
    for text in ("Mirelle likes markets", "Mirelle cannot stand crowds"):
        scope = {"namespace": town.namespace, "text": text}
        filled.run(change, scope, open=False).consume()
        assert town.memory.query("open_contradictions") == []
        filled.run(change, scope, open=True).consume()
    assert len(town.memory.query("open_contradictions")) == 1


def test_what_had_no_effect_closed_nothing(town: Town, filled: neo4j.Session) -> None:
    """A second answer on a pair, given at the same moment, stands beside the one that counted."""
    before = town.memory.query("why_closed", subject="Mirelle")
    filled.run(
        """MATCH (d:Decision {namespace: $namespace, question: 'plan_fulfilled'})
        MATCH (d)-[:ABOUT]->(f:Fact)
        MATCH (d)-[:COMPARED_WITH]->(plan:Fact)
        CREATE (weak:Decision {id: $id, namespace: $namespace, outcome: 'ignored_weak',
          question: 'relation_to_candidate', decided_at: d.decided_at, moves_end: false})
        CREATE (weak)-[:ABOUT]->(f)
        CREATE (weak)-[:COMPARED_WITH]->(plan)""",
        namespace=town.namespace,
        id=town.namespace,
    ).consume()
    try:
        assert town.memory.query("why_closed", subject="Mirelle") == before
    finally:
        filled.run("MATCH (d:Decision {id: $id}) DETACH DELETE d", id=town.namespace).consume()


def test_what_was_taken_apart_does_not_look_the_same(town: Town) -> None:
    copy = f"{town.namespace}-copy"
    alike = [row["name"] for row in town.memory.query("similar_entities", namespace=copy)]
    assert "Odo" in alike
    town.memory.merge_entities("Odo", "Odo Kern", namespace=copy)
    town.memory.unmerge("Odo Kern", namespace=copy)
    after = [row["name"] for row in town.memory.query("similar_entities", namespace=copy)]
    assert after == [name for name in alike if name != "Odo"]


# -- running --------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_both_clients_give_rows(town: Town, settings: Any) -> None:
    async with AsyncMemory(town.namespace, settings=settings) as memory:
        rows = await memory.query("relation_history", subject="Mirelle", predicate="works_at")
    assert rows == town.memory.query("relation_history", subject="Mirelle", predicate="works_at")
    assert str(rows[0]["valid_from"]) == "2025-01-01 00:00:00+00:00"
    days = town.memory.query("facts_per_day")
    assert type(days[0]["day"]) is date


def test_a_client_without_a_namespace_is_refused(settings: Any) -> None:
    with Memory(settings=settings) as memory, pytest.raises(ScopeError):
        memory.query("speakers_compared")


@pytest.mark.anyio
async def test_a_statement_that_writes_is_refused(graph: Graph, namespace: str) -> None:
    text = "CYPHER 25\nCREATE (e:Entity {namespace: $namespace, key: 'x'}) RETURN e.key AS key"
    writing = NamedQuery("sneaky", text, "", frozenset({"namespace"}), "here:1")
    with pytest.raises(InputError, match="sneaky writes"):
        await analyst.rows(graph, writing, {"namespace": namespace})
    assert await graph.statement("MATCH (e:Entity {namespace: $n}) RETURN e", n=namespace) == []
