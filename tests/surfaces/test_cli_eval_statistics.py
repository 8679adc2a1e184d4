"""``eval calibration`` and ``eval compare`` at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.evaluation.study.result import Result, Row, write_result

Engram = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"
PAIRS, ROWS = str(DATA / "contradiction_pairs.jsonl"), str(DATA / "escalation_labels.jsonl")


def test_the_study_s_calibration(engram: Engram, tmp_path: Path) -> None:
    drawn = tmp_path / "plot.svg"
    done = engram("eval", "calibration", PAIRS, "--escalations", ROWS, "--out", str(drawn))
    assert done.code == 0
    lines = done.out.splitlines()
    for name, figures in {
        "relation": "38 .815789 .894737 .871316 .134002 .133947 .275366 .495405 1.3733",
        "temporal status": "38 .947368 – .959211 .026354 .026579 .078563 .145536 1.2357",
        "relation, escalated": "29 .793103 – .919310 .154856 .148276 .344724 3.184684 2.5079",
    }.items():
        first = next(line for line in lines if line.startswith(f"{name}  "))
        shown = first.removeprefix(name).split()
        *wanted, temperature = figures.replace(" .", " 0.").split()
        assert shown[: len(wanted)] == wanted
        assert f"{float(shown[len(wanted)]):.4f}" == temperature
    assert "     0.90  0.342105       0.040000  0.002530     0.026316      0.060526" in lines
    svg = drawn.read_text("utf-8")
    for words in ("relation, escalated", "29 items, plain ECE 0.148", "cost C(θ)", "USD per 1,000"):
        assert words in svg


def test_calibration_as_json(engram: Engram) -> None:
    weak = engram("eval", "calibration", PAIRS, "--answers", "weak_v2", "--json").json
    assert [each["ece"] for each in weak["questions"]] == [0.210358, 0.042852]
    assert [each["threshold"] for each in weak["curve"]] == [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]
    assert sum(each["n"] for each in weak["questions"][0]["bins"]) == 38
    only = engram("eval", "calibration", "--escalations", ROWS, "--json").json
    assert [each["question"] for each in only["questions"]] == ["relation, escalated"]
    assert only["curve"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["missing.jsonl"],
        [PAIRS, "--answers", "nobody"],
        [PAIRS, "--out", "plot.png"],
        [PAIRS, "--out", "nowhere/plot.svg"],
        ["--escalations", PAIRS],
    ],
)
def test_calibration_of_bad_input(engram: Engram, arguments: list[str]) -> None:
    done = engram("eval", "calibration", *arguments, "--json")
    assert done.code == 2
    assert done.error["message"]


def write(folder: Path, arm: str, right: dict[int, str], **changes: Any) -> None:
    """``right``: k → one sign a question: + right, - wrong, ? not judged; five conversations."""
    labels = {"+": "CORRECT", "-": "WRONG", "?": None}
    rows = tuple(
        Row(
            task=f"q{at}",
            conversation=f"c{at % 5}",
            category="single-hop",
            k=k,
            question="?",
            gold="!",
            label=labels[sign],  # type: ignore[arg-type]
            tokens=10 * k,
        )
        for k, signs in right.items()
        for at, sign in enumerate(signs)
    )
    given = {"dataset": "locomo", "split": "primary", "digest": "d", "about": "", "rows": rows}
    write_result(Result(arm=arm, **given | changes), folder)


@pytest.fixture
def results(tmp_path: Path) -> str:
    """A folder with three arms."""
    write(tmp_path, "turns_cosine", {3: "+-" * 20}, tokens_at=(10.0, 20.0, 30.0))
    write(tmp_path, "turns_jev", {3: "+++-" * 10, 6: "++" * 20}, tokens_at=(9.0, 18.0, 27.0, 36.0))
    write(tmp_path, "facts_v2", {3: "+++-" * 9 + "+++?"}, tokens_at=(10.0, 20.0, 30.0))
    return str(tmp_path)


def test_all_pairs_are_compared(engram: Engram, results: str) -> None:
    done = engram("eval", "compare", results)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "locomo, split primary"
    cells = [" ".join(line.split()) for line in lines]
    # 10 of 40 only the second has: 2/2^10; the smallest of three p is three times itself
    assert "turns_cosine 3 turns_jev 3 40 0 10 -25.00 0.00195 0.00586 30.0 30.0" in cells
    assert "facts_v2 3 turns_jev 3 39 0 0 +0.00 1 1 30.0 30.0" in cells
    assert done.err.splitlines() == [
        "note: differences, intervals and bounds are in percentage points",
        "note: 2 questions without a label are in no comparison",
    ]
    found = engram("eval", "compare", results, "--json").json
    assert [(each["first"], each["second"]) for each in found] == [
        ("facts_v2", "turns_cosine"),
        ("facts_v2", "turns_jev"),
        ("turns_cosine", "turns_jev"),
    ]
    last = found[-1]
    assert (last["p"], last["p_holm"]) == (2 / 2**10, pytest.approx(6 / 2**10))
    assert last["difference"] == last["non_inferiority"]["difference"] == -0.25
    assert last["non_inferiority"]["holds"] is False
    assert last["conversations"] == 5
    assert last["nested_interval"][0] < last["cluster_bound"] <= -0.2


def test_two_arms_with_a_share_of_the_gain(engram: Engram, results: str, tmp_path: Path) -> None:
    write(tmp_path, "facts_v2", {3: "++++" * 9 + "+++-"}, tokens_at=(10.0, 20.0, 30.0))
    arms = ("--first", "turns_jev@3", "--second", "facts_v2", "--baseline", "turns_cosine")
    done = engram("eval", "compare", results, *arms, "--margin", "0.3")
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "turns_jev at 3 has 0.526 of the gain of facts_v2 at 3 over turns_cosine"
    )
    assert "within 30" in done.out
    (found,) = engram("eval", "compare", results, *arms, "--margin", "0.3", "--json").json
    assert found["share_of_gain"] == pytest.approx(10 / 19)
    assert found["non_inferiority"]["holds"] is (found["non_inferiority"]["lower"] > -0.3)


def test_tokens_are_matched(engram: Engram, results: str) -> None:
    arms = ("--first", "turns_jev", "--second", "turns_cosine", "--match-tokens", "--json")
    (found,) = engram("eval", "compare", results, *arms).json
    assert (found["first_k"], found["second_k"]) == (3, 3)  # 27 tokens, rather than 36
    assert (found["only_first"], found["only_second"]) == (10, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--first", "mem0"],
        ["--first", "turns_jev@x"],
        ["--k", "7"],
        ["--first", "turns_jev", "--second", "turns_jev"],
        ["--baseline", "turns_cosine"],
    ],
)
def test_what_cannot_be_compared(engram: Engram, results: str, arguments: list[str]) -> None:
    done = engram("eval", "compare", results, *arguments, "--json")
    assert done.code == 2
    assert done.error["hint"]


def test_runs_over_other_questions(engram: Engram, results: str, tmp_path: Path) -> None:
    write(tmp_path, "mem0", {3: "+-" * 20}, digest="other")
    done = engram("eval", "compare", results, "--first", "mem0", "--json")
    assert done.code == 2
    assert done.error["hint"] == "Run both over the same file with the same split."
    (tmp_path / "locomo.mem0.result.json").write_text(json.dumps({"format": "odd"}))
    assert engram("eval", "compare", results, "--json").code == 2
    assert engram("eval", "compare", str(tmp_path / "nowhere"), "--json").code == 2
