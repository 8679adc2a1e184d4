"""``engram move``: counts first, then the data, then what was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.foreign import data, stored


def test_a_group_of_graphiti(on_server: Any, server: Any, namespace: str) -> None:
    with stored(server, "graphiti", namespace):
        arguments = ("move", "graphiti", "-n", namespace, "--group", f"harbour-{namespace}")
        would = on_server(*arguments, "--dry-run")
        assert (would.code, would.out) == (
            0,
            "would move 6 messages, 6 facts, 0 known already, 0 left out\n",
        )
        assert "not moved: 6 summaries of entities" in would.err
        assert "relation ROWS_WITH: 1 fact as related_to" in would.err
        done = on_server(*arguments, "--json")
        assert (done.json["facts"], done.json["dry_run"]) == (6, False)
        nobody = on_server("move", "graphiti", "-n", namespace, "--group", "nobody", "--json")
        assert (nobody.code, nobody.error["code"]) == (2, "input")


def test_memories_of_mem0_and_what_is_left_out(
    on_server: Any, namespace: str, tmp_path: Path
) -> None:
    dump = data("mem0")
    for name, content in (("memories", dump["get_all"]), ("history", dump["history"])):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    files = (
        str(tmp_path / "memories.json"),
        "--history",
        str(tmp_path / "history.json"),
        "-n",
        namespace,
    )
    done = on_server("move", "mem0", *files)
    assert (done.code, done.out) == (1, "4 messages, 4 facts, 0 known already, 2 left out\n")
    assert "deleted in mem0" in done.err
    again = on_server("move", "mem0", *files)
    assert again.out == "0 messages, 0 facts, 8 known already, 2 left out\n"


@pytest.mark.parametrize("name", ["graphiti", "agent-memory"])
def test_a_server_that_is_not_there(on_server: Any, namespace: str, name: str) -> None:
    options = {"graphiti": ["--group", "x"], "agent-memory": []}[name]
    options += ["-n", namespace]
    told = on_server("move", name, *options, "--uri", "bolt://127.0.0.1:1", "--json")
    assert (told.code, told.error["code"]) == (1, "store_unavailable")
