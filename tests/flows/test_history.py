"""``facts`` on both clocks and by page, ``history``, ``explain``, ``namespaces``, ``stats``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from engram_graph.errors import InputError, NotFoundError
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]


async def moment() -> datetime:
    """Now, apart from what was written before and after."""
    await asyncio.sleep(0.02)
    found = datetime.now(UTC)
    await asyncio.sleep(0.02)
    return found


async def objects(memory: Any, **filters: Any) -> list[str]:
    return [fact.object async for fact in memory.iter_facts(**filters)]


async def test_pages_follow_each_other_without_gap_or_overlap(memory: Any) -> None:
    await memory.remember_many(
        ({"subject": "Ann", "predicate": "owns", "object": f"kite {n}"} for n in range(25)),
        decide=False,  # one instant for all: the id decides
    )
    for n in range(5):
        await memory.remember("Bo", "owns", f"lamp {n}")
    whole = (await memory.facts()).facts
    assert len(whole) == 30
    seen, cursor, pages = [], None, 0
    while True:
        page = await memory.facts(limit=7, cursor=cursor)
        seen += [fact.id for fact in page.facts]
        pages, cursor = pages + 1, page.cursor
        if cursor is None:
            break
    assert (seen, pages) == ([fact.id for fact in whole], 5)
    exact = await memory.facts(limit=30)
    assert exact.cursor is None
    some = await memory.facts(subject="bo", limit=2)
    rest = await memory.facts(subject="bo", limit=9, cursor=some.cursor)
    assert [f.object for f in (*some.facts, *rest.facts)] == [f"lamp {n}" for n in range(5)]


async def test_what_is_written_meanwhile_comes_on_a_later_page(memory: Any) -> None:
    for n in range(3):
        await memory.remember("Ann", "owns", f"kite {n}")
    first = await memory.facts(limit=2)
    await memory.remember("Ann", "owns", "kite 3")
    rest = await memory.facts(limit=9, cursor=first.cursor)
    assert [f.object for f in rest.facts] == ["kite 2", "kite 3"]


@pytest.mark.parametrize(
    "cursor", ["", "x", "bm8", "W10=", "WyJ4IiwieSJd", 7, "\ud800", "WzEsMl0="]
)
async def test_a_foreign_cursor_is_refused(memory: Any, cursor: Any) -> None:
    with pytest.raises(InputError, match="cursor"):
        await memory.facts(cursor=cursor)


async def test_what_no_id_or_filter_can_be_is_refused(memory: Any) -> None:
    for call in (memory.get, memory.get_message, memory.explain):
        for value in ("\ud800", "a\0", "", None, 3):
            with pytest.raises(InputError):
                await call(value)
    with pytest.raises(InputError):
        await memory.facts(open="yes")


async def test_filters_narrow(memory: Any) -> None:
    await memory.remember("Ann", "owns", "a kite", said_at="2020-01-01")
    await memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")
    await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")
    await memory.remember("Bo", "lives_in", "Bonn", said_at="2021-01-01")
    assert await objects(memory, subject=" ANN. ") == ["a kite", "Bonn", "Cork"]
    assert await objects(memory, predicate="Lives in", object="bonn") == ["Bonn", "Bonn"]
    assert await objects(memory, subject="Ann", object="Bonn") == ["Bonn"]
    assert await objects(memory, open=False) == ["Bonn"]
    assert await objects(memory, subject="Ann", open=True) == ["a kite", "Cork"]
    assert await objects(memory, subject="nobody") == []
    for bad in ({"predicate": "orbits"}, {"subject": " "}, {"limit": 0}, {"as_of": "soon"}):
        with pytest.raises(InputError):
            await memory.facts(**bad)


async def test_two_clocks(memory: Any) -> None:
    before = await moment()
    await memory.remember("Odo", "works_at", "Hollin Press", said_at="2025-01-10")
    first = await moment()
    await memory.remember(
        "Odo", "works_at", "Dunmere", said_at="2025-06-01", valid_from="2025-03-01"
    )
    second = await moment()
    spring = {"as_of": "2025-04-01"}
    assert await objects(memory, **spring, known_at=before) == []
    assert await objects(memory, **spring, known_at=first) == ["Hollin Press"]
    assert await objects(memory, **spring, known_at=second) == ["Dunmere"]
    assert await objects(memory, as_of="2025-02-01", known_at=second) == ["Hollin Press"]
    assert await objects(memory, as_of="2025-01-01") == []
    assert await objects(memory, as_of="2025-03-01") == ["Dunmere"]
    then = (await memory.facts(known_at=first)).facts
    assert [(f.open, f.valid_until, f.closed_reason, f.closed_at) for f in then] == [
        (True, None, None, None)
    ]
    assert await objects(memory, known_at=first, open=True, subject="Odo") == ["Hollin Press"]
    assert await objects(memory, known_at=second, open=False) == ["Hollin Press"]


async def test_what_was_closed_and_reopened_is_known_at_every_stage(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old = (await memory.remember("Kes", "works_at", "Acme", said_at="2025-01-01")).facts[0]
    opened = await moment()
    decider.script = {"relation_to_candidate": [{"candidate": "works", "p": {"negates": 0.97}}]}
    await memory.remember(
        "Kes", "related_to", "Acme", said_at="2025-03-01", text="Kes left Acme", speaker="Bo"
    )
    closed = await moment()
    decider.script = {
        "relation_to_candidate": [{"candidate": "Kes works", "p": {"duplicate": 0.97}}]
    }
    await memory.remember(
        "Kes", "works_at", "Acme", valid_from="2025-01-20", text="Kes is at Acme", speaker="Cy"
    )
    reopened = await moment()

    async def state(known_at: datetime) -> tuple[bool, bool]:
        page = await memory.facts(subject="Kes", known_at=known_at)
        shown = next(fact for fact in page.facts if fact.id == old.id)
        april = await memory.facts(as_of="2025-04-01", known_at=known_at)
        return shown.open, old.id in {fact.id for fact in april.facts}

    assert await state(opened) == (True, True)
    assert await state(closed) == (False, False)
    assert await state(reopened) == (True, True)
    assert (await memory.get(old.id)).closed_reason is None


async def test_a_stated_end_was_known_from_the_start(memory: Any) -> None:
    await memory.remember(
        "Ann", "lives_in", "Bonn", valid_from="2019-01-01", valid_until="2022-01-01"
    )
    known = await moment()
    page = await memory.facts(known_at=known)
    assert [(f.open, f.closed_reason) for f in page.facts] == [(False, "stated")]


async def test_an_end_moved_by_a_late_arrival_is_known_as_it_was(memory: Any) -> None:
    await memory.remember("Ann", "lives_in", "A", valid_from="2020-01-01")
    await memory.remember("Ann", "lives_in", "C", valid_from="2024-01-01")
    known = await moment()
    await memory.remember("Ann", "lives_in", "B", valid_from="2022-01-01")
    assert await objects(memory, as_of="2023-01-01", known_at=known) == ["A"]
    assert await objects(memory, as_of="2023-01-01") == ["B"]


async def test_history_is_by_time_not_by_arrival(memory: Any) -> None:
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2022-01-01")
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    await memory.remember("Ann", "owns", "a kite", valid_from="2021-01-01")
    line = await memory.history("ANN", "lives_in")
    assert (line.subject, line.predicate) == ("Ann", "lives_in")
    assert [f.object for f in line.facts] == ["Bonn", "Cork"]
    assert [(x.source, x.target) for x in line.links] == [(line.facts[1].id, line.facts[0].id)]
    assert [f.object for f in (await memory.history("Ann")).facts] == ["Bonn", "a kite", "Cork"]
    nobody = await memory.history("Zed")
    assert (nobody.subject, nobody.facts) == ("Zed", ())


async def test_explain_shows_sources_decisions_and_answers(make_memory: Make) -> None:
    script = {
        "relation_to_candidate": [{"candidate": "Bonn", "p": {"update": 0.97, "new": 0.03}}],
        "relation_second": [{"candidate": "Bonn", "p": {"contradiction": 0.9, "new": 0.1}}],
    }
    memory = make_memory(decider=ScriptedDecider(script))
    old = (await memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")).facts[0]
    new = (await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")).facts[0]
    behind = await memory.explain(new.id)
    assert [m.text for m in behind.messages] == ["Ann lives in Cork"]
    assert [f.id for f in behind.older] == [old.id]
    judged = next(d for d in behind.decisions if d.question == "relation_to_candidate")
    assert (judged.chosen, judged.p, judged.outcome) == ("update", 0.97, "applied")
    assert (judged.candidate_id, judged.backend) == (old.id, "scripted")
    assert judged.candidate_belief_before == pytest.approx(0.98)
    assert judged.candidate_belief_after == pytest.approx((await memory.get(old.id)).belief)
    asked = {name for request in behind.requests for name in request["answers"]}
    assert {"temporal_status", f"relation_to_candidate:{old.id}"} <= asked
    second = next(r for r in behind.requests if f"relation_second:{old.id}" in r["answers"])
    assert second["answers"][f"relation_second:{old.id}"]["probabilities"]["contradiction"] == 0.9

    closed = await memory.explain(old)
    end = next(d for d in closed.decisions if d.outcome == "closed")
    assert (end.valid_until_before, end.reason_after) == (None, "belief")
    assert end.valid_until_after == new.valid_from
    assert [f.id for f in closed.newer] == [new.id]
    with pytest.raises(NotFoundError):
        await memory.explain("nothing")


async def test_namespaces_and_stats_count_what_is_there(make_memory: Make, namespace: str) -> None:
    one, two = make_memory(f"{namespace}-1"), make_memory(f"{namespace}-2")
    await one.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")
    await one.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")
    await two.add("Nothing to remember here, really.")
    mine = {n.namespace: n for n in await one.namespaces() if n.namespace.startswith(namespace)}
    assert [(n.messages, n.facts, n.open, n.entities) for _, n in sorted(mine.items())] == [
        (2, 2, 1, 3),
        (1, 0, 0, 0),
    ]
    assert mine[f"{namespace}-1"].last_recorded_at is not None
    stats = await one.stats()
    assert (stats.facts, stats.open, stats.disputed, stats.tentative) == (2, 1, 0, 0)
    assert stats.predicates == {"lives_in": 1}
    assert (stats.requests, stats.cost_usd) == (3, 0.0)  # one, and one with a second phrasing
    assert stats.decisions > 3
    empty = await make_memory(f"{namespace}-3").stats()
    assert (empty.messages, empty.requests, empty.latency_ms_p50) == (0, 0, None)


async def test_the_blocking_client_does_the_same(sync_memory: Any) -> None:
    """Inside a running event loop, as in a notebook."""
    sync_memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")
    added = sync_memory.add("I moved to Cork.", speaker="Ann", said_at="2021-01-01")
    assert [f.object for f in added.closed] == ["Bonn"]
    assert [f.object for f in sync_memory.history("Ann", "lives_in").facts] == ["Bonn", "Cork"]
    assert [f.object for f in sync_memory.iter_facts(open=True)] == ["Cork"]
    assert sync_memory.search("Where does Ann live?").facts[0].fact.subject == "Ann"
    sync_memory.add("I own a kite.", wait=False)
    sync_memory.flush()
    assert sync_memory.stats().unfinished == 0
    assert sync_memory.doctor().sound
    with pytest.raises(InputError):
        sync_memory.add(" ")


async def test_doctor_counts_what_it_looked_at(memory: Any) -> None:
    await memory.remember("Ann", "lives_in", "Bonn")
    report = await memory.doctor()
    assert report.sound
    assert report.checked["fact_edge"] == 1
