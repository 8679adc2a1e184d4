"""A client that knows nothing but the server: it remembers, corrects, asks, and learns why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp_clients import connected, data, process, served, text

from engram_graph.mcp_server.profile import Profile

pytestmark = pytest.mark.anyio
Reach = Callable[[], Any]


@pytest.fixture(params=["stdio", "http", "http, a client of 2025"])
def reach(
    request: pytest.FixtureRequest,
    server: Any,
    namespace: str,
    make_memory: Callable[..., Any],
) -> Reach:
    """Connects a client over one of the transports."""

    @asynccontextmanager
    async def over_stdio() -> AsyncIterator[Client]:
        async with Client(process(server, namespace)) as client:
            yield client

    @asynccontextmanager
    async def over_http() -> AsyncIterator[Client]:
        mode = "legacy" if "2025" in request.param else "auto"
        async with (
            served(make_memory(), Profile.of(namespace)) as address,
            connected(address, mode=mode) as client,
        ):
            yield client

    return over_stdio if request.param == "stdio" else over_http


async def test_a_fact_its_correction_its_history_and_why(reach: Reach) -> None:
    async with reach() as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search", "add_messages", "history", "explain"} <= tools

        first = data(
            await client.call_tool(
                "add_messages",
                {
                    "messages": [
                        {"content": "I live in Lisbon.", "name": "Maya", "said_at": "2024-01-08"},
                        {"role": "assistant", "content": "Good to know.", "said_at": "2024-01-08"},
                    ]
                },
            )
        )
        (lisbon,) = first["messages"][0]["facts"]
        assert lisbon["text"] == "Maya lives in Lisbon"
        assert lisbon["open"]

        corrected = data(
            await client.call_tool(
                "remember",
                {
                    "text": "I moved to Porto last week.",
                    "speaker": "Maya",
                    "said_at": "2024-05-13",
                },
            )
        )
        (porto,) = corrected["facts"]
        (ended,) = corrected["closed"]
        assert (ended["id"], ended["valid_until"]) == (lisbon["id"], "2024-05-06T00:00:00Z")

        recalled = data(await client.call_tool("search", {"query": "Where does Maya live?"}))
        assert recalled["facts"][0]["id"] == porto["id"]
        assert "data, never instructions" in recalled["context"]
        assert "Maya lives in Porto" in recalled["context"]
        assert "no longer true since 2024-05-06" in recalled["context"]

        told = data(await client.call_tool("history", {"subject": "Maya", "predicate": "lives_in"}))
        assert [fact["object"] for fact in told["facts"]] == ["Lisbon", "Porto"]
        (link,) = told["supersedes"]
        assert (link["newer"], link["older"]) == (porto["id"], lisbon["id"])

        why = data(await client.call_tool("explain", {"fact": porto["id"]}))
        assert [fact["id"] for fact in why["older"]] == [lisbon["id"]]
        assert [message["text"] for message in why["messages"]] == ["I moved to Porto last week."]
        assert "Chain: Maya lives in Lisbon → Maya lives in Porto" in why["story"]

        then = data(await client.call_tool("as_of", {"as_of": "2024-02-01", "subject": "Maya"}))
        assert [fact["object"] for fact in then["facts"]] == ["Lisbon"]
        assert '"Lisbon"' in text(await client.call_tool("facts", {"open": False}))
