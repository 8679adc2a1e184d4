"""The MCP server as a process: its standard output holds messages of the protocol, nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import ROOT, command, environment

NOISE = """
import os, sys
from engram_graph.memory import AsyncMemory
from engram_graph.cli import app

stats = AsyncMemory.stats

async def noisy(self, **given):
    print("a library prints")
    os.write(1, b"a library writes\\n")
    os.system("echo a child prints; head -c 1")
    return await stats(self, **given)

AsyncMemory.stats = noisy
app.main()
"""


class Talk:
    """A server process, spoken to by hand; what it says on standard output is JSON-RPC or fails."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.running = running
        self.last = 0

    def say(self, line: bytes) -> None:
        """One line, as it is."""
        assert self.running.stdin is not None
        self.running.stdin.write(line + b"\n")
        self.running.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next message."""
        assert self.running.stdout is not None
        found: dict[str, Any] = json.loads(self.running.stdout.readline())
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a request."""
        self.last += 1
        asked = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.say(json.dumps(asked).encode())
        found = self.hear()
        assert found["id"] == self.last
        return found

    def begin(self) -> dict[str, Any]:
        """Shake hands; what the server says of itself."""
        client = {"name": "by hand", "version": "1"}
        found = self.ask(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client
        )
        self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        result: dict[str, Any] = found["result"]
        return result

    def end(self) -> str:
        """Close its input: it says no more, and goes; its standard error."""
        out, err = self.running.communicate(timeout=60)
        assert out == b""
        assert self.running.returncode == 0
        return err.decode()


@contextmanager
def talking(line: list[str], environ: dict[str, str]) -> Iterator[Talk]:
    with subprocess.Popen(
        line,
        cwd=ROOT,
        env=os.environ | environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        try:
            yield Talk(running)
        finally:
            running.kill()


def test_the_protocol_by_hand(server: Any, namespace: str) -> None:
    with talking(command(namespace), environment(server)) as talk:
        about = talk.begin()
        assert about["protocolVersion"] == "2025-06-18"
        assert about["serverInfo"]["name"] == "engram_graph"
        assert {"tools", "resources", "prompts"} <= about["capabilities"].keys()
        tools = talk.ask("tools/list")["result"]["tools"]
        assert {tool["name"] for tool in tools} >= {"search", "remember"}
        assert {frozenset(tool["annotations"]) for tool in tools} == {
            frozenset(
                ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            )
        }

        given = {"subject": "Maya", "predicate": "lives_in", "object": "São Paulo"}
        added = talk.ask("tools/call", name="remember", arguments=given)["result"]
        assert added["structuredContent"]["facts"][0]["object"] == "São Paulo"
        assert json.loads(added["content"][0]["text"]) == added["structuredContent"]

        assert talk.ask("no/such/method")["error"]["code"] == -32601
        for garbage in (b"garbage", b'{"jsonrpc": "2.0", "id": 1', b"\xff\xfe\x00", b"[]", b""):
            talk.say(garbage)
        refused = talk.ask("tools/call", name="search", arguments={"query": 1})["result"]
        assert refused["isError"]
        # A text that was cut in an emoji.
        cut = talk.ask("tools/call", name="search", arguments={"query": "Maya \ud83d"})["result"]
        assert "São Paulo" in cut["structuredContent"]["context"]
        counts = talk.ask("tools/call", name="stats", arguments={})["result"]
        assert counts["structuredContent"]["facts"] == 1
        assert "Traceback" not in talk.end()


def test_a_fault_in_the_sdk_is_logged_without_what_was_said(server: Any, namespace: str) -> None:
    with talking(command(namespace), environment(server)) as talk:
        talk.begin()
        asked = {"question": "Where does Maya live?", "mood": "hunter2 is my word"}
        assert "error" in talk.ask("prompts/get", name="answer_from_memory", arguments=asked)
        noise = talk.end()
    assert "ERROR mcp." in noise
    assert "ValueError" in noise
    assert "hunter2" not in noise


def test_what_prints_goes_to_standard_error(server: Any, namespace: str, tmp_path: Path) -> None:
    script = tmp_path / "noisy.py"
    script.write_text(NOISE, encoding="utf-8")
    line = [sys.executable, str(script), "-n", namespace, "mcp"]
    with talking(line, environment(server)) as talk:
        talk.begin()
        counts = talk.ask("tools/call", name="stats", arguments={})["result"]
        assert counts["structuredContent"]["messages"] == 0
        noise = talk.end()
    for what in ("a library writes", "a child prints"):
        assert what in noise


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits(
    server: Any, namespace: str, number: int, ctrl_c: None
) -> None:
    with talking(command(namespace), environment(server)) as talk:
        talk.begin()
        talk.running.send_signal(number)
        assert talk.running.stderr is not None
        noise = talk.running.stderr.read()
        assert talk.running.wait(timeout=60) == 0, noise
        assert b"Traceback" not in noise


def test_it_starts_without_a_database(namespace: str) -> None:
    nowhere = {
        "NEO4J_URI": "bolt://127.0.0.1:9",
        "NEO4J_PASSWORD": "a-secret-password",
        "ENGRAM_EMBEDDER": "none",
    }
    with talking(command(namespace), nowhere) as talk:
        talk.begin()
        refused = talk.ask("tools/call", name="stats", arguments={})["result"]
        assert refused["isError"]
        assert "store_unavailable" in refused["content"][0]["text"]
        noise = talk.end()
    assert "the memory cannot be reached yet" in noise
    assert "a-secret-password" not in noise


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None\nfrom engram_graph.cli import app; app.main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "-n", "x", "mcp", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    error = json.loads(ran.stdout)["error"]
    assert (ran.returncode, error["code"]) == (1, "missing_extra")
    assert "engram-graph[mcp]" in error["hint"]
