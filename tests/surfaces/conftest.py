"""The command line, run inside the test's process: quick, and its output in hand."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import engram_graph
from engram_graph.cli import app
from engram_graph.server import ServerInfo
from tests.surfaces.browser_page import demo_server, find_chromium


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its standard output, which is one JSON value and nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error it reported with ``--json``."""
        found: dict[str, Any] = self.json["error"]
        return found


Engram = Callable[..., Ran]


@pytest.fixture
def run_script(server: Any, tmp_path: Path) -> Callable[[Path], str]:
    """``run_script(path)``: what a script prints that runs as a reader would run it, on this run's
    Neo4j."""

    def run(script: Path) -> str:
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,
            env=os.environ
            | {
                "NEO4J_URI": server.uri,
                "NEO4J_USERNAME": server.username,
                "NEO4J_PASSWORD": server.password,
                "ENGRAM_EMBEDDER": "hash",
                "PYTHONPATH": str(Path(engram_graph.__file__).parents[1]),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def chromium() -> str:
    """The Chromium to drive; the test is skipped where there is none."""
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium: none on the PATH, and ENGRAM_CHROMIUM does not name one")
    return found


@pytest.fixture(scope="session")
def demo_neo4j(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """A Neo4j with Browser that holds the demo, for the tests that look at it in Chromium."""
    with demo_server(tmp_path_factory.mktemp("browser") / "neo4j") as info:
        yield info


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Processes started in the test hear Ctrl-C, also where the tests run in the background of a
    shell: those inherit that it is ignored, while what is handled here is reset for them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def engram(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Engram:
    """``engram(*arguments, stdin=…)``; no server is named, embeddings are hashed."""
    for name in [each for each in os.environ if each.startswith("NEO4J_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ENGRAM_EMBEDDER", "hash")

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = app.run(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return run


@pytest.fixture
def on_server(engram: Engram, server: Any, monkeypatch: pytest.MonkeyPatch) -> Engram:
    """``engram`` on this run's Neo4j."""
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_USERNAME", server.username)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        done = engram(*arguments, stdin=stdin)
        assert server.password not in done.out + done.err
        return done

    return run


@pytest.fixture
def maya(on_server: Engram, namespace: str) -> Engram:
    """``engram`` in the test's namespace."""

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        return on_server("-n", namespace, *arguments, stdin=stdin)

    return run
