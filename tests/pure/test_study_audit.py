"""The blind audit: what is on a sheet, what is kept from it, and what comes back."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.errors import InputError
from engram_graph.evaluation.statistics import mcnemar
from engram_graph.evaluation.study.audit import Sheets, only_k, read_back, sheets
from engram_graph.evaluation.study.result import Label, Result, Row

K = (6, 3)


def row(task: int, label: Label, said: str, k: int, **more: Any) -> Row:
    values: dict[str, Any] = {
        "task": f"q{task}", "conversation": "c1", "category": "single-hop", "k": k,
        "question": f"Who is {task}?", "gold": f"Gold {task}", "answer": said, "label": label,
    }  # fmt: skip
    return Row(**values | more)


def result(arm: str, labels: str, k: int, **more: Any) -> Result:
    """``labels``: one letter a question, C or W."""
    rows = tuple(
        row(n, "CORRECT" if letter == "C" else "WRONG", f"{arm} says {n}", k, **more)
        for n, letter in enumerate(labels)
    )
    return Result(dataset="locomo", split="dev", digest="d", arm=arm, about="An arm.", rows=rows)


def made(first: str = "CCWWC", second: str = "CWCWW", **more: Any) -> Sheets:
    return sheets(result("turns_jev", first, 6, **more), result("mem0", second, 3, **more), K)


def table(raw: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def kept(folder: Path, files: Sheets, verdict: Any = "") -> tuple[Path, Path]:
    """Both files in ``folder``; ``verdict``: of every row, or row and key → verdict."""
    graded = table(files.sheet)
    keys = {each["row"]: each for each in table(files.key)}
    for each in graded:
        each["verdict"] = verdict(each, keys[each["row"]]) if callable(verdict) else verdict
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(graded[0]))
    writer.writeheader()
    writer.writerows(graded)
    sheet, key = folder / "sheet.csv", folder / "key.csv"
    sheet.write_text(stream.getvalue(), encoding="utf-8")
    key.write_bytes(files.key)
    return sheet, key


def as_judged(_: dict[str, str], key: dict[str, str]) -> str:
    return key["label"].lower()


def test_a_sheet_has_the_discordant_questions_twice_and_names_no_arm() -> None:
    files = made()
    rows = table(files.sheet)
    assert files.questions == 3
    asked = sorted(each["question"] for each in rows)
    assert asked == sorted([f"Who is {n}?" for n in (1, 2, 4)] * 2)
    assert list(rows[0]) == ["row", "question", "gold", "answer", "verdict"]
    assert {each["verdict"] for each in rows} == {""}
    assert [each["row"] for each in rows] == [str(n) for n in range(1, 7)]
    told = files.sheet.decode().replace("turns_jev says", "").replace("mem0 says", "")
    assert not any(word in told for word in ("turns_jev", "mem0", "CORRECT", "WRONG"))
    assert made() == files  # the same seed, the same order
    arms = [each["side"] for each in table(files.key)]
    assert arms != sorted(arms)
    assert arms != sorted(arms, reverse=True)
    assert arms != ["first", "second"] * 3


def test_what_does_not_count_for_accuracy_is_left_out() -> None:
    with pytest.raises(InputError, match="differ on none of 0"):
        made(abstention=True)
    with pytest.raises(InputError, match="differ on none"):
        made("CCW", "CCW")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r\n="])
def test_no_cell_is_a_formula(start: str) -> None:
    text = f'{start}HYPERLINK("http://x","y")'
    files = made(question=text, gold=text, answer=text)
    for each in table(files.sheet) + table(files.key):
        for name in ("question", "gold", "answer"):
            assert each.get(name, "'")[0] == "'", each
    assert b"\r\n=" not in files.sheet


@pytest.mark.parametrize("answer", ["=1+1", 'Lisbon, "the" city;\nnew', "Łódź 東京", "'tis", ""])
def test_the_verdicts_come_back(tmp_path: Path, answer: str) -> None:
    files = made(answer=answer, question=f"Who says {answer}?")
    found = read_back(*kept(tmp_path, files, as_judged))
    assert (found.first, found.first_k, found.second, found.second_k) == ("turns_jev", 6, "mem0", 3)
    assert (found.questions, found.audited, found.compared, found.ungraded) == (5, 3, 3, 0)
    for reading in (found.strict, found.lenient):
        assert (reading.agreement, reading.only_first, reading.only_second) == (1.0, 2, 1)
        assert reading.p == mcnemar(2, 1)
    assert found.verdicts == {"CORRECT": 3, "PARTLY": 0, "WRONG": 3}


def test_partly_right_counts_both_ways_and_blanks_are_counted(tmp_path: Path) -> None:
    def verdict(_: dict[str, str], key: dict[str, str]) -> str:
        graded = {"q1": ("partly", "wrong"), "q2": ("Correct ", "correct"), "q4": ("", "wrong")}
        return graded[key["task"]][key["side"] == "second"]

    found = read_back(*kept(tmp_path, made(), verdict))
    assert (found.compared, found.ungraded, found.answers) == (2, 1, 6)
    assert (found.strict.only_first, found.strict.only_second) == (0, 0)
    assert (found.lenient.only_first, found.lenient.only_second) == (1, 0)
    # q1: the first was CORRECT to the judge, q2: the first was WRONG to it, q4: agreed.
    assert found.strict.agreement == pytest.approx(3 / 5)
    assert found.lenient.agreement == pytest.approx(4 / 5)
    assert found.as_dict()["strict"]["only_first"] == 0


def test_a_sheet_may_come_back_sorted_with_another_separator(tmp_path: Path) -> None:
    sheet, key = kept(tmp_path, made(), as_judged)
    head, *lines = sheet.read_text(encoding="utf-8").split("\n")
    text = "\n".join([head, *sorted(lines, reverse=True)]).replace(",", ";")
    sheet.write_text("\ufeff" + text + "\n;;;;\n", encoding="utf-8")
    assert read_back(sheet, key).strict.only_first == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("correct", "maybe", 1), "no verdict"),
        (lambda text: text.replace("Who is 1?", "Who is 9?", 1), "not one of"),
        (lambda text: text + text.split("\n")[1], "comes twice"),
        (lambda text: text.replace("verdict", "mark", 1), "no columns"),
        (lambda text: text.replace("correct", "").replace("wrong", ""), "no question"),
    ],
)
def test_a_sheet_that_cannot_be_used_is_refused(tmp_path: Path, change: Any, words: str) -> None:
    sheet, key = kept(tmp_path, made(), as_judged)
    sheet.write_bytes(change(sheet.read_bytes().decode()).encode())
    with pytest.raises(InputError, match=words):
        read_back(sheet, key)


def test_another_key_is_refused(tmp_path: Path) -> None:
    sheet, key = kept(tmp_path, made(), as_judged)
    key.write_bytes(made("WCWCC", "CWCWW").key)
    with pytest.raises(InputError, match="not one of"):
        read_back(sheet, key)
    with pytest.raises(InputError, match="cannot be read"):
        read_back(sheet, tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", "six"), ("questions", "many"), ("side", "left"), ("label", "MAYBE")],
)
def test_a_damaged_key_is_refused(tmp_path: Path, name: str, value: str) -> None:
    both = made()
    rows = table(both.key)
    rows[0][name] = value
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / "sheet.csv").write_bytes(both.sheet)
    (tmp_path / "key.csv").write_text(stream.getvalue(), encoding="utf-8")
    with pytest.raises(InputError, match="no row of a key") as caught:
        read_back(tmp_path / "sheet.csv", tmp_path / "key.csv")
    assert caught.value.hint


def test_k_is_asked_for_where_there_are_several() -> None:
    one = result("mem0", "CW", 3)
    assert only_k(one, None) == 3
    assert only_k(one, 6) == 6
    both = one.model_copy(update={"rows": (*one.rows, *result("mem0", "CW", 20).rows)})
    with pytest.raises(InputError, match="3, 20"):
        only_k(both, None)


@given(st.lists(st.sampled_from(["CC", "CW", "WC", "WW"]), min_size=2, max_size=12))
def test_a_judge_that_people_agree_with_gives_its_own_counts(pairs: list[str]) -> None:
    import tempfile

    first, second = ("".join(column) for column in zip(*pairs, strict=True))
    if first == second:
        with pytest.raises(InputError):
            made(first, second)
        return
    with tempfile.TemporaryDirectory() as folder:
        found = read_back(*kept(Path(folder), made(first, second), as_judged))
    assert found.strict.only_first == pairs.count("CW")
    assert found.strict.only_second == pairs.count("WC")
    assert found.audited == found.strict.only_first + found.strict.only_second
