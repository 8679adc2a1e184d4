"""The MCP server over HTTP: who is let in, and that it works for several at once."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp_clients import BEARER, ROOT, TOKEN, Slow, command, connected, data, environment, served

from engram_graph.errors import ConfigurationError, InputError
from engram_graph.mcp_server.http import MAX_BODY, Door, Guard
from engram_graph.mcp_server.profile import Profile
from engram_graph.memory import AsyncMemory
from engram_graph.settings import Settings

pytestmark = pytest.mark.anyio
PAGE = "https://app.example"
ASK = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
TAKES = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def away() -> AsyncMemory:
    """A memory whose database does not answer."""
    return AsyncMemory("nobody", settings=Settings(neo4j_uri="bolt://127.0.0.1:9", embedder="none"))


async def test_only_who_may_is_let_in(away: AsyncMemory) -> None:
    async with (
        served(away, Profile.of("nobody"), origins=(PAGE,), hosts=("memory.example",)) as address,
        httpx2.AsyncClient(headers=TAKES) as web,
    ):

        async def post(**headers: str) -> Any:
            return await web.post(address, json=ASK, headers=headers)

        for wrong in (
            {},
            {"Authorization": ""},
            {"Authorization": TOKEN},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {TOKEN} {TOKEN}"},
        ):
            refused = await post(**wrong)
            assert refused.status_code == 401, wrong
            assert refused.headers["WWW-Authenticate"] == 'Bearer realm="engram_graph"'
            assert TOKEN not in refused.text
        for method in ("GET", "DELETE", "PUT"):
            assert (await web.request(method, address)).status_code == 401
        assert (await web.get(address.removesuffix("/mcp") + "/other")).status_code == 401

        assert (await post(**BEARER)).status_code == 200
        assert (await post(**BEARER, Origin=PAGE)).status_code == 200
        assert (await post(**BEARER, Host="memory.example:8765")).status_code == 200
        assert (await post(Authorization=f"bearer {TOKEN}")).status_code == 200
        for origin in ("https://evil.example", "http://localhost", "null", f"{PAGE}.evil.example"):
            assert (await post(**BEARER, Origin=origin)).status_code == 403, origin
        for host in ("evil.example", "127.0.0.1.evil.example", "memory.example.evil:80"):
            assert (await post(**BEARER, Host=host)).status_code == 421, host


async def test_a_page_of_an_allowed_origin_may_ask_first(away: AsyncMemory) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-a"}
    async with (
        served(away, Profile.of("nobody"), origins=(PAGE,)) as address,
        httpx2.AsyncClient() as web,
    ):
        mine = await web.options(address, headers=asks | {"Origin": PAGE})
        assert (mine.status_code, mine.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
        other = await web.options(address, headers=asks | {"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in other.headers


async def test_a_body_that_is_too_long_or_no_message_is_refused(away: AsyncMemory) -> None:
    async with (
        served(away, Profile.of("nobody")) as address,
        httpx2.AsyncClient(headers=TAKES | BEARER) as web,
    ):
        as_json = {"Content-Type": "application/json"}
        for body, status in (
            (b"x" * (MAX_BODY + 1), 413),
            (b"no json", 400),
            (b"[" * 100_000, 400),
            (b"\xff\xfe", 400),
        ):
            refused = await web.post(address, content=body, headers=as_json)
            assert refused.status_code == status
            assert "Traceback" not in refused.text
        assert (await web.post(address, json=ASK)).status_code == 200


async def test_health_says_whether_the_database_answers(
    away: AsyncMemory, memory: AsyncMemory, namespace: str
) -> None:
    for one, status, said in ((memory, 200, "ok"), (away, 503, "unavailable")):
        async with (
            served(one, Profile.of(namespace)) as address,
            httpx2.AsyncClient(timeout=30) as web,
        ):
            at = address.removesuffix("/mcp") + "/health"
            answers = await asyncio.gather(*(web.get(at) for _ in range(5)))
            assert {(each.status_code, each.text) for each in answers} == {
                (status, f'{{"status":"{said}"}}')
            }


async def test_two_clients_at_once_write_one_truth(memory: AsyncMemory, namespace: str) -> None:
    async with (
        served(memory, Profile.of(namespace)) as address,
        connected(address) as first,
        connected(address, mode="legacy") as second,
    ):
        fact = {"subject": "Maya", "predicate": "lives_in", "object": "Porto"}
        written = await asyncio.gather(
            *(client.call_tool("remember", fact) for client in (first, second) * 3)
        )
        assert not any(each.is_error for each in written)
        counts = data(await first.call_tool("stats", {}))
        assert (counts["facts"], counts["messages"]) == (1, 6)


async def test_a_call_can_be_broken_off(
    make_memory: Callable[..., AsyncMemory], namespace: str
) -> None:
    slow = Slow()
    async with (
        served(make_memory(extractor=slow), Profile.of(namespace)) as address,
        connected(address) as client,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "remember", {"text": "I live in Porto."})
            await slow.asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(60):
            await slow.cancelled.wait()
        assert data(await client.call_tool("stats", {}))["unfinished"] == 1


def test_a_door_without_a_lock_is_none() -> None:
    for token in ("", "short", "x" * 15, "ä" * 20, "a token\nwith a line"):
        with pytest.raises(ConfigurationError, match="ENGRAM_MCP_TOKEN"):
            Door(token)
    for origin in ("*", "app.example", f"{PAGE}/path", "https://*.example", "https://a@b"):
        with pytest.raises(InputError):
            Door(TOKEN, origins=(origin,))
    for host in ("*", "a/b", "http://a", "a b"):
        with pytest.raises(InputError):
            Door(TOKEN, hosts=(host,))
    assert TOKEN not in repr(Door(TOKEN))
    assert "0.0.0.0:*" not in Door(TOKEN, host="0.0.0.0").security().allowed_hosts
    assert "[::1]:*" in Door(TOKEN, host="::1").security().allowed_hosts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(server: Any, namespace: str, number: int, ctrl_c: None) -> None:
    with subprocess.Popen(
        command(namespace, "--http", "--port", "0"),
        env=environment(server) | {"ENGRAM_MCP_TOKEN": TOKEN},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        said = running.stderr.readline()
        assert said.startswith("MCP is served at http://127.0.0.1:")
        health = said.split()[-1].removesuffix("/mcp") + "/health"
        assert httpx2.get(health, timeout=60).status_code == 200
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert TOKEN not in said + err


def test_without_a_token_it_does_not_start(on_server: Callable[..., Any], namespace: str) -> None:
    refused = on_server("-n", namespace, "mcp", "--http", "--port", "0", "--json")
    assert (refused.code, refused.error["code"]) == (2, "configuration")
    assert "ENGRAM_MCP_TOKEN is not set" in refused.error["message"]


def test_a_port_that_is_taken_is_told(
    on_server: Callable[..., Any], namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    monkeypatch.setenv("ENGRAM_MCP_TOKEN", TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = on_server("-n", namespace, "mcp", "--http", "--port", port)
    assert refused.code == 2
    assert f"cannot listen on 127.0.0.1:{port}" in refused.err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--port", "9000"],
        ["--allow-origin", PAGE],
        ["--profile", "all"],
        ["--http", "--allow-origin", "*"],
        ["--allow-namespace", " "],
    ],
)
def test_wrong_usage_is_told(
    on_server: Callable[..., Any],
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
    wrong: list[str],
) -> None:
    monkeypatch.setenv("ENGRAM_MCP_TOKEN", TOKEN)
    refused = on_server("-n", namespace, "mcp", *wrong)
    assert (refused.code, refused.out) == (2, "")


def test_it_needs_a_namespace(on_server: Callable[..., Any]) -> None:
    refused = on_server("mcp")
    assert (refused.code, refused.out) == (2, "")
    assert "Pass -n NAME or set ENGRAM_NAMESPACE" in refused.err


@pytest.mark.anyio
async def test_a_call_cut_off_by_the_end_is_answered() -> None:
    async def cut_off(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    guarded = httpx2.ASGITransport(Guard(cut_off, TOKEN))
    async with httpx2.AsyncClient(transport=guarded, headers=BEARER) as web:
        reply = await web.post("http://localhost/mcp")
    assert (reply.status_code, reply.json()) == (503, {"error": "the server stops"})
