"""Fitting the order of turns: it finds what made the evidence, and says so without flattery."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from engram_graph.evaluation.fit_shortlist import (
    PARTS,
    Table,
    cross_validated,
    fit,
    left_out,
    solve,
    table,
)
from engram_graph.evaluation.shortlist import Pool
from engram_graph.formats.locomo import Question
from engram_graph.rules.turns import HELD, WEIGHTS


def tables(part: str, count: int = 40) -> list[Table]:
    """Questions of two conversations whose one piece of evidence is strongest in ``part``."""
    luck = random.Random(7)
    made = []
    for number in range(count):
        name = f"conv-{number % 2}"
        rows = {
            f"m{at}": {each: 0.0 if each in HELD else luck.gauss(0, 1) for each in WEIGHTS}
            for at in range(12)
        }
        best = max(rows, key=lambda each: rows[each][part])
        question = Question(f"q{number}", name, "?", "", (f"s-{best}",), 4)
        sources = {each: f"s-{each}" for each in rows}
        made.append(table(name, Pool(question, rows, sources, None)))
    return made


def test_the_part_that_tells_gets_the_weight() -> None:
    weights = dict(zip(PARTS, fit(tables("near")), strict=True))
    assert weights["near"] > 2
    assert all(
        abs(weight) < weights["near"] / 3 for name, weight in weights.items() if name != "near"
    )


def planted(weights: dict[str, float], count: int) -> list[Table]:
    """Questions whose evidence is drawn with the chances that ``weights`` give."""
    luck = random.Random(3)
    made = []
    for number in range(count):
        rows = {
            f"m{at:02}": {part: luck.gauss(0, 1) for part in WEIGHTS} | dict.fromkeys(HELD, 0.0)
            for at in range(15)
        }
        chances = [
            math.exp(sum(weights[part] * row[part] for part in PARTS)) for row in rows.values()
        ]
        [picked] = luck.choices(list(rows), chances)
        question = Question(f"q{number}", f"conv-{number % 3}", "?", "", (picked,), 4)
        made.append(table(question.conversation, Pool(question, rows, {at: at for at in rows})))
    return made


def test_planted_weights_are_found_again() -> None:
    truth = {part: 0.3 * (at - 4) for at, part in enumerate(PARTS)}  # -1.2 to 1.2
    given = planted(truth, 500)
    found = dict(zip(PARTS, fit(given), strict=True))
    assert found == pytest.approx(truth, abs=0.2)
    folds = left_out(given, list(found.values()))
    assert list(folds) == ["conv-0", "conv-1", "conv-2"]
    for weights in folds.values():
        assert dict(zip(PARTS, weights, strict=True)) == pytest.approx(truth, abs=0.3)
    other = fit(given, [2.0] * len(PARTS))  # from wherever the search starts
    assert other == pytest.approx(list(found.values()), abs=0.01)


def test_a_conversation_does_not_teach_its_own_weights() -> None:
    given = planted(dict.fromkeys(PARTS, 0.5), 60)
    strange = [replace(each, evidence=(0,)) for each in given if each.conversation == "conv-0"]
    changed = [each for each in given if each.conversation != "conv-0"] + strange
    before, after = left_out(given), left_out(changed)
    assert after["conv-0"] == pytest.approx(before["conv-0"])
    assert after["conv-1"] != pytest.approx(before["conv-1"], abs=0.01)


def test_what_is_learned_holds_for_what_was_left_out() -> None:
    found = cross_validated(tables("near"))
    assert found.left_out[0]["all"] > 0.9
    assert found.weights["near"]["least"] <= found.weights["near"]["most"]
    assert {found.weights[name]["weight"] for name in HELD} == {WEIGHTS[name] for name in HELD}


def test_a_question_without_evidence_in_its_pool_teaches_nothing() -> None:
    given = tables("near", 10)
    lost = given[0].question
    empty = Pool(
        Question("x", lost.conversation, "?", "", ("elsewhere",), 4),
        {"m": dict.fromkeys(WEIGHTS, 1.0)},
        {"m": "s"},
        None,
    )
    assert fit([*given, table("conv-0", empty)]) == pytest.approx(fit(given))


def test_held_parts_count_all_the_same() -> None:
    rows = {"a": dict.fromkeys(WEIGHTS, 0.0), "b": dict.fromkeys(WEIGHTS, 0.0) | {"date": 1.0}}
    one = table("c", Pool(Question("q", "c", "?", "", ("a",), 4), rows, {"a": "a", "b": "b"}, None))
    assert one.order([0.0] * len(PARTS)) == ["b", "a"]


def test_equations_are_solved() -> None:
    assert solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]) == pytest.approx([1 / 11, 7 / 11])
    assert solve([], []) == []
