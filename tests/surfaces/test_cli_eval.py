"""``eval scenarios`` and ``eval pairs`` at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Engram = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"
SCENARIOS, PAIRS = DATA / "scenarios.jsonl", DATA / "contradiction_pairs.jsonl"


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """Two scenarios: what the first one expects does not come."""
    step = {"do": "remember", "subject": "Odo", "relation": "owns", "object": "a kite"}
    file = tmp_path / "scenarios.jsonl"
    file.write_text(
        "\n".join(
            json.dumps(
                {
                    "id": f"f{facts}",
                    "steps": [step],
                    "expect": [{"check": "counts", "facts": facts}],
                }
            )
            for facts in (2, 1)
        )
    )
    return file


def test_scenarios_by_id(on_server: Engram) -> None:
    done = on_server("eval", "scenarios", str(SCENARIOS), "--id", "s01", "--id", "s10", "--json")
    assert done.code == 0
    assert done.json == {
        "passed": 2,
        "failed": 0,
        "scenarios": [
            {"id": "s01", "passed": True, "diff": ""},
            {"id": "s10", "passed": True, "diff": ""},
        ],
    }
    assert done.err.startswith("Running the scenarios …\n")


def test_a_scenario_that_fails(on_server: Engram, failing: Path) -> None:
    done = on_server("eval", "scenarios", str(failing), "--json")
    assert done.code == 1
    assert (done.json["passed"], done.json["failed"]) == (1, 1)
    assert done.json["scenarios"][0] == {
        "id": "f2",
        "passed": False,
        "diff": "counts: facts is 1, expected 2",
    }
    plain = on_server("eval", "scenarios", str(failing))
    assert plain.code == 1
    assert plain.out.splitlines() == [
        "f2  FAILED",
        "    counts: facts is 1, expected 2",
        "f1  passed",
        "1 passed, 1 failed",
    ]
    left = on_server("namespaces", "--json").json
    assert not [row for row in left if row["namespace"].startswith("scenario-")]


def test_a_preset_decides_scenarios(on_server: Engram, failing: Path) -> None:
    one = ("eval", "scenarios", str(SCENARIOS), "--id", "s02", "--json")
    assert on_server(*one).code == 0
    assert on_server(*one, "--preset", "reference").code == 1  # no belief, no arithmetic


def test_the_embedded_server_is_stopped_and_started_again(engram: Engram) -> None:
    done = engram("eval", "scenarios", str(SCENARIOS), "--id", "s25", "--json")
    assert done.code == 0
    assert done.json["passed"] == 1
    assert done.err.startswith("Starting the embedded Neo4j …\n")
    assert engram("status", "--json").json["running"] is False  # ours was never touched


def test_pairs(engram: Engram) -> None:
    done = engram("eval", "pairs", str(PAIRS), "--preset", "reference", "--json")
    assert done.code == 0
    counts = {name: value for name, value in done.json.items() if name != "rows"}
    assert counts == {
        "pairs": 38,
        "right_closes": 17,
        "false_closes": 0,
        "accepted": 34,
        "temporal": 36,
        "to_close": 26,
    }
    assert [row["id"] for row in done.json["rows"] if row["closes"]][:4] == [
        *("e01", "e02", "e03", "e04")
    ]
    first = done.json["rows"][0]
    assert first | {"belief": 0} == {
        "id": "e01",
        "closes": True,
        "expected": "close",
        "relation": "update",
        "p": 0.99,
        "accepted": True,
        "temporal": True,
        "belief": 0,
        "why": "",
    }
    plain = engram("eval", "pairs", str(PAIRS), "--preset", "reference").out
    assert plain.splitlines()[-1] == (
        "38 pairs: 17 of 26 closed rightly, 0 wrongly; "
        "relation accepted 34, temporal status right 36"
    )
    assert "blocked_temporal" in plain


def test_pairs_by_default_and_by_other_answers(engram: Engram) -> None:
    default = engram("eval", "pairs", str(PAIRS), "--json").json
    assert default["right_closes"] >= 22
    assert default["false_closes"] == 0
    lower = engram("eval", "pairs", str(PAIRS), "--start", "0.5", "--json").json
    believed = [{r["id"]: r["belief"] for r in each["rows"]}["s02"] for each in (default, lower)]
    assert believed == [0.98, 0.5]  # answered as new: it stays where it started
    weak = engram("eval", "pairs", str(PAIRS), "--answers", "weak_v2", "--json").json
    assert (weak["accepted"], weak["temporal"]) == (16, 29)


@pytest.mark.parametrize("what", ["scenarios", "pairs"])
@pytest.mark.parametrize(
    "arguments", [["missing.jsonl"], ["bad"], ["good", "--preset", "guesses"], ["good", "--id=x"]]
)
def test_bad_input(engram: Engram, tmp_path: Path, what: str, arguments: list[str]) -> None:
    name, *options = arguments
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "one"}\n')
    file = {"good": SCENARIOS if what == "scenarios" else PAIRS, "bad": bad}.get(name, name)
    done = engram("eval", what, str(file), *options, "--json")
    assert done.code == 2
    assert done.error["message"]
    if name == "bad":
        assert done.error["line"] == 1
