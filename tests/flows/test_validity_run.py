"""The benchmark of updates on the real database: three conversations, with and without facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.study.folder import Folder
from engram_graph.evaluation.study.models import StudyModels
from engram_graph.evaluation.study.result import read_result
from engram_graph.evaluation.study.runner import Outcome, Study
from engram_graph.evaluation.validity import form, telling
from engram_graph.evaluation.validity.run import chosen, run_benchmark
from engram_graph.evaluation.validity.table import by_budget, by_kind, of_stores
from engram_graph.rules.tokens import estimate_tokens

pytestmark = pytest.mark.anyio
ASKED = ("change-01", "negation-01", "return-01")
CONVERSATIONS = tuple(each for each in form.shipped() if each.id in ASKED)


async def ran(settings: Any, namespace: str, folder: Path, *arms: str) -> list[Outcome]:
    async with StudyModels(settings, folder) as models:
        study = Study(
            dataset=telling.dataset(CONVERSATIONS, "facts"),
            models=models,
            folder=Folder(folder),
            count=estimate_tokens,
            counted_by="estimate",
            answers=False,
            namespace=f"{namespace}:",
        )
        return await run_benchmark(study, chosen(arms), "facts", CONVERSATIONS)


async def test_rules_keep_a_right_store_and_turns_keep_what_is_stale(
    settings: Any, namespace: str, tmp_path: Path
) -> None:
    outcomes = await ran(settings, namespace, tmp_path, "facts_rules", "turns_hybrid")
    assert [each.state for each in outcomes] == ["done", "done"]
    facts, turns = (each.result for each in outcomes)
    assert facts is not None
    assert turns is not None
    assert set(facts.scores["store"].values()) == {1.0}
    assert "store" not in turns.scores

    at_3 = facts.scores["k"]["3"]
    assert (at_3["overall"], at_3["all"]["stale"]) == (1.0, 0.0)
    assert turns.scores["k"]["3"]["kinds"]["change"]["stale"] == 1.0
    assert turns.scores["k"]["3"]["overall"] < 1.0
    assert {row.label for row in facts.at(3)} == {"CORRECT"}
    assert "WRONG" in {row.label for row in turns.at(3)}

    path = tmp_path / "updates.facts_rules.result.json"
    assert read_result(path) == facts
    written = path.read_bytes()
    [again] = await ran(settings, namespace, tmp_path, "facts_rules")  # from its parts
    assert again.result == facts
    assert path.read_bytes() == written

    columns, rows = by_kind([facts, turns])
    assert columns[3:] == [">change", ">return", ">negation"]
    assert rows[0][:2] == ["facts_rules", "100.0"]
    assert [row[0] for row in of_stores([facts, turns])[1]] == ["facts_rules"]
    assert by_budget([facts, turns])[0][1:5] == [">k 1", ">k 3", ">k 6", ">k 20"]


def test_an_arm_must_exist() -> None:
    with pytest.raises(InputError, match="no arm is called 'nobody'") as failed:
        chosen(["nobody"])
    assert "facts_rules" in str(failed.value.hint)
