"""``eval updates``: the checker, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engram_graph.evaluation.validity import form

Engram = Callable[..., Any]


def test_a_file_is_checked(engram: Engram, tmp_path: Path) -> None:
    [one, *_] = form.shipped()
    path = tmp_path / "mine.jsonl"
    path.write_text(one.model_dump_json() + "\n", encoding="utf-8")
    done = engram("eval", "updates", "--check", str(path))
    assert done.code == 0
    assert "1 conversation" in done.out
    assert "0 mistakes" in done.out

    value = json.loads(one.model_dump_json())
    value["facts"][0]["told_in"] = ["t99"]
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")
    wrong = engram("eval", "updates", "--check", str(path), "--json")
    assert wrong.code == 1
    assert wrong.json["wrong"] == [f"{one.id}: {one.facts[0].id}: no turn t99"]

    run = engram("eval", "updates", "--file", str(path), "--out", str(tmp_path / "out"))
    assert run.code == 2
    assert "t99" in run.err
    assert not (tmp_path / "out").exists()


def test_what_is_not_there_is_refused(engram: Engram, tmp_path: Path) -> None:
    kind = engram("eval", "updates", "--kind", "gossip", "--out", str(tmp_path))
    assert kind.code == 2
    assert "gossip" in kind.err
    assert "crowded" in kind.err
    out = engram("eval", "updates")
    assert out.code == 2
    assert "--out" in out.err
