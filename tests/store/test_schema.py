"""Migrations, vector indexes and embedders on a server of their own; connections that fail."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from typing import Any, LiteralString

import anyio
import neo4j
import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransientError
from test_queries import operators

from engram_graph import clock
from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.errors import (
    ConfigurationError,
    DimensionError,
    EmbedderMismatchError,
    EngramError,
    SchemaError,
    ServerVersionError,
    StoreError,
    StoreUnavailableError,
)
from engram_graph.graph import driver, places, schema
from engram_graph.graph.driver import Graph, parse_version, translate
from engram_graph.graph.queries import cypher_folder, load, migrations
from engram_graph.graph.surroundings import surroundings
from engram_graph.memory import AsyncMemory
from engram_graph.rules.situation import Place
from engram_graph.rules.thresholds import Thresholds
from engram_graph.settings import Settings

pytestmark = pytest.mark.anyio

SMALL = HashEmbedder(256)
PACKAGED = HashEmbedder(384)
VECTORS = ("fact_vector", "message_vector", "item_vector")


async def wipe(graph: Graph) -> None:
    """A database as it was made: no record, no constraint, no index of ours."""
    await graph.statement("MATCH (n) DETACH DELETE n")
    for row in await graph.statement("SHOW CONSTRAINTS YIELD name"):
        await graph.statement(f"DROP CONSTRAINT {row['name']} IF EXISTS")
    for row in await graph.statement("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
        await graph.statement(f"DROP INDEX {row['name']} IF EXISTS")


@pytest.fixture
async def blank(empty_server: Any) -> AsyncIterator[Graph]:
    """A connection to a database without a schema."""
    graph = empty_server.graph()
    await graph.connect()
    await wipe(graph)
    yield graph
    await graph.close()


async def state(graph: Graph) -> dict[str, Any]:
    row = (await graph.read(load("schema")["read_schema"]))[0]
    return {name: row[name] for name in ("version", "embedder", "dimension")}


async def embed_something(graph: Graph, embedder: HashEmbedder) -> None:
    await graph.statement(
        "CREATE (:Message {id: 'm', namespace: 'n', source_id: 's', embedding: $v})",
        v=embedder.vector("hello"),
    )


# -- migrations -----------------------------------------------------------------------------------


async def test_migrating_records_the_version_and_brings_indexes_online(blank: Graph) -> None:
    assert await schema.migrate(blank, PACKAGED.model, 384) == len(migrations())
    assert await state(blank) == {
        "version": len(migrations()),
        "embedder": PACKAGED.model,
        "dimension": 384,
    }
    assert await schema.offline_indexes(blank) == {}
    names = {row["name"] for row in await blank.statement("SHOW INDEXES YIELD name")}
    assert {"fact_vector", "message_vector", "fact_text", "message_text", "fact_id"} <= names


async def test_migrating_again_changes_nothing(blank: Graph) -> None:
    listed = "SHOW INDEXES YIELD name, createStatement RETURN name, createStatement ORDER BY name"
    await schema.migrate(blank, PACKAGED.model, 384)
    before = await blank.statement(listed), await state(blank)
    assert await schema.migrate(blank, PACKAGED.model, 384) == len(migrations())
    assert (await blank.statement(listed), await state(blank)) == before


async def test_eight_migrate_at_once(blank: Graph, empty_server: Any) -> None:
    found: list[int] = []

    async def one() -> None:
        graph = empty_server.graph()
        try:
            await graph.connect()
            found.append(await schema.migrate(graph, PACKAGED.model, 384))
        finally:
            await graph.close()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(one)
    assert found == [len(migrations())] * 8
    assert (await state(blank))["version"] == len(migrations())
    assert await schema.offline_indexes(blank) == {}
    rows = await blank.statement("MATCH (s:EngramSchema) RETURN count(s) AS n")
    assert rows == [{"n": 1}]


async def test_an_interrupted_migration_is_finished(blank: Graph) -> None:
    await blank.statement("CREATE (:EngramSchema {id: 'schema', version: 1})")
    for statement in migrations()[0].statements:
        await blank.statement(statement)
    await blank.statement(migrations()[1].statements[0])  # and then it died
    assert await schema.migrate(blank, PACKAGED.model, 384) == len(migrations())
    assert await schema.dimensions(blank) == dict.fromkeys(VECTORS, 384)
    names = {row["name"] for row in await blank.statement("SHOW CONSTRAINTS YIELD name")}
    assert {"edge_lives_in", "edge_related_to"} <= names


async def test_an_upgrade_keeps_the_embedder(blank: Graph) -> None:
    await schema.migrate(blank, SMALL.model, 256)
    await embed_something(blank, SMALL)
    older = len(migrations()) - 1
    await blank.statement("MATCH (s:EngramSchema) SET s.version = $v", v=older)
    await schema.migrate(blank, None, None)  # every client opens like this
    assert await state(blank) == {
        "version": len(migrations()),
        "embedder": SMALL.model,
        "dimension": 256,
    }
    with pytest.raises(EmbedderMismatchError):
        await schema.migrate(blank, "other-model", 256)


@pytest.mark.parametrize("place", [1, 3])
async def test_an_upgrade_makes_the_index_of_turns_anew(blank: Graph, place: int) -> None:
    await schema.migrate(blank, SMALL.model, 256)
    name = places.named("message_vector", place)
    await blank.statement("DROP INDEX message_vector")
    await blank.statement(
        f"CREATE VECTOR INDEX {name} FOR (m:Message) ON m.{places.named('embedding', place)} "
        "WITH [m.namespace] OPTIONS {indexConfig: {`vector.dimensions`: 256}}"
    )
    await blank.statement("MATCH (s:EngramSchema) SET s.version = 7, s.place = $p", p=place)
    await schema.migrate(blank, None, None)
    rows = await blank.statement("SHOW VECTOR INDEXES YIELD name, properties, state")
    (found,) = [row for row in rows if row["name"] == name]
    stored = places.named("embedding", place)
    assert (found["properties"], found["state"]) == ([stored, "namespace", "said_at"], "ONLINE")


async def test_a_newer_schema_is_refused(blank: Graph) -> None:
    newer = len(migrations()) + 1
    await blank.statement("CREATE (:EngramSchema {id: 'schema', version: $v})", v=newer)
    with pytest.raises(SchemaError, match=f"version {newer}.*up to {newer - 1}") as caught:
        await schema.migrate(blank, PACKAGED.model, 384)
    assert "Upgrade" in caught.value.hint


# -- vectors --------------------------------------------------------------------------------------


async def test_vector_indexes_are_exact_and_filter_inside(blank: Graph) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)
    rows = await blank.statement(
        "SHOW VECTOR INDEXES YIELD name, properties, options "
        "RETURN name, properties, options.indexConfig AS config ORDER BY name"
    )
    assert [(row["name"], row["properties"]) for row in rows] == [
        (
            "fact_vector",
            ["embedding", "namespace", "open", "candidate", "valid_from", "valid_until"],
        ),
        ("item_vector", ["embedding", "namespace", "folder"]),
        ("message_vector", ["embedding", "namespace", "said_at"]),
    ]
    for row in rows:
        assert row["config"]["vector.dimensions"] == 384
        assert row["config"]["vector.similarity_function"].lower() == "cosine"
        assert row["config"].get("vector.quantization.type", "NONE") == "NONE"
        assert row["config"].get("vector.quantization.enabled", False) is False


async def test_another_dimension_is_refused_once_vectors_are_there(blank: Graph) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)
    await embed_something(blank, PACKAGED)
    with pytest.raises(DimensionError) as caught:
        await schema.migrate(blank, SMALL.model, 256)
    error = caught.value
    assert error.details == {"index": "fact_vector", "wanted": 256, "found": 384}
    for part in ("fact_vector", "256", "384"):
        assert part in error.message
    assert "ENGRAM_EMBEDDING_MODEL" in error.hint
    assert "engram reembed" in error.hint
    assert "another database" in error.hint
    assert (await state(blank))["embedder"] == PACKAGED.model


async def test_another_model_is_refused_once_vectors_are_there(blank: Graph) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)
    await embed_something(blank, PACKAGED)
    with pytest.raises(EmbedderMismatchError, match=f"{PACKAGED.model}.*other-model") as caught:
        await schema.migrate(blank, "other-model", 384)
    assert PACKAGED.model in caught.value.hint
    assert "engram reembed" in caught.value.hint
    assert "another database" in caught.value.hint


async def test_the_embedder_may_change_while_nothing_is_embedded(blank: Graph) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)
    await schema.migrate(blank, SMALL.model, 256)
    assert (await state(blank)) == {
        "version": len(migrations()),
        "embedder": SMALL.model,
        "dimension": 256,
    }
    assert await schema.dimensions(blank) == dict.fromkeys(VECTORS, 256)
    await schema.migrate(blank, "other-model", 256)
    assert (await state(blank))["embedder"] == "other-model"


async def test_an_embedder_may_come_later_and_may_be_away(blank: Graph) -> None:
    await schema.migrate(blank, None, None)
    assert (await state(blank))["dimension"] == schema.DEFAULT_DIMENSION
    await schema.migrate(blank, PACKAGED.model, 384)
    await embed_something(blank, PACKAGED)
    await schema.migrate(blank, None, None)
    assert (await state(blank))["embedder"] == PACKAGED.model


async def test_eight_change_the_embedder_at_once(blank: Graph, empty_server: Any) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)

    async def one() -> None:
        graph = empty_server.graph()
        try:
            await graph.connect()
            await schema.migrate(graph, SMALL.model, 256)
        finally:
            await graph.close()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(one)
    assert await schema.dimensions(blank) == dict.fromkeys(VECTORS, 256)


async def test_a_vector_of_another_dimension_is_a_dimension_error(blank: Graph) -> None:
    await schema.migrate(blank, PACKAGED.model, 384)
    with pytest.raises(DimensionError):
        await blank.read(
            load("read")["shortlist_facts"],
            namespace="n",
            embedding=[0.1, 0.2],
            lucene=None,
            limit=3,
            scan=3,
        )


# -- what the planner chooses while little is stored ----------------------------------------------


async def test_no_statement_searches_a_relationship_index_by_dynamic_types(
    blank: Graph, empty_server: Any
) -> None:
    """Neo4j 2026.09 then takes the ends of the relationship before for those of this one."""
    await schema.migrate(blank, PACKAGED.model, 384)
    statements = [
        query
        for file in sorted(cypher_folder().glob("*.cypher"))
        for query in load(file.stem).values()
        if re.search(r"\[\w*:\$", query.text)
    ]
    assert len(statements) > 10
    wrong = []
    with (
        neo4j.GraphDatabase.driver(
            empty_server.uri,
            auth=(empty_server.username, empty_server.password),
            notifications_min_severity="OFF",
        ) as driver,
        driver.session() as session,
    ):
        for query in statements:
            text: LiteralString = "EXPLAIN " + query.text
            plan = session.run(text, dict.fromkeys(query.params)).consume().plan
            assert plan is not None
            # By types alone it is right; behind the pattern stands what the index is searched for.
            wrong += [
                query.name
                for operator, details in operators(plan)
                if re.match(r"Dynamic\w*RelationshipType", operator)
                and not re.search(r"\]->?\(\w*\)$", details)
            ]
    assert wrong == []


async def test_a_young_database_compares_a_fact_with_those_of_its_subject(
    blank: Graph, empty_server: Any
) -> None:
    settings = Settings(
        neo4j_uri=empty_server.uri,
        neo4j_username=empty_server.username,
        neo4j_password=empty_server.password,
        embedder="hash",
        extractor="patterns",
    )
    async with AsyncMemory("young", settings=settings) as memory:
        for number, who in enumerate(("Ann", "Bob", "Ann", "Cyd", "Bob", "Dan", "Ann")):
            await memory.remember(who, "related_to", f"thing {number}")
        for who, things in (("ann", {0, 2, 6}), ("bob", {1, 4}), ("cyd", {3}), ("dan", {5})):
            place = Place("young", "none", who, "related_to", "thing 4", (), clock.now())
            around = await surroundings(blank, place, None, Thresholds(), clock.now())
            kept = {each.fact.object for each in around.candidates if "related" in each.how}
            assert kept == {f"thing {number}" for number in things}
            twins = [each.fact.subject for each in around.candidates if "twin" in each.how]
            assert twins == (["Bob"] if who == "bob" else [])


# -- connections ----------------------------------------------------------------------------------


async def test_the_version_is_read(server: Any) -> None:
    graph = server.graph()
    try:
        assert (await graph.connect()) >= driver.OLDEST
    finally:
        await graph.close()


async def test_an_old_server_is_refused(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = server.graph()

    async def old(*args: object, **params: object) -> list[dict[str, Any]]:
        return [{"version": "2025.12.1", "edition": "community"}]

    monkeypatch.setattr(graph, "read", old)
    with pytest.raises(ServerVersionError, match=r"2025\.12\.1.*2026\.02") as caught:
        await graph.connect()
    assert "embedded" in caught.value.hint
    await graph.close()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2026.09.0", (2026, 9, 0)),
        ("2026.02", (2026, 2)),
        ("5.26.1-aura", (5, 26, 1)),
        ("2026.10.0-12345", (2026, 10, 0, 12345)),
        ("2026.03.0-SNAPSHOT", (2026, 3, 0)),
        ("", ()),
    ],
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


async def test_a_wrong_password_is_a_configuration_error(server: Any) -> None:
    graph = Graph(server.uri, server.username, "not-the-pass-phrase")
    try:
        with (
            anyio.fail_after(60),
            pytest.raises(ConfigurationError, match="user name or password") as caught,
        ):
            await graph.connect()
    finally:
        await graph.close()
    assert "NEO4J_PASSWORD" in caught.value.hint
    assert "not-the-pass-phrase" not in repr(caught.value.as_dict()) + str(caught.value)


async def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        graph = Graph(f"bolt://127.0.0.1:{port}", "neo4j", "pass-phrase-1")
        try:
            with (
                anyio.fail_after(60),
                pytest.raises(StoreUnavailableError, match=f"127.0.0.1:{port}") as caught,
            ):
                await graph.connect()
        finally:
            await graph.close()
    assert caught.value.hint
    assert "pass-phrase-1" not in repr(caught.value.as_dict()) + str(caught.value)


async def test_something_else_there_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that accepts and then says nothing, such as another program's port."""
    assert driver._CONNECT_SECONDS <= 20
    monkeypatch.setattr(driver, "_CONNECT_SECONDS", 1.0)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        graph = Graph(f"bolt://127.0.0.1:{mute.getsockname()[1]}", "neo4j", "x" * 8)
        try:
            with anyio.fail_after(60), pytest.raises(StoreUnavailableError):
                await graph.connect()
        finally:
            await graph.close()


