"""A Neo4j in a container, by testcontainers, as the package's own pytest plugin starts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engram_graph import Memory, Settings
from engram_graph.testing import database
from engram_graph.testing.choice import Choice
from tests.containers.names import NEO4J

pytestmark = pytest.mark.timeout(1800)  # the first test builds the images


def test_a_memory_in_a_container(engine: Any, images: None, tmp_path: Path) -> None:
    choice = Choice("", "neo4j", "", container=True, image=NEO4J, folder=str(tmp_path / "run"))
    try:
        server = database.obtain(choice)
        assert database.obtain(choice) == server, "the second one to ask gets the same"
        made = json.loads((choice.home / "container.json").read_text(encoding="utf-8"))["id"]
        assert engine.containers.get(made).attrs["Config"]["Image"] == NEO4J
        settings = Settings(
            neo4j_uri=server.uri,
            neo4j_username=server.username,
            neo4j_password=server.password,
            embedder="hash",
            extractor="patterns",
        )
        with Memory("container", settings=settings) as memory:
            memory.add("I live in Berlin.", speaker="Ana")
            assert "Berlin" in memory.search("Where does Ana live?").context
            assert not memory.doctor().findings
    finally:
        database.release(choice)
    assert made not in {one.id for one in engine.containers.list(all=True)}
