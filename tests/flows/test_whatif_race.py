"""Others write, forget and read while a what-if is made so or taken back: nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from replays import UPDATE, kept, left, moved

from engram_graph import clock
from engram_graph.errors import ConflictError, ScopeError
from engram_graph.flows import whatif as flow
from engram_graph.flows.whatif_replay import Replay
from engram_graph.graph import whatif_apply as store
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load, parse
from engram_graph.memory import AsyncMemory
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
STEP = {"close_below": 0.01}


async def tell_of_somebody_new(memory: AsyncMemory) -> None:
    """What no lock on records that are there can hold up."""
    await memory.remember("Odo", "owns", "a barge", conversation="another")


async def test_a_fact_told_after_the_last_look_is_not_set_aside(
    make_memory: Make, graph: Graph, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(decider=ScriptedDecider(UPDATE)), make_memory()
    await moved(memory)
    real = store._need_the_same

    async def looked(*given: Any) -> None:
        await real(*given)
        await tell_of_somebody_new(other)

    monkeypatch.setattr(store, "_need_the_same", looked)
    with pytest.raises(ConflictError, match="has changed since"):
        await memory.whatif(numbers=STEP, apply=True)
    assert [fact.object for fact in (await memory.facts(subject="Odo")).facts] == ["a barge"]
    assert await kept(graph, namespace) == 0


async def test_a_fact_told_after_the_last_look_is_not_removed(
    make_memory: Make, graph: Graph, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(decider=ScriptedDecider(UPDATE)), make_memory()
    old, _ = await moved(memory)
    assert (await memory.whatif(numbers=STEP, apply=True)).applied
    real = store._state

    async def looked(tx: Tx, name: str) -> Any:
        found = await real(tx, name)
        await tell_of_somebody_new(other)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(store, "_state", looked)
        with pytest.raises(ConflictError, match="would be lost"):
            await memory.take_back()
    assert [fact.object for fact in (await memory.facts(subject="Odo")).facts] == ["a barge"]
    assert (await memory.get(old)).open
    assert await kept(graph, namespace) > 0


@pytest.mark.parametrize("target", [{"entity": "Tarnfold"}, {"everything": True}])
async def test_forgetting_reaches_what_a_killed_replay_left(
    target: dict[str, Any],
    make_memory: Make,
    graph: Graph,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)

    async def killed(*_: Any) -> None:
        return None

    with monkeypatch.context() as patch:
        patch.setattr(flow, "forget_namespace", killed)
        await memory.whatif()
    assert await left(graph, namespace) > 0
    await memory.forget(**target)
    assert await left(graph, namespace) == 0


async def test_a_replay_whose_copy_was_forgotten_tells_nothing(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(decider=ScriptedDecider(UPDATE)), make_memory()
    old, _ = await moved(memory)
    real = Replay.run

    async def run(self: Replay, progress: Any) -> None:
        await real(self, progress)
        await other.forget(fact=old)

    monkeypatch.setattr(Replay, "run", run)
    with pytest.raises(ConflictError, match="forgotten meanwhile"):
        await memory.whatif(numbers=STEP)


async def test_nobody_elses_namespace_is_taken_for_a_replay(
    make_memory: Make, namespace: str
) -> None:
    memory = make_memory()
    await memory.remember("Ilka", "lives_in", "Tarnfold")
    name = f"{namespace}/what-if/{clock.new_id()}"
    with pytest.raises(ScopeError, match="what-if") as caught:
        await memory.remember("Odo", "owns", "a barge", namespace=name)
    assert caught.value.hint
    near = f"{namespace}/what-if/a plan"
    await memory.remember("Odo", "owns", "a barge", namespace=near)
    await memory.whatif(preset="e0")
    assert len((await memory.facts(namespace=near)).facts) == 1
    await memory.forget(everything=True, namespace=near)


async def test_an_entity_that_is_just_set_aside_has_no_key_to_be_locked(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, _ = await moved(memory)

    class UndoneError(Exception):
        pass

    keyless = parse(
        "// name: take_keys\n// As a reader may see it.\nCYPHER 25\n"
        "MATCH (e:Entity {namespace: $namespace}) SET e.key = null",
        "test",
    )["take_keys"]

    async def work(tx: Tx) -> None:
        (found,) = await tx.run(load("forget")["facts_leaving"], namespace=namespace, ids=[old])
        assert sorted(found["keys"]) == ["ilka", "tarnfold"]
        await tx.run(keyless, namespace=namespace)
        (found,) = await tx.run(load("forget")["facts_leaving"], namespace=namespace, ids=[old])
        assert found["keys"] == []
        raise UndoneError

    with pytest.raises(UndoneError):
        await graph.transact("set_aside", work)
