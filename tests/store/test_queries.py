"""Every statement in ``cypher/``: documented, accepted without a warning, inside its namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, LiteralString, cast

import neo4j
import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.clock import now
from engram_graph.errors import SchemaError
from engram_graph.graph import places, queries, records
from engram_graph.graph.queries import NamedQuery, load, migrations, parse
from engram_graph.models.decisions import Judgement, RequestLog
from engram_graph.models.facts import Fact, Message
from engram_graph.models.feedback import Feedback
from engram_graph.models.items import Item
from engram_graph.rules.text import lucene_query, namespace_key
from engram_graph.vocabulary import NEGATED, PREDICATES, Outcome, Role

STEMS = sorted(path.stem for path in queries.cypher_folder().glob("*.cypher"))
ALL = [(stem, query) for stem in STEMS for query in load(stem).values()]
every_query = pytest.mark.parametrize(
    "query", [pytest.param(query, id=f"{stem}.{query.name}") for stem, query in ALL]
)

# Statements without $namespace, and why that is right.
UNSCOPED = {
    "server_version": "about the server",
    "lock_schema": "about the schema",
    "read_schema": "about the schema",
    "singleton_schema": "about the schema",
    "record_version": "about the schema",
    "record_embedder": "about the schema",
    "create_fact_vectors": "about the schema",
    "create_message_vectors": "about the schema",
    "create_item_vectors": "about the schema",
    "drop_fact_vectors": "about the schema",
    "drop_message_vectors": "about the schema",
    "drop_item_vectors": "about the schema",
    "vector_dimensions": "about the schema",
    "any_vector": "the vector index is shared by all namespaces",
    "await_indexes": "about the schema",
    "index_states": "about the schema",
    "namespaces": "lists the namespaces, for operators",
    "all_namespaces": "lists the namespaces, for operators",
    "namespaces_starting": "lists the namespaces of one test",
    "graphiti_groups": "lists what may be moved, for operators",
    "agent_memory_users": "lists what may be moved, for operators",
    "incomplete_records": "finds what belongs to no namespace, for operators",
    "plan_reembed": "about the schema",
    "drop_reembed_plan": "about the schema",
    "switch_vectors": "about the schema",
    "end_reembed": "about the schema",
    "vector_indexes": "about the schema",
    "count_vectors": "vectors are made anew for all namespaces",
    "facts_without_vector": "vectors are made anew for all namespaces",
    "messages_without_vector": "vectors are made anew for all namespaces",
    "items_without_vector": "vectors are made anew for all namespaces",
    "set_fact_vectors": "vectors are made anew for all namespaces",
    "set_message_vectors": "vectors are made anew for all namespaces",
    "set_item_vectors": "vectors are made anew for all namespaces",
    "clean_facts": "vectors are made anew for all namespaces",
    "clean_messages": "vectors are made anew for all namespaces",
    "clean_items": "vectors are made anew for all namespaces",
    "bare_message": "the benchmark's own write, the namespace is in the properties",
    "record_requests": "only creates; the namespace is in each row",
    "record_decisions": "creates, and finds by ids from a plan whose facts are locked",
}

# What other memories call their records, which moving.cypher reads.
FOREIGN_LABELS = ("Episodic", "Community", "Saga", "User", "Preference", "ReasoningTrace")
FOREIGN_TYPES = ("RELATES_TO", "HAS_MESSAGE", "HAS_PREFERENCE", "SUPERSEDED_BY")
FOREIGN_PROPERTIES = {
    *("uuid", "group_id", "content", "source", "source_description", "valid_at", "invalid_at"),
    *("expired_at", "reference_time", "episodes", "fact", "summary", "identifier", "session_id"),
    *("user_identifier", "timestamp", "type", "relation_type", "description", "evidence"),
    *("source_message_ids", "subject", "object", "category", "preference", "context"),
}

# What a namespace may cost: these operators walk through other tenants' records.
SCANS = (
    "AllNodesScan",
    "NodeByLabelScan",
    "NodeIndexScan",
    "NodeIndexContainsScan",
    "RelationshipTypeScan",
)
HOT = (
    "candidates",
    "known_entities",
    "store_message",
    "lock_entities",
    "hold_entities",
    "lock_facts",
    "create_fact",
    "change_facts",
    "recent_messages",
    "unfinished",
    "shortlist_facts",
    "shortlist_turns",
    "speakers",
    "names_meant",
    "chains",
    "facts_of_predicate",
    "neighbours",
    "same_among",
    "sources_of",
    "turns_before",
    "get_fact",
    "get_message",
    "facts_of_namespace",
    "facts_of_subject",
    "timeline",
    "list_entities",
    "get_entity",
    "resolve_keys",
    "profiles",
    "merge_pair",
    "facts_of_merged",
    "move_facts",
    "facts_that_meet",
    "find_merge",
    "merge_log",
    "stats",
    "explain_decisions",
    "explain_requests",
    "explain_others",
    "entities_of_keys",
    "facts_by_prefix",
    "shortlist_facts_within",
    "diff_valid",
    "diff_recorded",
    "same_facts",
    "facts_around",
    "decisions_leaving",
    "facts_beside",
    "messages_around",
    "requests_around",
    "entities_around",
    "erase_facts",
    "erase_conversations",
    "some_facts",
    "some_decisions",
    "some_requests",
    "some_entities",
    "some_messages",
    "some_feedback",
    "some_items",
    "count_pairs",
    "groups",
    "decided_before",
    "link_same",
    "unlink_same",
    "stale_ids",
    "short_lived_ids",
    "ageing_facts",
    "archive_facts",
    "restore_fact",
    "note_reads",
    "revive_facts",
    *load("transfer"),
    *load("feedback"),
    *load("items"),
    *load("whatif"),
)
NOISE = 300  # records of other tenants, so that the planner sees a table worth an index


# -- the files ------------------------------------------------------------------------------------


def test_the_folder_holds_statements() -> None:
    assert {"write", "read", "history", "schema", "doctor"} <= set(STEMS)
    assert len(ALL) > 60


@every_query
def test_each_statement_says_what_it_is_for(query: NamedQuery) -> None:
    assert re.match(r"[A-Z].*[.]$", query.doc, re.DOTALL), query.doc
    assert query.text.startswith("CYPHER 25\n")
    assert ";" not in query.text


@every_query
def test_each_statement_stays_in_its_namespace(query: NamedQuery) -> None:
    scoped = bool(query.params & {"namespace", "namespaces", "places"})
    assert scoped != (query.name in UNSCOPED), query.origin


def test_no_exception_is_left_over() -> None:
    assert set(UNSCOPED) <= {query.name for _, query in ALL}


def test_names_are_unique_across_files() -> None:
    found = [query.name for _, query in ALL]
    assert sorted(set(found)) == sorted(found)


def test_parameters_are_read_from_the_statement() -> None:
    found = parse("// name: one\n// Doc.\nMATCH (n {a: $a}) // $not\nRETURN $b", "x.cypher")
    assert found["one"].params == {"a", "b"}
    assert found["one"].doc == "Doc."
    assert found["one"].origin == "x.cypher:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN 1", "x.cypher:1: a statement without"),
        ("// intro\n\nRETURN 1", "x.cypher:3: a statement without"),
        ("// name: a\n// Doc.\n", "x.cypher:1: query 'a' has no statement"),
        ("// name: a\nRETURN 1\n// name: b\n\n", "x.cypher:3: query 'b' has no statement"),
        ("// name: a\nRETURN 1\n\n// name: a\nRETURN 2", "x.cypher:4: query 'a' is there twice"),
        ("// name:\nRETURN 1", "x.cypher:1: '' is no name"),
        ("// name: two words\nRETURN 1", "x.cypher:1: 'two words' is no name"),
    ],
)
def test_the_loader_says_where_a_file_is_wrong(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=f"^{re.escape(message)}"):
        parse(text, "x.cypher")


# -- where vectors stand ---------------------------------------------------------------------------


@every_query
def test_each_statement_can_be_about_another_place(query: NamedQuery) -> None:
    """No column and no key of a parameter is called as a vector property or index is."""
    moved = places.at(query, 3)
    assert moved.text.replace("_3", "") == query.text.replace("_3", "")
    assert not re.search(
        r"(?<!\$)\b(embedding|fact_vector|message_vector|item_vector)\b", moved.text
    )
    assert not re.search(r"(AS|row\.|change\.|fact\.|message\.) ?embedding\b", query.text)
    assert places.at(moved, 5) is moved
    assert places.at(query, 1).text == query.text


@every_query
def test_no_vector_goes_unnoticed(query: NamedQuery) -> None:
    """What is compared with stored vectors counts as a vector when embedders change."""
    compared = re.findall(r"cosine\([^,]+, \$(\w+)\)|VECTOR INDEX \w+ FOR \$(\w+)", query.text)
    for name in {name for pair in compared for name in pair if name}:
        assert places.carries({name: [1.0]}), name


def test_parameters_go_to_their_place() -> None:
    params = {"embedding": [1.0], "rows": [{"properties": {"embedding": [2.0], "text": "a"}}]}
    assert places.carries(params)
    assert places.carries({"rows": params["rows"]})
    assert not places.carries(
        {"rows": [{"properties": {"embedding": None}}], "names": ["embedding"]}
    )
    assert places.carries({"embedding": None, "content": [1.0]})
    assert not places.carries({"embedding": None, "content": None, "rows": [{"content": "a"}]})
    assert {name: places.renamed(value, 3) for name, value in params.items()} == {
        "embedding": [1.0],
        "rows": [{"properties": {"embedding_3": [2.0], "text": "a"}}],
    }


@pytest.mark.parametrize(
    ("index", "place", "base"),
    [
        ("fact_vector", 1, "fact_vector"),
        ("message_vector_12", 12, "message_vector"),
        ("fact_text", None, "fact_text"),
        ("fact_vectors_of_others", None, "fact_vectors_of_others"),
    ],
)
def test_an_index_tells_its_place(index: str, place: int | None, base: str) -> None:
    assert (places.place_of(index), places.base(index)) == (place, base)


def test_migrations_are_numbered_and_idempotent() -> None:
    assert [m.version for m in migrations()] == list(range(1, len(migrations()) + 1))
    for migration in migrations():
        assert migration.statements
        for statement in migration.statements:
            assert statement.startswith("CYPHER 25 ")
            assert "IF NOT EXISTS" in statement or not statement.startswith("CYPHER 25 CREATE")


def test_a_gap_in_the_numbers_is_an_error(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    for name in ("0001_a", "0003_b"):
        (folder / f"{name}.cypher").write_text("CYPHER 25 RETURN 1;\n")
    monkeypatch.setattr(queries, "cypher_folder", lambda: tmp_path)
    migrations.cache_clear()
    try:
        with pytest.raises(SchemaError, match="not numbered"):
            migrations()
    finally:
        migrations.cache_clear()


def test_each_migration_says_what_it_is_for() -> None:
    for path in (queries.cypher_folder() / "migrations").glob("*.cypher"):
        assert re.match(r"// [A-Z].*\.\n", path.read_text(encoding="utf-8")), path.name


def test_each_predicate_has_a_constraint_for_its_edges() -> None:
    typed = next(m for m in migrations() if m.name == "typed_edges")
    pattern = (
        r"CYPHER 25 CREATE CONSTRAINT edge_(\w+) IF NOT EXISTS "
        r"FOR \(\)-\[r:(\w+)\]-\(\) REQUIRE r\.fact_id IS UNIQUE"
    )
    found = [re.fullmatch(pattern, statement) for statement in typed.statements]
    pairs = [match.groups() for match in found if match]
    assert pairs == [
        *((p.name, p.neo4j_type) for p in PREDICATES.values()),
        ("negated", NEGATED),
    ]


# -- on the server --------------------------------------------------------------------------------


def sample_fact() -> Fact:
    return Fact(
        id="f",
        namespace="n",
        subject="Ann",
        subject_key="ann",
        predicate="lives_in",
        object="Rome",
        object_key="rome",
        text="Ann lives in Rome",
        valid_from=now(),
        recorded_at=now(),
    )


def sample_message() -> Message:
    return Message(
        id="m",
        namespace="n",
        conversation="c",
        speaker="Ann",
        role=Role.USER,
        text="Hello",
        said_at=now(),
        recorded_at=now(),
        source_id="s",
    )


def properties_in_use() -> set[str]:
    """Every property name that the package writes: what is not here is a misspelling."""
    closing = ((None, None), (now(), "belief"))
    judgement = Judgement(id="d", question="q", outcome=Outcome.CLOSED, closing=closing)
    request = RequestLog("q", "b", "m", {}, (), {}, 0.0, None, None, None, now())
    return {
        *records.fact_properties(sample_fact(), None),
        *records.message_properties(sample_message(), None, None),
        *records.judgement_parameters(judgement, "n", now(), 0)["properties"],
        *records.request_properties(request, "n"),
        *("source_id", "namespace", "key", "name", "aliases", "version", "created_at", "locked"),
        *("importing", "was"),
        *("fact_id", "p", "reason", "decided_at", "belief_before", "belief_after"),
        *("embedder", "dimension", "migrated_at", "place", "leftovers"),
        *("next_embedder", "next_dimension", "next_place"),
        *("entity_id", "entity_version", "entity_created_at", "alias_keys", "apart", "made"),
        *("merge_id", "kept_id", "gone_id", "moved", "of", "claimed"),
        *Feedback.model_fields,
        *Item.model_fields,
        "folder",
    }


@pytest.fixture(scope="module")
def filled(server: Any, migrated: Any) -> Iterator[neo4j.Session]:
    """A session on a server where every name is known and other tenants hold a few records."""
    types = ["SUBJECT", "OBJECT", "MENTIONS", "STATED_IN", "NEXT", "SUPERSEDES", "SAME_AS"]
    types += ["CONTRADICTS", "REFINES", "ABOUT", "COMPARED_WITH", "FROM", "ALIAS_OF", "LEFT"]
    types += ["INDEXED_AS", "REPLACED"]
    with (
        neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver,
        driver.session() as session,
    ):
        for name in (*types, *FOREIGN_TYPES):
            session.run("CALL db.createRelationshipType($name)", name=name).consume()
        for name in sorted(properties_in_use() | FOREIGN_PROPERTIES):
            session.run("CALL db.createProperty($name)", name=name).consume()
        labels = ["Fact", "Message", "Entity", "Alias", "Conversation", "Decision", "Request"]
        labels += ["Feedback", "Item", "ItemText", "Replay", "Replaced"]
        for label in (*labels, *FOREIGN_LABELS):
            session.run("CALL db.createLabel($name)", name=label).consume()
        session.run(NOISE_STATEMENT, noise=NOISE, now=now()).consume()
        session.run("CALL db.prepareForReplanning()").consume()
        yield session
        session.run(
            "MATCH (n:Fact|Message|Entity|Item|ItemText {noise: true}) DETACH DELETE n"
        ).consume()


NOISE_STATEMENT = """CYPHER 25
UNWIND range(1, $noise) AS i
CREATE (e:Entity {noise: true, id: 'noise' + i, namespace: 'noise', key: 'k' + i, name: 'K' + i})
CREATE (f:Fact {noise: true, id: 'noise' + i, namespace: 'noise' + i % 9, predicate: 'owns',
  recorded_at: $now, valid_from: $now, text: 'k', open: true})
