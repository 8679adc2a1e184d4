"""Jev decides: real requests and replies of its protocol, a scripted server, a real Neo4j."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.adapters.http import Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.errors import ConfigurationError
from engram_graph.flows.write import UNSETTLED
from engram_graph.memory import AsyncMemory
from engram_graph.settings import Settings
from engram_graph.wiring import make_decider
from tests.contract.jev_server import JevServer, Scripted, two_decimals

pytestmark = pytest.mark.anyio


class Updating(JevServer):
    """Says ``update`` to every pair, with a probability of its own; the facts are current."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def _usual(self, body: dict[str, Any], raw: bytes) -> Scripted:
        for key, question in body["questions"].items():
            options = list(question.get("criteria") or ())
            if "update" in options:
                answer = two_decimals(question, "update")
                answer["probabilities"] = dict.fromkeys(options, 0.0) | {
                    "update": self.p,
                    "new": round(1 - self.p, 2),
                }
                self.answers[key] = answer
            elif "current" in options:
                self.answers[key] = two_decimals(question, "current")
        return super()._usual(body, raw)


def decider(server: JevServer) -> JevDecider:
    async def no_wait(seconds: float) -> None:
        pass

    return JevDecider(api_key="test-key", transport=server.transport, timing=Timing(sleep=no_wait))


async def test_two_strong_answers_close_the_old_fact(
    make_memory: Callable[..., AsyncMemory], namespace: str
) -> None:
    server = Updating(0.97)
    async with make_memory(namespace, decider=decider(server)) as memory:
        await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
        moved = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
        assert [(f.object, round(f.belief, 4)) for f in moved.closed] == [("Tarnfold", 0.0448)]
        said = await memory.explain(moved.facts[0])
        assert {request["backend"] for request in said.requests} == {"jev"}
        assert {request["model"] for request in said.requests} == {"jev-1.13.0"}
        stats = await memory.stats()
        assert stats.cost_usd == pytest.approx(len(server.requests) * 1000 * 0.042e-6)
    assert all(headers["authorization"] == "Bearer test-key" for headers in server.headers)


async def test_one_person_half_sure_only_weakens_and_a_second_tips_it_over(
    make_memory: Callable[..., AsyncMemory], namespace: str
) -> None:
    server = Updating(0.91)
    async with make_memory(namespace, decider=decider(server)) as memory:
        await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
        first = await memory.remember(
            "Ilka", "lives_in", "Ostwick", speaker="Odo", said_at="2025-03-04"
        )
        assert not first.closed
        weakened = (await memory.facts(object="Tarnfold")).facts[0]
        assert (round(weakened.belief, 4), weakened.open) == (0.324, True)
        second = await memory.remember(
            "Ilka", "lives_in", "Velden", speaker="Pia", said_at="2025-03-05"
        )
        assert "Tarnfold" in [fact.object for fact in second.closed]


async def test_an_overloaded_model_loses_nothing(
    make_memory: Callable[..., AsyncMemory], namespace: str
) -> None:
    server = JevServer()
    server.script(*[Scripted(529, {"detail": {"error_type": "system_overloaded"}})] * 9)
    async with make_memory(namespace, decider=decider(server)) as memory:
        kept = await memory.remember("Ilka", "owns", "a lathe")
        assert kept.facts[0].tentative
        assert kept.degraded == ("decider: decision_unavailable", UNSETTLED)
        assert (await memory.search("lathe")).facts


def test_settings_choose_the_decider(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_decider(Settings.load()).name == "rules"
    with pytest.raises(ConfigurationError, match="TYPESAFE_API_KEY"):
        make_decider(Settings.load(decider="jev"))
    monkeypatch.setenv("TYPESAFE_API_KEY", "test-key")
    assert make_decider(Settings.load()).name == "jev"
    assert make_decider(Settings.load(decider="rules")).name == "rules"
