"""What is imported when: starting is quick, and models are loaded to embed only."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engram_graph
from engram_graph.memory import AsyncMemory
from engram_graph.sync import Memory

ROOT = Path(engram_graph.__file__).parents[1]
HEAVY = ("torch", "sentence_transformers", "transformers", "openai")
SLOW = (*HEAVY, "neo4j", "networkx", "httpx", "anyio", "jgo", "numpy")

AFTER = """
import json, sys
from engram_graph.cli import app
sys.stdout, out = sys.stderr, sys.stdout
code = app.run(sys.argv[2:])
print(json.dumps([code, [n for n in sys.argv[1].split(",") if n in sys.modules]]), file=out)
"""


def loaded(names: tuple[str, ...], *arguments: str, env: dict[str, str] | None = None) -> Any:
    """(exit code, which of ``names`` are loaded) after a command in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", AFTER, ",".join(names), *arguments],
        cwd=ROOT,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    return json.loads(ran.stdout)


def test_importing_the_package_loads_nothing() -> None:
    code = f"import engram_graph, sys; print([n for n in {SLOW!r} if n in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["search", "--help"], ["facts"]])
def test_help_and_usage_load_nothing_heavy(arguments: list[str]) -> None:
    names = HEAVY if arguments == ["facts"] else SLOW
    assert loaded(names, *arguments)[1] == []


@pytest.mark.parametrize("arguments", [["status"], ["down"], ["logs"], ["browser", "--print"]])
def test_server_commands_load_no_model(arguments: list[str], tmp_path: Path) -> None:
    assert loaded((*HEAVY, "neo4j"), *arguments, env={"ENGRAM_HOME": str(tmp_path)})[1] == []


def test_every_public_name_can_be_imported() -> None:
    assert engram_graph.__all__ == sorted(engram_graph.__all__)
    for name in engram_graph.__all__:
        assert getattr(engram_graph, name) is not None
    assert set(dir(engram_graph)) == set(engram_graph.__all__)
    with pytest.raises(AttributeError):
        engram_graph.nonsense  # noqa: B018


def public(kind: type) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_memory_has_the_methods_of_async_memory() -> None:
    asynchronous, blocking = public(AsyncMemory), public(Memory)
    asynchronous["close"] = asynchronous.pop("aclose")
    assert sorted(blocking) == sorted(asynchronous)
    for name, method in asynchronous.items():
        twin = blocking[name]
        assert twin.__doc__, name
        assert twin.__doc__ == method.__doc__, name
        parameters = inspect.signature(method).parameters
        assert inspect.signature(twin).parameters == parameters, name
        assert not inspect.iscoroutinefunction(twin), name
    constructors = [inspect.signature(each).parameters for each in (AsyncMemory, Memory)]
    assert constructors[0] == constructors[1]
