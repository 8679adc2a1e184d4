"""``engram recording``: what a file of recorded calls holds, for people and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.adapters.recording import Asked, Recorded, Recording

Engram = Callable[..., Any]
T0 = datetime(2025, 3, 4, 9, 5, 6, tzinfo=UTC)


@pytest.fixture(params=[".jsonl", ".sqlite"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"calls{request.param}"


def fill(path: Path, *calls: tuple[str, str, str, float | None, bool]) -> None:
    recording = Recording(path)
    for hour, (kind, backend, model, cost, failed) in enumerate(calls):
        recording.put_now(
            Asked(kind, backend, model, hour),
            Recorded("answer", 1.0, cost, T0.replace(hour=9 + hour), failed),
        )
    recording.close()


def test_a_full_one(engram: Engram, path: Path) -> None:
    fill(
        path,
        ("decision", "jev", "jev-1.13.0", 0.25, False),
        ("extraction", "llm:tiny", "", None, False),
        ("decision", "jev", "jev-1.13.0", None, True),
        ("decision", "rules", "ru\x1b[31mles", 0.0, False),
    )
    before = path.read_bytes()
    found = engram("recording", str(path), "--json").json
    models = found.pop("models")
    assert found == {
        "file": str(path), "calls": 4, "failures": 1, "cost_usd": 0.25, "unpriced": 2,
        "first": "2025-03-04T09:05:06+00:00", "last": "2025-03-04T12:05:06+00:00",
    }  # fmt: skip
    assert models[0] == {
        "kind": "decision", "backend": "jev", "model": "jev-1.13.0", "calls": 2, "failures": 1,
        "cost_usd": 0.25, "unpriced": 1, "first": "2025-03-04T09:05:06+00:00",
        "last": "2025-03-04T11:05:06+00:00",
    }  # fmt: skip
    assert [(each["kind"], each["backend"]) for each in models[1:]] == [
        ("decision", "rules"),
        ("extraction", "llm:tiny"),
    ]
    shown = engram("recording", str(path))
    assert shown.code == 0
    rows = [line.split() for line in shown.out.splitlines()]
    assert rows[0] == ["kind", "backend", "model", "calls", "refused", "cost", "first", "last"]
    assert rows[1][:8] == ["decision", "jev", "jev-1.13.0", "2", "1", "$0.2500", "+", "1"]
    assert rows[3][:5] == ["extraction", "llm:tiny", "1", "0", "unknown"]
    assert rows[4][:3] == ["together", "4", "1"]
    assert rows[4][-2:] == ["2025-03-04", "12:05:06Z"]
    assert "\x1b" not in shown.out
    assert path.read_bytes() == before


def test_an_empty_one(engram: Engram, path: Path) -> None:
    Recording(path).close()
    assert engram("recording", str(path)).out == "no call is recorded in it\n"
    found = engram("recording", str(path), "--json").json
    assert (found["calls"], found["first"], found["models"]) == (0, None, [])


@pytest.mark.parametrize("name", ["none.jsonl", "none.sqlite", "mine.jsonl", "mine.txt"])
def test_what_is_no_recording(engram: Engram, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.jsonl").write_text("mine\n")
    ran = engram("recording", str(tmp_path / name), "--json")
    assert ran.code == 2
    assert ran.error["code"] == "configuration"
    assert ran.error["hint"]
    assert [each.name for each in tmp_path.iterdir()] == ["mine.jsonl"]
