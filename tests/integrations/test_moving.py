"""What graphiti and neo4j-agent-memory stored, moved here with its clocks and its sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j
import pytest
from foreign import data, stored

from engram_graph.errors import ConfigurationError, InputError, StoreUnavailableError
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.vocabulary import ClosedReason, Role

pytestmark = pytest.mark.anyio


@pytest.fixture
def graphiti(server: Any, namespace: str) -> Iterator[neo4j.Driver]:
    """graphiti's groups ``harbour-NAMESPACE`` and ``elsewhere-NAMESPACE``."""
    with stored(server, "graphiti", namespace) as driver:
        yield driver


@pytest.fixture
def agent_memory(server: Any, namespace: str) -> Iterator[neo4j.Driver]:
    """neo4j-agent-memory's users ``maya-NAMESPACE`` and ``jonas-NAMESPACE``."""
    with stored(server, "agent_memory", namespace, "maya", "jonas") as driver:
        yield driver


async def by_text(memory: AsyncMemory, **filters: Any) -> dict[str, Fact]:
    return {fact.text: fact async for fact in memory.iter_facts(**filters)}


# -- graphiti --------------------------------------------------------------------------------------


async def test_a_group_of_graphiti_comes_in_with_its_clocks(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    would = await memory.move_graphiti(f"harbour-{namespace}", dry_run=True)
    assert (would.messages, would.facts, would.skipped, would.dry_run) == (6, 6, 0, True)
    assert (await memory.facts()).facts == ()

    told = await memory.move_graphiti(f"harbour-{namespace}")
    assert (told.messages, told.facts, told.skipped, told.left_out) == (6, 6, 0, ())
    assert told.fallback == {"ROWS_WITH": 1}
    assert told.not_moved == {"summaries of entities": 6}
    found = await by_text(memory)
    porto, lisbon = found["Maya lives in Porto"], found["Maya lives in Lisbon"]
    assert (porto.subject, porto.predicate, porto.object) == ("Maya", "lives_in", "Porto")
    assert porto.valid_from == datetime(2024, 1, 10, 9, tzinfo=UTC)
    assert porto.valid_until == lisbon.valid_from == datetime(2024, 6, 1, tzinfo=UTC)
    assert porto.recorded_at == datetime(2026, 11, 30, 14, 21, 31, 297892, tzinfo=UTC)
    assert porto.closed_at == datetime(2026, 11, 30, 14, 21, 48, 589652, tzinfo=UTC)
    assert (porto.closed_reason, porto.extractor) == (ClosedReason.SUPERSEDED, "graphiti")
    assert lisbon.open
    studio = found["Maya interned at Foz Studio"]
    assert (studio.closed_reason, studio.valid_from_stated) == (ClosedReason.STATED, True)
    rowing = found["Maya rows with Jonas on Sundays"]
    assert (rowing.predicate, rowing.valid_from_stated) == ("related_to", False)
    assert rowing.valid_from == datetime(2024, 6, 10, 9, tzinfo=UTC)

    line = await memory.history("Maya", "lives_in")
    assert [fact.object for fact in line.facts] == ["Porto", "Lisbon"]
    assert [(link.source, link.target) for link in line.links] == [(lisbon.id, porto.id)]
    then = await by_text(memory, as_of="2024-03-01", predicate="lives_in")
    assert list(then) == ["Maya lives in Porto"]
    known = await by_text(memory, known_at=porto.recorded_at, predicate="lives_in")
    assert [fact.open for fact in known.values()] == [True]
    assert (await memory.doctor()).sound


async def test_episodes_are_the_sources(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    await memory.move_graphiti(f"harbour-{namespace}")
    found = await by_text(memory)
    told = await memory.explain(found["Maya works at Norte Maps"])
    (message,) = told.messages
    assert (message.speaker, message.role) == ("Maya", Role.USER)
    assert message.text == "I joined Norte Maps in February."
    assert message.said_at == datetime(2024, 2, 5, 9, tzinfo=UTC)
    assert message.metadata["graphiti"]["name"] == "m2"
    # A triplet added by hand has no episode: it is a message of its own.
    told = await memory.explain(found["Jonas speaks Portuguese"])
    (message,) = told.messages
    assert (message.speaker, message.role) == ("graphiti", Role.SYSTEM)
    assert message.metadata["graphiti"]["name"] == "SPEAKS"
    recall = await memory.search("Where does Maya live?")
    assert "Lisbon" in recall.context


async def test_a_second_time_adds_what_is_new_and_tells_what_ended(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    group = f"harbour-{namespace}"
    await memory.move_graphiti(group)
    before = await by_text(memory)
    again = await memory.move_graphiti(group)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 12)
    assert await by_text(memory) == before
    graphiti.execute_query(
        "MATCH (:Entity {group_id: $group})-[r:RELATES_TO {name: 'ROWS_WITH'}]->() "
        "SET r.invalid_at = datetime('2024-09-01T00:00:00Z'), r.expired_at = datetime()",
        group=group,
    )
    would = await memory.move_graphiti(group, dry_run=True)
    assert (would.messages, would.facts, would.skipped) == (0, 0, 12)
    told = await memory.move_graphiti(group)
    assert [(one.kind, "ended there" in one.reason) for one in told.left_out] == [("end", True)]
    assert (await by_text(memory))["Maya rows with Jonas on Sundays"].open


async def test_no_group_reaches_into_another(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    told = await memory.move_graphiti(f"elsewhere-{namespace}")
    assert (told.messages, told.facts) == (1, 1)
    assert list(await by_text(memory)) == ["Maya lives in Porto"]
    both = await memory.move_graphiti(f"harbour-{namespace}")
    assert (both.messages, both.facts) == (6, 6)
    assert (await memory.doctor()).sound


async def test_what_cannot_be_stored_is_told(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    group = f"harbour-{namespace}"
    graphiti.execute_query(
        "MATCH (n:Episodic {group_id: $group, name: 'm4'}) SET n.content = ' '", group=group
    )
    graphiti.execute_query(
        "MATCH (:Entity {group_id: $group})-[r:RELATES_TO {name: 'SPEAKS'}]->() "
        "SET r.invalid_at = datetime('2020-01-01T00:00:00Z')",
        group=group,
    )
    told = await memory.move_graphiti(group)
    reasons = {one.kind: one.reason for one in told.left_out}
    assert reasons.keys() == {"message", "fact"}
    assert "blank" in reasons["message"]
    assert "before it starts" in reasons["fact"]
    # The fact whose episode is gone stands on a message of its own.
    assert (told.messages, told.facts) == (5, 5)


async def test_no_such_group_names_those_that_are(
    memory: AsyncMemory, graphiti: neo4j.Driver, namespace: str
) -> None:
    with pytest.raises(InputError) as caught:
        await memory.move_graphiti(f"nobody-{namespace}")
    assert caught.value.details["field"] == "group"
    assert caught.value.hint.startswith("It has these: ")
    with pytest.raises(InputError):
        await memory.move_graphiti(" ")


async def test_another_server_is_read(memory: AsyncMemory, server: Any, namespace: str) -> None:
    with stored(server, "graphiti", namespace):
        told = await memory.move_graphiti(
            f"harbour-{namespace}",
            uri=server.uri,
            username=server.username,
            password=server.password,
        )
        assert told.facts == 6
        with pytest.raises(ConfigurationError) as refused:
            await memory.move_graphiti("x", uri=server.uri, password="wrong")
    with pytest.raises(StoreUnavailableError) as away:
        await memory.move_graphiti("x", uri="bolt://127.0.0.1:1", password="x")
    with pytest.raises(ConfigurationError) as unusable:
        await memory.move_graphiti("x", uri="bolt://neo4j:a-secret@127.0.0.1:1")
    for each in (refused.value, away.value, unusable.value):
        words = f"{each} {each.hint}"
        assert "uri, username and password of the Neo4j to read from" in words
        assert "NEO4J_" not in words
        assert "a-secret" not in words


# -- neo4j-agent-memory ----------------------------------------------------------------------------


async def test_a_user_of_agent_memory_comes_in_alone(
    memory: AsyncMemory, agent_memory: neo4j.Driver, namespace: str
) -> None:
    user = f"maya-{namespace}"
    told = await memory.move_agent_memory(user)
    # Three messages, one relationship stated in one of them, two preferences.
    assert (told.messages, told.facts, told.left_out) == (5, 3, ())
    assert told.not_moved["facts that are no user's"] >= 3
    found = await by_text(memory)
    works = found["Maya works at Norte Maps"]
    assert (works.predicate, works.confidence) == ("works_at", 0.9)
    assert works.source_quote == "I work at Norte Maps"
    (message,) = (await memory.explain(works)).messages
    assert (message.speaker, message.conversation) == (user, "chat-1")
    fish, vegetables = (
        found[f"{user} prefers Grilled fish (dinner)"],
        found[f"{user} prefers Grilled vegetables"],
    )
    assert (fish.open, vegetables.open) == (False, True)
    assert fish.closed_reason is ClosedReason.SUPERSEDED
    line = await memory.history(user, "prefers")
    assert [(link.source, link.target) for link in line.links] == [(vegetables.id, fish.id)]
    (message,) = (await memory.explain(vegetables)).messages
    assert message.metadata["agent_memory"]["category"] == "food"
    again = await memory.move_agent_memory(user)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 8)
    assert (await memory.doctor()).sound


async def test_all_of_agent_memory_comes_in(
    memory: AsyncMemory, agent_memory: neo4j.Driver, namespace: str
) -> None:
    told = await memory.move_agent_memory()
    assert told.fallback["mentors"] >= 1
    found = await by_text(memory)
    porto, lisbon = found["Maya lives in Porto"], found["Maya lives in Lisbon"]
    assert (porto.predicate, porto.closed_reason) == ("lives_in", ClosedReason.STATED)
    assert porto.valid_until == lisbon.valid_from == datetime(2024, 6, 1, tzinfo=UTC)
    assert found["Maya mentors Jonas"].belief == pytest.approx(0.7)
    (message,) = (await memory.explain(porto)).messages
    assert message.metadata["source"] == "form"
    assert found["user prefers Fado"].open
    assert (await memory.doctor()).sound


async def test_no_such_user_of_agent_memory(
    memory: AsyncMemory, agent_memory: neo4j.Driver, namespace: str
) -> None:
    with pytest.raises(InputError, match="nothing of"):
        await memory.move_agent_memory(f"nobody-{namespace}")


# -- mem0 ------------------------------------------------------------------------------------------


async def test_memories_of_mem0_come_in_with_their_versions(
    memory: AsyncMemory, tmp_path: Path
) -> None:
    dump = data("mem0")
    memories, history = tmp_path / "memories.json", tmp_path / "history.json"
    memories.write_text(json.dumps(dump["get_all"]))
    history.write_text(json.dumps(dump["history"]))
    told = await memory.move_mem0(memories, history)
    assert (told.messages, told.facts) == (4, 4)
    assert sorted(one.reason for one in told.left_out) == [
        "deleted in mem0",
        "its memory is not in the file",
    ]
    found = await by_text(memory)
    porto, lisbon = found["Lives in Porto"], found["Lives in Lisbon"]
    assert (porto.subject, porto.predicate, porto.object) == (
        "maya",
        "related_to",
        "Lives in Porto",
    )
    assert porto.valid_until == lisbon.valid_from
    assert (porto.closed_reason, lisbon.open) == (ClosedReason.CORRECTED, True)
    (message,) = (await memory.explain(lisbon)).messages
    assert message.metadata["source"] == "chat"
    assert message.metadata["user_id"] == "maya"
    (message,) = (await memory.explain(found["I will remember that."])).messages
    assert (message.role, message.speaker) == (Role.ASSISTANT, "assistant")
    again = await memory.move_mem0(memories, history)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 8)
    assert (await memory.doctor()).sound


async def test_several_owners_need_a_name(memory: AsyncMemory, tmp_path: Path) -> None:
    dump = data("mem0")
    row = dump["get_all"]["results"][0]
    path = tmp_path / "memories.json"
    path.write_text(json.dumps([row, row | {"id": "other", "user_id": "jonas"}]))
    with pytest.raises(InputError, match="several owners") as caught:
        await memory.move_mem0(path)
    assert "user_id=jonas, user_id=maya" in caught.value.hint
    with pytest.raises(InputError, match="none of that user"):
        await memory.move_mem0(path, user_id="nobody")
    told = await memory.move_mem0(path, user_id="maya")
    assert (told.facts, told.not_moved) == (1, {"memories of other owners": 1})


@pytest.mark.parametrize("content", ["no json", "{}", '{"results": [1]}', "[1]"])
async def test_a_file_of_another_form_is_refused(
    memory: AsyncMemory, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "memories.json"
    path.write_text(content)
    with pytest.raises(InputError):
        await memory.move_mem0(path)
    with pytest.raises(InputError, match="cannot read"):
        await memory.move_mem0(tmp_path / "none.json")


async def test_a_credential_does_not_come_in(memory: AsyncMemory, tmp_path: Path) -> None:
    secret = "Quill9!Moth-Ferry"
    row = data("mem0")["get_all"]["results"][0] | {"memory": f"My password is {secret}"}
    path = tmp_path / "memories.json"
    path.write_text(json.dumps([row]))
    await memory.move_mem0(path)
    (fact,) = (await memory.facts()).facts
    assert secret not in fact.text + fact.object
