"""``engram feedback`` and ``engram calibrate``: labels given, and what they say of the answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.cli import feedback_commands
from engram_graph.cli.output import Output
from engram_graph.cli.run import Run
from engram_graph.evaluation.calibration_plot import picture
from engram_graph.models.feedback import Calibration
from engram_graph.rules.calibrate import report
from engram_graph.rules.labels import Close, Derived

Engram = Callable[..., Any]


@pytest.fixture
def kite(maya: Engram) -> str:
    """The id of a fact."""
    found: str = maya("remember", "Maya", "owns", "a kite", "--json").json["facts"][0]["id"]
    return found


def test_a_fact_and_a_decision_are_labelled(maya: Engram, kite: str) -> None:
    done = maya("feedback", kite[:30], "wrong", "--why", "she sold it", "--by", "Jonas", "--json")
    assert done.code == 0
    assert (done.json["fact_id"], done.json["verdict"]) == (kite, "wrong")
    assert (done.json["why"], done.json["given_by"]) == ("she sold it", "Jonas")
    assert maya("feedback", "Maya|owns|a kite", "right").out == f"fact {kite} (open): right\n"
    decision = maya("explain", kite, "--json").json["decisions"][0]["id"]
    told = maya("feedback", "right", "--decision", decision)
    assert told.out == f"decision {decision}: right\n"
    assert "was called wrong by Jonas: she sold it" in maya("explain", kite).out
    rows = maya("query", "labels_given", "--json").json
    assert [row["verdict"] for row in rows] == ["wrong", "right", "right"]
    counted = maya("calibrate")
    assert counted.out.startswith("3 labels, 1 of use for calibration\n")
    assert "belief: 1 of 1 answer labelled  (fewer than 30: a first hint only)" in counted.out
    assert "59 labels, all right, would show a rate of at most 0.05" in counted.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("right",), "input"),
        (("a", "b", "right"), "input"),
        (("x", "right", "--decision", "d"), "input"),
        (("00000000", "maybe"), "input"),
        (("00000000-nothing", "right"), "not_found"),
        (("right", "--decision", "nothing"), "not_found"),
    ],
)
def test_what_cannot_be_labelled(maya: Engram, words: tuple[str, ...], code: str) -> None:
    done = maya("feedback", *words, "--json")
    assert done.error["code"] == code
    assert done.code == (2 if code == "input" else 1)


def test_nothing_is_labelled_yet(maya: Engram, kite: str, tmp_path: Path) -> None:
    file = tmp_path / "none.svg"
    done = maya("calibrate", "--out", str(file))
    assert done.code == 0
    assert "closes: none labelled" in done.out
    assert "engram feedback FACT right|wrong" in done.err
    assert "no labels" in file.read_text(encoding="utf-8")
    assert maya("calibrate", "--json").json["questions"] == []


@pytest.mark.parametrize(
    "options", [("--bound", "0"), ("--bound", "1"), ("--out", "a.png"), ("--out", "/nowhere/a.svg")]
)
def test_wrong_options(maya: Engram, options: tuple[str, ...]) -> None:
    done = maya("calibrate", *options, "--json")
    assert (done.code, done.error["code"]) == (2, "input")


def sample() -> Calibration:
    answers = [(0.95, place > 1) for place in range(70)] + [
        (0.65, place > 4) for place in range(10)
    ]
    closes = tuple(Close(place == 0, 0.9, 0.1 if place else 0.2) for place in range(80))
    derived = Derived({"relation_to_candidate": answers}, closes, frozenset())
    return report("n", derived, {"relation_to_candidate": 200, "same_fact": 3}, 80, 0.05)


def test_the_report_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    feedback_commands._tell(Run("n", Output()), sample())
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert "relation_to_candidate: 80 of 200 answers labelled" in lines
    assert "  [0.6, 0.7)       10  0.650  0.500  ##########" in lines
    assert "  [0.9, 1.0]       70  0.950  0.971  ###################" in lines
    assert (
        "  wrong at most 0.05: from 0.95, which keeps 70 with 2 wrong (at most 0.087 with 95 %)"
        in (lines)
    )
    assert "  shown with 95 %: no threshold" in lines
    assert re.search(
        r"closes: 80 labelled, 1 wrong: 0\.013 \[0\.002, 0\.067\], at most 0\.058", out
    )
    assert "by belief, shown with 95 %: up to 0.1, which keeps 79 with 0 wrong" in out
    assert "no labels for the answers to: same_fact (3)" in err


def test_the_picture() -> None:
    made = picture(sample())
    assert made == picture(sample())  # the same each time
    assert "relation_to_candidate" in made
    assert "80 labelled, ECE" in made
    assert "same_fact" not in made


def test_the_picture_needs_an_extra(
    engram: Engram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = engram("-n", "n", "calibrate", "--out", str(tmp_path / "a.svg"), "--json")
    assert (done.code, done.error["code"]) == (1, "missing_extra")
