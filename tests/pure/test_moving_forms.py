"""What is read from other memories: speakers, moments, chains, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.formats import moving_agent_memory, moving_graphiti, moving_mem0
from engram_graph.formats.moving import Records, moment, refuse_unusable, short
from engram_graph.models.export import LinkRecord
from engram_graph.models.moving import Foreign, ForeignFact, ForeignMessage
from engram_graph.rules.thresholds import DEFAULT
from engram_graph.vocabulary import ClosedReason, Role

DAY = datetime(2024, 1, 1, tzinfo=UTC)
NOTHING = {"summaries": 0, "entities": 0, "communities": 0, "sagas": 0}


def episode(content: Any, **more: Any) -> dict[str, Any]:
    plain = {"uuid": "e", "name": "n", "source": "message", "source_description": "chat"}
    return {"episode": plain | {"content": content, "valid_at": DAY, "created_at": DAY} | more}


def edge(name: str, obj: str, start: datetime | None, end: datetime | None) -> dict[str, Any]:
    fact = {"uuid": obj, "name": name, "fact": f"Maya {name} {obj}", "episodes": []}
    more = {"created_at": DAY, "expired_at": None, "valid_at": start, "invalid_at": end}
    fact |= more | {"reference_time": None}
    return {"fact": fact, "subject": "Maya", "object": obj, "attributes": 0}


def fact(name: str, start: datetime = DAY, **more: Any) -> ForeignFact:
    given: dict[str, Any] = {"relation": "owns", "object": name, "text": f"Maya owns {name}"}
    given |= {"subject": "Maya", "valid_from": start, "recorded_at": DAY}
    return ForeignFact(id=name, **given | more)


# -- graphiti --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "speaker", "role", "text"),
    [
        ("Maya: I moved.", "Maya", Role.USER, "I moved."),
        ("assistant: Noted.", "assistant", Role.ASSISTANT, "Noted."),
        ("Ada (assistant): Noted.", "Ada", Role.ASSISTANT, "Noted."),
        ("I moved.", "user", Role.USER, "I moved."),
        ("Maya: Hi.\nJonas: Hello.", "user", Role.USER, "Maya: Hi.\nJonas: Hello."),
        ("Maya: One\nand two.", "Maya", Role.USER, "One\nand two."),
    ],
)
def test_a_turn_tells_its_speaker(content: str, speaker: str, role: Role, text: str) -> None:
    found = moving_graphiti.read("g", [episode(content)], [], NOTHING)
    (message,) = found.messages
    assert (message.speaker, message.role, message.text) == (speaker, role, text)


def test_a_document_is_told_by_its_description() -> None:
    found = moving_graphiti.read("g", [episode("Maya: a list", source="text")], [], NOTHING)
    (message,) = found.messages
    assert (message.speaker, message.role, message.text) == ("chat", Role.SYSTEM, "Maya: a list")


def test_only_a_plain_successor_supersedes() -> None:
    later = DAY + timedelta(days=9)
    rows = [
        edge("LIVES_IN", "Porto", DAY, later),
        edge("LIVES_IN", "Lisbon", later, None),
        edge("WORKS_AT", "Mill", later, None),  # begins then as well, but is another relation
        edge("OWNS", "boat", DAY, later),  # whose successor cannot be told
        edge("SPEAKS", "Welsh", later, later),  # empty
    ]
    facts = {one.id: one for one in moving_graphiti.read("g", [], rows, NOTHING).facts}
    assert facts["Lisbon"].supersedes == ("Porto",)
    assert [name for name, one in facts.items() if one.supersedes] == ["Lisbon"]
    assert facts["Porto"].closed_reason is ClosedReason.SUPERSEDED
    assert facts["boat"].closed_reason is ClosedReason.STATED


def test_a_fact_without_its_moments_is_left_out() -> None:
    row = edge("OWNS", "boat", DAY, None)
    row["fact"]["created_at"] = None
    found = moving_graphiti.read("g", [episode("Hi", valid_at="soon")], [row], NOTHING)
    assert [(one.kind, one.id) for one in found.left_out] == [("episode", "e"), ("fact", "boat")]
    assert (found.messages, found.facts) == ([], [])


# -- neo4j-agent-memory ----------------------------------------------------------------------------


def test_metadata_that_is_no_object_is_kept_as_it_is() -> None:
    def message(stored: str) -> dict[str, Any]:
        plain = {"id": "m", "role": "robot", "content": "Hi", "timestamp": DAY}
        return {"message": plain | {"metadata": stored}, "session": None, "user": None}

    rest = {"facts_of_nobody": 0, "entities": 0, "reasoning_traces": 0}
    for stored, kept in (("no json", "no json"), ("[1]", [1])):
        found = moving_agent_memory.read(None, [message(stored)], [], [], [], rest)
        (told,) = found.messages
        assert told.metadata["metadata"] == kept
        assert (told.role, told.speaker, told.conversation) == (Role.USER, "user", "default")


# -- mem0 ------------------------------------------------------------------------------------------


def test_versions_follow_each_other() -> None:
    memory = {"id": "a", "memory": "three", "user_id": "maya", "created_at": "2024-01-01"}
    memory |= {"updated_at": "2024-03-01T00:00:00"}
    history = [
        {"memory_id": "a", "new_memory": "one", "created_at": "2024-01-01"},
        {"memory_id": "a", "new_memory": "one", "updated_at": "2024-01-05"},  # metadata only
        {"memory_id": "a", "new_memory": "two", "updated_at": "2024-02-01"},
    ]
    found = moving_mem0.read([memory], history, ("user_id", "maya")).facts
    assert [(one.id, one.text) for one in found] == [
        ("a/1", "one"),
        ("a/2", "two"),
        ("a", "three"),
    ]
    assert [one.valid_until for one in found] == [
        datetime(2024, 2, 1, tzinfo=UTC),
        datetime(2024, 3, 1, tzinfo=UTC),
        None,
    ]
    assert [one.supersedes for one in found] == [(), ("a/1",), ("a/2",)]


@pytest.mark.parametrize(
    "broken", [{"id": None}, {"memory": None}, {"created_at": None}, {"metadata": [1]}]
)
def test_a_memory_that_lacks_something_is_left_out(broken: dict[str, Any]) -> None:
    memory = {"id": "a", "memory": "x", "user_id": "maya", "created_at": "2024-01-01"}
    found = moving_mem0.read([memory | broken], [], ("user_id", "maya"))
    assert [one.kind for one in found.left_out] == ["memory"]
    assert found.facts == []


# -- all of them -----------------------------------------------------------------------------------


def test_what_cannot_be_stored_is_refused_by_itself() -> None:
    told = ForeignMessage("m", "c", "Maya", Role.USER, "Hi", DAY, DAY)
    foreign = Foreign("graphiti", "g", messages=[told, told])
    foreign.messages.append(ForeignMessage("n", "c", "Maya", Role.USER, "\x00", DAY, DAY))
    ended = {"valid_until": DAY + timedelta(days=5)}
    foreign.facts += [
        fact("boat", **ended),
        fact("bike", DAY + timedelta(days=1), supersedes=("boat", "gone")),
        fact("car", DAY + timedelta(days=2), supersedes=("bike",)),  # which is open
        fact("cart", supersedes=("sled",), **ended),
        fact("sled", supersedes=("cart",), **ended),  # in a circle
        fact("raft", confidence=float("nan")),
        fact("..."),
        fact("kite", valid_until=DAY - timedelta(days=1)),
    ]
    refuse_unusable(foreign)
    assert [one.id for one in foreign.messages] == ["m"]
    assert [one.id for one in foreign.facts] == ["boat", "bike", "car", "cart", "sled"]
    assert sorted((one.kind, one.id) for one in foreign.left_out) == [
        ("fact", "..."),
        ("fact", "kite"),
        ("fact", "raft"),
        ("link", "car → bike"),
        ("link", "cart → sled"),
        ("message", "n"),
    ]
    records = Records(foreign, "x", DEFAULT)
    links = [record.link for record in records.all() if isinstance(record, LinkRecord)]
    assert len(links) == 2


def test_a_moment_without_a_zone_is_utc() -> None:
    for value in ("2024-01-01", "2024-01-01T00:00:00", DAY.replace(tzinfo=None), DAY):
        assert moment(value, "x") == DAY
    assert moment(None, "x") is None
    assert moment("", "x") is None
    with pytest.raises(InputError):
        moment("soon", "x")
    with pytest.raises(InputError):
        moment(7, "x")


def test_a_long_sentence_makes_a_short_name() -> None:
    assert short(" Likes\n tea ") == "Likes tea"
    assert len(short("word " * 90)) <= 100
    assert short("word " * 90).endswith("…")
