"""Which conversations a study runs, and what of them it asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_formats_longmemeval import sample

from engram_graph.errors import InputError
from engram_graph.evaluation.study import splits
from engram_graph.evaluation.study.datasets import NOT_TOLD, locomo, longmemeval

KINDS = {"knowledge-update": 33, "multi-session": 25, "temporal-reasoning": 21}


def conversation(name: str) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved", "blip_caption": "a house"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "", "blip_caption": "a dog"},
            ],
        },
        "qa": [
            {"question": "Who?", "answer": "Ann", "evidence": ["D1:1"], "category": 4},
            {"question": "When?", "answer": 2023, "evidence": [], "category": 2},
            {"question": " ", "answer": "x", "evidence": ["D1:1"], "category": 1},
            {"question": "?", "answer": "x", "evidence": ["D1:1"]},
            {
                "question": "Where did Ben move?",
                "adversarial_answer": "home",
                "evidence": ["D1:1"],
                "category": 5,
            },
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """LoCoMo with the development conversation and one held out."""
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([conversation("conv-26"), conversation("conv-44")]))
    return path


@pytest.fixture
def memeval(tmp_path: Path) -> Path:
    """LongMemEval with more questions of each kind than the sample takes, and abstentions."""
    rows = [
        sample(question_id=f"{kind[:2]}{n:02}", question_type=kind)
        for kind, count in KINDS.items()
        for n in range(count)
    ]
    rows += [sample(question_id=f"k{n}_abs") for n in range(9)]
    path = tmp_path / "longmemeval.json"
    path.write_text(json.dumps(rows))
    return path


def test_the_studys_splits_share_nothing() -> None:
    every = [name for names in splits.LOCOMO.values() for name in names]
    assert len(every) == len(set(every)) == 10
    assert splits.LOCOMO["primary"] == ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50")


def test_tasks_of_locomo(file: Path) -> None:
    found = locomo(file)
    assert (found.name, found.split, found.held_out) == ("locomo", "development", False)
    (talk,) = found.talks
    assert [turn.text for turn in talk.turns] == ["I moved"]  # captions are no text
    assert [(task.id, task.category, task.answer) for task in talk.tasks] == [
        ("conv-26:q1", "single-hop", "Ann"),
        ("conv-26:q2", "temporal", "2023"),  # counts also without evidence
        ("conv-26:q5", "adversarial", NOT_TOLD),
    ]
    trick = talk.tasks[-1]
    assert (trick.abstention, trick.scored, trick.evidence) == (True, True, ())
    assert [task.abstention for task in talk.tasks[:2]] == [False, False]


@pytest.mark.parametrize(
    ("split", "only", "ids", "name", "held_out"),
    [
        ("all", (), ["conv-26", "conv-44"], "all", True),
        (None, ("conv-44",), ["conv-44"], "conv-44", True),
        (None, ("conv-44", "conv-26"), ["conv-26", "conv-44"], "conv-44,conv-26", True),
        ("development", ("conv-26",), ["conv-26"], "development", False),
        ("primary", ("conv-44",), ["conv-44"], "primary", True),
    ],
)
def test_chosen_conversations(
    file: Path, split: str | None, only: tuple[str, ...], ids: list[str], name: str, held_out: bool
) -> None:
    found = locomo(file, split, only)
    assert [talk.id for talk in found.talks] == ids
    assert (found.split, found.held_out) == (name, held_out)


@pytest.mark.parametrize(
    ("split", "only", "message", "hint"),
    [
        ("exploratory", (), "needs conv-30, conv-41", "It has conv-26, conv-44"),
        ("primary", (), "needs conv-47, conv-48, conv-49, conv-50, which", "It has conv-26"),
        ("test", (), "no split 'test'", "development, exploratory, primary, all"),
        (None, ("conv-30",), "'conv-30' is not in the file", "There is conv-26, conv-44"),
        ("primary", ("conv-26",), "'conv-26' is not in split primary", "There is conv-44"),
    ],
)
def test_what_is_not_there(
    file: Path, split: str | None, only: tuple[str, ...], message: str, hint: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        locomo(file, split, only)
    assert hint in error.value.hint


def test_the_first_questions(file: Path, memeval: Path) -> None:
    found = locomo(file, "all", questions=1)
    assert [len(talk.tasks) for talk in found.talks] == [1, 1]
    assert [talk.id for talk in longmemeval(memeval, "all", questions=2).talks] == ["kn00", "kn01"]


def test_a_digest_is_of_what_is_written_and_asked(file: Path) -> None:
    one = locomo(file, "all")
    assert one.digest == locomo(file, None, ("conv-26", "conv-44")).digest
    assert one.digest != locomo(file, "all", questions=1).digest
    data = json.loads(file.read_text())
    data[1]["conversation"]["session_1"][0]["text"] = "I stayed"
    file.write_text(json.dumps(data))
    assert one.digest != locomo(file, "all").digest


def test_tasks_of_longmemeval(memeval: Path) -> None:
    found = longmemeval(memeval, "all")
    assert (found.name, found.split, len(found.talks)) == ("longmemeval", "all", 88)
    (task,) = found.talks[0].tasks
    assert task.text == "Where do I keep my kayak? (Asked on 2023/05/30 (Tue) 23:40.)"
    assert (task.id, task.conversation, task.category) == ("kn00", "kn00", "knowledge-update")
    assert len(found.talks[0].turns) == 4
    assert sum(talk.tasks[0].abstention for talk in found.talks) == 9


def test_the_sample_of_longmemeval(memeval: Path) -> None:
    found = longmemeval(memeval)
    assert found.split == "sample"
    kinds = [talk.tasks[0].category for talk in found.talks]
    assert {kind: kinds.count(kind) for kind in kinds} == dict(splits.LONGMEMEVAL_SAMPLE)
    assert not any(talk.tasks[0].abstention for talk in found.talks)
    assert {turn.role for talk in found.talks for turn in talk.turns} == {"user"}
    assert found.digest == longmemeval(memeval).digest
    rows = json.loads(memeval.read_text())
    memeval.write_text(json.dumps(rows[::-1]))  # drawn from the ids, not from their order
    again = longmemeval(memeval)
    assert {talk.id for talk in again.talks} == {talk.id for talk in found.talks}


def test_too_few_questions_for_the_sample(memeval: Path) -> None:
    rows = json.loads(memeval.read_text())
    memeval.write_text(json.dumps(rows[10:]))
    with pytest.raises(InputError, match=r"needs 30 questions of .* has 23"):
        longmemeval(memeval)
    with pytest.raises(InputError, match="no split 'primary'"):
        longmemeval(memeval, "primary")
