"""A language model decides, alone and at the end of a ladder: real requests, a real Neo4j."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from engram_graph.memory import AsyncMemory
from engram_graph.settings import Settings
from engram_graph.testing.fake_llm import FakeLLM, Reply, asked, decisions

pytestmark = pytest.mark.anyio
PRICES = {"llm_usd_per_million_input": 1.0, "llm_usd_per_million_output": 1.0}


@pytest.fixture
def llm() -> Iterator[FakeLLM]:
    with FakeLLM() as running:
        running.answers = updating
        yield running


def updating(body: dict[str, Any]) -> str:
    """``update`` to every pair, ``current`` to every fact; what else there is as usual."""
    given: dict[str, Any] = {}
    for question in asked(body):
        for label in {"update", "current"} & set(question.get("options", ())):
            given[question["id"]] = dict.fromkeys(question["options"], 0.0) | {label: 1.0}
    return decisions(body, given)


def with_llm(settings: Settings, llm: FakeLLM, decider: str) -> Settings:
    key = SecretStr("sk-test")
    given = {"decider": decider, "openai_api_key": key, "openai_base_url": llm.url}
    return settings.model_copy(update=given | PRICES)


async def test_it_closes_what_was_replaced_and_tells_its_cost(
    make_memory: Callable[..., AsyncMemory], settings: Settings, namespace: str, llm: FakeLLM
) -> None:
    chosen = with_llm(settings, llm, "llm")
    async with make_memory(namespace, settings=chosen) as memory:
        await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
        moved = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
        assert [fact.object for fact in moved.closed] == ["Tarnfold"]
        assert moved.degraded == ()
        stats = await memory.stats()
        assert stats.requests == len(llm.requests)
        assert stats.cost_usd == pytest.approx(len(llm.requests) * 2e-6)


async def test_each_step_of_a_ladder_is_in_the_log(
    make_memory: Callable[..., AsyncMemory], settings: Settings, namespace: str, llm: FakeLLM
) -> None:
    chosen = with_llm(settings, llm, "rules>llm")
    async with make_memory(namespace, settings=chosen) as memory:
        await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
        before = len(llm.requests)
        moved = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
        assert [fact.object for fact in moved.closed] == ["Tarnfold"]
        put = [q["question"] for body in llm.requests[before:] for q in asked(body)]
        assert put
        assert not any("known_1" in text for text in put)  # rules were certain about the pair
        said = await memory.explain(moved.facts[0])
        assert [request["backend"] for request in said.requests].count("llm") == 1
        assert {"rules", "llm"} == {request["backend"] for request in said.requests}
        stats = await memory.stats()
        assert stats.cost_usd == pytest.approx(len(llm.requests) * 2e-6)


async def test_a_ladder_whose_model_is_away_loses_nothing(
    make_memory: Callable[..., AsyncMemory], settings: Settings, namespace: str, llm: FakeLLM
) -> None:
    llm.answers = None
    llm.otherwise = Reply(status=401, body="{}")
    chosen = with_llm(settings, llm, "rules>llm")
    async with make_memory(namespace, settings=chosen) as memory:
        for thing in ("a lathe", "a loom", "a kiln", "a press"):
            kept = await memory.remember("Ilka", "owns", thing)
            assert kept.facts[0].tentative
            assert "decision_unavailable" in " ".join(kept.degraded)
        assert len(llm.requests) == 3  # then it rests
        llm.answers = updating
        assert (await memory.search("lathe")).facts
