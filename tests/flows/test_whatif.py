"""A namespace decided again: the same rules make the same graph, others tell what would differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import exact
from flow_fakes import AwayDecider, ScriptedExtractor, draft
from replays import a_life, differences

from engram_graph import demo
from engram_graph.adapters.ladder import LadderDecider
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import EngramError, InputError
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Ask, Reply
from engram_graph.rules.method import preset
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]

UPDATE: dict[str, Any] = {
    "relation_to_candidate": [{"fact": "Ostwick", "p": {"update": 0.97, "new": 0.03}}]
}


async def moved(memory: AsyncMemory) -> tuple[str, str]:
    """Ilka moved from Tarnfold, which is closed with a belief of .0448, to Ostwick."""
    old = await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    new = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    return old.facts[0].id, new.facts[0].id


async def left_behind(memory: AsyncMemory, namespace: str) -> list[str]:
    return [
        one.namespace
        for one in await memory.namespaces()
        if one.namespace.startswith(f"{namespace}/")
    ]


async def test_the_demo(make_memory: Make, namespace: str) -> None:
    memory = make_memory()
    for message in demo.messages():
        await memory.add([dict(message)])
    assert await differences(memory, namespace) == {}
    assert len((await memory.facts()).facts) > 20


@pytest.fixture
async def lived(make_memory: Make, monkeypatch: pytest.MonkeyPatch) -> AsyncMemory:
    return await a_life(make_memory, monkeypatch)


async def test_all_that_people_do(lived: AsyncMemory, namespace: str) -> None:
    assert await differences(lived, namespace) == {}
    found = await lived.whatif()
    assert (found.same, found.drafts, found.given) == (True, 12, 11)


async def test_an_imported_namespace(
    lived: AsyncMemory, tmp_path: Path, make_memory: Make, namespace: str
) -> None:
    other = f"{namespace}/b"
    await lived.export(tmp_path / "memory.jsonl")
    memory = make_memory(other)
    await memory.import_(tmp_path / "memory.jsonl")
    assert await differences(memory, other) == {}


async def test_what_was_settled_later(make_memory: Make, namespace: str) -> None:
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    decider.down = None
    await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    decider.down = frozenset()
    await memory.resume()
    assert await differences(memory, namespace) == {}


async def test_answers_of_a_ladder(make_memory: Make, namespace: str) -> None:
    away = AwayDecider()
    steps = LadderDecider([away, RulesDecider(guesses=False), ScriptedDecider(UPDATE)])
    memory = make_memory(decider=steps)
    await moved(memory)
    away.away = False
    await memory.remember("Ilka", "owns", "a lathe")
    assert await differences(memory, namespace) == {}


async def test_a_forgotten_fact_leaves_what_it_did(make_memory: Make, namespace: str) -> None:
    """It cannot be told again; the belief and the end that others owe to it are taken as kept."""
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, new = await moved(memory)
    later = await memory.remember("Ilka", "owns", "a lathe", said_at="2025-04-01")
    await memory.forget(fact=new)
    assert await differences(memory, namespace) == {}
    found = await memory.whatif(numbers={"close_below": 0.01})
    assert found.same  # what closed Tarnfold is not decided again
    assert found.incomplete == ()  # the lathe was compared with Tarnfold as well
    assert (found.drafts, found.given) == (2, 1)
    assert {f.id for f in (await memory.facts()).facts} >= {later.facts[0].id}
    assert not (await memory.get(old)).open


async def test_other_numbers(make_memory: Make, graph: Graph, namespace: str) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, new = await moved(memory)
    before = await exact(graph, namespace)
    found = await memory.whatif(numbers={"close_below": 0.04})
    (fact,) = found.facts
    assert (fact.change, fact.fact.id) == ("reopened", old)
    assert fact.fields == ("valid_until", "open", "closed_at", "closed_reason")
    assert fact.after is not None
    assert (fact.after.id, fact.after.namespace, fact.after.open) == (old, namespace, True)
    (link,) = found.links
    assert (link.change, link.link.type, link.link.source) == ("dropped", "SUPERSEDES", new)
    assert (found.preset, found.numbers) == ("default", {"close_below": 0.04})
    assert (found.drafts, found.unanswered, found.requests) == (2, (), 0)
    assert await exact(graph, namespace) == before
    assert await left_behind(memory, namespace) == []
    assert (await memory.whatif()).same


async def test_the_decider_is_not_asked(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    await moved(memory)
    asked = len(decider.asked)
    assert not (await memory.whatif(preset="e0")).same
    assert len(decider.asked) == asked


async def test_a_fact_that_would_not_be_stored(make_memory: Make) -> None:
    decider = ScriptedDecider({"worth_remembering": 0.3})
    told = ScriptedExtractor([draft("Ilka waved", "Ilka|related_to|somebody")])
    memory = make_memory(decider=decider, extractor=told)
    (fact,) = (await memory.add("I waved.")).facts
    await memory.correct(fact, object="Odo")
    found = await memory.whatif(preset="e0")
    assert [(d.change, d.fact.object) for d in found.facts] == [
        ("left_out", "somebody"),
        ("left_out", "Odo"),
    ]
    (deed,) = found.passed_over
    assert deed.startswith("corrected at ")


async def test_a_question_that_was_never_asked(make_memory: Make, namespace: str) -> None:
    """The rules of ``reference`` ask no second phrasing; the answer is missing unless asked now."""
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider, method=preset("reference"))
    old, new = await moved(memory)
    assert await differences(memory, namespace) == {}
    found = await memory.whatif(preset="default")
    assert {(u.question, u.fact, u.candidate, u.asked) for u in found.unanswered} == {
        ("same_attribute", new, old, False),
        ("relation_second", new, old, False),
    }
    assert "Tarnfold" in [d.fact.object for d in found.facts if d.change == "reopened"]
    asked = len(decider.asked)
    now = await memory.whatif(preset="default", ask=True)
    assert decider.asked[asked:] == ["same_attribute", "relation_second"]
    assert [u.asked for u in now.unanswered] == [True, True]
    assert (now.requests, now.cost_usd) == (2, None)
    assert "Tarnfold" not in [d.fact.object for d in now.facts if d.change == "reopened"]
    decider.down = None
    away = await memory.whatif(preset="default", ask=True)
    assert (away.facts, away.requests) == (found.facts, 0)
    assert [u.asked for u in away.unanswered] == [False, False]


async def test_a_stronger_model_answers_from_the_log(make_memory: Make, namespace: str) -> None:
    unsure = {"relation_to_candidate": [{"fact": "Ostwick", "p": {"update": 0.55, "new": 0.45}}]}
    memory = make_memory(decider=ScriptedDecider(unsure))
    runtime = await memory.open()
    runtime.escalation = stronger = ScriptedDecider(UPDATE)
    old, _ = await moved(memory)
    assert stronger.asked == ["relation_to_candidate"]
    assert await differences(memory, namespace) == {}
    assert stronger.asked == ["relation_to_candidate"]
    assert old in [f.id for f in (await memory.facts()).facts]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"preset": "s3"}, "unknown preset: 's3'"),
        ({"numbers": {"close_under": 0.3}}, "unknown threshold: 'close_under'"),
        ({"numbers": {"relevant_above": 0.3}}, "unknown threshold: 'relevant_above'"),
        ({"numbers": {"close_below": 1.5}}, "close_below must be a number from 0 to 1: 1.5"),
        ({"numbers": {"close_below": True}}, "close_below must be a number: True"),
        ({"numbers": {"near": 2.5}}, "near must be a whole number from 1 to 1000: 2.5"),
        ({"numbers": {"act": float("nan")}}, "act must be a number from 0 to 1: nan"),
        ({"numbers": {"belief_floor": 0.99}}, "belief_floor must be below belief_ceiling"),
        ({"numbers": {"belief_ceiling": 1}}, "belief_floor and belief_ceiling are between"),
        ({"namespace": " "}, "namespace"),
    ],
)
async def test_bad_input(make_memory: Make, values: dict[str, Any], says: str) -> None:
    with pytest.raises(EngramError) as caught:
        await make_memory().whatif(**values)
    assert says in caught.value.message


class Broken(ScriptedDecider):
    """A decider with a fault of its own."""

    async def ask(self, ask: Ask) -> Reply:
        raise RuntimeError("a fault")


async def test_nothing_is_left_when_it_breaks_off(make_memory: Make, namespace: str) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE), method=preset("reference"))
    await moved(memory)
    runtime = await memory.open()
    runtime.decider = Broken()
    with pytest.raises(RuntimeError, match="a fault"):
        await memory.whatif(preset="default", ask=True)
    assert await left_behind(memory, namespace) == []


async def test_an_empty_namespace(memory: AsyncMemory) -> None:
    found = await memory.whatif(preset="v1")
    assert (found.same, found.drafts) == (True, 0)


async def test_the_blocking_twin(sync_memory: Any) -> None:
    sync_memory.remember("Ilka", "owns", "a lathe")
    assert sync_memory.whatif().same
    with pytest.raises(InputError):
        sync_memory.whatif(numbers={"x": 1})
