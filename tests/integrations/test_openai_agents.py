"""EngramSession under the real SDK, whose model is a scripted server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SessionSettings
from agents.memory import Session
from openai import AsyncOpenAI

from engram_graph.errors import InputError
from engram_graph.integrations.openai_agents import EngramSession
from engram_graph.sync import Memory
from engram_graph.testing import FakeLLM

pytestmark = pytest.mark.anyio
ITEMS: list[Any] = [
    {"role": "user", "content": "I live in Porto."},
    {"type": "function_call", "call_id": "call_8fJ2kd", "name": "look", "arguments": '{"q": 1}'},
    {"type": "function_call_output", "call_id": "call_8fJ2kd", "output": "rain"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It rains.", "annotations": []}],
    },
]


@pytest.fixture
def model_server() -> Iterator[FakeLLM]:
    with FakeLLM() as one:
        yield one


async def test_items_stay_as_they_are_and_in_order(sync_memory: Memory) -> None:
    session = EngramSession("s1", sync_memory, speaker="Maya")
    assert isinstance(session, Session)
    other = EngramSession("s12", sync_memory)
    await session.add_items(ITEMS)
    await other.add_items(ITEMS[:1])
    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=2) == ITEMS[-2:]
    assert await session.get_items(limit=0) == []
    limited = EngramSession("s1", sync_memory, session_settings=SessionSettings(limit=1))
    assert await limited.get_items() == ITEMS[-1:]
    said = [turn.message.text for turn in sync_memory.search("rains Porto", mode="turns").turns]
    assert {"I live in Porto.", "It rains."} <= set(said)
    assert await session.pop_item() == ITEMS[-1]
    assert await session.get_items() == ITEMS[:-1]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    assert [fact.text for fact in sync_memory.facts().facts] == ["user lives in Porto"]
    with pytest.raises(InputError):
        EngramSession(" ", sync_memory)


async def test_two_sessions_of_a_real_agent(sync_memory: Memory, model_server: FakeLLM) -> None:
    client = AsyncOpenAI(base_url=model_server.url, api_key="none")
    model = OpenAIChatCompletionsModel("scripted", client)
    quiet = RunConfig(tracing_disabled=True)

    async def ask(session: str, said: str) -> list[dict[str, Any]]:
        """What the model was sent."""
        known = sync_memory.search(said).context
        agent = Agent(name="helper", instructions=known, model=model)
        here = EngramSession(session, sync_memory, speaker="Maya")
        await Runner.run(agent, said, session=here, run_config=quiet)
        sent: list[dict[str, Any]] = model_server.requests[-1]["messages"]
        return sent

    model_server.script("Lovely.", "With a view?", "In Lisbon.")
    await ask("monday", "I moved to Lisbon last week.")
    sent = await ask("monday", "It has a terrace.")
    assert [each["content"] for each in sent[1:]] == [
        "I moved to Lisbon last week.",
        "Lovely.",
        "It has a terrace.",
    ]
    sent = await ask("tuesday", "Where does Maya live?")
    assert [each["content"] for each in sent[1:]] == ["Where does Maya live?"]
    assert "Maya lives in Lisbon" in sent[0]["content"]  # by the fact, not by the chat
    await client.close()
