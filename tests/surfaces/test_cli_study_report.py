"""``eval report``: one page and its Markdown from result files, whatever stands in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from engram_graph.evaluation.study.result import Store, write_result
from tests.study_results import result, rows

Engram = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"
PAIRS, ESCALATIONS = DATA / "contradiction_pairs.jsonl", DATA / "escalation_labels.jsonl"
HOSTILE = "</td></style><script>window.hacked = 1</script><img src=x onerror='hacked=1'> | $x_1$"
VOID = {"meta", "br"}


class Page(HTMLParser):
    """The elements of a page; each must be closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two arms over hostile questions, and one that was neither priced nor judged."""
    folder = tmp_path / "study"
    folder.mkdir()
    said = {"question": HOSTILE, "answer": HOSTILE, "gold": HOSTILE, "degraded": (HOSTILE,)}
    closed = {"text": HOSTILE, "reason": "belief", "old_sources": ["t1"], "new_sources": ["t3"]}
    stores = {"talk-0": Store(turns=9, closes=(closed,), failed=(("t2", HOSTILE),))}
    write_result(result("one", [*rows("++-+", **said), *rows("++++", k=20, **said)]), folder)
    write_result(result("two", rows("+--+", **said), conversations=stores, about=HOSTILE), folder)
    bare = {"read_usd": None, "answer_usd": None, "read_ms": 0.0, "shortlisted": None, "kept": None}
    write_result(
        result("three", rows("....", **bare), tokens_at=(), models={"answer": "scripted"}), folder
    )
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_page_and_markdown_the_same_each_time(
    engram: Engram, study: Path, tmp_path: Path
) -> None:
    said = ("--baseline", "two", "--title", HOSTILE)
    calibrated = ("--pairs", str(PAIRS), "--escalations", str(ESCALATIONS))
    first, second = tmp_path / "first", tmp_path / "second"
    done = engram("eval", "report", str(study), "--out", str(first), *said, *calibrated)
    assert done.code == 0, done.err
    assert done.out.startswith("3 result files: ")
    again = engram("eval", "report", str(study), "--out", str(second), *said, *calibrated, "--json")
    assert again.json["results"] == 3
    assert files(first) == files(second)

    text = (first / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    names = [tag for tag, _ in page.tags]
    assert not {"script", "img", "iframe", "link", "object", "embed", "base"} & set(names)
    assert names.count("svg") == len(list(first.glob("*.svg"))) >= 8
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    ids = [found for _, each in page.tags if (found := each.get("id"))]
    assert len(ids) == len(set(ids))
    for tag, each in page.tags:
        assert not any(name.startswith("on") or name in ("src", "style") for name in each)
        link = each.get("href")
        assert link is None or link.removeprefix("#") in ids
        if tag == "svg":
            assert each["role"] == "img"
            assert each["aria-label"]
    policy = next(each["content"] for _, each in page.tags if each.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'none'; style-src 'sha256-")
    assert HOSTILE in page.text
    for expected in (
        "Paired with two",
        "0.134002",
        "0.154856",
        "not judged",
        "Models were scripted",
    ):
        assert expected in page.text

    written = (first / "report.md").read_text(encoding="utf-8")
    assert "<script" not in written
    assert "<img" not in written
    shown = re.findall(r"\]\(([^)]+)\)", written)
    assert sorted(shown) == sorted(path.name for path in first.glob("*.svg"))
    for path in first.glob("*.svg"):
        drawn = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
        assert "<script" not in drawn
    for block in written.split("\n\n"):
        if block.startswith("| "):
            assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


def test_a_run_without_answers_has_a_report(engram: Engram, tmp_path: Path) -> None:
    write_result(result("one", (), conversations={}, tokens_at=()), tmp_path)
    done = engram("eval", "report", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.code == 0, done.err
    made = files(tmp_path / "out")
    assert sorted(made) == ["report.html", "report.md"]
    page = Page(made["report.html"].decode())
    for said in ("Nothing was answered.", "Nothing was judged.", "No fact was closed."):
        assert said in page.text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--baseline", "nobody"), "no result of the arm 'nobody'"),
        (("--baseline", "one@4"), "one was not answered at k = 4"),
        (("--pairs", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
    ],
)
def test_what_is_not_there_leaves_nothing_behind(
    engram: Engram, study: Path, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    out = tmp_path / "out"
    done = engram("eval", "report", str(study), "--out", str(out), *more, "--json")
    assert done.code == 2
    assert said in done.error["message"]
    assert not out.exists()


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.figure"])
def test_without_the_extra(
    engram: Engram, study: Path, tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = engram("eval", "report", str(study), "--out", str(tmp_path / "out"), "--json")
    assert done.code == 1
    assert "eval" in done.error["hint"]
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way(engram: Engram, study: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    done = engram("eval", "report", str(study), "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "cannot write to out" in done.err
    assert (tmp_path / "out").read_text() == "mine"
    nothing = engram("eval", "report", str(tmp_path / "nowhere"), "--out", str(tmp_path / "o"))
    assert nothing.code == 2
