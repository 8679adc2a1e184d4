"""Items that several put and delete at once: one wins, and nothing is left of what went."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engram_graph.memory import AsyncMemory

pytestmark = pytest.mark.anyio
HERE = (("ann", "a/b"), "home")


def put(memory: AsyncMemory, city: str, *, said: bool = False) -> Awaitable[Any]:
    text = f"I live in {city}."
    return memory.put_item(*HERE, {"city": city}, texts=[text], said=text if said else None)


async def test_an_item_is_deleted_once(memory: AsyncMemory) -> None:
    for _ in range(5):
        await put(memory, "Porto")
        gone = await asyncio.gather(*(memory.delete_item(*HERE) for _ in range(4)))
        assert sorted(gone) == [False, False, False, True]


async def test_what_is_put_and_deleted_at_once_leaves_no_text(memory: AsyncMemory) -> None:
    async def puts() -> None:
        for number in range(15):
            await put(memory, f"City{number}")

    async def deletes() -> None:
        for _ in range(15):
            await memory.delete_item(*HERE)

    await asyncio.gather(puts(), puts(), deletes(), deletes())
    await memory.delete_item(*HERE)
    assert await memory.find_items() == []
    assert not (await memory.doctor()).findings


async def test_what_an_item_said_goes_with_it_though_it_comes_later(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    add: Callable[..., Awaitable[Any]] = memory.add

    async def late(*args: Any, **named: Any) -> Any:
        assert await memory.delete_item(*HERE)
        return await add(*args, **named)

    monkeypatch.setattr(memory, "add", late)
    await put(memory, "Porto", said=True)
    counts = await memory.stats()
    assert (counts.messages, counts.facts) == (0, 0)


@pytest.mark.parametrize("query", [None, "Where do I live?"])
async def test_a_limit_may_be_as_large_as_one_likes(memory: AsyncMemory, query: str | None) -> None:
    await put(memory, "Porto")
    for limit in (2**31, 2**70):
        (hit,) = await memory.find_items(query=query, limit=limit)
        assert hit.item.key == "home"
