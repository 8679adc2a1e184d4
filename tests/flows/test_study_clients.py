"""Clients of a study on the real database: recorded whole, replayed for nothing, never degraded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import BudgetError
from engram_graph.evaluation.study.ledger import Caps
from engram_graph.evaluation.study.models import StudyModels
from engram_graph.settings import Settings
from engram_graph.testing import ScriptedModels

pytestmark = pytest.mark.anyio
SAID = ["I live in Lisbon and work at Nordlys.", "I moved to Porto.", "I really enjoyed the dance."]
QUESTION = "Where does Maya live?"


@pytest.fixture(scope="module")
def server_of_models() -> Iterator[ScriptedModels]:
    with ScriptedModels() as models:
        yield models


async def work(models: StudyModels, namespace: str) -> dict[str, Any]:
    """Write and search; what a result file could hold of it."""
    with models.stage("write", "facts"), models.tally() as counted:
        async with models.memory(namespace) as memory:
            for number, text in enumerate(SAID, 1):
                await memory.add(
                    text, speaker="Maya", said_at=f"2025-01-0{number}", source_id=f"s{number}"
                )
            found = await memory.search(QUESTION)
            page = await memory.facts()
    models.check()
    return {
        "facts": sorted((each.text, each.open) for each in page.facts),
        "hits": [hit.fact.text for hit in found.facts],
        "degraded": found.degraded,
        "cost": counted.cost_usd,
        "ms": counted.latency_ms,
    }


async def test_a_second_run_asks_nothing_and_gives_the_same(
    server_of_models: ScriptedModels, settings: Settings, namespace: str, tmp_path: Path
) -> None:
    given = server_of_models.settings(settings)
    async with StudyModels(given, tmp_path) as models:
        first = await work(models, f"{namespace}/first")
    assert ("Maya lives in Lisbon", False) in first["facts"]
    assert ("Maya lives in Porto", True) in first["facts"]
    assert first["hits"][0] == "Maya lives in Porto"
    assert not first["degraded"]
    assert set(first["cost"]) >= {"extraction", "decisions"}
    assert all(usd > 0 for usd in first["cost"].values())
    asked = dict(server_of_models.requests)
    async with StudyModels(given, tmp_path, budget_usd=0) as replay:
        assert await work(replay, f"{namespace}/again") == first
    assert server_of_models.requests == asked
    rows = [json.loads(row) for row in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    one, other = (row["spend"] for row in rows if row["row"] == "spend")
    assert one["openai"] + one["jev"] == pytest.approx(sum(first["cost"].values()))
    assert set(other.values()) == {0.0}


async def test_a_flow_falls_back_for_no_cap_and_no_missing_recording(
    server_of_models: ScriptedModels, settings: Settings, namespace: str, tmp_path: Path
) -> None:
    given = server_of_models.settings(settings)
    said = {"speaker": "Maya", "said_at": "2025-01-01"}
    async with StudyModels(given, tmp_path, caps=Caps(run={"jev": 0.0})) as models:
        async with models.memory(f"{namespace}/capped") as memory:
            with pytest.raises(BudgetError, match="jev"):
                await memory.add(SAID[0], **said)
        with pytest.raises(BudgetError):
            models.check()
    async with (
        StudyModels(given, tmp_path, budget_usd=0) as replay,
        replay.memory(f"{namespace}/capped") as memory,
    ):
        with pytest.raises(BudgetError, match="decision is not recorded"):
            await memory.resume()
        with pytest.raises(BudgetError, match="not recorded"):
            await memory.search(QUESTION, mode="turns")
