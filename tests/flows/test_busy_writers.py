"""A busy store delays a writer and stops none: others write during each attempt, and it ends."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.graph import forget, merge, retry, write
from engram_graph.graph.driver import Tx
from engram_graph.models.decisions import Ask, Reply
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
Write = Callable[[int], Any]


def writes_before(
    monkeypatch: pytest.MonkeyPatch, module: Any, step: str, write: Write
) -> list[int]:
    """Each transaction that comes to ``step`` of ``module`` finds that ``write`` was quicker.

    Returns:
        The numbers of the writes, as they are made.
    """
    done: list[int] = []
    seen: list[Tx] = []
    real = getattr(module, step)

    async def slower(tx: Tx, *given: Any) -> Any:
        if not any(tx is one for one in seen):  # later it holds locks, and ``write`` would wait
            seen.append(tx)
            done.append(len(done))
            await write(len(done))
        return await real(tx, *given)

    monkeypatch.setattr(module, step, slower)
    return done


async def test_forgetting_ends_though_others_write_about_it_each_time(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(), make_memory()
    await memory.remember("Ann", "owns", "a kiln")
    writes = writes_before(
        monkeypatch, forget, "_lock", lambda n: other.remember("Ann", "owns", f"boat {n}")
    )
    gone = await memory.forget(entity="Ann")
    assert (len(writes), gone.facts) == (1, 2)
    stats = await memory.stats()
    assert (stats.facts, stats.entities, stats.messages) == (0, 0, 0)


async def test_a_merge_ends_though_others_write_about_it_each_time(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(), make_memory()
    await memory.remember("Ann", "owns", "a kiln")
    await memory.remember("Annie", "owns", "a loom")
    writes = writes_before(
        monkeypatch, merge, "_lock", lambda n: other.remember(f"Bo {n}", "friend_of", "Annie")
    )
    merged = await memory.merge_entities("Ann", "Annie")
    assert (len(writes), len(merged.facts)) == (1, 2)
    (bo,) = (await memory.facts(subject="Bo 1")).facts
    assert bo.object == "Ann"


async def test_taking_a_merge_back_ends_though_others_forget_parts_of_it_each_time(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = make_memory(), make_memory()
    await memory.remember("Ann", "owns", "a kiln")
    await memory.remember("Annie", "owns", "a loom")
    for n in (1, 2, 3):
        await memory.remember(f"Bo {n}", "friend_of", "Annie", source_id=f"m{n}")
    await memory.merge_entities("Ann", "Annie")
    writes = writes_before(monkeypatch, merge, "_lock", lambda n: other.forget(message=f"m{n}"))
    back = await memory.unmerge("Annie")
    assert (len(writes), len(back.facts)) == (1, 3)
    assert (await memory.entity("Annie")).facts == 3


class Overtaken(ScriptedDecider):
    """Each time it is asked another client writes about the same; not while that would wait.

    Attributes:
        others: that write, one each time.
    """

    def __init__(self, *others: Callable[[], Any]) -> None:
        super().__init__()
        self.others = list(others)
        self.calls = 0

    async def ask(self, ask: Ask) -> Reply:
        self.calls += 1
        if self.others:
            await self.others.pop(0)()
        return await super().ask(ask)


async def test_a_fact_is_written_though_others_write_about_it_each_time(make_memory: Make) -> None:
    other = make_memory()
    boats = [
        lambda n=n: other.remember("Ann", "owns", f"boat {n}") for n in range(retry._WITHOUT_LOCKS)
    ]
    decider = Overtaken(*boats)
    memory = make_memory(decider=decider)
    await other.remember("Ann", "owns", "a kiln")
    (fact,) = (await memory.remember("Ann", "owns", "a loom")).facts
    assert not fact.unsettled
    assert decider.calls == len(boats) + 1  # the last time under the locks
    assert (await memory.stats()).facts == len(boats) + 2


async def test_the_locks_of_every_plan_that_went_stale_are_taken(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first plan closes what is known of Bo, the second of Cy: both move meanwhile."""
    held: list[set[str]] = []
    real = write.apply_held

    async def noted(graph: Any, stale: Any, make: Any, *, finish: bool) -> bool:
        held.append({stale.subject_key, *stale.beside, *stale.mentions})
        return await real(graph, stale, make, finish=finish)

    monkeypatch.setattr(write, "apply_held", noted)
    other = make_memory()

    async def tell(name: str, **more: Any) -> None:
        await other.remember(name, "lives_in", "Bonn", text=f"{name} lives in Bonn", **more)

    async def overtake(name: str) -> None:
        """Closes what is known of ``name``, and lets a witness move it before that is applied."""
        over = {"fact": "moved", "candidate": name, "p": {"negates": 0.97, "new": 0.03}}
        decider.script = {"relation_to_candidate": [over]}
        await tell(name, speaker="witness")

    async def second_phrasing() -> None:
        """Nobody writes."""

    decider = Overtaken(
        lambda: overtake("Bo"), second_phrasing, lambda: overtake("Cy"), second_phrasing
    )
    memory = make_memory(decider=decider)
    await tell("Bo")
    await tell("Cy")
    await memory.remember("The office", "related_to", "Dunmere", text="The office moved to Dunmere")
    assert len(held) == 1
    assert {"bo", "cy", "office"} <= held[0]
    assert [f.subject for f in (await memory.facts(open=False)).facts] == ["Cy"]


async def test_nobody_waits_for_a_slow_decider(
    make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the locks a decider that does not answer in time is away; resume asks it again."""
    monkeypatch.setattr(retry, "HELD_SECONDS", 0.0)
    other = make_memory()
    boat = itertools.count(1)

    async def overtake() -> None:
        await other.remember("Ann", "owns", f"boat {next(boat)}")

    decider = Overtaken(overtake, overtake, asyncio.Event().wait)
    memory = make_memory(decider=decider)
    await other.remember("Ann", "owns", "a kiln")
    added = await memory.remember("Ann", "owns", "a loom")
    (fact,) = added.facts
    assert fact.unsettled
    assert "decider: too slow while others waited" in added.degraded
    await overtake()  # the locks are free
    (settled,) = await memory.resume()
    assert [one.id for one in settled.facts] == [fact.id]
    assert not settled.facts[0].unsettled
