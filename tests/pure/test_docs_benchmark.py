"""What docs/benchmark.md says of the data is so."""

from __future__ import annotations

from pathlib import Path

from engram_graph.evaluation.validity import form

PAGE = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text(encoding="utf-8")
SHIPPED = form.shipped()


def test_the_kinds_and_their_numbers() -> None:
    for kind, tests in form.KINDS.items():
        of_kind = [each for each in SHIPPED if each.kind == kind]
        questions = sum(len(each.questions) for each in of_kind)
        assert f"| {kind} | {tests} | {len(of_kind)} | {questions} |" in PAGE


def test_how_much_there_is() -> None:
    turns = [len(each.turns) for each in SHIPPED]
    facts = sum(len(each.facts) for each in SHIPPED)
    questions = sum(len(each.questions) for each in SHIPPED)
    assert (
        f"{len(SHIPPED)} conversations with {sum(turns)} turns, {facts} facts and {questions}"
        in PAGE
    )
    assert f"Conversations have {min(turns)} to {max(turns)} turns" in PAGE
