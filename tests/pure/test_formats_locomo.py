"""LoCoMo's format on made-up conversations, and recall of evidence."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.recall import EvidenceRecall, evidence_recall
from engram_graph.formats.locomo import (
    is_locomo,
    load_locomo,
    parse_locomo,
    session_time,
)

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Happy new year"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "I moved", "blip_caption": "a house"},
            {"speaker": "Ben", "dia_id": "D2:2", "text": "Where to?"},
        ],
        "session_3_date_time": "1:00 pm on 9 May, 2023",
    },
    "qa": [
        {"question": "Who moved?", "answer": "Ann", "evidence": ["D2:1"], "category": 4},
        {"question": "When?", "answer": 2023, "evidence": ["D2:1; D2:2 D2:1", "D"], "category": 2},
        {"question": "No evidence?", "answer": "x", "evidence": ["D:11:26"], "category": 1},
        {"question": "Trick?", "adversarial_answer": "y", "evidence": ["D2:1"], "category": 5},
        {"question": "Empty?", "answer": "x", "evidence": [], "category": 3},
    ],
    "observation": {},
}
SAMPLE["conversation"].pop("session_3_date_time")


def test_turns_come_in_order_with_time_and_id() -> None:
    [made] = parse_locomo([SAMPLE])
    assert [turn.source_id for turn in made.turns] == [
        "conv-1:D2:1",
        "conv-1:D2:2",
        "conv-1:D10:1",
    ]
    assert made.turns[1].said_at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
    assert made.turns[2].said_at == datetime(2024, 1, 1, 0, 5, tzinfo=UTC)
    first = made.turns[0]
    assert (first.conversation, first.speaker, first.role) == ("conv-1", "Ann", "user")
    assert first.text == "I moved"  # no caption


def test_evidence_is_cleaned_and_scored_questions_have_some() -> None:
    [made] = parse_locomo(SAMPLE)
    assert [question.evidence for question in made.questions] == [
        ("conv-1:D2:1",),
        ("conv-1:D2:1", "conv-1:D2:2"),
        (),
        ("conv-1:D2:1",),
        (),
    ]
    assert [question.text for question in made.scored] == ["Who moved?", "When?"]
    assert made.questions[1].answer == "2023"
    assert made.questions[3].answer == ""
    assert len({question.id for question in made.questions}) == 5


def test_a_file_holds_one_or_many(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    other = copy.deepcopy(SAMPLE) | {"sample_id": "conv-2"}
    path.write_text(json.dumps([SAMPLE, other]), encoding="utf-8-sig")
    assert [each.id for each in load_locomo(path)] == ["conv-1", "conv-2"]
    path.write_text(json.dumps(SAMPLE))
    assert [each.id for each in load_locomo(str(path))] == ["conv-1"]


def test_sessions_may_be_missing_and_turns_without_words() -> None:
    said = {"speaker": "Ann", "dia_id": "D2:1", "text": "Look"}
    picture = {"speaker": "Ann", "dia_id": "D2:2", "blip_caption": "a lake", "img_url": ["u"]}
    blank, last = said | {"dia_id": "D2:3", "text": " \n"}, said | {"dia_id": "D2:4", "text": 7}
    null = said | {"dia_id": "D2:5", "text": None}
    talk = {
        "speaker_a": "Ann",
        "session_1_date_time": "1:00 pm on 9 May, 2023",  # announced, not there
        "session_3": [],
        "session_4": None,
        "session_2": [said, picture, blank, last, null],
        "session_2_date_time": "2:00 pm on 9 May, 2023",
    }
    asked = {"question": "?", "category": 4, "evidence": ["D2:2", "D2:4", "D9:9"]}
    [made] = parse_locomo(SAMPLE | {"sample_id": 26, "conversation": talk, "qa": [asked]})
    assert [(turn.source_id, turn.text) for turn in made.turns] == [
        ("26:D2:1", "Look"),
        ("26:D2:4", "7"),
    ]
    assert made.turns[1].said_at.second == 3  # its place in the session, pictures counted
    assert made.questions[0].evidence == ("26:D2:4",)


@pytest.mark.parametrize(
    ("category", "read"),
    [(1, 1), ("2", 2), (3.0, 3), (9, 9), (-1, -1)]
    + [(odd, 0) for odd in (None, "multi-hop", True, 2.5, [1], {}, "nan", 10**400)],
)
def test_odd_categories_are_read_and_not_scored(category: object, read: int) -> None:
    asked = SAMPLE["qa"][0] | {"category": category}
    [made] = parse_locomo(broken(qa=[asked]))
    assert made.questions[0].category == read
    assert len(made.scored) == (read in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("evidence", "read"),
    [
        (None, []),
        ("D2:2;D2:1", ["D2:2", "D2:1"]),
        ([["D2:1"], None, 7, "D2:1"], ["D2:1"]),
        ([{"dia_id": "D2:1"}], []),
    ],
)
def test_odd_evidence(evidence: object, read: list[str]) -> None:
    [made] = parse_locomo(broken(qa=[SAMPLE["qa"][0] | {"evidence": evidence}]))
    assert list(made.questions[0].evidence) == [f"conv-1:{each}" for each in read]


def test_odd_answers_and_questions() -> None:
    answers = [None, 7, ["a", "b"], {"a": 1}, 1.5, True]
    asked = [SAMPLE["qa"][0] | {"answer": answer} for answer in answers]
    blank = SAMPLE["qa"][0] | {"question": " "}
    number = SAMPLE["qa"][0] | {"question": 1999}
    [made] = parse_locomo(broken(qa=[*asked, blank, number]))
    assert [q.answer for q in made.questions[:6]] == [
        *("", "7", "['a', 'b']", "{'a': 1}", "1.5", "True")
    ]
    assert not made.questions[6].scored
    assert made.questions[7].text == "1999"
    assert parse_locomo(broken(qa=None))[0].questions == ()


def broken(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(SAMPLE) | changes


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        None,
        7,
        "text",
        [[]],
        {"sample_id": "a", "conversation": []},
        broken(conversation={}),
        broken(qa=[{"answer": "no question", "category": 1}]),
        broken(sample_id="half \ud800"),
        broken(qa=[7]),
        broken(qa=7),
        broken(conversation={"session_1": []}),
        broken(conversation={"session_1": [], "session_1_date_time": "yesterday"}),
        broken(conversation={"session_1": [{}], "session_1_date_time": "1:00 pm on 9 May, 2023"}),
        broken(conversation={"session_1": 3, "session_1_date_time": "1:00 pm on 9 May, 2023"}),
        [SAMPLE, {"sample_id": "x"}],
        [SAMPLE, SAMPLE],
        broken(
            conversation=SAMPLE["conversation"] | {"session_4": SAMPLE["conversation"]["session_2"]}
        ),
    ],
)
def test_wrong_data_is_one_kind_of_error(data: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_locomo(data)
    assert caught.value.hint


def test_wrong_files_are_one_kind_of_error(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    for content in (b"", b"{", b"\xff\xfe", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not JSON"):
            load_locomo(path)
    for missing in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot read"):
            load_locomo(missing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1:56 pm on 31 June, 2023",
        "13:56 pm on 8 May, 2023x",
        "1:56 pm on 8 Mai, 2023",
        "1:99 am on 8 May, 2023",
    ],
)
def test_session_times_are_strict(text: str) -> None:
    with pytest.raises(InputError):
        session_time(text)


def test_session_times_around_noon_and_midnight() -> None:
    assert session_time("12:00 am on 8 May, 2023").hour == 0
    assert session_time("12:30 pm on 8 may 2023").hour == 12
    assert session_time(" 11:59 PM on 8 May, 2023").hour == 23


def test_locomo_is_told_from_other_json() -> None:
    assert is_locomo(SAMPLE)
    assert is_locomo([SAMPLE])
    assert not is_locomo({"text": "hi", "conversation": "c"})
    assert not is_locomo([{"text": "hi"}])


def test_recall_counts_all_and_any() -> None:
    [made] = parse_locomo(SAMPLE)
    one, two = made.scored
    lists = {one.id: ["x", "conv-1:D2:1"], two.id: ["conv-1:D2:2", "x", "conv-1:D2:1"]}
    assert evidence_recall(made.scored, lists).as_dict() == {
        "questions": 2,
        "k": 3,
        "all": 1.0,
        "any": 1.0,
        "all_found": 2,
        "any_found": 2,
    }
    assert evidence_recall(made.scored, lists, 1) == EvidenceRecall(2, 0, 1, 1)
    assert evidence_recall(made.scored, lists, 2) == EvidenceRecall(2, 1, 2, 2)
    assert evidence_recall(made.scored, {}) == EvidenceRecall(2, 0, 0, 0)


def test_recall_of_nothing_and_of_two_sets() -> None:
    nothing = evidence_recall([], {})
    assert (nothing.all, nothing.any) == (0.0, 0.0)
    both = EvidenceRecall(10, 5, 8, 30) + EvidenceRecall(30, 30, 30, 30)
    assert both == EvidenceRecall(40, 35, 38, 30)
    assert both.all == 0.875
