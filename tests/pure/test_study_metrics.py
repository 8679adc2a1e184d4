"""Numbers of a result file, against definitions written out another way."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import study_fakes as fakes
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.errors import InputError
from engram_graph.evaluation.study import metrics
from engram_graph.evaluation.study.expected import ANSWER_USD, INPUT_USD, expected
from engram_graph.evaluation.study.labels import load_labels
from engram_graph.evaluation.study.result import Result, Row, Store

LABELS = st.sampled_from(["CORRECT", "WRONG", None])


def row(**fields: Any) -> Row:
    common = {"task": "q", "conversation": "a", "category": "x", "k": 3, "question": "?"}
    return Row(**common | {"gold": "g"} | fields)


ROWS = st.lists(
    st.builds(
        lambda label, category, abstention, scored, evidence, shortlisted, kept, usd: row(
            label=label,
            category=category,
            abstention=abstention,
            scored=scored,
            evidence=tuple(map(str, range(evidence))),
            shortlisted=min(shortlisted, evidence),
            kept=min(kept, shortlisted, evidence),
            read_usd=usd,
        ),
        LABELS,
        st.sampled_from("abc"),
        st.booleans(),
        st.booleans(),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 3),
        st.none() | st.floats(0, 1),
    ),
    max_size=30,
)


@given(ROWS)
def test_categories_are_a_partition_of_accuracy(rows: list[Row]) -> None:
    whole, parts = metrics.accuracy(rows), metrics.by_category(rows)
    assert sum(each.right for each in parts.values()) == whole.right
    assert sum(each.of for each in parts.values()) == whole.of
    assert list(parts) == sorted(parts)


@given(ROWS)
def test_abstentions_and_accuracy_share_no_question(rows: list[Row]) -> None:
    scored = [each for each in rows if each.scored]
    both = metrics.accuracy(rows).of + metrics.abstention(rows).of
    assert both + metrics.unanswered(scored) == len(scored)
    without = [each for each in rows if not each.abstention]
    assert metrics.accuracy(without) == metrics.accuracy(rows)


@given(ROWS)
def test_recall_is_counted_over_questions_with_evidence(rows: list[Row]) -> None:
    found = metrics.recall(rows)
    asked = [r for r in rows if r.scored and not r.abstention and r.evidence]
    assert found.questions == len(asked)
    if not asked:
        assert (found.all, found.any, found.lost) == (None, None, None)
        return
    shortlisted = [r.shortlisted or 0 for r in asked]
    assert found.any == len([n for n in shortlisted if n > 0])
    assert found.all == len(
        [1 for r, n in zip(asked, shortlisted, strict=True) if n == len(r.evidence)]
    )
    assert found.lost == len([1 for r in asked if r.shortlisted and r.kept == 0])


def test_recall_of_an_arm_that_does_not_tell() -> None:
    told = metrics.recall([row(evidence=("1",))])
    assert told == metrics.Recall(1, None, None, None)
    assert metrics.recall([row(evidence=("1",), shortlisted=1)]).lost is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(0, 10))
def test_a_percentile_is_the_value_at_its_place(values: list[float], tenths: int) -> None:
    place = math.floor(Fraction(tenths, 10) * (len(values) - 1))
    found = metrics.percentile(values, tenths / 10)
    assert found in (sorted(values)[place], sorted(values)[max(place - 1, 0)])
    if tenths in (0, 5, 10):  # exact in binary
        assert found == sorted(values)[place]


def test_the_protocols_ninetieth_percentile() -> None:
    waits = metrics.latency(range(40, 0, -1))  # 40 questions
    assert waits == metrics.Latency(p50=20, p90=36)  # places 19 and 35
    assert metrics.latency([]) is None


@given(ROWS, st.integers(1, 500), st.floats(0, 0.01))
def test_total_cost_of_a_question(rows: list[Row], turns: int, write: float) -> None:
    stores = {"a": Store(turns=turns, cost_usd={"extraction": write, "decisions": 2 * write})}
    found = metrics.costs(rows, stores)
    questions = sum(each.scored and not each.abstention for each in rows)
    known = [each.read_usd for each in rows if each.read_usd is not None]
    assert found.read == (fmean(known) if known else None)
    assert found.write["extraction"] == pytest.approx(1000 * write / turns)
    if not questions or not known:
        assert found.total is None
        return
    # Writing is shared out over the questions, whatever way round it is counted.
    assert found.total == pytest.approx(3 * write / questions + fmean(known), abs=1e-12)


def test_costs_that_are_unknown_stay_unknown() -> None:
    stores = {
        "a": Store(turns=10, cost_usd={"extraction": None, "decisions": 0.1}),
        "b": Store(turns=10, cost_usd={"decisions": 0.1}),
    }
    found = metrics.costs([row()], stores)
    assert found.write == {"decisions": pytest.approx(10.0), "extraction": None}
    assert found.total is None


def test_a_question_that_could_not_be_answered_did_not_cost_nothing() -> None:
    rows = [row(answer="a", answer_usd=0.2, judge_usd=0.1), row()]
    found = metrics.costs(rows, {})
    assert (found.answer, found.judge) == (0.2, 0.1)
    assert metrics.costs([row()], {}).answer == 0.0  # nobody was asked


def test_the_studys_ratio_of_turns_to_questions() -> None:
    found = metrics.costs([row()] * 778, {"a": Store(turns=3122)})
    assert found.turns_per_question == pytest.approx(4.013, abs=5e-4)


def test_closes_against_labelled_messages() -> None:
    def close(old: list[str], new: list[str]) -> dict[str, Any]:
        return {"text": "t", "old_sources": old, "new_sources": new, "reason": "update"}

    stores = {
        "a": Store(turns=4, closes=(close(["1", "2"], ["3"]), close(["4"], ["5"]))),
        "b": Store(turns=4, closes=(close(["6"], []),)),
    }
    audit = metrics.close_audit(stores, {("2", "3"), ("5", "4"), ("7", "8")})
    assert audit == metrics.CloseAudit(closes=3, right=1, wrong=1, unknown=1, labelled=3, missed=2)


@pytest.mark.parametrize(
    ("answer", "label", "stale"),
    [
        ("She lives in Oslo.", "WRONG", 1),
        ("oslo", "WRONG", 1),
        ("She lives in Oslo.", "CORRECT", 0),
        ("Oslofjord", "WRONG", 0),
        ("New  YORK it is", "WRONG", 1),
        ("York, new", "WRONG", 0),
        (None, "WRONG", 0),
    ],
)
def test_stale_answers(answer: str | None, label: Any, stale: int) -> None:
    rows = [row(answer=answer, label=label), row(task="other", answer="Oslo", label="WRONG")]
    found = metrics.stale(rows, {"q": ["Oslo", "New York", ""]})
    assert found == metrics.Share(stale, 1)


def test_labels_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(
        '{"earlier": "a", "later": "b"}\n{"question": "q", "outdated": ["x"]}\n'
        '{"question": "q", "outdated": ["y"]}\n'
    )
    found = load_labels(file)
    assert (found.closes, found.outdated) == (frozenset({("a", "b")}), {"q": ("x", "y")})
    file.write_text('{"question": "q", "outdated": [1]}')
    with pytest.raises(InputError, match=r"labels.jsonl, line 1: no label"):
        load_labels(file)


def test_counters_add_up() -> None:
    stores = {
        "a": Store(turns=1, counters={"x": 1, "y": 2}),
        "b": Store(turns=1, counters={"x": 3}),
    }
    assert metrics.counters(stores) == {"x": 4, "y": 2}


def test_a_summary_says_all_of_one_k() -> None:
    rows = (
        row(label="CORRECT", tokens=10, evidence=("1",), shortlisted=1, kept=0, ended=1),
        row(label="WRONG", tokens=20, read_ms=4.0, degraded=("down",)),
        row(label="CORRECT", abstention=True, tokens=90, category="adversarial"),
        row(k=6, tokens=99),
    )
    result = Result(
        dataset="locomo",
        split="all",
        digest="d",
        arm="x",
        about="",
        conversations={"a": Store(turns=8, facts=3, latency_ms=(1.0, 2.0, 3.0))},
        rows=rows,
    )
    told = metrics.summary(result, 3)
    assert (told["questions"], told["accuracy"], told["abstention"]) == (2, 0.5, 1.0)
    assert told["by_category"] == {"x": 0.5}
    assert told["tokens"] == {"mean": 15, "median": 15}  # of the questions accuracy is of
    assert (told["ended_lines"], told["degraded"], told["unanswered"]) == (1, 1, 0)
    assert told["recall"] == {"questions": 1, "all": 1, "any": 1, "lost": 1}
    assert (told["store"]["facts"], told["write_ms"]) == (3, {"p50": 2.0, "p90": 2.0})
    with pytest.raises(InputError, match="k = 5"):
        metrics.summary(result, 5)


def test_expected_costs_come_from_the_studys_unit_costs(tmp_path: Path) -> None:
    dataset = fakes.study(tmp_path).dataset  # 2 conversations, 4 turns and 4 questions each
    told = expected(dataset, "turns_jev", (3, 20), fakes.words)
    assert told.write == pytest.approx(8 * 0.00000061)
    assert told.read == pytest.approx(8 * 0.00020)
    # At k = 20 its blocks hold 500 tokens at most.
    assert told.answer == pytest.approx(8 * (2 * ANSWER_USD + (3 * 45 + 500) * INPUT_USD))
    assert expected(dataset, "graphiti", (3,), fakes.words).total is None
    # The totals of the protocol, for a question at r_w = 4.013.
    block = 23631 * INPUT_USD + ANSWER_USD
    assert block == pytest.approx(0.00362, abs=5e-6)
    assert (
        pytest.approx(0.00030, abs=5e-6)
        == 4.013 * 0.00000061 + 0.00020 + 139 * INPUT_USD + ANSWER_USD
    )
