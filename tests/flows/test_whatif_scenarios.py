"""Under the rules that decided it, every scenario replays to exactly what is stored."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from replays import DATA, differences, played

from engram_graph.evaluation.scenarios.format import Scenario, load_scenarios

FILES = {"s": "scenarios.jsonl", "m": "scenarios_more.jsonl"}
NAMES = [f"s{number:02}" for number in range(1, 49)] + [f"m{number:02}" for number in range(1, 41)]


@cache
def scenarios(file: str) -> dict[str, Scenario]:
    return {one.id: one for one in load_scenarios(DATA / file)}


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_replay(name: str, settings: Any, namespace: str) -> None:
    one = scenarios(FILES[name[0]])[name]
    world = await played(one, settings, f"{namespace}/", "default")
    try:
        for each in world.namespaces():
            assert await differences(world.client, each) == {}
    finally:
        for each in world.namespaces():
            await world.client.forget(everything=True, namespace=each)
        await world.client.aclose()
