"""The behaviour scenarios, run by the code of ``engram eval scenarios``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engram_graph.evaluation.scenarios.database import Database
from engram_graph.evaluation.scenarios.format import Scenario, load_scenarios
from engram_graph.evaluation.scenarios.run import run_one
from engram_graph.rules.method import preset

DATA = Path(__file__).parents[1] / "data"
NAMES = [f"s{number:02}" for number in range(1, 49)]
MORE = [f"m{number:02}" for number in range(1, 41)]  # where the rules meet one another


@cache
def scenarios(file: str) -> dict[str, Scenario]:
    return {one.id: one for one in load_scenarios(DATA / file)}


@pytest.mark.anyio
@pytest.mark.parametrize("method", ["s2_v3", "default"])
@pytest.mark.parametrize("name", NAMES)
async def test_scenario(name: str, method: str, settings: Any, namespace: str) -> None:
    one = scenarios("scenarios.jsonl")[name]
    found = await run_one(one, Database(settings), f"{namespace}/", preset(method))
    assert found.passed, found.diff


@pytest.mark.anyio
@pytest.mark.parametrize("name", MORE)
async def test_where_rules_meet(name: str, settings: Any, namespace: str) -> None:
    one = scenarios("scenarios_more.jsonl")[name]
    found = await run_one(one, Database(settings), f"{namespace}/", preset("s2_v3"))
    assert found.passed, found.diff
