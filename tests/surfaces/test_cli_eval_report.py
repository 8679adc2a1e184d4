"""``eval shortlist --report``: tables and a plot of a made-up file, odd in every way that runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.evaluation import shortlist
from engram_graph.evaluation.shortlist import ABLATION

Engram = Callable[..., Any]
SAID = (
    ("I started pottery lessons on Tuesday.", "Ada"),
    ("How lovely! My brother moved to Oslo.", "Bert"),
    ("I adopted a black kitten called Mitsy.", "Ada"),
    ("We should go hiking near the lake.", "Bert"),
    ("The violin was stolen from my car.", "Ada"),
    ("Did you see the eclipse?", "Bert"),
    ("My nephew plays chess every morning.", "Ada"),
)


def conversation(name: Any) -> dict[str, Any]:
    """Each question shares a word with its evidence and with no other turn."""
    turns: list[dict[str, Any]] = [
        {"speaker": who, "dia_id": f"D1:{n + 1}", "text": text}
        for n, (text, who) in enumerate(SAID)
    ]
    picture = {"speaker": "Ada", "dia_id": "D4:1", "blip_caption": "a kitten", "text": ""}
    bye = {"speaker": "Bert", "dia_id": "D4:2", "text": "Bye", "img_url": ["u"]}
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bert",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
            "session_2_date_time": "1:56 pm on 9 May, 2023",
            "session_3": [],
            "session_4_date_time": "2:10 pm on 9 May, 2023",
            "session_4": [picture, bye],
        },
        "qa": [
            {"question": "Which kitten?", "answer": "Mitsy", "evidence": ["D1:3"], "category": 4},
            {"question": "Pottery or Oslo?", "evidence": "D1:1; D1:2, D7:7", "category": "1"},
            {"question": "Whose chess?", "answer": ["a"], "evidence": ["D1:7"], "category": 2},
            {"question": "Where is the lake?", "answer": 7, "evidence": ["D1:4"], "category": 5},
            {"question": "Nothing?", "answer": None, "evidence": ["D4:1", "D"], "category": 1},
            {"question": "Which eclipse?", "evidence": ["D1:6"], "category": "odd"},
            {"question": "", "evidence": ["D1:6"], "category": 4},
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "made_up.json"
    path.write_text(json.dumps([conversation("talk|1"), conversation(2)]), encoding="utf-8")
    return path


@pytest.fixture
def report(
    on_server: Engram, namespace: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[Any, str, bytes]]:
    """A run into a folder of its own, with turns stored under another prefix each time."""
    runs = iter(range(9))

    def run(*arguments: str) -> tuple[Any, str, bytes]:
        number = next(runs)
        monkeypatch.setattr(shortlist, "NAMESPACE", f"{namespace}:{number}:")
        folder = tmp_path / "made" / str(number)
        done = on_server("eval", "shortlist", *arguments, "--report", str(folder))
        assert done.code == 0, done.err
        assert sorted(path.name for path in folder.iterdir()) == ["shortlist.md", "shortlist.svg"]
        page, picture = (folder / name for name in ("shortlist.md", "shortlist.svg"))
        return done, page.read_text(encoding="utf-8"), picture.read_bytes()

    return run


def cells(page: str, first: str) -> list[str]:
    """The other cells of the row that starts with ``first``."""
    [row] = [line for line in page.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in row.replace("\\|", "/").split("|")[2:-1]]


def test_tables_and_plot(report: Callable[..., Any], file: Path) -> None:
    done, page, picture = report(str(file))
    assert "shortlist.svg" in done.err
    assert "(shortlist.svg)" in page
    assert "`engram eval shortlist FILE --k 30 --report FOLDER`" in page
    assert "- conversations: talk\\|1, 2\n" in page
    assert "- questions that count: 6 (not: 2 adversarial, 2 of another category, 4 without" in page
    assert "- embedder: hash-" in page
    for order in ("BM25 alone", "hybrid, weights as shipped"):
        assert cells(page, order) == ["100.0 / 100.0"] * 5
    # Eight turns, so that everything is found once ten are taken.
    for order in ("cosine alone", "hybrid, each conversation by the others' weights"):
        assert cells(page, order)[1:] == ["100.0 / 100.0"] * 4
    assert [cells(page, kind)[0] for kind in ("multi-hop", "temporal", "single-hop")] == ["2"] * 3
    assert cells(page, "talk\\|1")[0] == cells(page, "2")[0] == "3"
    for off in ABLATION:
        assert cells(page, off if " " in off else f"`{off}`") == ["100.0 / 100.0"] * 2 + ["+0.0"]
    assert str(file.parent) not in page + picture.decode()
    assert all(name in picture.decode() for name in ("cosine alone", "BM25 alone", "as shipped"))


def test_a_second_run_writes_the_same_bytes(report: Callable[..., Any], file: Path) -> None:
    _, *first = report(str(file))
    _, *second = report(str(file))  # stored anew: other ids, another moment
    assert first == second


def test_one_conversation_has_nothing_to_leave_out(report: Callable[..., Any], file: Path) -> None:
    _, page, picture = report(str(file), "--conversation", "2", "--k", "4")
    assert "others' weights" not in page + picture.decode()
    assert "Order: hybrid, weights as shipped." in page
    assert "`engram eval shortlist FILE --k 4 --report FOLDER`" in page


def test_no_question_counts(report: Callable[..., Any], file: Path) -> None:
    alone = conversation("talk") | {"qa": None}
    file.write_text(json.dumps(alone), encoding="utf-8")
    _, page, _ = report(str(file))
    assert "- questions that count: 0\n" in page
    assert cells(page, "cosine alone") == ["0.0 / 0.0"] * 5


def test_what_is_missing_is_said_before_the_work(
    engram: Engram, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = engram("eval", "shortlist", str(file), "--report", str(file), "--json")
    assert (taken.code, taken.error["field"]) == (2, "report")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    bare = engram("eval", "shortlist", str(file), "--report", "out", "--json")
    assert bare.code != 0
    assert (bare.error["code"], bare.error["extra"]) == ("missing_extra", "eval")
    assert not bare.err  # nothing was started
