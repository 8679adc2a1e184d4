"""A what-if made so: the graph stands as foretold, and exactly as before once it is taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from canonical import canonical, exact
from flow_fakes import ScriptedExtractor, draft
from neo4j.exceptions import Neo4jError
from replays import UPDATE, a_life, differences, kept, left, moved

from engram_graph import clock, demo
from engram_graph.errors import ConflictError, InputError, NotFoundError, StoreError
from engram_graph.flows import whatif as flow
from engram_graph.flows import whatif_apply
from engram_graph.graph import whatif_apply as store
from engram_graph.graph.driver import Graph, Tx
from engram_graph.memory import AsyncMemory
from engram_graph.models.whatif import WhatIf
from engram_graph.rules.method import preset
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
_MERGE = re.compile(r'"merge [0-9a-f-]{36}"')


async def told_the_demo(memory: AsyncMemory) -> None:
    for message in demo.messages():
        await memory.add([dict(message)])


class Snapshot:
    """An export, line by line, and the graph as it is."""

    def __init__(self, memory: AsyncMemory, graph: Graph, namespace: str, folder: Path) -> None:
        self._memory, self._graph, self._namespace = memory, graph, namespace
        self._path = folder / "snapshot.jsonl"

    async def take(self) -> tuple[list[Any], list[Any]]:
        await self._memory.export(self._path, overwrite=True, vectors=True)
        lines = [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]
        lines[0].pop("exported_at")
        return lines, await exact(self._graph, self._namespace)


@pytest.fixture
def snapshots(graph: Graph, namespace: str, tmp_path: Path) -> Callable[[AsyncMemory], Snapshot]:
    return lambda memory: Snapshot(memory, graph, namespace, tmp_path)


@pytest.mark.parametrize(
    ("story", "rules"),
    [("demo", "e0"), ("life", "e0"), ("life", "reference")],
)
async def test_it_stands_as_foretold_and_then_as_before(
    story: str,
    rules: str,
    make_memory: Make,
    graph: Graph,
    namespace: str,
    snapshots: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if story == "demo":
        memory = make_memory()
        await told_the_demo(memory)
    else:
        memory = await a_life(make_memory, monkeypatch)
    one = snapshots(memory)
    before = await one.take()
    messages = (await canonical(graph, namespace))["messages"]
    runtime = await memory.open()
    async with flow.replayed(runtime, namespace, preset(rules)) as copy:
        wanted = await canonical(graph, copy.namespace)
    found = await memory.whatif(preset=rules, apply=True)
    assert found.applied
    stands = await canonical(graph, namespace)
    assert stands["messages"] == messages
    for kind in ("facts", "links", "entities", "decisions"):
        assert without_merges(stands[kind]) == without_merges(wanted[kind])
    assert (await memory.doctor()).findings == ()
    again = await differences(memory, namespace, preset(rules))
    assert again.keys() <= {"unanswered"}
    back = await memory.take_back()
    assert (back.preset, back.facts, back.links) == (rules, len(found.facts), len(found.links))
    assert await one.take() == before
    assert await kept(graph, namespace) == 0


def without_merges(items: list[Any]) -> Any:
    """Without the id of a merge in a reason."""
    return json.loads(_MERGE.sub('"merge"', json.dumps(items)))


async def test_what_is_known_elsewhere_keeps_its_id(make_memory: Make) -> None:
    """Facts, and decisions that came out as before, with the labels on them."""
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, new = await moved(memory)
    story = await memory.explain(old)
    start = next(d for d in story.decisions if d.question == "belief_start")
    close = next(d for d in story.decisions if d.question == "close")
    await memory.feedback(old, "right", by="Odo")
    await memory.feedback(None, "right", decision=start.id)
    await memory.feedback(None, "wrong", decision=close.id)
    found = await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert found.applied
    now = await memory.explain(old)
    assert now.fact.open
    assert now.fact.version > story.fact.version  # a plan made from the one before is stale
    assert start.id in [d.id for d in now.decisions]
    assert close.id not in [d.id for d in now.decisions]
    assert {(one.fact_id, one.decision_id) for one in now.feedback} == {
        (old, None),
        (None, start.id),
    }
    assert (await memory.get(new)).open
    await memory.take_back()
    assert len((await memory.explain(old)).feedback) == 3


async def test_nothing_differs_nothing_is_applied(
    make_memory: Make, graph: Graph, namespace: str, snapshots: Any
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    before = await snapshots(memory).take()
    assert not (await memory.whatif(apply=True)).applied
    assert await snapshots(memory).take() == before
    assert await kept(graph, namespace) == 0
    with pytest.raises(NotFoundError, match="no step to take back"):
        await memory.take_back()


async def test_whoever_is_shown_what_differs_may_say_no(make_memory: Make, snapshots: Any) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    before = await snapshots(memory).take()
    shown: list[WhatIf] = []

    def no(found: WhatIf) -> bool:
        shown.append(found)
        return False

    assert not (await memory.whatif(preset="e0", apply=no)).applied
    assert len(shown) == 1
    assert not shown[0].same
    assert await snapshots(memory).take() == before


async def test_one_step_after_the_other(
    make_memory: Make, graph: Graph, namespace: str, snapshots: Any
) -> None:
    """The last one can be taken back; the first rules, applied again, make the first graph."""
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, _ = await moved(memory)
    first = await canonical(graph, namespace)
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    middle = await snapshots(memory).take()
    assert (await memory.whatif(preset="default", apply=True)).applied
    assert await canonical(graph, namespace) == first
    assert not (await memory.get(old)).open
    assert await differences(memory, namespace) == {}
    await memory.take_back()
    assert await snapshots(memory).take() == middle
    with pytest.raises(NotFoundError) as caught:
        await memory.take_back()
    assert "--apply" in caught.value.hint


async def test_every_answer_stays_in_the_log(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    """Rules that ask less leave the other answers for rules that ask more."""
    memory = make_memory()
    await told_the_demo(memory)
    first = await canonical(graph, namespace)
    assert (await memory.whatif(preset="e0", apply=True)).applied
    back = await memory.whatif(preset="default", apply=True)
    assert back.applied
    assert back.unanswered == ()
    assert await canonical(graph, namespace) == first


async def test_facts_that_would_not_be_stored(
    make_memory: Make, graph: Graph, namespace: str, snapshots: Any
) -> None:
    """There and back; and the other way round: a fact that was left out is stored."""
    decider = ScriptedDecider({"worth_remembering": 0.3})
    told = ScriptedExtractor([draft("Ilka waved", "Ilka|related_to|somebody")])
    memory = make_memory(decider=decider, extractor=told)
    (fact,) = (await memory.add("I waved.")).facts
    await memory.remember("Ilka", "owns", "a lathe")
    first = await canonical(graph, namespace)
    await memory.whatif(preset="e0", apply=True)
    with pytest.raises(NotFoundError):
        await memory.get(fact.id)
    with pytest.raises(NotFoundError):
        await memory.entity("somebody")
    without = await snapshots(memory).take()
    found = await memory.whatif(preset="default", apply=True)
    assert [d.fact.id for d in found.facts if d.change == "stored"] == [fact.id]
    assert await canonical(graph, namespace) == first
    await memory.take_back()
    assert await snapshots(memory).take() == without


async def test_questions_never_asked_are_asked_by_resume(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider, method=preset("reference"))
    old, new = await moved(memory)
    found = await memory.whatif(preset="default", apply=True)
    assert [u.question for u in found.unanswered] == ["same_attribute", "relation_second"]
    assert (await memory.get(old)).open
    assert (await memory.get(new)).unsettled
    other = make_memory(decider=decider)
    await other.resume()
    assert not (await memory.get(old)).open
    with pytest.raises(InputError, match="ask and apply"):
        await memory.whatif(preset="default", ask=True, apply=True)


# -- others write ----------------------------------------------------------------------------------


async def test_who_writes_meanwhile_is_not_overwritten(
    make_memory: Make, graph: Graph, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(decider=ScriptedDecider(UPDATE)), make_memory()
    old, _ = await moved(memory)
    real = whatif_apply.store.apply

    async def late(*given: Any) -> None:
        await other.remember("Odo", "owns", "a barge")
        await real(*given)

    monkeypatch.setattr(whatif_apply.store, "apply", late)
    with pytest.raises(ConflictError, match="has changed since") as caught:
        await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert caught.value.hint
    assert not (await memory.get(old)).open
    assert await kept(graph, namespace) == 0
    assert len((await memory.facts()).facts) == 3


async def test_what_was_written_since_is_not_lost(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, _ = await moved(memory)
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    (barge,) = (await memory.remember("Odo", "owns", "a barge")).facts
    with pytest.raises(ConflictError, match="would be lost") as caught:
        await memory.take_back()
    assert "--preset" in caught.value.hint
    # As the hint says:
    assert (await memory.whatif(preset="default", apply=True)).applied
    assert not (await memory.get(old)).open
    assert (await memory.get(barge.id)).open


async def read(memory: AsyncMemory) -> None:
    await memory.search("Where does Ilka live?")
    await memory.aclose()  # writes down what was read


async def test_reading_is_no_change(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, new = await moved(memory)
    await read(make_memory())
    first = (await memory.get(new)).read_at
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert (await memory.get(new)).read_at == first
    await read(make_memory())
    second = (await memory.get(new)).read_at
    assert first
    assert second
    assert second > first
    await memory.take_back()
    assert (await memory.get(new)).read_at == second
    assert not (await memory.get(old)).open


async def test_a_message_under_way_is_waited_for(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    await graph.statement(
        "MATCH (m:Message {namespace: $namespace}) WITH m LIMIT 1 SET m.status = 'pending'",
        namespace=namespace,
    )
    with pytest.raises(ConflictError, match="are being written") as caught:
        await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert "engram resume" in caught.value.hint
    await memory.resume()
    assert (await memory.whatif(numbers={"close_below": 0.01}, apply=True)).applied


async def test_two_at_once(make_memory: Make) -> None:
    """Writers wait for a step, and plan again on what it left; none writes on what is aside."""
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    other = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    await other.open()
    outcome: list[str] = []

    async def step() -> None:
        try:
            found = await memory.whatif(numbers={"close_below": 0.01}, apply=True)
            outcome.append("applied" if found.applied else "same")
        except ConflictError:
            outcome.append("conflict")

    async def write(number: int) -> None:
        await other.remember("Ilka", "lives_in", f"Velden {number}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(step)
        for number in range(6):
            tasks.start_soon(write, number)
    assert len(outcome) == 1
    assert len((await memory.facts()).facts) == 8
    assert (await memory.doctor()).findings == ()


# -- broken off, forgotten -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after", ["set_facts_aside", "adopt_entities", "adopt_facts", "end_replay"]
)
async def test_broken_off_it_stands_as_before(
    after: str, make_memory: Make, namespace: str, graph: Graph, snapshots: Any, breaking: Any
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    before = await snapshots(memory).take()
    with breaking(after), pytest.raises(RuntimeError, match=after):
        await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert await snapshots(memory).take() == before
    assert await kept(graph, namespace) == 0


@pytest.mark.parametrize("after", ["remove_replayed", "restore_facts", "drop_replay"])
async def test_taking_back_broken_off_it_stands_as_applied(
    after: str, make_memory: Make, snapshots: Any, breaking: Any
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    first = await snapshots(memory).take()
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    applied = await snapshots(memory).take()
    with breaking(after), pytest.raises(RuntimeError, match=after):
        await memory.take_back()
    assert await snapshots(memory).take() == applied
    await memory.take_back()
    assert await snapshots(memory).take() == first


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Breaks a transaction off right after a statement."""
    real = Tx.run

    @contextmanager
    def broken(name: str) -> Any:
        async def run(self: Tx, query: Any, **params: Any) -> Any:
            rows = await real(self, query, **params)
            if query.name == name:
                raise RuntimeError(name)
            return rows

        with monkeypatch.context() as patch:
            patch.setattr(Tx, "run", run)
            yield

    return broken