@pytest.mark.parametrize("uri", ["", "localhost:7687", "http://localhost:7474", "bolt//x"])
def test_a_uri_that_is_none(uri: str) -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_URI") as caught:
        Graph(uri, "neo4j", "x")
    assert "bolt://localhost:7687" in caught.value.hint


def test_a_password_in_the_uri_is_told_where_to_go() -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_URI") as caught:
        Graph("bolt://neo4j:pass-phrase-1@localhost:7687", "neo4j", "x")
    assert "NEO4J_PASSWORD" in caught.value.hint
    assert "pass-phrase-1" not in repr(caught.value.as_dict()) + str(caught.value)


async def test_an_unknown_database_is_a_configuration_error(server: Any) -> None:
    graph = Graph(server.uri, server.username, server.password, "nowhere")
    try:
        with pytest.raises(ConfigurationError) as caught:
            await graph.connect()
    finally:
        await graph.close()
    assert "NEO4J_DATABASE" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("Neo.ClientError.Security.AuthenticationRateLimit", "wait", ConfigurationError),
        ("Neo.ClientError.Security.CredentialsExpired", "change", ConfigurationError),
        ("Neo.ClientError.Database.DatabaseNotFound", "no such", ConfigurationError),
        ("Neo.ClientError.Statement.TypeError", "vector has dimension 3", DimensionError),
        ("Neo.ClientError.Schema.ConstraintValidationFailed", "taken", StoreError),
        ("Neo.TransientError.Transaction.DeadlockDetected", "dead", StoreUnavailableError),
    ],
)
def test_server_errors_become_ours(code: str, message: str, kind: type[EngramError]) -> None:
    if ".TransientError." in code:
        error: Neo4jError = TransientError(message)
    else:
        error = ClientError(message)
    error._neo4j_code = code
    error._message = message
    assert type(translate(error)) is kind
