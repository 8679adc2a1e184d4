"""``kill -9``, of the database and of the client, in the middle of an ingest: nothing is lost.

The server here is one of its own, on a folder of its own: it is killed for real.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from canonical import canonical

from engram_graph.errors import StoreUnavailableError
from engram_graph.graph import write
from engram_graph.memory import AsyncMemory
from engram_graph.server import EmbeddedServer, ServerInfo
from engram_graph.settings import Settings

pytestmark = pytest.mark.anyio

CITIES = ("Bonn", "Cork", "Oslo", "Bonn")
TALK = [
    {
        "text": text.format(n=number, city=CITIES[number % 4]),
        "speaker": ("Ann", "Bo", "Cy")[number % 3],
        "said_at": f"2024-{number // 28 + 1:02}-{number % 28 + 1:02}T09:00:00Z",
        "conversation": ("one", "two")[number % 2],
    }
    for number, text in enumerate(
        [
            "I moved to {city}.",
            "I own a red kayak.",
            "I live in {city} and I love rain.",
            "Hm, {n}.",
        ]
        * 10
    )
]
CLIENT = """
import asyncio, sys
from engram_graph.memory import AsyncMemory
def told(done, total):
    print(done, flush=True)
    if done >= 20:
        sys.stdin.read()  # until it is killed
async def main():
    async with AsyncMemory(sys.argv[1]) as memory:
        await memory.ingest(sys.argv[2], progress=told)
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(tmp_path_factory.mktemp("crash"))
    start(server)
    yield server
    server.down()


def start(server: EmbeddedServer) -> ServerInfo:
    return server.up(http=False, heap_mb=256)


def settings_of(info: ServerInfo) -> Settings:
    return Settings(
        neo4j_uri=info.bolt_uri,
        neo4j_username=info.username,
        neo4j_password=info.password,
        embedder="hash",
        extractor="patterns",
    )


@asynccontextmanager
async def client(server: EmbeddedServer, namespace: str) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(namespace, settings=settings_of(start(server))) as memory:
        yield memory


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(turn) + "\n" for turn in TALK), encoding="utf-8")
    return path


async def graph_of(server: EmbeddedServer, namespace: str) -> Any:
    """What the namespace holds; doctor must find nothing wrong."""
    async with client(server, namespace) as memory:
        report = await memory.doctor()
        assert report.sound, report.findings
        assert (await memory.stats()).unfinished == 0
        return await canonical((await memory.open()).graph, namespace)


async def undisturbed(server: EmbeddedServer, talk: Path) -> Any:
    async with client(server, "calm") as memory:
        await memory.ingest(talk)
    return await graph_of(server, "calm")


async def test_the_database_is_killed(own_server: EmbeddedServer, talk: Path) -> None:
    calm = await undisturbed(own_server, talk)
    assert len(calm["messages"]) == len(TALK)
    assert len(calm["links"]) > 10
    info = start(own_server)

    def kill(done: int, total: int) -> None:
        if done == 17:
            os.kill(info.pid, signal.SIGKILL)

    async with AsyncMemory("killed", settings=settings_of(info)) as memory:
        with pytest.raises(StoreUnavailableError) as caught:
            await memory.ingest(talk, progress=kill)
    assert info.password not in str(caught.value.as_dict())
    again = start(own_server)
    assert (again.started, again.pid != info.pid) == (True, True)
    async with client(own_server, "killed") as memory:
        stored = (await memory.stats()).messages
        assert 17 <= stored < len(TALK)
        done = await memory.ingest(talk)
        assert done.messages == len(TALK) - stored
    assert await graph_of(own_server, "killed") == calm


async def test_the_client_is_killed(own_server: EmbeddedServer, talk: Path) -> None:
    calm = await undisturbed(own_server, talk)
    info = start(own_server)
    await anyio.to_thread.run_sync(run_and_kill, info, talk)
    async with client(own_server, "orphaned") as memory:
        assert 15 <= (await memory.stats()).messages < len(TALK)
        await memory.ingest(talk)
    assert await graph_of(own_server, "orphaned") == calm


def run_and_kill(info: ServerInfo, talk: Path) -> None:
    """Ingest in a process of its own, and kill it after the fifteenth message."""
    child = subprocess.Popen(
        [sys.executable, "-c", CLIENT, "orphaned", str(talk)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            "NEO4J_URI": info.bolt_uri,
            "NEO4J_USERNAME": info.username,
            "NEO4J_PASSWORD": info.password,
            "ENGRAM_EMBEDDER": "hash",
            "ENGRAM_EXTRACTOR": "patterns",
        },
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if line.strip() == "15":
                break
    finally:
        child.kill()
        child.communicate()


async def test_killed_between_any_two_steps(
    own_server: EmbeddedServer, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client stops before or after each kind of write, in turn, and starts again."""
    calm = await undisturbed(own_server, talk)

    class Stopped(BaseException):
        pass

    whole = {name: getattr(write, name) for name in ("store_message", "set_drafts", "apply")}
    name, places, calls, last = "stopped", 0, 0, 0

    def stopping(function: Any, stop_before: bool) -> Any:
        async def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == last and stop_before:
                raise Stopped
            result = await function(*args, **options)
            if calls == last:
                raise Stopped
            return result

        return wrapped

    for round_ in range(10):  # each gets further, and stops at another kind of write
        before = round_ % 2 == 0
        calls, last = 0, 4 + 4 * round_
        with monkeypatch.context() as patch:
            for each, function in whole.items():
                patch.setattr(write, each, stopping(function, before))
            async with client(own_server, name) as memory:
                try:
                    await memory.resume()
                    await memory.ingest(talk)
                except Stopped:
                    places += 1
    assert places == 10
    async with client(own_server, name) as memory:
        await memory.ingest(talk)
    assert await graph_of(own_server, name) == calm
