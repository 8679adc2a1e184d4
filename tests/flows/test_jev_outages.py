"""Jev down, slow, or wrong in each known way: nothing is lost, and ``resume`` settles it, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import jevcompat.mock
import pytest

from engram_graph.adapters.http import Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.results import Added
from engram_graph.rules import questions as about
from tests.contract.jev_faults import CASES, KEY, mock
from tests.contract.jev_server import JevServer, Scripted

pytestmark = pytest.mark.anyio

LIKELY = {"bio", "current", "long_term", "none", "update"}
ASKED = [about.KIND, about.TEMPORAL, about.DURABILITY, about.SENSITIVITY, about.RELATION,
         about.SAME_ATTRIBUTE]  # fmt: skip
NOULS = {about.SAME_ATTRIBUTE}
OTHER = ("down", "slow", "key refused", "budget reached")
# What is so in the end, as if the decider had answered at once: (object, open, belief).
SETTLED = [("Tarnfold", False, 0.02), ("Ostwick", True, 0.98)]


class Counting(JevDecider):
    """Jev on a server whose answers are sure; counts what it is asked."""

    def __init__(self, url: str) -> None:
        super().__init__(api_key=KEY, base_url=url, rate_per_s=1e6)
        self.calls = 0

    async def ask(self, ask: Ask) -> Reply:
        self.calls += 1
        return await super().ask(ask)


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mock's model, which knows nothing, says of each new fact that it is an update."""

    def logit(cfg: Any, state: Any, instructions: Any, option: Any, *rest: Any) -> float:
        likely = isinstance(option, str) and option in LIKELY
        return 8.0 if likely else -4.0

    monkeypatch.setattr(jevcompat.mock, "_logit", logit)


@contextmanager
def outage(name: str) -> Iterator[tuple[JevDecider, set[str]]]:
    """A decider in trouble, and which questions of a write get no usable answer from it."""

    async def no_wait(seconds: float) -> None:
        pass

    quick = Timing(sleep=no_wait)
    if name == "down":
        with mock() as url:
            pass
        yield JevDecider(api_key=KEY, base_url=url, timing=quick), set(ASKED)
    elif name == "slow":
        server = JevServer()
        server.script(*[Scripted(fault=httpx.ReadTimeout)] * 3)
        yield JevDecider(api_key=KEY, transport=server.transport, timing=quick), set(ASKED)
        assert len(server.requests) == 3
    elif name == "key refused":
        with mock(key="other") as url:
            yield JevDecider(api_key=KEY, base_url=url), set(ASKED)
    elif name == "budget reached":
        with mock() as url:
            yield JevDecider(api_key=KEY, base_url=url, budget_usd=0), set(ASKED)
    else:
        case = CASES[name]
        with mock(name, key=case.key) as url:
            ill = JevDecider(api_key=KEY, base_url=url, model=case.model, rate_per_s=1e6)
            yield ill, fallen(name)


def fallen(fault: str) -> set[str]:
    """The questions of a write that a fault of the mock spoils (jev-api §13)."""
    case = CASES[fault]
    if case.options:  # only a question that no write asks brings it out
        return set()
    if isinstance(case.outcome, type):
        return set(ASKED)
    if isinstance(case.outcome, str):
        return set()
    if fault == "first-question-only":
        return set(ASKED) - {ASKED[0]}
    return {name for name in ASKED if (name in NOULS) == (about.WORTH in case.outcome)}


def test_each_way_to_be_wrong_is_seen() -> None:
    """Some faults are tolerated, some spoil a kind of answer, some all."""
    spoilt = [frozenset(fallen(fault)) for fault in CASES]
    assert len(spoilt) == 47
    assert set(spoilt) == {
        frozenset(),
        frozenset(NOULS),
        frozenset(ASKED) - NOULS,
        frozenset(ASKED) - {ASKED[0]},
        frozenset(ASKED),
    }


async def move(memory: AsyncMemory) -> Added:
    return await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")


async def standing(memory: AsyncMemory) -> list[tuple[str, bool, float]]:
    facts = (await memory.facts(subject="Ilka")).facts
    return [(fact.object, fact.open, round(fact.belief, 4)) for fact in facts]


@pytest.mark.parametrize("name", [*OTHER, *CASES])
async def test_outage(name: str, make_memory: Callable[..., AsyncMemory], namespace: str) -> None:
    with mock() as url:
        well = Counting(url)
        memory = make_memory(decider=well)
        old = (await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")).facts[0]
        with outage(name) as (ill, lost):
            added = await move(make_memory(decider=ill))
        (new,) = added.facts
        assert added.message.status == "done"
        assert (await memory.get_message(added.message.id)).text == added.message.text
        behind = await memory.explain(new)
        missing = [d for d in behind.decisions if d.outcome == "fallback" and d.backend != "rule"]
        assert {d.question for d in missing} == lost
        assert {d.backend for d in missing} == ({"fallback"} if lost else set())
        assert new.unsettled == bool(lost)
        assert bool(added.degraded) == bool(lost)
        assert (await memory.stats()).unsettled == bool(lost)
        if about.RELATION in lost:
            assert await standing(memory) == [("Tarnfold", True, 0.98), ("Ostwick", True, 0.5)]
            assert new.tentative
            assert (await memory.get(old.id)) == old
            assert not added.closed
        else:
            assert await standing(memory) == SETTLED
            assert not new.tentative
        assert (await memory.doctor()).sound

        calls = well.calls
        settled = await memory.resume()
        assert [one.asked_again for one in settled] == ([True] if lost else [])
        assert (well.calls > calls) == bool(lost)
        assert await standing(memory) == SETTLED
        for fact in (await memory.facts(subject="Ilka")).facts:
            assert (fact.tentative, fact.unsettled) == (False, False)
        assert (await memory.doctor()).sound
        assert (await memory.stats()).unsettled == 0

        calls, decided = well.calls, (await memory.stats()).decisions
        assert await memory.resume() == []
        assert (well.calls, (await memory.stats()).decisions) == (calls, decided)