@pytest.mark.parametrize("what", ["message", "fact", "entity", "everything"])
async def test_what_is_forgotten_is_kept_nowhere(
    what: str, make_memory: Make, graph: Graph, namespace: str
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    told = await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert await kept(graph, namespace) > 1
    target: dict[str, Any] = {
        "message": {"message": told.message},
        "fact": {"fact": told.facts[0]},
        "entity": {"entity": "Tarnfold"},
        "everything": {"everything": True},
    }
    await memory.forget(**target[what])
    assert await kept(graph, namespace) == 0
    assert await traces(graph, namespace, "Tarnfold", told.facts[0].id, told.message.id) == []
    with pytest.raises(NotFoundError):
        await memory.take_back()


async def test_a_secret_found_later_is_kept_nowhere(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    """A fact that was stored while the decider was down turns out to hold a credential."""
    secret = {"sensitivity": [{"fact": "heron", "p": {"credentials": 0.9, "none": 0.1}}]}
    decider = ScriptedDecider(UPDATE | secret)
    memory = make_memory(decider=decider)
    await moved(memory)
    decider.down = None
    await memory.remember("mill", "related_to", "blue heron", text="The mill: blue heron")
    decider.down = frozenset()
    assert (await memory.whatif(numbers={"close_below": 0.01}, apply=True)).applied
    assert await traces(graph, namespace, "heron") != []
    await memory.resume()
    assert await traces(graph, namespace, "heron") == []
    assert await kept(graph, namespace) == 0


async def test_only_counting_what_would_go_keeps_it(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    old, _ = await moved(memory)
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    await memory.forget(fact=old, dry_run=True)
    await memory.take_back()
    assert not (await memory.get(old)).open


async def traces(graph: Graph, namespace: str, *words: str) -> list[str]:
    """Properties of any node or relationship of the namespace that hold one of the words."""
    found = []
    for pattern in ("(x)", "()-[x]->()"):
        rows = await graph.statement(
            f"MATCH {pattern} WHERE x.namespace STARTS WITH $namespace RETURN properties(x) AS all",
            namespace=namespace,
        )
        said = [f"{name}: {value}" for row in rows for name, value in row["all"].items()]
        found += [each for each in said if any(word in each for word in words)]
    return found


async def test_nobody_else_sees_what_is_kept(
    make_memory: Make, namespace: str, tmp_path: Path
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    counts = (await memory.stats()).model_dump(include={"facts", "messages", "entities"})
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    seen = [one.namespace for one in await memory.namespaces()]
    assert [one for one in seen if one.startswith(namespace)] == [namespace]
    assert (await memory.stats()).model_dump(include=set(counts)) == counts
    await memory.export(tmp_path / "memory.jsonl")
    other = make_memory(f"{namespace}/b")
    await other.import_(tmp_path / "memory.jsonl")
    assert await differences(other, f"{namespace}/b") != {}  # decided by other rules, as it stands
    with pytest.raises(NotFoundError):
        await other.take_back()


async def test_vectors_made_anew_do_not_fit(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    monkeypatch.setattr(store, "_vectors", lambda _: "embedding_2 another")
    with pytest.raises(ConflictError, match="vectors were made anew"):
        await memory.take_back()


async def test_too_large_for_one_transaction(
    make_memory: Make, snapshots: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)
    before = await snapshots(memory).take()
    real = Tx.run

    async def run(self: Tx, query: Any, **params: Any) -> Any:
        if query.name == "adopt_facts":
            code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
            raise Neo4jError._hydrate_neo4j(code=code, message="memory pool out of memory")
        return await real(self, query, **params)

    with monkeypatch.context() as patch:
        patch.setattr(Tx, "run", run)
        with pytest.raises(StoreError, match="too large") as caught:
            await memory.whatif(numbers={"close_below": 0.01}, apply=True)
    assert "heap" in caught.value.hint
    assert await snapshots(memory).take() == before


async def test_what_a_killed_replay_left_is_swept(
    make_memory: Make, graph: Graph, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour later, by the next replay of that namespace; one under way is let alone."""
    memory = make_memory(decider=ScriptedDecider(UPDATE))
    await moved(memory)

    async def killed(*_: Any) -> None:
        return None

    with monkeypatch.context() as patch:
        patch.setattr(flow, "forget_namespace", killed)
        await memory.whatif()

    await memory.whatif()
    assert await left(graph, namespace) > 0
    assert [one.namespace for one in await memory.namespaces() if namespace in one.namespace] == [
        namespace
    ]
    now = clock.now
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: now() + timedelta(hours=2))
        await memory.whatif()
    assert await left(graph, namespace) == 0


async def test_the_blocking_twins(sync_memory: Any) -> None:
    sync_memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    sync_memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    assert sync_memory.whatif(preset="e0", apply=True).applied
    assert sync_memory.take_back().preset == "e0"
