"""The blocking client at its edges: closed, left open at exit, carried over a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engram_graph
from engram_graph.errors import ConfigurationError
from engram_graph.sync import Memory

ROOT = Path(engram_graph.__file__).parents[1]
CALLS: list[Callable[[Memory], Any]] = [
    lambda memory: memory.add("I live in Bonn."),
    lambda memory: memory.remember("Ann", "lives_in", "Bonn"),
    lambda memory: memory.search("Where?"),
    lambda memory: memory.facts(),
    lambda memory: list(memory.iter_facts()),
    lambda memory: memory.flush(),
    lambda memory: memory.namespaces(),
    lambda memory: memory.open(),
]
LEFT_OPEN = """
import sys
from engram_graph import Memory
memory = Memory(sys.argv[1])
memory.add("I live in Bonn.", speaker="Ann", wait=False)
raise SystemExit(3)
"""


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_closed_client_says_so(settings: Any, namespace: str, number: int) -> None:
    memory = Memory(namespace, settings=settings)
    memory.close()
    memory.close()
    with pytest.raises(ConfigurationError, match="closed"):
        CALLS[number](memory)


def test_a_program_that_leaves_its_client_open_ends(
    settings: Any, namespace: str, sync_memory: Memory
) -> None:
    """And what it left for later is done by then."""
    ran = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, namespace],
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "NEO4J_URI": settings.neo4j_uri,
            "NEO4J_USERNAME": settings.neo4j_username,
            "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
            "ENGRAM_EMBEDDER": "hash",
            "ENGRAM_EXTRACTOR": "patterns",
        },
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (3, b"")
    assert sync_memory.stats().unfinished == 0
    assert [fact.object for fact in sync_memory.iter_facts()] == ["Bonn"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_client_from_before_a_fork_is_refused(sync_memory: Memory) -> None:
    """Its thread is not in the child: a call would wait for ever."""
    child = os.fork()
    if child == 0:
        try:
            sync_memory.stats()
        except ConfigurationError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sync_memory.stats().facts == 0
