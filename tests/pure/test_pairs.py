"""``engram eval pairs``: recorded answers through the real planning code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.pairs import Row, decide, load_pairs, summary
from engram_graph.rules.method import PRESETS

FILE = Path(__file__).parents[1] / "data" / "contradiction_pairs.jsonl"


def line(**changes: Any) -> dict[str, Any]:
    """A pair that closes."""
    return {
        "id": "p1",
        "old_fact": "Odo lives in Ostwick",
        "new_fact": "Odo lives in Marrowby",
        "expected": {"relation": "update", "temporal_status": "current", "action": "close"},
        "edge_types": {"old": "lives_in", "new": "lives_in"},
        "recorded": {
            "jev_v2": {
                "relation_to_candidate": {"update": 0.97, "new": 0.03},
                "temporal_status": {"current": 1.0},
            }
        },
    } | changes


def written(tmp_path: Path, *lines: Any) -> Path:
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    return file


def one(tmp_path: Path, preset: str = "s2_v3", start: float = 0.98, **changes: Any) -> Row:
    (row,) = decide(load_pairs(written(tmp_path, line(**changes))), PRESETS[preset], start)
    return row


def answers(**given: Any) -> dict[str, Any]:
    return {"jev_v2": {"temporal_status": {"current": 1.0}} | given}


@pytest.mark.parametrize(
    ("name", "answered", "right", "accepted", "temporal"),
    [
        ("reference", "jev_v2", 17, 34, 36),
        ("s2_v3", "jev_v2", 12, 34, 36),
        ("reference", "weak_v2", 0, 16, 29),
    ],
)
def test_the_shared_pairs(
    name: str, answered: str, right: int, accepted: int, temporal: int
) -> None:
    found = summary(decide(load_pairs(FILE, answered), PRESETS[name]))
    assert found == {
        "pairs": 38,
        "right_closes": right,
        "false_closes": 0,
        "accepted": accepted,
        "temporal": temporal,
        "to_close": 26,
    }


def test_the_default_closes_more_and_nothing_wrongly() -> None:
    found = summary(decide(load_pairs(FILE)))
    assert found["right_closes"] >= 22
    assert found["false_closes"] == 0


def test_the_reference_closes_those_it_was_seen_to_close() -> None:
    recorded = {}
    for text in FILE.read_text(encoding="utf-8").splitlines():
        pair = json.loads(text)
        recorded[pair["id"]] = pair["reference_outcome_v2"]["closes"]
    rows = decide(load_pairs(FILE), PRESETS["reference"])
    assert {row.id: row.closes for row in rows} == recorded


def test_the_start_decides_how_much_is_needed(tmp_path: Path) -> None:
    weak = {
        "recorded": answers(
            relation_to_candidate={"update": 0.86, "new": 0.14},
        )
    }
    assert one(tmp_path, **weak).why == "belief stays at 0.56"
    assert one(tmp_path, start=0.5, **weak).closes


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recorded": answers(relation_to_candidate={"new": 1.0})}, "the answer is new"),
        (
            {"recorded": answers(relation_to_candidate={"update": 0.45, "new": 0.4})},
            "ignored_weak",
        ),
        (
            {
                "recorded": answers(
                    relation_to_candidate={"update": 1.0}, temporal_status={"planned": 1.0}
                )
            },
            "blocked_temporal",
        ),
        (
            {
                "edge_types": {"old": "owns", "new": "habit"},
                "recorded": answers(relation_to_candidate={"contradiction": 1.0}),
            },
            "blocked_structure",
        ),
        (
            {
                "recorded": answers(
                    relation_to_candidate={"update": 1.0}, relation_second={"new": 1.0}
                )
            },
            "unconfirmed (second phrasing: new 1.00)",
        ),
    ],
)
def test_why_a_fact_stays_open(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    row = one(tmp_path, **changes)
    assert (row.closes, row.why) == (False, why)


def test_a_close_that_is_wrong_is_counted(tmp_path: Path) -> None:
    kept = {"relation": "new", "accepted": ["new"], "temporal_status": "past", "action": "keep"}
    rows = decide(load_pairs(written(tmp_path, line(), line(id="p2", expected=kept))))
    found = summary(rows)
    assert (found["right_closes"], found["false_closes"]) == (1, 1)
    assert (found["accepted"], found["temporal"], found["to_close"]) == (1, 1, 1)


def test_without_edge_types_the_relation_is_unknown(tmp_path: Path) -> None:
    given = line(more={"a": 1})
    del given["edge_types"]
    ((pair, _),) = load_pairs(written(tmp_path, "", given, ""))
    assert pair.edge_types.old == pair.edge_types.new == "related_to"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("{", "line 2: no JSON"),
        ("[1]", "line 2: no JSON object"),
        (line(old_fact=None), "line 2: old_fact"),
        (line(edge_types={"old": "flies"}), "line 2: edge_types.old: Value error, unknown"),
        (line(recorded={"other": {}}), r"line 2 \(p1\): no recorded answers 'jev_v2'"),
        (line(recorded={"jev_v2": {}}), "line 2: relation_to_candidate"),
        (
            line(recorded=answers(relation_to_candidate={"maybe": 1.0})),
            "line 2: relation_to_candidate.maybe",
        ),
        (line(expected={"relation": "update"}), "line 2: expected"),
        (line(), "line 2: two pairs are called 'p1'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, second: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        load_pairs(written(tmp_path, line(), second))
    assert raised.value.details["line"] == 2


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="empty"):
        load_pairs(written(tmp_path, text))


def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_pairs(tmp_path / "none.jsonl")
