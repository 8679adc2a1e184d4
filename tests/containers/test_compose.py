"""The compose files: read by what is installed here, and the first one run as its reader would."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.containers.names import NEO4J, ROOT, SERVER

pytestmark = pytest.mark.timeout(1800)  # the first test builds the images

FILES = [["compose.yaml"], ["compose.yaml", "compose.ollama.yaml"], ["compose.cluster.yaml"]]
SECRETS = {
    "NEO4J_PASSWORD": "a password of the tests",
    "ENGRAM_MCP_TOKEN": "a-token-of-the-tests",
}
HEALTHY_S = 300
Run = Callable[..., subprocess.CompletedProcess[str]]


def runner(compose: list[str], files: list[str], project: str, values: dict[str, str]) -> Run:
    """Runs a command of compose on these files, with these variables and no others of ours."""
    given = [word for name in files for word in ("-f", f"docker/{name}")]

    def run(*words: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*compose, "-p", project, *given, *words],
            cwd=ROOT,
            env=os.environ | values,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done

    return run


@pytest.mark.parametrize("files", FILES, ids="+".join)
def test_compose_takes_the_files_and_nothing_is_open_to_others(
    compose: list[str], files: list[str]
) -> None:
    values = SECRETS | {"NEO4J_URI": "neo4j+s://cluster.example"}
    read = yaml.safe_load(runner(compose, files, "engram", values)("config").stdout)
    for name, service in read["services"].items():
        for port in service.get("ports", []):
            host = port["host_ip"] if isinstance(port, dict) else port.partition(":")[0]
            assert host == "127.0.0.1", (name, port)
        assert not service.get("privileged"), name
    server = read["services"]["engram"]
    assert server["read_only"]
    assert server["cap_drop"] == ["ALL"]


@pytest.mark.parametrize("missing", ["NEO4J_PASSWORD", "ENGRAM_MCP_TOKEN"])
def test_compose_says_what_is_not_set(compose: list[str], missing: str) -> None:
    values = {name: value for name, value in SECRETS.items() if name != missing}
    said = runner(compose, ["compose.yaml"], "engram", values)("config", fails=True).stderr
    assert f"set {missing}" in said


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Stack:
    """Neo4j and server as ``docker/compose.yaml`` has them, of our images and on free ports."""

    def __init__(self, compose: list[str], engine: Any) -> None:
        self.project = f"engram-test-{uuid.uuid4().hex[:8]}"
        self.port = free_port()
        self._engine = engine
        self.run = runner(
            compose,
            ["compose.yaml"],
            self.project,
            SECRETS
            | {
                "NEO4J_IMAGE": NEO4J,
                "ENGRAM_IMAGE": SERVER,
                "ENGRAM_PORT": str(self.port),
                "NEO4J_BOLT_PORT": str(free_port()),
                "NEO4J_HTTP_PORT": str(free_port()),
                "ENGRAM_EMBEDDER": "hash",
            },
        )

    def up(self) -> None:
        """Start, and wait until the server is healthy."""
        self.run("up", "-d", "--no-build")
        deadline = time.monotonic() + HEALTHY_S
        while (state := self.server().attrs["State"])["Health"]["Status"] != "healthy":
            assert state["Running"], self.run("logs", "--no-color").stdout
            assert time.monotonic() < deadline, self.run("logs", "--no-color").stdout
            time.sleep(0.2)

    def containers(self) -> list[Any]:
        label = f"com.docker.compose.project={self.project}"
        found: list[Any] = self._engine.containers.list(all=True, filters={"label": label})
        return found

    def server(self) -> Any:
        """The container of the MCP server."""
        (one,) = (c for c in self.containers() if c.attrs["Config"]["Image"] == SERVER)
        return one

    def volumes(self) -> list[Any]:
        found: list[Any] = self._engine.volumes.list(filters={"name": self.project})
        return found

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """The official client, connected over HTTP."""
        bearer = {"Authorization": f"Bearer {SECRETS['ENGRAM_MCP_TOKEN']}"}
        address = f"http://127.0.0.1:{self.port}/mcp"
        async with (
            httpx2.AsyncClient(headers=bearer, timeout=60) as web,
            Client(streamable_http_client(address, http_client=web)) as client,
        ):
            yield client


@pytest.fixture
def stack(compose: list[str], engine: Any, images: None) -> Iterator[Stack]:
    one = Stack(compose, engine)
    try:
        yield one
    finally:
        one.run("down", "-v")


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.anyio
async def test_a_memory_outlives_its_containers(stack: Stack) -> None:
    stack.up()
    fact = {"subject": "Maya", "predicate": "lives_in", "object": "Lisbon"}
    async with stack.client() as client:
        await call(client, "remember", **fact)
        found = await call(client, "search", query="Where does Maya live?")
        assert "Maya lives in Lisbon" in found["context"]
    async with httpx2.AsyncClient() as web:
        address = f"http://127.0.0.1:{stack.port}"
        assert (await web.get(f"{address}/health")).json() == {"status": "ok"}
        assert (await web.post(f"{address}/mcp", json={})).status_code == 401

    server = stack.server()
    assert server.attrs["HostConfig"]["ReadonlyRootfs"]
    stack.run("stop", "engram")
    assert server.wait()["StatusCode"] == 0, "asked to stop, it ends by itself"

    stack.run("down")
    assert not stack.containers()
    assert stack.volumes()
    stack.up()
    async with stack.client() as client:
        found = await call(client, "search", query="Where does Maya live?")
        assert "Maya lives in Lisbon" in found["context"]

    stack.run("down", "-v")
    assert not stack.containers()
    assert not stack.volumes()