CREATE (f)-[:SUBJECT]->(e)
CREATE (f)-[:OBJECT]->(e)
CREATE (f)-[:SUPERSEDES]->(f)
CREATE (:Message {noise: true, id: 'noise' + i, namespace: 'noise' + i % 9, source_id: 's' + i,
  conversation: 'c' + i % 3, said_at: $now, recorded_at: $now, status: 'done', text: 'k'})
CREATE (:Item {noise: true, id: 'noise' + i, namespace: 'noise' + i % 9, folder: 'f/', key: 'k' + i,
  value: '{}', created_at: $now, updated_at: $now, said: 0, source: 's'})
  -[:INDEXED_AS]->(:ItemText {noise: true, id: 'noise' + i, namespace: 'noise' + i % 9,
    folder: 'f/', text: 'k'})"""


def values(query: NamedQuery) -> dict[str, Any]:
    """A value for each parameter of ``query``."""
    vector = HashEmbedder().vector("Ann lives in Rome")
    fact = records.fact_properties(sample_fact(), vector)
    message = records.message_properties(sample_message(), vector, None)
    known: dict[str, Any] = {
        "namespace": "profiled",
        "namespaces": ["profiled"],
        "keys": ["rome"],
        "tokens": {"profiled": namespace_key("profiled")},
        "ids": ["f"],
        "id": "f",
        "prefix": "01234567",
        "embedding": vector,
        "content": vector,
        "lucene": lucene_query("Rome", namespace_key("profiled")),
        "limit": 10,
        "open": True,
        "near": 10,
        "near_scan": 50,
        "related": 10,
        "related_scan": 200,
        "single": True,
        "first": now(),
        "last": now(),
        "said_from": now(),
        "said_by": now(),
        "text_limit": 100,
        "scan": 100,
        "hub": 25,
        "known": ["g"],
        "rare_scan": 125,
        "rare_share": 0.2,
        "rare_min": 5,
        "rare_keys": ["rome", "ann"],
        "type": "LIVES_IN",
        "predicate": "lives_in",
        "begins": now(),
        "subject_key": "ann",
        "object_key": "rome",
        "key": "ann",
        "after": "",
        "like": "an",
        "alias_key": "annie",
        "kept": "ann",
        "gone": "rome",
        "one_valued": ["lives_in"],
        "steps": [{"id": "f", "subject": "ann", "object": "rome", "add": ["ann"], "drop": []}],
        "message_id": "m",
        "source_id": "s",
        "conversation": "c",
        "fact_id": "f",
        "mentions": ["rome"],
        "said_at": now(),
        "recorded_at": now(),
        "now": now(),
        "since": now(),
        "places": [{"namespace": "profiled", "at": now(), "after": ""}],
        "dimension": 384,
        "seconds": 1,
        "properties": message if query.name == "store_message" else fact,
        "entities": [{"key": "ann", "name": "Ann", "id": "e", "properties": {"id": "e"}}],
        "names": ["c"],
        "newest": 30,
        "after_key": "",
        "before": now(),
        "links": [{"source": "f", "target": "g", "properties": {"p": 0.9}, "type": "SAME_AS"}],
        "archives": [{"id": "f", "version": 1, "read_at": None, "sources": 1}],
        "reads": [{"id": "f", "at": now()}],
        "folder": "users/ann/",
        "behind": "users/ann0",
        "skip": 0,
        "value": "{}",
        "changes": [{"id": "f", "properties": {"belief": 0.5}}],
    }
    return {name: known.get(name) for name in query.params}


def complaints(summary: neo4j.ResultSummary) -> list[str]:
    """What the server has to say about a statement, but for success and no data."""
    return [
        f"{item.gql_status} {item.status_description}"
        for item in summary.gql_status_objects
        if not item.gql_status.startswith(("00", "02"))
    ]


COMMAND = re.compile(r"CYPHER 25\s+(CREATE (CONSTRAINT|(VECTOR |FULLTEXT )?INDEX)|DROP)")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, id=f"{stem}.{query.name}")
        for stem, query in ALL
        if not COMMAND.match(query.text)  # commands about the schema run in test_schema
    ],
)
def test_each_statement_is_accepted_without_a_warning(
    query: NamedQuery, filled: neo4j.Session
) -> None:
    text = cast(LiteralString, "EXPLAIN " + query.text)
    assert complaints(filled.run(text, values(query)).consume()) == []


@pytest.mark.parametrize("migration", migrations(), ids=lambda m: m.name)
def test_each_migration_can_run_again(migration: queries.Migration, filled: neo4j.Session) -> None:
    with filled.begin_transaction() as tx:  # undone: one of them drops what the other tests need
        for statement in migration.statements:
            said = complaints(tx.run(statement).consume())
            assert all(one.startswith("00") or "already exists" in one for one in said), said
        tx.rollback()


def operators(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """(operator, details) of a plan, all of them."""
    here = (str(plan["operatorType"]).split("@")[0], str(plan["args"].get("Details", "")))
    return [here] + [one for child in plan.get("children", []) for one in operators(child)]


def profile(session: neo4j.Session, query: NamedQuery) -> list[tuple[str, str]]:
    """The operators of ``query``, run for real and undone."""
    with session.begin_transaction() as tx:
        text = cast(LiteralString, "PROFILE " + query.text)
        plan = tx.run(text, values(query)).consume().profile
        tx.rollback()
    assert plan is not None
    return operators(plan)


@pytest.mark.parametrize(
    "name",
    HOT,
)
def test_hot_statements_enter_through_an_index(name: str, filled: neo4j.Session) -> None:
    query = next(query for _, query in ALL if query.name == name)
    found = profile(filled, query)
    scans = [one for one in found if one[0].removeprefix("Directed") in SCANS]
    assert scans == [], name
    ways = ("Seek", "Search", "Procedure", "MergeUniqueNode")
    entries = [op for op, _ in found if any(way in op for way in ways)]
    assert entries, found


@pytest.mark.parametrize(
    "name", [q.name for q in load("doctor").values() if q.name not in UNSCOPED]
)
def test_doctor_enters_through_the_namespace(name: str, filled: neo4j.Session) -> None:
    found = profile(filled, load("doctor")[name])
    assert [one for one in found if "Scan" in one[0]] == []
    assert any("Seek" in op and "namespace" in details for op, details in found)
