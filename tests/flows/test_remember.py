"""``remember``, ``correct`` and ``remember_many`` on a real Neo4j, decided by the rules."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from canonical import canonical
from flow_fakes import AwayDecider

from engram_graph.errors import EngramError, InputError, NotFoundError
from engram_graph.flows.write import UNSETTLED
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]

LIVES_IN = """MATCH (:Entity {name: $name})-[r:LIVES_IN]->(c)
WHERE r.namespace = $namespace
RETURN c.name AS city, r.valid_from AS since, r.valid_until AS until, r.fact_id AS id
ORDER BY r.valid_from"""


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


async def all_facts(memory: Any, **filters: Any) -> list[Fact]:
    return [fact async for fact in memory.iter_facts(**filters)]


async def values(memory: Any, **filters: Any) -> dict[str, str | None]:
    """Object → end, for facts with objects of their own."""
    return {
        fact.object: fact.valid_until.date().isoformat() if fact.valid_until else None
        for fact in await all_facts(memory, **filters)
    }


async def supersedes(graph: Graph, namespace: str) -> set[tuple[str, str]]:
    rows = await graph.statement(
        "CYPHER 25 MATCH (a:Fact {namespace: $n})-[:SUPERSEDES]->(b:Fact) "
        "RETURN a.text + ' ' + toString(date(a.valid_from)) AS a, "
        "b.text + ' ' + toString(date(b.valid_from)) AS b",
        n=namespace,
    )
    return {(row["a"], row["b"]) for row in rows}


async def test_a_move_and_back_is_a_chain_of_three(
    memory: Any, graph: Graph, namespace: str
) -> None:
    first = await memory.remember("Ann", "lives_in", "Berlin", valid_from="2019-01-01")
    second = await memory.remember("Ann", "lives_in", "Lisbon", valid_from="2021-06-01")
    third = await memory.remember("Ann", "lives_in", "Berlin", valid_from="2024-02-01")

    assert first.closed == ()
    assert [(f.id, f.valid_until) for f in second.closed] == [
        (first.facts[0].id, day("2021-06-01"))
    ]
    assert [(f.id, f.valid_until) for f in third.closed] == [
        (second.facts[0].id, day("2024-02-01"))
    ]
    rows = await graph.statement(LIVES_IN, name="Ann", namespace=namespace)
    assert [
        (r["city"], r["since"].to_native(), r["until"].to_native() if r["until"] else None)
        for r in rows
    ] == [
        ("Berlin", day("2019-01-01"), day("2021-06-01")),
        ("Lisbon", day("2021-06-01"), day("2024-02-01")),
        ("Berlin", day("2024-02-01"), None),
    ]
    assert [r["id"] for r in rows] == [one.facts[0].id for one in (first, second, third)]
    assert await supersedes(graph, namespace) == {
        ("Ann lives in Lisbon 2021-06-01", "Ann lives in Berlin 2019-01-01"),
        ("Ann lives in Berlin 2024-02-01", "Ann lives in Lisbon 2021-06-01"),
    }
    stats = await memory.stats()
    assert (stats.facts, stats.open, stats.entities, stats.messages) == (3, 1, 3, 3)


async def test_the_same_call_twice_is_one_fact_with_two_sources(memory: Any) -> None:
    first = await memory.remember("Ann", "owns", "a kayak", said_at="2025-01-01")
    again = await memory.remember("Ann", "owns", "a kayak", said_at="2025-02-01")
    assert again.facts == ()
    assert [fact.id for fact in again.repeated] == [first.facts[0].id]
    behind = await memory.explain(first.facts[0])
    assert len(behind.messages) == 2
    assert behind.fact.belief == first.facts[0].belief
    assert [d.outcome for d in behind.decisions if d.question == "repetition"] == ["same_source"]


async def test_spelling_does_not_make_another_fact(memory: Any) -> None:
    await memory.remember("Ann", "owns", "the Kayak", text="Ann owns the kayak.")
    again = await memory.remember(" ann ", "owns", "kayak", text="ANN  owns the kayak")
    assert len(again.repeated) == 1
    stats = await memory.stats()
    assert (stats.facts, stats.entities) == (1, 2)


async def test_a_period_of_the_past_is_stored_closed(memory: Any, graph: Graph) -> None:
    now = await memory.remember("Ann", "works_at", "Acme", valid_from="2022-07-01")
    past = await memory.remember(
        "Ann", "works_at", "Brine Ltd", valid_from="2019-01-01", valid_until="2022-01-01"
    )
    assert past.closed == ()
    fact = past.facts[0]
    assert (fact.valid_until, fact.closed_reason, fact.open) == (day("2022-01-01"), "stated", False)
    assert (await memory.get(now.facts[0].id)).open
    assert [f.object for f in await all_facts(memory, as_of="2020-05-05")] == ["Brine Ltd"]
    assert await all_facts(memory, as_of="2022-03-03") == []
    assert await supersedes(graph, memory.namespace) == set()


async def test_an_end_without_a_start_counts_from_what_was_said(memory: Any) -> None:
    added = await memory.remember(
        "Ann", "uses", "a crutch", said_at="2025-01-01", valid_until="2025-03-01"
    )
    fact = added.facts[0]
    assert (fact.valid_from, fact.valid_until) == (day("2025-01-01"), day("2025-03-01"))
    with pytest.raises(InputError, match="before valid_from"):
        await memory.remember(
            "Ann", "uses", "a bike", said_at="2025-01-01", valid_until="2024-12-31"
        )


async def test_late_arrivals_take_their_place(memory: Any, graph: Graph) -> None:
    for city, start in (("Aarhus", "2020"), ("Cork", "2024"), ("Bonn", "2022"), ("Aosta", "2018")):
        await memory.remember("Ann", "lives_in", city, valid_from=f"{start}-01-01")
    assert await values(memory) == {
        "Aosta": "2020-01-01",
        "Aarhus": "2022-01-01",
        "Bonn": "2024-01-01",
        "Cork": None,
    }
    text = "Ann lives in {} {}-01-01"
    assert await supersedes(graph, memory.namespace) == {
        (text.format("Cork", 2024), text.format("Bonn", 2022)),
        (text.format("Bonn", 2022), text.format("Aarhus", 2020)),
        (text.format("Aarhus", 2020), text.format("Aosta", 2018)),
    }
    line = await memory.history("ann", "lives_in")
    assert [fact.object for fact in line.facts] == ["Aosta", "Aarhus", "Bonn", "Cork"]
    assert len(line.links) == 3


async def test_of_one_instant_the_later_recorded_wins(memory: Any) -> None:
    for city in ("Bonn", "Cork"):
        await memory.remember("Ann", "lives_in", city, valid_from="2024-01-01")
    assert await values(memory) == {"Bonn": "2024-01-01", "Cork": None}
    assert [f.object for f in await all_facts(memory, as_of="2024-01-01")] == ["Cork"]


async def test_many_values_live_side_by_side(memory: Any) -> None:
    for language in ("Welsh", "Finnish", "Tamil"):
        await memory.remember("Ann", "speaks", language)
    assert await values(memory) == {"Welsh": None, "Finnish": None, "Tamil": None}


async def test_a_negation_closes_and_is_negated_in_its_turn(memory: Any) -> None:
    yes = await memory.remember("Ann", "hobby", "chess", valid_from="2020-01-01")
    no = await memory.remember("Ann", "hobby", "chess", negated=True, valid_from="2022-01-01")
    assert [f.id for f in no.closed] == [yes.facts[0].id]
    assert no.facts[0].negated
    assert no.facts[0].text == "Ann not hobby chess"
    again = await memory.remember("Ann", "hobby", "chess", valid_from="2024-01-01")
    assert [f.id for f in again.closed] == [no.facts[0].id]
    assert {f.id for f in await all_facts(memory, open=True)} == {again.facts[0].id}


async def test_a_negation_of_another_value_closes_nothing(memory: Any) -> None:
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    added = await memory.remember("Ann", "lives_in", "Cork", negated=True, valid_from="2022-01-01")
    assert added.closed == ()
    assert await values(memory) == {"Bonn": None, "Cork": None}


async def test_a_plan_that_came_true_is_fulfilled(memory: Any, graph: Graph) -> None:
    plan = await memory.remember(
        "Ann", "plans", "moving to Porto", text="Ann plans to move to Porto", said_at="2025-01-01"
    )
    other = await memory.remember(
        "Ann", "plans", "buying a boat", text="Ann plans to buy a boat", said_at="2025-01-01"
    )
    moved = await memory.remember("Ann", "lives_in", "Porto", said_at="2025-06-01")
    assert [(f.id, f.closed_reason, f.belief) for f in moved.closed] == [
        (plan.facts[0].id, "fulfilled", plan.facts[0].belief)
    ]
    assert (await memory.get(other.facts[0].id)).open
    assert await supersedes(graph, memory.namespace) == {
        ("Ann lives in Porto 2025-06-01", "Ann plans to move to Porto 2025-01-01")
    }


async def test_another_speaker_supports_once(make_memory: Make) -> None:
    script = {
        "relation_to_candidate": [{"candidate": "member", "p": {"duplicate": 0.6, "new": 0.4}}]
    }
    memory = make_memory(decider=ScriptedDecider(script))
    first = await memory.remember("Ann", "member_of", "choir", text="Ann is a member", speaker="Bo")
    start = await memory.remember("Ann", "member_of", "choir", text="Ann sings there", speaker="Cy")
    assert start.facts[0].belief == 0.5
    assert start.facts[0].tentative
    words = {"text": "Ann sings there", "subject": "Ann", "predicate": "member_of"}
    for speaker, belief in (("Cy", 0.5), ("Di", 0.98), ("Di", 0.98)):
        await memory.remember(object="choir", speaker=speaker, **words)
        assert (await memory.get(start.facts[0].id)).belief == pytest.approx(belief)
    behind = await memory.explain(start.facts[0])
    assert [d.outcome for d in behind.decisions if d.question == "repetition"] == [
        "same_source",
        "applied",
        "same_source",
    ]
    assert (await memory.get(first.facts[0].id)).belief == 0.98  # at its clamp


async def test_other_words_are_linked_and_never_merged(make_memory: Make, graph: Graph) -> None:
    script = {"relation_to_candidate": [{"candidate": "wed", "p": {"duplicate": 0.9, "new": 0.1}}]}
    memory = make_memory(decider=ScriptedDecider(script))
    one = await memory.remember("Ann", "married_to", "Joe", text="Ann wed Joe")
    two = await memory.remember("Ann", "married_to", "Joe", text="Joe is Ann's husband")
    links = (await memory.explain(one.facts[0])).links
    assert [(x.type, x.source, x.target, x.p) for x in links] == [
        ("SAME_AS", two.facts[0].id, one.facts[0].id, 0.9)
    ]
    assert (await memory.stats()).facts == 2


async def test_a_contradiction_between_many_values_disputes_both(make_memory: Make) -> None:
    script = {
        "relation_to_candidate": [
            {"candidate": "loud", "p": {"contradiction": 0.92, "new": 0.08}},
        ]
    }
    memory = make_memory(decider=ScriptedDecider(script))
    old = await memory.remember("Ann", "dislikes", "loud rooms")
    new = await memory.remember("Ann", "prefers", "dance halls")
    facts = await all_facts(memory)
    assert [(f.id, f.disputed, f.open) for f in facts] == [
        (old.facts[0].id, True, True),
        (new.facts[0].id, True, True),
    ]
    links = (await memory.explain(new.facts[0])).links
    assert [link.type for link in links] == ["CONTRADICTS"]
    recall = await memory.search("loud rooms")
    assert "disputed" in recall.context


async def test_an_assistant_moves_nothing(memory: Any) -> None:
    mine = await memory.remember("I", "lives_in", "Bonn", said_at="2025-01-01", speaker="Ann")
    theirs = await memory.remember(
        "the user", "lives_in", "Cork", said_at="2025-02-01", role="assistant"
    )
    assert mine.facts[0].subject == "Ann"
    assert theirs.facts[0].subject == "user"
    said = await memory.remember(
        "Ann", "lives_in", "Cork", said_at="2025-02-01", role="assistant", text="So Ann is in Cork"
    )
    assert said.facts[0].tentative
    assert said.closed == ()
    assert (await memory.get(mine.facts[0].id)).open


async def test_a_decider_that_is_away_loses_nothing(make_memory: Make) -> None:
    decider = AwayDecider()
    memory = make_memory(decider=decider)
    decider.away = False
    old = await memory.remember("Ann", "lives_in", "Bonn", said_at="2025-01-01")
    decider.away = True
    new = await memory.remember("Ann", "lives_in", "Cork", said_at="2025-02-01")
    assert new.degraded == ("decider: decision_unavailable", UNSETTLED)
    assert new.message.status == "done"
    fact = await memory.get(new.facts[0].id)
    assert (fact.tentative, fact.belief, fact.open) == (True, 0.5, True)
    assert (await memory.get(old.facts[0].id)).open
    behind = await memory.explain(fact)
    fallen = [
        d for d in behind.decisions if d.outcome == "fallback" and d.question != "belief_start"
    ]
    assert {d.question for d in fallen} >= {"temporal_status", "relation_to_candidate"}
    assert {d.backend for d in fallen} == {"fallback"}
    assert behind.requests[0]["error"] == "decision_unavailable"


async def test_source_id_is_remembered_across_clients(make_memory: Make, graph: Graph) -> None:
    first = make_memory()
    a = await first.remember("Ann", "owns", "a kayak", source_id="m1", said_at="2025-01-01")
    before = await canonical(graph, first.namespace)
    await first.aclose()
    second = make_memory()
    b = await second.remember("Ann", "owns", "a canoe", source_id="m1")
    assert (b.duplicate, [f.id for f in b.facts]) == (True, [a.facts[0].id])
    assert b.message.id == a.message.id
    assert await canonical(graph, first.namespace) == before


# --- correct ---


async def test_a_correction_replaces_what_was_never_true(memory: Any) -> None:
    wrong = (await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")).facts[0]
    done = await memory.correct(wrong, object="Born", reason="a misspelling")
    assert [(f.id, f.valid_until, f.closed_reason) for f in done.closed] == [
        (wrong.id, day("2020-01-01"), "corrected")
    ]
    new = await memory.get(done.facts[0].id)
    assert (new.object, new.valid_from, new.open) == ("Born", day("2020-01-01"), True)
    assert new.text == "Ann lives in Born"
    behind = await memory.explain(wrong)
    assert [f.id for f in behind.newer] == [new.id]
    found = [d for d in behind.decisions if d.question == "correction"]
    assert [(d.outcome, d.reason, d.backend) for d in found] == [
        ("corrected", "a misspelling", "rule")
    ]
    assert [f.object for f in await all_facts(memory, as_of="2020-01-01")] == ["Born"]
    message = (await memory.explain(new)).messages[0]
    assert (message.text, message.status) == ("a misspelling", "done")


async def test_a_correction_from_a_date_leaves_the_time_before(memory: Any) -> None:
    old = (await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")).facts[0]
    await memory.correct(old.id, object="Cork", valid_from="2022-01-01")
    assert await values(memory) == {"Bonn": "2022-01-01", "Cork": None}


async def test_corrections_are_chained(memory: Any) -> None:
    fact = (await memory.remember("Ann", "lives_in", "A", valid_from="2020-01-01")).facts[0]
    second = (await memory.correct(fact, object="B")).facts[0]
    third = (await memory.correct(second, object="C")).facts[0]
    with pytest.raises(InputError, match="corrected before"):
        await memory.correct(fact, object="D")
    assert [f.object for f in (await memory.explain(third)).older] == ["B", "A"]
    assert [f.object for f in await all_facts(memory, open=True)] == ["C"]


async def test_a_closed_fact_is_corrected_in_its_place(memory: Any, graph: Graph) -> None:
    old = (await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")).facts[0]
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2022-01-01")
    new = (await memory.correct(old, object="Born")).facts[0]
    assert (await memory.get(new.id)).valid_until == day("2022-01-01")
    assert [f.object for f in await all_facts(memory, as_of="2021-01-01")] == ["Born"]
    assert await supersedes(graph, memory.namespace) == {
        ("Ann lives in Cork 2022-01-01", "Ann lives in Born 2020-01-01"),
        ("Ann lives in Born 2020-01-01", "Ann lives in Bonn 2020-01-01"),
    }


async def test_what_was_corrected_does_not_come_back_by_repetition(memory: Any) -> None:
    wrong = (await memory.remember("Ann", "owns", "a cat", valid_from="2020-01-01")).facts[0]
    await memory.correct(wrong, object="a dog")
    await memory.remember("Ann", "owns", "a cat", valid_from="2023-01-01")
    assert not (await memory.get(wrong.id)).open


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"object": "Bonn"},
        {"object": " "},
        {"predicate": "orbits"},
        {"valid_until": "2019-01-01"},
        {"valid_from": "soon"},
        {"text": "\x00"},
        {"object": "x\ud800"},
    ],
)
async def test_a_bad_correction_changes_nothing(
    memory: Any, graph: Graph, change: dict[str, Any]
) -> None:
    fact = (await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")).facts[0]
    before = await canonical(graph, memory.namespace)
    with pytest.raises(InputError):
        await memory.correct(fact, **change)
    assert await canonical(graph, memory.namespace) == before


async def test_a_fact_of_another_namespace_cannot_be_corrected(
    memory: Any, make_memory: Make, namespace: str
) -> None:
    fact = (await memory.remember("Ann", "lives_in", "Bonn")).facts[0]
    other = make_memory(f"{namespace}-other")
    with pytest.raises(NotFoundError):
        await other.correct(fact, object="Cork")
    with pytest.raises(NotFoundError):
        await other.get(fact.id)
    assert (await other.stats()).messages == 0


# --- remember_many ---

ROWS = [
    {"subject": "Ann", "predicate": "lives_in", "object": "Bonn", "valid_from": "2020-01-01"},
    {"subject": "Ann", "predicate": "lives_in", "object": "Cork", "valid_from": "2022-01-01"},
    {"subject": "Bo", "predicate": "owns", "object": "a kayak", "said_at": "2022-01-01"},
]


async def test_many_facts_are_decided_in_turn(memory: Any) -> None:
    seen: list[tuple[int, int]] = []
    rows = [row | {"source_id": f"r{n}"} for n, row in enumerate(ROWS)]
    done = await memory.remember_many(rows, progress=lambda *at: seen.append(at))
    assert (done.messages, done.facts, done.skipped) == (3, 3, 0)
    assert await values(memory) == {"Bonn": "2022-01-01", "Cork": None, "a kayak": None}
    assert seen == [(1, 3), (2, 3), (3, 3)]
    again = await memory.remember_many(rows)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 3)


async def test_a_bulk_import_asks_and_closes_nothing(make_memory: Make, graph: Graph) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    done = await memory.remember_many(ROWS, decide=False)
    assert (done.messages, done.facts, done.skipped) == (1, 3, 0)
    assert decider.asked == []
    assert await values(memory) == {"Bonn": None, "Cork": None, "a kayak": None}
    before = await canonical(graph, memory.namespace)
    again = await memory.remember_many(ROWS, decide=False)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 3)
    assert await canonical(graph, memory.namespace) == before
    more = await memory.remember_many([*ROWS, ROWS[0] | {"object": "Oslo"}], decide=False)
    assert (more.facts, more.skipped) == (1, 3)


@pytest.mark.parametrize("decide", [True, False])
@pytest.mark.parametrize(
    "bad",
    [
        {"subject": "Ann", "predicate": "orbits", "object": "the sun"},
        {"subject": "Ann", "predicate": "owns", "object": "  "},
        {"subject": "Ann", "predicate": "owns", "object": "a cat", "valid_from": "2025-02-30"},
        {"subject": "Ann", "predicate": "owns", "object": "a cat", "colour": "grey"},
        "not a mapping",
    ],
)
async def test_one_bad_fact_leaves_nothing_of_all(memory: Any, decide: bool, bad: Any) -> None:
    with pytest.raises(InputError) as caught:
        await memory.remember_many([*ROWS, bad], decide=decide)
    assert caught.value.details["position"] == 4
    assert "fact 4" in str(caught.value)
    stats = await memory.stats()
    assert (stats.messages, stats.facts, stats.entities) == (0, 0, 0)


async def test_nothing_to_import_is_nothing(memory: Any) -> None:
    assert (await memory.remember_many([], decide=False)).facts == 0
    assert (await memory.remember_many([])).facts == 0
    for nonsense in (None, "Ann", ROWS[0]):
        with pytest.raises(InputError):
            await memory.remember_many(nonsense)
    assert (await memory.stats()).messages == 0


async def test_a_fact_imported_and_then_told_is_repeated(memory: Any) -> None:
    await memory.remember_many(ROWS[:1], decide=False)
    told = await memory.remember("Ann", "lives_in", "Bonn", said_at="2021-01-01")
    assert (told.facts, len(told.repeated)) == ((), 1)
    moved = await memory.remember("Ann", "lives_in", "Cork", said_at="2022-01-01")
    assert [f.object for f in moved.closed] == ["Bonn"]


async def test_every_failure_is_one_of_ours(memory: Any) -> None:
    with pytest.raises(EngramError) as caught:
        await memory.remember("Ann", "owns", "a cat", valid_from=object())
    assert caught.value.code == "input"


async def test_a_late_arrival_finds_its_place_among_many(memory: Any) -> None:
    """More homes than candidates, and neighbours who are as near."""
    await memory.remember_many(
        (
            {"subject": f"Ann {n}", "predicate": "lives_in", "object": f"City {place}"}
            for n in range(12)
            for place in (3, 4)
        ),
        decide=False,
    )
    for year in range(2000, 2025):
        await memory.remember("Ann", "lives_in", f"City {year}", valid_from=f"{year}-01-01")
    await memory.remember("Ann", "lives_in", "City 4", valid_from="2003-07-01")
    line = await memory.history("Ann", "lives_in")
    starts = [fact.valid_from for fact in line.facts]
    assert starts == sorted(starts)
    assert [fact.valid_until for fact in line.facts] == [*starts[1:], None]
    assert len(line.links) == 25


async def test_a_correction_cannot_begin_after_the_end(memory: AsyncMemory) -> None:
    past = await memory.remember(
        "Ann", "lives_in", "Rome", valid_from="2019-01-01", valid_until="2022-01-01"
    )
    with pytest.raises(InputError, match="after the end"):
        await memory.correct(past.facts[0], object="Riga", valid_from="2040-01-01")
    assert len((await memory.facts(subject="Ann")).facts) == 1


async def test_hearsay_does_not_close_what_somebody_said_of_themselves(memory: AsyncMemory) -> None:
    await memory.add("I live in Lisbon.", speaker="Ana", said_at="2025-01-01")
    heard = await memory.add("Ana lives in Rome.", speaker="Mallory", said_at="2025-02-01")
    assert not heard.closed
    assert heard.facts[0].tentative
    open_now = {f.object: f.belief for f in (await memory.facts(subject="Ana", open=True)).facts}
    assert open_now == {"Lisbon": 0.98, "Rome": 0.5}
    said = await memory.explain(heard.facts[0])
    pair = [d for d in said.decisions if d.question == "relation_to_candidate"]
    assert [(d.chosen, d.p, d.outcome) for d in pair] == [("update", 0.8, "unconfirmed")]
    # She herself is believed, and so is whose memory it is.
    own = await memory.add("I live in Porto.", speaker="Ana", said_at="2025-03-01")
    assert {fact.object for fact in own.closed} == {"Lisbon", "Rome"}
    given = await memory.remember("Ana", "lives_in", "Faro", said_at="2025-04-01")
    assert [fact.object for fact in given.closed] == ["Porto"]


async def test_a_corrected_denial_still_denies(memory: AsyncMemory) -> None:
    denied = await memory.remember("Ann", "owns", "a kayak", negated=True)
    fixed = await memory.correct(denied.facts[0], object="a canoe")
    assert (fixed.facts[0].text, fixed.facts[0].negated) == ("Ann not owns a canoe", True)
