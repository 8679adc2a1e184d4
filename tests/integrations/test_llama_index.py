"""EngramMemoryBlock in LlamaIndex's own Memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as ChatMemory
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from engram_graph.integrations.llama_index import EngramMemoryBlock
from engram_graph.sync import Memory

pytestmark = pytest.mark.anyio
TALK = [
    ("user", "I moved to Lisbon last week."),
    ("assistant", "How do you like it there, and did you find a place with enough light?"),
    ("user", "I love the light, and the trams that squeak up every hill in the morning."),
    ("assistant", "Trams are a fine way to start a day, if one is not in a hurry at all."),
]


@pytest.fixture
async def engine() -> AsyncIterator[AsyncEngine]:
    """Where LlamaIndex keeps its short-term memory."""
    one = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield one
    await one.dispose()


def chat(block: EngramMemoryBlock, engine: AsyncEngine) -> ChatMemory:
    return ChatMemory.from_defaults(
        session_id="monday",
        async_engine=engine,
        token_limit=60,
        chat_history_token_ratio=0.5,
        token_flush_size=10,
        memory_blocks=[block],
    )


async def test_messages_that_leave_are_remembered_and_found(
    sync_memory: Memory, engine: AsyncEngine
) -> None:
    block = EngramMemoryBlock(memory=sync_memory, speaker="Maya")
    one = chat(block, engine)
    for role, text in TALK:
        await one.aput(ChatMessage(role=role, content=text))
    (home,) = sync_memory.history("Maya", "lives_in").facts
    assert home.object == "Lisbon"
    first = sync_memory.explain(home).messages[0]
    assert (first.conversation, first.speaker) == ("monday", "Maya")

    later = ChatMemory.from_defaults(
        session_id="tuesday", memory_blocks=[block], async_engine=engine
    )
    await later.aput(ChatMessage(role="user", content="Where does Maya live?"))
    given = await later.aget()
    assert "Maya lives in Lisbon" in str(given[0].content)
    assert [str(each.content) for each in given[1:]][-1] == "Where does Maya live?"


async def test_nothing_known_or_asked_gives_nothing(sync_memory: Memory) -> None:
    block = EngramMemoryBlock(memory=sync_memory)
    assert await block.aget([]) == ""
    assert await block.aget([ChatMessage(role="user", content="Where is it?")]) == ""
    await block.aput([ChatMessage(role="tool", content="42"), ChatMessage(role="user", content="")])
    assert sync_memory.stats().messages == 0


async def test_truncation_drops_the_last_lines(sync_memory: Memory) -> None:
    block = EngramMemoryBlock(memory=sync_memory)
    content = "\n".join(f"line {number} of what is known" for number in range(9))
    shorter = await block.atruncate(content, 20)
    assert shorter
    assert content.startswith(shorter)
    assert await block.atruncate(content, 10_000) is None
