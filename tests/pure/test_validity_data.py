"""The benchmark's conversations, and that their checker finds what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.validity import form
from engram_graph.evaluation.validity.check import LEAST_DISTINCT, check, variety
from engram_graph.evaluation.validity.telling import statements, talk

SHIPPED = form.shipped()
BY_ID = {each.id: each for each in SHIPPED}
Raw = dict[str, Any]


def test_the_shipped_conversations_agree_with_their_gold() -> None:
    assert check(SHIPPED) == []


def test_there_is_enough_of_every_kind() -> None:
    assert len(SHIPPED) >= 60
    kinds = [each.kind for each in SHIPPED]
    assert set(kinds) == set(form.KINDS)
    assert min(map(kinds.count, form.KINDS)) >= 6
    assert sum(len(each.questions) for each in SHIPPED) >= 120


def test_they_read_like_people_talk() -> None:
    seen = variety(SHIPPED)
    assert seen.distinct >= LEAST_DISTINCT
    assert seen.sentences > 600


def test_the_data_has_a_licence_of_its_own() -> None:
    licence = resources.files("engram_graph.evaluation.validity") / "data" / "LICENSE"
    assert "Creative Commons Attribution 4.0" in licence.read_text(encoding="utf-8")


def raw(id_: str) -> Raw:
    found: Raw = json.loads(BY_ID[id_].model_dump_json())
    return found


def complaints(value: Raw) -> str:
    return "\n".join(check([form.Conversation.model_validate(value)]))


def fact(value: Raw, id_: str) -> Raw:
    (found,) = (each for each in value["facts"] if each["id"] == id_)
    assert isinstance(found, dict)
    return found


def _set(id_: str, **changes: Any) -> Callable[[Raw], None]:
    return lambda value: fact(value, id_).update(changes)


def _ask(**changes: Any) -> Callable[[Raw], None]:
    return lambda value: value["questions"][0].update(changes)


def _say(turn: int, text: str) -> Callable[[Raw], None]:
    def change(value: Raw) -> None:
        turns = [each for session in value["sessions"] for each in session["turns"]]
        turns[turn - 1]["text"] = text

    return change


BROKEN: dict[str, tuple[str, Callable[[Raw], None], str]] = {
    "kind": ("change-01", lambda v: v.update(kind="other"), "no such kind: other"),
    "turn": ("change-01", _set("home1", told_in=["t99"]), "home1: no turn t99"),
    "fact": ("change-01", _ask(current=["nobody"]), "no fact nobody"),
    "predicate": ("change-01", _set("home1", predicate="likes"), "unknown predicate likes"),
    "evidence turn": ("change-01", _ask(evidence=["t0"]), "no turn t0"),
    "evidence": ("change-01", _ask(evidence=["t1"]), "no evidence tells home2"),
    "ends first": (
        "change-01",
        _set("home1", valid_until="2020-01-01T00:00:00Z"),
        "home1: it ends before it begins",
    ),
    "words elsewhere": (
        "change-01",
        _set("home2", from_words="since Tuesday"),
        "'since Tuesday' stands in none of t6",
    ),
    "another day": (
        "change-02",
        _set("job2", valid_from="2024-02-09T00:00:00Z"),
        "'the 1st of February' means 2024-02-01, not 2024-02-09",
    ),
    "resolved": (
        "change-03",
        _set("r2", valid_from="2024-06-18T00:00:00Z"),
        "'on Monday' means 2024-06-17, not 2024-06-18",
    ),
    "undated": (
        "change-01",
        _set("home1", valid_from="2024-03-01T00:00:00Z"),
        "without from_words it begins when it is told",
    ),
    "both at once": (
        "change-01",
        _set("home1", valid_until=None, ended_in=None, ended_by=None),
        "home1 and home2 hold at the same time",
    ),
    "replaced by nothing": (
        "change-01",
        _set("home1", valid_until="2024-05-01T00:00:00Z"),
        "nothing told in ended_in begins when it ends",
    ),
    "no form": ("change-01", _set("home2", forms=["Elsewhere"]), "no form of it stands in t6"),
    "form elsewhere": (
        "change-01",
        _say(2, "Is Kalmora far from here?"),
        "home2: t2 holds a form of it and does not tell it",
    ),
    "overlap": ("change-01", _set("home2", forms=["Kalmora", "Brenvik"]), "overlap: 'Brenvik'"),
    "stale now": (
        "change-01",
        _ask(current=["home1", "home2"], stale=[]),
        "home1 does not hold then",
    ),
    "current then": (
        "change-01",
        _ask(as_of="2024-04-01T00:00:00Z"),
        "home1 holds then",
    ),
    "end form": (
        "negation-01",
        _set("j1", end_forms=["left for the moon"]),
        "no end form stands in ended_in",
    ),
    "right distractor": ("change-01", _ask(distractors=["Kalmora"]), "'Kalmora' is right"),
    "unsaid distractor": ("change-01", _ask(distractors=["Paris"]), "'Paris' is never said"),
    "order": ("chain-01", lambda v: v["facts"][0].update(told_in=["t5"]), "h1"),
    "sessions": (
        "change-01",
        lambda v: v["sessions"][1].update(said_at="2024-01-01T00:00:00Z"),
        "sessions must follow each other",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checker_finds(name: str) -> None:
    id_, change, complaint = BROKEN[name]
    value = raw(id_)
    assert complaints(value) == ""
    change(value)
    assert complaint in complaints(value)


def test_the_checker_finds_an_id_used_twice_and_one_template() -> None:
    frames = "{0} told me that the village of {1} was where the bus would stop for good."
    names = ("Aldo", "Bea", "Ciro", "Dina", "Ezio")
    same = []
    for name in names:
        value = raw("change-01")
        for session in value["sessions"]:
            for place, turn in enumerate(session["turns"]):
                if not {turn["id"]} & {"t1", "t6"}:
                    turn["text"] = f"Well number {place}, " + frames.format(name, name + "ville")
        same.append(form.Conversation.model_validate(value))
    found = "\n".join(check(same))
    assert "change-01: this id is there twice" in found
    assert "of the sentences are said once" in found
    assert "sentences go like" in found


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(BY_ID["change-01"].model_dump_json() + "\n" + '{"id": "x"}\n')
    with pytest.raises(InputError, match="line 2"):
        form.load(path)


def test_what_is_told_twice_is_stated_twice_and_ends_are_stated_only_if_said() -> None:
    crowded, negation = BY_ID["crowded-01"], BY_ID["negation-01"]
    assert [each.object for each in statements(crowded)] == ["Birchmere"] * 6 + ["Sorrel Heath"]
    ids = [each.source_id for one in SHIPPED for each in statements(one)]
    assert len(set(ids)) == len(ids)
    told = statements(negation)
    assert [(each.negated, each.text) for each in told] == [
        (False, "Fenna works at Barlow Freight"),
        (True, "Fenna no longer works at Barlow Freight"),
    ]
    assert told[1].valid_from == negation.gold["j1"].valid_until
    assert not any(each.negated for each in statements(BY_ID["change-01"]))


def test_turns_keep_their_order_and_questions_their_evidence() -> None:
    for conversation in SHIPPED:
        turns = talk(conversation).turns
        assert [each.said_at for each in turns] == sorted({each.said_at for each in turns})
        known = {each.source_id for each in turns}
        assert all(set(task.evidence) <= known for task in talk(conversation).tasks)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["questions"][0].update(current=["nobody"]),
        lambda value: value["questions"][0].update(stale=["nobody"]),
        lambda value: value["questions"][0].update(evidence=["t99"]),
        lambda value: value["facts"][0].update(told_in=["t99"]),
        lambda value: value["facts"][0].update(ended_in="t99"),
        lambda value: value["facts"].append(value["facts"][0]),
        lambda value: value["questions"].append(value["questions"][0]),
        lambda value: value["sessions"].append(value["sessions"][0]),
    ],
)
def test_what_cannot_be_run_is_refused(change: Callable[[Raw], None]) -> None:
    assert form.usable(SHIPPED) == SHIPPED
    value = raw("change-01")
    change(value)
    with pytest.raises(InputError) as caught:
        form.usable([form.Conversation.model_validate(value)])
    assert caught.value.hint
    with pytest.raises(InputError, match="twice"):
        form.usable([BY_ID["change-01"]] * 2)
