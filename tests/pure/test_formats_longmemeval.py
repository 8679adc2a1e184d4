"""LongMemEval's format on made-up questions."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.formats.longmemeval import load_longmemeval, parse_longmemeval

SAMPLE: dict[str, Any] = {
    "question_id": "e47",
    "question_type": "knowledge-update",
    "question": "Where do I keep my kayak?",
    "answer": 7,
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_dates": ["2023/05/21 (Sun) 08:00", "2023/05/20 (Sat) 02:21"],
    "haystack_session_ids": ["late", "early"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "The kayak is at the boathouse now.", "has_answer": True},
            {"role": "assistant", "content": "Noted.", "has_answer": False},
        ],
        [
            {"role": "user", "content": "  "},
            {"role": "assistant", "content": "You keep it in the shed.", "has_answer": True},
            {"role": "user", "content": "The shed leaks."},
        ],
    ],
    "answer_session_ids": ["late"],
}


def sample(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(SAMPLE) | changes


def test_turns_by_time_with_the_places_of_the_file() -> None:
    (item,) = parse_longmemeval([SAMPLE])
    assert [(turn.source_id, turn.speaker, turn.role, turn.session) for turn in item.turns] == [
        ("e47:S1:2", "assistant", "assistant", 1),
        ("e47:S1:3", "user", "user", 1),
        ("e47:S2:1", "user", "user", 2),
        ("e47:S2:2", "assistant", "assistant", 2),
    ]
    # A turn without a word is none, and still takes its second.
    assert [turn.said_at for turn in item.turns[:2]] == [
        datetime(2023, 5, 20, 2, 21, second, tzinfo=UTC) for second in (1, 2)
    ]
    assert item.evidence == ("e47:S1:2", "e47:S2:1")
    assert (item.kind, item.answer, item.asked_on) == (
        "knowledge-update",
        "7",
        "2023/05/30 (Tue) 23:40",
    )
    assert not item.abstention


def test_only_what_the_user_said() -> None:
    (item,) = parse_longmemeval([SAMPLE], user_only=True)
    assert [turn.source_id for turn in item.turns] == ["e47:S1:3", "e47:S2:1"]
    assert item.evidence == ("e47:S2:1",)  # what nobody can find is not asked for


def test_an_abstention_has_no_evidence() -> None:
    (item,) = parse_longmemeval([sample(question_id="e47_abs")])
    assert item.abstention
    assert item.evidence == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no list of questions"),
        ([], "no list of questions"),
        ([3], "question 1 is not in LongMemEval's format"),
        ([SAMPLE, {"question_id": "x"}], "question 2 is not"),
        ([sample(question_type="riddle")], "question_type 'riddle'"),
        ([sample(question_date="yesterday")], "yesterday"),
        ([sample(question_id="half \ud800")], "question 1"),
        ([sample(haystack_dates=["2023/05/21 (Sun) 08:00"])], "question 1"),
        ([sample(haystack_sessions=[[], []])], "no turns"),
        ([sample(haystack_sessions=[["x"], []])], "question 1"),
        ([SAMPLE, SAMPLE], "two questions are called 'e47'"),
    ],
)
def test_other_formats_are_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_longmemeval(data)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s_cleaned.json"
    file.write_text(json.dumps([SAMPLE]), encoding="utf-8")
    assert load_longmemeval(file)[0].id == "e47"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        load_longmemeval(file)
    with pytest.raises(InputError, match="cannot read"):
        load_longmemeval(tmp_path / "none.json")
