"""Many clients at once: one fact stays one fact, no update is lost, every chain is a chain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from canonical import canonical
from flow_fakes import ScriptedExtractor, broken, draft

from engram_graph.graph.driver import Graph

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
CLIENTS = 8


async def clients(make_memory: Make, count: int = CLIENTS, **options: Any) -> list[Any]:
    """``count`` clients, each with a connection of its own, open already."""
    made = [make_memory(**options) for _ in range(count)]
    await asyncio.gather(*(one.open() for one in made))
    return made


async def test_one_fact_from_eight_clients_is_one_fact(make_memory: Make) -> None:
    many = await clients(make_memory)
    added = await asyncio.gather(
        *(
            one.remember("Ann", "allergic_to", "nuts", said_at="2025-01-01", speaker=f"s{n}")
            for n, one in enumerate(many)
        )
    )
    ids = {fact.id for one in added for fact in (*one.facts, *one.repeated)}
    assert len(ids) == 1
    assert sum(len(one.facts) for one in added) == 1
    stats = await many[0].stats()
    assert (stats.facts, stats.entities, stats.messages, stats.unfinished) == (1, 2, CLIENTS, 0)
    behind = await many[0].explain(ids.pop())
    assert {m.speaker for m in behind.messages} == {f"s{n}" for n in range(CLIENTS)}
    outcomes = [d.outcome for d in behind.decisions if d.question == "repetition"]
    assert outcomes == ["applied"] * (CLIENTS - 1)


async def test_eight_moves_at_once_make_one_chain(make_memory: Make, graph: Graph) -> None:
    many = await clients(make_memory)
    years = [2011, 2018, 2014, 2012, 2017, 2015, 2013, 2016]
    await asyncio.gather(
        *(
            one.remember("Ann", "lives_in", f"City {year}", valid_from=f"{year}-01-01")
            for one, year in zip(many, years, strict=True)
        )
    )
    line = await many[0].history("Ann", "lives_in")
    assert [f.object for f in line.facts] == [f"City {year}" for year in sorted(years)]
    starts = [f.valid_from for f in line.facts]
    assert [f.valid_until for f in line.facts] == [*starts[1:], None]
    ids = [f.id for f in line.facts]
    assert {(x.source, x.target) for x in line.links} == set(zip(ids[1:], ids[:-1], strict=True))


async def test_many_subjects_at_once_do_not_meet(make_memory: Make) -> None:
    many = await clients(make_memory, 6)
    steps = [(n, f"Person {n}", city) for city in ("Bonn", "Cork") for n in range(6)]
    for city in ("Bonn", "Cork"):  # all share their objects: the locks cross
        await asyncio.gather(
            *(many[n].remember(who, "lives_in", where) for n, who, where in steps if where == city)
        )
    stats = await many[0].stats()
    assert (stats.facts, stats.open, stats.entities) == (12, 6, 8)
    here = [f async for f in many[0].iter_facts(open=True)]
    assert {(f.subject, f.object) for f in here} == {(f"Person {n}", "Cork") for n in range(6)}


async def test_people_who_befriend_each_other_do_not_lock_out_each_other(make_memory: Make) -> None:
    many = await clients(make_memory, 6)
    pairs = [("Ann", "Bo"), ("Bo", "Ann"), ("Ann", "Cy"), ("Cy", "Ann"), ("Bo", "Cy"), ("Cy", "Bo")]
    await asyncio.gather(
        *(
            one.remember(a, "friend_of", b, source_id=f"{a}-{b}-{n}")
            for n in range(3)
            for one, (a, b) in zip(many, pairs, strict=True)
        )
    )
    stats = await many[0].stats()
    assert (stats.facts, stats.messages, stats.unfinished) == (6, 18, 0)


async def test_two_clients_with_one_source_id_store_it_once(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    alone, crowd = f"{namespace}-alone", f"{namespace}-crowd"
    call = {"source_id": "m1", "said_at": "2025-01-01"}
    await make_memory(alone).remember("Ann", "owns", "a cat", **call)
    many = await clients(make_memory, 4, name=crowd)
    added = await asyncio.gather(*(one.remember("Ann", "owns", "a cat", **call) for one in many))
    assert sum(not one.duplicate for one in added) >= 1
    assert len({fact.id for one in added for fact in one.facts}) == 1
    assert await canonical(graph, crowd) == await canonical(graph, alone)


async def test_two_extractions_of_one_message_do_not_mix(make_memory: Make, graph: Graph) -> None:
    """The model answers each client otherwise: what was kept first counts for both."""
    answers = [
        [draft("Ann owns a cat", "Ann|owns|a cat")],
        [draft("Ann owns a dog", "Ann|owns|a dog"), draft("Ann owns a hen", "Ann|owns|a hen")],
    ]
    meet = asyncio.Barrier(2)

    class Slow(ScriptedExtractor):
        async def extract(self, message: Any, recent: Any) -> Any:
            await meet.wait()
            return await super().extract(message, recent)

    one, two = (make_memory(extractor=Slow(answer)) for answer in answers)
    added = await asyncio.gather(*(m.add("Guess.", source_id="m1") for m in (one, two)))
    kinds = {frozenset(f.object for f in each.facts) for each in added}
    assert len(kinds) == 1
    assert (await one.stats()).facts == len(kinds.pop())


async def test_a_failure_does_not_undo_what_another_client_finished(make_memory: Make) -> None:
    asked, done = asyncio.Event(), asyncio.Event()

    class Late(ScriptedExtractor):
        async def extract(self, message: Any, recent: Any) -> Any:
            asked.set()
            await done.wait()
            raise broken()

    late = make_memory(extractor=Late())
    waiting = asyncio.create_task(late.add("I own a cat.", source_id="m1"))
    other = make_memory()
    await asked.wait()
    added = await other.add("I own a cat.", source_id="m1")
    done.set()
    await waiting
    kept = await other.get_message(added.message.id)
    assert (kept.status, kept.error) == ("done", None)


async def test_one_client_used_by_many_tasks(memory: Any, graph: Graph) -> None:
    await asyncio.gather(
        *(memory.add(f"I own boat number {n}.", said_at="2025-01-01") for n in range(12)),
        *(memory.search("boat", mode="both") for _ in range(4)),
    )
    stats = await memory.stats()
    assert (stats.messages, stats.unfinished) == (12, 0)
    rows = await graph.statement(
        "CYPHER 25 MATCH (:Message {namespace: $n})-[r:NEXT]->() RETURN count(r) AS n",
        n=memory.namespace,
    )
    assert rows[0]["n"] == 11


async def test_the_same_import_twice_at_once_is_one_import(make_memory: Make) -> None:
    rows = [
        {"subject": f"P{n % 7}", "predicate": "owns", "object": f"thing {n}"} for n in range(60)
    ]
    many = await clients(make_memory, 3)
    done = await asyncio.gather(*(one.remember_many(rows, decide=False) for one in many))
    assert sum(one.facts for one in done) == 60
    stats = await many[0].stats()
    assert (stats.facts, stats.messages, stats.unfinished) == (60, 1, 0)


async def test_a_correction_and_a_move_at_once_leave_a_sound_graph(make_memory: Make) -> None:
    one, two = await clients(make_memory, 2)
    fact = (await one.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")).facts[0]
    await asyncio.gather(
        one.correct(fact, object="Born"),
        two.remember("Ann", "lives_in", "Cork", valid_from="2022-01-01"),
    )
    old = await one.get(fact.id)
    assert not old.open
    assert [f.object async for f in one.iter_facts(as_of="2021-01-01")] == ["Born"]
    assert "Cork" in [f.object async for f in one.iter_facts(open=True)]
