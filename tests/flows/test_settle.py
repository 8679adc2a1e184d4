"""``resume`` asks again about facts that lacked an answer: once, whoever else writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from flow_fakes import ScriptedExtractor, draft

from engram_graph.errors import StoreError
from engram_graph.graph import write
from engram_graph.graph.driver import Graph
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]

UPDATE: dict[str, Any] = {
    "relation_to_candidate": [
        {"fact": "lives in", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "is at", "p": {"update": 0.97, "new": 0.03}},
    ]
}
SECRET = "swordfish"
EVERYTHING = """CYPHER 25
MATCH (n {namespace: $namespace})
OPTIONAL MATCH (n)-[r]->()
RETURN properties(n) AS node, properties(r) AS edge"""


async def standing(memory: Any) -> dict[str, tuple[bool, float]]:
    """Object → whether it is open, and its belief."""
    return {f.object: (f.open, round(f.belief, 4)) for f in (await memory.facts()).facts}


async def unanswered(memory: Any, decider: ScriptedDecider) -> str:
    """Ilka lives in Tarnfold, which is known, then in Ostwick, about which nobody was asked."""
    await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    decider.down = None
    moved = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    decider.down = frozenset()
    assert moved.facts[0].unsettled
    return str(moved.facts[0].id)


MOVED = {"Tarnfold": (False, 0.0448), "Ostwick": (True, 0.98)}


async def test_a_draft_stored_while_the_decider_was_away(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE | {"durability": {"short_lived": 1.0}})
    extractor = ScriptedExtractor(
        [draft("Ilka lives in Tarnfold", "Ilka|lives_in|Tarnfold")],
        [draft("Ilka lives in Ostwick", "Ilka|lives_in|Ostwick")],
    )
    memory = make_memory(decider=decider, extractor=extractor)
    await memory.add("I live in Tarnfold.", said_at="2025-01-10")
    decider.down = None
    added = await memory.add("I live in Ostwick.", said_at="2025-03-04")
    (new,) = added.facts
    assert (added.message.status, new.tentative, new.confidence) == ("done", True, 0.0)
    assert (await memory.stats()).unsettled == 1

    (vain,) = await memory.resume()
    assert (vain.asked_again, vain.facts) == (True, (new,))
    assert vain.degraded == ("decider: decision_unavailable", "unsettled: resume asks again")

    decider.down = frozenset()
    (done,) = await memory.resume()
    assert (done.asked_again, done.degraded, len(extractor.heard)) == (True, (), 2)
    assert [fact.object for fact in done.closed] == ["Tarnfold"]
    kept = await memory.get(new.id)
    assert (kept.tentative, kept.confidence, kept.durability) == (False, 0.97, "short_lived")
    assert await standing(memory) == MOVED
    asked = len(decider.asked)
    assert await memory.resume() == []
    assert len(decider.asked) == asked


async def test_only_the_worth_was_missing(make_memory: Make) -> None:
    decider = ScriptedDecider()
    decider.malformed = {"worth_remembering": "nan"}
    memory = make_memory(
        decider=decider,
        extractor=ScriptedExtractor([draft("Ilka owns a lathe", "Ilka|owns|lathe")]),
    )
    (fact,) = (await memory.add("I own a lathe.")).facts
    assert (fact.unsettled, fact.tentative, fact.belief) == (True, True, 0.5)
    (vain,) = await memory.resume()  # the same answer is malformed again
    assert (vain.facts[0].unsettled, vain.facts[0].belief) == (True, 0.5)
    decider.malformed = {}
    await memory.resume()
    kept = await memory.get(fact.id)
    assert (kept.unsettled, kept.tentative, kept.belief) == (False, False, 0.98)


async def test_another_relation_is_decided_when_it_is_asked_again(
    make_memory: Make, graph: Graph
) -> None:
    decider = ScriptedDecider({"edge_type": {"works_at": 0.97}})
    decider.malformed = {"edge_type": "missing"}
    memory = make_memory(
        decider=decider,
        extractor=ScriptedExtractor([draft("Ilka is at the mill", "Ilka|related_to|the mill")]),
    )
    await memory.remember("Ilka", "works_at", "Hollin Press", said_at="2025-01-10")
    (fact,) = (await memory.add("At the mill now.", said_at="2025-03-04")).facts
    assert fact.predicate == "related_to"
    decider.malformed = {}
    decider.script = {"edge_type": {"works_at": 0.97}} | UPDATE
    (done,) = await memory.resume()
    assert [f.predicate for f in done.facts] == ["works_at"]
    assert [f.object for f in done.closed] == ["Hollin Press"]  # a candidate by its relation only
    rows = await graph.statement(
        "CYPHER 25 MATCH (:Entity)-[r {fact_id: $id}]->(:Entity) RETURN type(r) AS type", id=fact.id
    )
    assert [row["type"] for row in rows] == ["WORKS_AT"]
    assert [f.object for f in (await memory.history("Ilka", "works_at")).facts][-1] == "the mill"


async def test_a_secret_that_only_asking_again_tells(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    """Two people have told it meanwhile; it goes from both messages."""
    decider = ScriptedDecider({"sensitivity": {"credentials": 1.0}})
    decider.down = None
    told = [draft(f"The door opens to {SECRET}", f"door|related_to|{SECRET}", quote=SECRET)]
    memory = make_memory(decider=decider, extractor=ScriptedExtractor(told))
    first = await memory.add(f"Say {SECRET} at the door.", metadata={"note": [SECRET]})
    second = await memory.add(f"It is {SECRET}, you know.", speaker="Odo")
    assert second.repeated == first.facts
    decider.down = frozenset()
    (done,) = await memory.resume()
    assert SECRET not in done.model_dump_json()
    kept = await memory.get(first.facts[0].id)
    assert (kept.object, kept.sensitivity, kept.unsettled) == ("(redacted)", "credentials", False)
    for told_by in (first, second):
        text = (await memory.get_message(told_by.message.id)).text
        assert "(redacted)" in text
    rows = await graph.statement(EVERYTHING, namespace=namespace)
    assert SECRET not in str(rows)
    assert not (await memory.search(SECRET, mode="both")).facts[1:]


async def test_eight_clients_settle_it_once(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    fact_id = await unanswered(make_memory(decider=decider), decider)
    many = [make_memory(decider=decider) for _ in range(8)]
    await asyncio.gather(*(one.open() for one in many))
    done = await asyncio.gather(*(one.resume() for one in many))
    assert sum(len(each) for each in done) >= 1
    assert await standing(many[0]) == MOVED
    decisions = (await many[0].explain(fact_id)).decisions
    assert [d.outcome for d in decisions if d.question == "settle"] == ["applied"]


@pytest.mark.parametrize("other", ["Velden", "Ostwick"])
async def test_another_closed_the_old_fact_meanwhile(make_memory: Make, other: str) -> None:
    """The end of the old fact moves to where the late answer puts it; the newest value stays."""
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    await unanswered(memory, decider)
    if other == "Velden":
        await memory.remember("Ilka", "lives_in", other, said_at="2025-06-01", speaker="Odo")
    else:  # by hand
        (old,) = (await memory.facts(object="Tarnfold")).facts
        await memory.correct(old, object="Tarnvale")
    await memory.resume()
    line = await memory.history("Ilka", "lives_in")
    ends = {f.object: f.valid_until and f.valid_until.date().isoformat() for f in line.facts}
    if other == "Velden":
        assert ends == {"Tarnfold": "2025-03-04", "Ostwick": "2025-06-01", "Velden": None}
        pairs = {(link.source, link.target) for link in line.links}
        ids = [f.id for f in line.facts]
        assert pairs == {(ids[1], ids[0]), (ids[2], ids[1])}
    else:
        assert ends == {"Tarnfold": "2025-01-10", "Tarnvale": "2025-03-04", "Ostwick": None}


async def test_what_a_person_corrected_is_not_asked_again(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    fact_id = await unanswered(memory, decider)
    await memory.correct(fact_id, object="Ostwald", predicate="attended")
    asked = len(decider.asked)
    assert await memory.resume() == []
    assert len(decider.asked) == asked
    assert (await memory.stats()).unsettled == 0
    assert (await standing(memory))["Tarnfold"] == (True, 0.98)


async def test_settling_while_others_write(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    memory, other = make_memory(decider=decider), make_memory(decider=decider)
    fact_id = await unanswered(memory, decider)
    await other.open()
    await asyncio.gather(
        memory.resume(),
        other.remember("Ilka", "lives_in", "Velden", said_at="2025-06-01", speaker="Odo"),
        other.remember("Ilka", "owns", "a lathe", said_at="2025-06-01"),
    )
    line = await memory.history("Ilka", "lives_in")
    assert [f.object for f in line.facts] == ["Tarnfold", "Ostwick", "Velden"]
    starts = [f.valid_from for f in line.facts]
    assert [f.valid_until for f in line.facts] == [*starts[1:], None]
    decisions = (await memory.explain(fact_id)).decisions
    assert [d.outcome for d in decisions if d.question == "settle"] == ["applied"]


async def test_the_decider_went_away_before_the_second_phrasing(make_memory: Make) -> None:
    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    decider.down = frozenset({"relation_second"})
    moved = await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    assert (moved.facts[0].unsettled, moved.facts[0].tentative) == (True, False)
    assert (await standing(memory))["Tarnfold"] == (True, 0.98)
    decider.down = frozenset()
    await memory.resume()
    assert await standing(memory) == MOVED


@pytest.mark.parametrize("applied", [False, True])
async def test_a_run_that_breaks_off_while_it_settles(
    applied: bool, make_memory: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write.apply

    async def breaks(graph: Graph, plan: Any, *, finish: bool) -> bool:
        if applied:
            await whole(graph, plan, finish=finish)
        raise StoreError("gone")

    decider = ScriptedDecider(UPDATE)
    memory = make_memory(decider=decider)
    await unanswered(memory, decider)
    with monkeypatch.context() as patch:
        patch.setattr(write, "apply", breaks)
        with pytest.raises(StoreError):
            await memory.resume()
    assert (await memory.stats()).unsettled == (0 if applied else 1)
    await memory.resume()
    assert await standing(memory) == MOVED
