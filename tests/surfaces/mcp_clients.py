"""Ways to reach the MCP server from a test: a process of its own, or a loopback port."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

import engram_graph
from engram_graph.mcp_server import http
from engram_graph.mcp_server.profile import Profile
from engram_graph.memory import AsyncMemory

TOKEN = "a-token-of-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ROOT = Path(engram_graph.__file__).parents[1]


def environment(server: Any) -> dict[str, str]:
    """What a process needs to use this run's Neo4j."""
    return {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "ENGRAM_EMBEDDER": "hash",
        "ENGRAM_HOME": os.environ["ENGRAM_HOME"],
        "PYTHONPATH": str(ROOT),
    }


def command(namespace: str, *options: str) -> list[str]:
    """The command line of a server."""
    return [sys.executable, "-m", "engram_graph", "-n", namespace, "mcp", *options]


def process(server: Any, namespace: str, *options: str) -> StdioServerParameters:
    """A server for the official client to start."""
    program, *rest = command(namespace, *options)
    return StdioServerParameters(command=program, args=rest, env=environment(server))


@asynccontextmanager
async def served(memory: AsyncMemory, profile: Profile, **door: Any) -> AsyncIterator[str]:
    """The address of a server in this loop; it and ``memory`` are closed at the end."""
    stop = asyncio.Event()
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        http.serve(
            memory,
            profile,
            http.Door(TOKEN, port=0, **door),
            stop,
            listening=address.set_result,
        )
    )
    try:
        await asyncio.wait((serving, address), return_when=asyncio.FIRST_COMPLETED)
        yield address.result()
    finally:
        stop.set()
        await serving


@asynccontextmanager
async def connected(address: str, **options: Any) -> AsyncIterator[Client]:
    """The official client at ``address``, with the token."""
    async with (
        httpx2.AsyncClient(headers=BEARER, timeout=60) as web,
        Client(streamable_http_client(address, http_client=web), **options) as client,
    ):
        yield client


def text(result: CallToolResult) -> str:
    """What a model reads of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def data(result: CallToolResult) -> dict[str, Any]:
    """What a program reads of a result that is none of a failure."""
    assert not result.is_error, text(result)
    found = result.structured_content
    assert isinstance(found, dict)
    return found


class Slow:
    """An extractor that answers when it is let go; ``cancelled`` once it was broken off."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.cancelled = anyio.Event()

    async def extract(self, *_: Any, **__: Any) -> NoReturn:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            self.cancelled.set()
            raise
        raise AssertionError

    async def aclose(self) -> None:
        return None
