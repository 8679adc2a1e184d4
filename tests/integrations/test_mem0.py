"""mem0's methods on this memory: its signatures and forms, and users that share nothing."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from foreign import data

from engram_graph.errors import EngramError, ExtractionError
from engram_graph.integrations import mem0
from engram_graph.integrations.mem0_forms import UNSET
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Draft, Message

pytestmark = pytest.mark.anyio
MAYA = {"user_id": "maya"}
HALF_BLANK = [{"role": "user", "content": "I live in Porto."}, {"role": "user", "content": " "}]
PORTO, LISBON = "maya lives in Porto", "maya lives in Lisbon"


class Broken:
    """An extractor whose model is down."""

    name = "llm:down"

    async def extract(self, message: Message, recent: Any) -> list[Draft]:
        raise ExtractionError("the model is down")

    async def aclose(self) -> None:
        pass


@pytest.fixture
async def memory(settings: Any, namespace: str) -> AsyncIterator[mem0.AsyncMemory]:
    async with mem0.AsyncMemory(space=namespace, settings=settings) as one:
        yield one


@pytest.fixture
def blocking(settings: Any, namespace: str) -> Iterator[mem0.Memory]:
    with mem0.Memory(space=namespace, settings=settings) as one:
        yield one


def texts(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    return [row["memory"] for row in found["results"]]


# -- as mem0 has it --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Memory", "AsyncMemory"])
def test_the_signatures_are_those_of_mem0(name: str) -> None:
    ours = getattr(mem0, name)
    for method, recorded in data("mem0_signatures")[name].items():
        found = [
            [p.name, p.kind.name, _default(p), p.default is not p.empty]
            for p in inspect.signature(getattr(ours, method)).parameters.values()
        ]
        assert found == recorded, f"{name}.{method}"


def _default(parameter: inspect.Parameter) -> Any:
    if parameter.default is UNSET:
        return "<unset>"
    return None if parameter.default is parameter.empty else parameter.default


def test_the_forms_are_those_of_mem0(blocking: mem0.Memory) -> None:
    theirs = {row["id"]: row for row in data("mem0")["get_all"]["results"]}
    steps = data("mem0")["history"]
    added = blocking.add("Lives in Porto", user_id="maya", metadata={"source": "x"}, infer=False)
    (row,) = added["results"]
    assert (row["memory"], row["event"], row["role"]) == ("Lives in Porto", "ADD", "user")
    assert blocking.update(row["id"], "Lives in Lisbon") == {
        "message": "Memory updated successfully!"
    }
    (listed,) = blocking.get_all(filters=MAYA)["results"]
    assert listed.keys() >= next(iter(theirs.values())).keys()
    assert listed["metadata"] == {"source": "x"}
    assert (listed["id"], listed["user_id"]) == (row["id"], "maya")
    (found,) = blocking.search("Lisbon", filters=MAYA, explain=True)["results"]
    assert 0 < found["score"] <= 1
    assert found["score_details"]["fused"] > 0
    history = blocking.history(row["id"])
    assert [step.keys() for step in history] == [step.keys() for step in steps[:2]]
    names = ("old_memory", "new_memory", "event", "is_deleted", "role")
    assert [[step[n] for n in names] for step in history] == [
        [step[n] for n in names] for step in steps[:2]
    ]
    assert blocking.delete(row["id"]) == {"message": "Memory deleted successfully!"}
    assert blocking.get(row["id"]) is None
    assert blocking.history(row["id"]) == []
    assert blocking.reset() is None


# -- users -----------------------------------------------------------------------------------------


async def test_users_share_nothing(memory: mem0.AsyncMemory) -> None:
    for user in ("maya", "jonas", "maya/x", "may"):
        await memory.add("I live in Porto.", user_id=user)
    (maya,) = (await memory.get_all(filters=MAYA))["results"]
    (jonas,) = (await memory.get_all(user_id="jonas"))["results"]
    assert maya["id"] != jonas["id"]
    await memory.update(maya["id"], "I live in Lisbon.")
    await memory.delete(jonas["id"])
    assert texts(await memory.search("Where?", filters=MAYA, threshold=0)) == ["I live in Lisbon."]
    assert texts(await memory.search("Where?", user_id="jonas", threshold=0)) == []
    assert texts(await memory.get_all(user_id="maya/x")) == ["maya/x lives in Porto"]
    assert texts(await memory.get_all(agent_id="maya")) == []
    # An id is good for its own user only.
    forged = maya["id"].replace("user/maya/", "user/jonas/")
    assert await memory.get(forged) is None
    with pytest.raises(mem0.MemoryNotFoundError):
        await memory.delete(forged)
    await memory.delete_all(user_id="maya")
    assert texts(await memory.get_all(filters=MAYA)) == []
    assert len((await memory.get_all(user_id="may"))["results"]) == 1


async def test_a_reset_stays_in_its_space(
    memory: mem0.AsyncMemory, settings: Any, namespace: str
) -> None:
    async with mem0.AsyncMemory(space=f"{namespace}-two", settings=settings) as other:
        for one in (memory, other):
            await one.add("Speaks Polish", user_id="jonas", infer=False)
        await memory.reset()
        assert texts(await memory.get_all(user_id="jonas")) == []
        assert texts(await other.get_all(user_id="jonas")) == ["Speaks Polish"]


async def test_agents_runs_and_metadata_narrow_a_users_memories(memory: mem0.AsyncMemory) -> None:
    await memory.add("Likes tea", user_id="maya", agent_id="cook", infer=False)
    (row,) = (
        await memory.add(
            "Likes rowing", user_id="maya", agent_id="coach", metadata={"n": 1}, infer=False
        )
    )["results"]
    await memory.update(row["id"], "Likes sculling", metadata={"m": 2})
    coach = {"user_id": "maya", "agent_id": "coach"}
    (found,) = (await memory.get_all(filters=coach))["results"]
    assert (found["memory"], found["metadata"]) == ("Likes sculling", {"n": 1, "m": 2})
    assert (found["id"], found["agent_id"]) == (row["id"], "coach")
    assert texts(await memory.search("likes", filters=MAYA | {"m": 2}, threshold=0)) == [
        "Likes sculling"
    ]
    await memory.delete_all(user_id="maya", agent_id="coach")
    assert texts(await memory.get_all(filters=MAYA)) == ["Likes tea"]


# -- what is inferred ------------------------------------------------------------------------------


async def test_a_chat_is_read_and_what_changes_supersedes(memory: mem0.AsyncMemory) -> None:
    first = await memory.add(
        [
            {"role": "system", "content": "You are kind."},
            {"role": "user", "content": "I live in Porto."},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="maya",
        run_id="chat-1",
        timestamp=1704877200,
    )
    second = await memory.add("I moved to Lisbon.", user_id="maya", timestamp="2024-06-02")
    assert [(row["memory"], row["event"]) for row in second["results"]] == [
        (LISBON, "ADD"),
        (PORTO, "DELETE"),
    ]
    old = first["results"][0]["id"]
    assert second["results"][1]["id"] == old
    assert texts(await memory.get_all(filters=MAYA)) == [LISBON]
    assert texts(await memory.get_all(filters=MAYA, show_expired=True)) == [
        PORTO,
        LISBON,
    ]
    assert texts(await memory.search("Porto", filters=MAYA, threshold=0)) == [LISBON]
    rows = await memory.history(old)
    assert [(row["event"], row["new_memory"]) for row in rows] == [
        ("ADD", PORTO),
        ("UPDATE", LISBON),
    ]
    # The one that superseded it is another memory: deleting it leaves the old one.
    await memory.delete(second["results"][0]["id"])
    assert texts(await memory.get_all(filters=MAYA, show_expired=True)) == [PORTO]


async def test_an_update_changes_the_triple_with_the_words(
    memory: mem0.AsyncMemory, make_memory: Any, namespace: str
) -> None:
    (row,) = (await memory.add("I live in Porto.", user_id="maya"))["results"]
    await memory.update(row["id"], "I live in Lisbon.")
    own: AsyncMemory = make_memory(f"{namespace}/user/maya")
    line = await own.history("maya", "lives_in")
    assert [(f.object, f.open) for f in line.facts] == [("Porto", False), ("Lisbon", True)]
    assert line.facts[0].valid_until == line.facts[1].valid_from
    await memory.update(row["id"], data="Somewhere by the sea, at last")
    found = await memory.get(row["id"])
    assert found is not None
    assert found["memory"] == "Somewhere by the sea, at last"
    (fact,) = (await own.facts(open=True)).facts
    assert (fact.predicate, fact.object) == ("related_to", "Somewhere by the sea, at last")
    before = await memory.history(row["id"])
    await memory.update(row["id"], found["memory"])  # it says that already
    assert await memory.history(row["id"]) == before
    assert [step["event"] for step in await memory.history(row["id"])] == [
        "ADD",
        "UPDATE",
        "UPDATE",
    ]
    await memory.delete(row["id"])
    assert (await own.facts()).facts == ()


async def test_a_model_that_is_down_loses_nothing(settings: Any, namespace: str) -> None:
    parts = {"settings": settings, "extractor": Broken()}
    async with mem0.AsyncMemory(space=namespace, **parts) as memory:
        with pytest.raises(ExtractionError, match="kept"):
            await memory.add("I live in Porto.", user_id="maya")
        (row,) = (await memory.add("Plays go", user_id="maya", infer=False))["results"]
        await memory.update(row["id"], "Plays shogi")
        assert texts(await memory.get_all(filters=MAYA)) == ["Plays shogi"]
    async with AsyncMemory(f"{namespace}/user/maya", settings=settings) as own:
        assert [len(done.facts) for done in await own.resume()] == [1]


async def test_the_same_again_is_no_second_memory(memory: mem0.AsyncMemory) -> None:
    for event in ("ADD", "NONE"):
        (row,) = (await memory.add("Plays go", user_id="maya", infer=False))["results"]
        assert row["event"] == event
    assert texts(await memory.get_all(filters=MAYA)) == ["Plays go"]


async def test_what_expires_is_hidden_then(memory: mem0.AsyncMemory) -> None:
    today = date.today()  # noqa: DTZ011 - a day of margin on both sides
    last = today + timedelta(days=2)
    added = await memory.add("Has a pass", user_id="maya", expiration_date=last, infer=False)
    (row,) = added["results"]
    (found,) = (await memory.get_all(filters=MAYA))["results"]
    assert found["expiration_date"] == last.isoformat()
    (old,) = (
        await memory.add(
            "Has a cold",
            user_id="maya",
            timestamp=(today - timedelta(days=9)).isoformat(),
            expiration_date=(today - timedelta(days=3)).isoformat(),
            infer=False,
        )
    )["results"]
    assert texts(await memory.get_all(filters=MAYA)) == ["Has a pass"]
    assert texts(await memory.get_all(filters=MAYA, show_expired=True)) == [
        "Has a pass",
        "Has a cold",
    ]
    assert await memory.get(old["id"]) is not None
    await memory.update(row["id"], expiration_date=today + timedelta(days=5))
    found = await memory.get(row["id"]) or {}
    assert found["expiration_date"] == (today + timedelta(days=5)).isoformat()
    assert [step["event"] for step in await memory.history(row["id"])] == ["ADD", "UPDATE"]


# -- what has no place here ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments", "kind"),
    [
        ("add", {"messages": "x"}, mem0.Mem0InputError),
        ("add", {"messages": "x", "user_id": " "}, mem0.Mem0InputError),
        ("add", {"messages": "x", "user_id": "a b"}, mem0.Mem0InputError),
        ("add", {"messages": 3, "user_id": "a"}, EngramError),
        ("add", {"messages": HALF_BLANK, "user_id": "a"}, EngramError),
        ("add", {"messages": HALF_BLANK, "user_id": "a", "infer": False}, EngramError),
        ("add", {"messages": "x", "user_id": "a", "memory_type": "y"}, mem0.UnsupportedError),
        ("add", {"messages": "x", "user_id": "a", "prompt": "y"}, mem0.UnsupportedError),
        ("add", {"messages": "x", "user_id": "a", "llm": "y"}, mem0.UnsupportedError),
        (
            "add",
            {"messages": "x", "user_id": "a", "metadata": {"run_id": "y"}},
            mem0.Mem0InputError,
        ),
        (
            "add",
            {"messages": "x", "user_id": "a", "expiration_date": "2030-01-01"},
            mem0.UnsupportedError,
        ),
        ("search", {"query": "x"}, mem0.Mem0InputError),
        ("search", {"query": " ", "user_id": "a"}, EngramError),
        ("search", {"query": "x", "user_id": "a", "top_k": 151}, mem0.Mem0InputError),
        ("search", {"query": "x", "user_id": "a", "threshold": 2}, mem0.Mem0InputError),
        ("search", {"query": "x", "user_id": "a", "keyword": True}, mem0.Mem0InputError),
        ("search", {"query": "x", "user_id": "a", "rerank": True}, mem0.UnsupportedError),
        (
            "search",
            {"query": "x", "user_id": "a", "reference_date": "2024-01-01"},
            mem0.UnsupportedError,
        ),
        (
            "search",
            {"query": "x", "filters": {"user_id": "a", "n": {"gt": 1}}},
            mem0.UnsupportedError,
        ),
        ("search", {"query": "x", "filters": {"AND": []}}, mem0.UnsupportedError),
        ("get_all", {}, mem0.Mem0InputError),
        ("update", {"memory_id": "user/a/b", "text": "x"}, mem0.MemoryNotFoundError),
        ("update", {"memory_id": "user/a/b"}, mem0.UnsupportedError),
        ("delete", {"memory_id": "nothing"}, mem0.MemoryNotFoundError),
        ("delete_all", {}, mem0.Mem0InputError),
        ("chat", {"query": "x"}, mem0.UnsupportedError),
        ("from_config", {"config_dict": {}}, mem0.UnsupportedError),
    ],
)
async def test_what_cannot_be_had_is_an_error_with_a_hint(
    memory: mem0.AsyncMemory,
    make_memory: Any,
    namespace: str,
    method: str,
    arguments: dict[str, Any],
    kind: type[EngramError],
) -> None:
    with pytest.raises(kind) as caught:
        await getattr(memory, method)(**arguments)
    assert caught.value.message
    if kind is not EngramError:
        assert isinstance(caught.value, ValueError)  # what mem0 raises
    if kind is mem0.UnsupportedError:
        assert caught.value.hint
    own: AsyncMemory = make_memory()
    assert not [n for n in await own.namespaces() if n.namespace.startswith(f"{namespace}/")]


def test_a_configuration_is_refused_before_anything_starts() -> None:
    for one in (mem0.Memory, mem0.AsyncMemory):
        with pytest.raises(mem0.UnsupportedError):
            one({"llm": {}})  # type: ignore[operator]
        with pytest.raises(mem0.Mem0InputError):
            one(space="a/b")
