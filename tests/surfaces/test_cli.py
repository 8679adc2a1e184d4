"""The command line's manners: help, usage, bad input, a database that is not there."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import engram_graph
from engram_graph.cli.app import app

Engram = Callable[..., Any]
ROOT = Path(engram_graph.__file__).parents[1]
COMMANDS = (
    *("up", "down", "status", "browser", "logs"),
    *("add", "remember", "correct", "forget", "ingest", "resume"),
    *("export", "import"),
    *("search", "facts", "history", "explain", "get", "namespaces", "stats", "doctor"),
    *("graph", "report"),
    *("demo", "bench", "eval shortlist", "eval fit-shortlist"),
)
NUL, HALF = "\x00", "\ud800"


def process(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    environment = os.environ | {"ENGRAM_EMBEDDER": "hash"} | options.pop("env", {})
    return subprocess.Popen(
        [sys.executable, "-m", "engram_graph", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_help_names_every_command(engram: Engram) -> None:
    shown = engram("--help").out
    assert all(name.split()[0] in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(engram: Engram, name: str) -> None:
    done = engram(*name.split(), "--help")
    assert done.code == 0
    assert "--json" in done.out
    assert len(done.out.splitlines()) > 5


def test_help_loses_no_word() -> None:
    """What stands in brackets is taken for markup, and vanishes from the terminal."""
    found = [
        f"{name} {each.name}"
        for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
        for each in command.params
        if "[" in (getattr(each, "help", None) or "")
    ]
    assert found == []


def test_version(engram: Engram) -> None:
    assert engram("--version").out == f"engram_graph {engram_graph.__version__}\n"
    assert engram("--version", "--json").json == {"version": engram_graph.__version__}


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["facts", "--limit", "many"], ["add"], ["facts", "--nonsense"], ["eval"]],
)
def test_wrong_usage(engram: Engram, arguments: list[str]) -> None:
    plain = engram(*arguments)
    assert (plain.code, plain.out) == (2, "") or arguments == ["eval"]
    machine = engram(*arguments, "--json") if arguments != ["eval"] else engram("x", "--json")
    assert machine.code == 2
    assert machine.error["code"] == "usage"
    assert machine.error["message"]


def test_no_namespace(on_server: Engram) -> None:
    plain = on_server("facts")
    assert (plain.code, plain.out) == (2, "")
    assert "no namespace given" in plain.err
    assert "ENGRAM_NAMESPACE" in plain.err
    assert on_server("facts", "--json").error["code"] == "scope"


def test_namespace_from_the_environment(
    on_server: Engram, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_NAMESPACE", namespace)
    assert on_server("stats", "--json").json["namespace"] == namespace
    assert on_server("stats", "--json", "-n", namespace + "b").json["namespace"] == namespace + "b"


def test_namespace_before_and_after_the_command(on_server: Engram, namespace: str) -> None:
    before = on_server("-n", namespace, "--json", "stats").json
    assert before == on_server("stats", "--json", "-n", namespace).json


BAD: list[tuple[list[str], str]] = [
    (["add", ""], "input"),
    (["add", " \t\n"], "input"),
    (["add", "x", "-n", ""], "scope"),
    (["add", "x", "-n", "  "], "scope"),
    (["add", f"a{NUL}b"], "input"),
    (["add", f"a{HALF}b"], "input"),
    (["add", "x", "--said-at", "yesterdayish"], "input"),
    (["add", "x", "--said-at", "2024-02-30"], "input"),
    (["add", "x", "--said-at", "2024-02-03T10:00:00"], "input"),
    (["add", "x", "--role", "king"], "input"),
    (["add", "x", "--metadata", "{"], "input"),
    (["add", "x", "--metadata", "[1]"], "input"),
    (["add", "x", "--metadata", '{"a": NaN}'], "input"),
    (["add", "x", "--metadata", '{"a":' * 200 + "1" + "}" * 200], "input"),
    (["add", "x", "--speaker", HALF], "input"),
    (["remember", "Maya", "zooms_to", "Berlin"], "input"),
    (["remember", " ", "lives_in", "Berlin"], "input"),
    (["remember", "Maya", "lives_in", "..."], "input"),
    (["remember", "Maya", "lives_in", f"B{NUL}"], "input"),
    (["remember", "Maya", "lives_in", "Berlin", "--valid-from", "soon"], "input"),
    (["remember", "Maya", "lives_in", "B", "--valid-from", "2024-01-01T00:00"], "input"),
    (
        [
            "remember",
            "Maya",
            "lives_in",
            "B",
            "--valid-from",
            "2024",
            "--valid-until",
            "2023-01-01",
        ],
        "input",
    ),
    (["correct", "some-id"], "input"),
    (["search", " "], "input"),
    (["search", "x", "--mode", "dreams"], "input"),
    (["search", "x", "--limit", "0"], "input"),
    (["search", "x", "--as-of", "never"], "input"),
    (["facts", "--cursor", "nonsense"], "input"),
    (["facts", "--predicate", "zooms_to"], "input"),
    (["facts", "--known-at", "2024-01-01T00:00:00"], "input"),
    (["history", " "], "input"),
    (["history", "Maya", "zooms_to"], "input"),
    (["ingest", "no/such/file.jsonl"], "input"),
]


@pytest.mark.parametrize(("arguments", "code"), BAD)
def test_bad_input_is_refused_and_nothing_is_written(
    maya: Engram, arguments: list[str], code: str
) -> None:
    done = maya(*arguments, "--json")
    assert done.code == 2
    assert done.error["code"] == code
    assert done.error["message"]
    plain = maya(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.startswith("error: ")
    assert len(plain.err) < 1000
    counts = maya("stats", "--json").json
    assert (counts["messages"], counts["facts"], counts["entities"]) == (0, 0, 0)


def test_bad_input_starts_no_server(engram: Engram) -> None:
    assert engram("add", " ", "-n", "x").code == 2
    assert engram("status").code == 1


def test_standard_input(maya: Engram) -> None:
    done = maya("add", "-", "--json", stdin="Ich wohne in Köln. 記憶\n".encode())
    assert done.json["message"]["text"] == "Ich wohne in Köln. 記憶"
    assert maya("add", "-", "--json", stdin=b"\xff\xfe").error["code"] == "input"
    assert maya("add", "-", "--json", stdin=b"").error["code"] == "input"


def test_a_megabyte_of_text(maya: Engram) -> None:
    text = "I live in Porto. " + "The sea was grey that day. " * 38_000
    done = maya("add", "-", "--speaker", "Maya", "--json", stdin=text.encode())
    assert done.code == 0
    assert done.json["message"]["text"] == text
    found = maya("search", "grey sea", "--mode", "turns")
    assert found.code == 0
    assert len(found.out) < 5000


def test_wrong_setting_names_itself_not_its_value(
    engram: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_SHORTLIST", "secret-words")
    done = engram("facts", "-n", "x", "--json")
    assert (done.code, done.error["code"]) == (2, "configuration")
    assert "ENGRAM_SHORTLIST" in done.error["message"]
    assert "secret-words" not in done.out + done.err


@pytest.mark.parametrize("arguments", [["facts", "-n", "x"], ["up"], ["status"], ["add", "Hi."]])
def test_database_down(
    engram: Engram, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("NEO4J_URI", f"bolt://127.0.0.1:{port}")
    monkeypatch.setenv("NEO4J_PASSWORD", "hush-hush")
    monkeypatch.setenv("ENGRAM_NAMESPACE", "x")
    done = engram(*arguments, "--json")
    assert done.code == 1
    assert done.error["code"] == "store_unavailable"
    assert "hush-hush" not in done.out + done.err
    plain = engram(*arguments)
    assert plain.code == 1
    assert "does not answer" in plain.err


def test_wrong_password(on_server: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "hush-hush")
    done = on_server("facts", "-n", "x", "--json")
    assert done.code == 1
    assert done.error["code"] == "configuration"
    assert "NEO4J_PASSWORD" in done.error["hint"]
    assert "hush-hush" not in done.out + done.err


@pytest.mark.parametrize("uri", ["localhost", "ftp://localhost:1", "bolt://u:hush-hush@localhost"])
def test_unusable_uri(engram: Engram, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", uri)
    done = engram("facts", "-n", "x", "--json")
    assert (done.code, done.error["code"]) == (2, "configuration")
    assert "hush-hush" not in done.out + done.err


def test_debug_shows_the_trace() -> None:
    with process("facts", "--debug", env={"NEO4J_URI": "bolt://127.0.0.1:1"}) as one:
        _, err = one.communicate(timeout=240)
    assert one.returncode == 2
    assert "Traceback" in err
    assert "ScopeError" in err


def test_no_colours_without_a_terminal(maya: Engram) -> None:
    maya(
        "remember",
        "Maya",
        "lives_in",
        "Berlin",
        "--text",
        "Maya [red]lives[/red] in :smile: \x1b[31mB",
    )
    for command in (["facts"], ["history", "Maya"], ["search", "Berlin"], ["namespaces"]):
        shown = maya(*command).out
        assert "\x1b" not in shown
        assert "[red]lives[/red]" in shown or command == ["namespaces"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    with process("--help", stdout=write) as one:
        os.close(read)
        os.close(write)
        _, err = one.communicate(timeout=240)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.usefixtures("ctrl_c")
def test_interrupted(server: Any, namespace: str, tmp_path: Path) -> None:
    lines = (
        json.dumps({"text": f"I like tea number {n}.", "speaker": "Maya"}) for n in range(5000)
    )
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(lines))
    environment = {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
    }
    with process("ingest", str(file), "-n", namespace, "--json", env=environment) as one:
        assert one.stderr is not None
        assert "Ingesting" in one.stderr.readline()  # the first message is in
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=240)  # far less than 5,000 messages take
    assert one.returncode == 130
    assert out == ""
    assert err.rstrip().endswith("interrupted")
    assert "Traceback" not in err
