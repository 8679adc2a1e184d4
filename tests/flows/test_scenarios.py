"""The behaviour scenarios that the product fulfils so far; the others come with their features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scenario_runner import Runner, scenarios

from engram_graph.graph.driver import Graph

PASSING = [
    *(f"s{number:02}" for number in range(1, 29)),
    *("s30", "s31", "s33", "s34", "s35", "s36", "s37", "s38", "s44", "s45", "s46"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("name", PASSING)
async def test_scenario(
    name: str, make_memory: Callable[..., Any], graph: Graph, namespace: str
) -> None:
    await Runner(make_memory, graph, namespace, scenarios()[name]).run()
