"""Time in reading: ``between``, ``diff``, and questions that name a date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from engram_graph import clock
from engram_graph.adapters import embed_local
from engram_graph.errors import InputError
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
HOMES = (("Bonn", 2017), ("Cork", 2019), ("Oslo", 2021), ("Rome", 2023))
JOBS = (("Hollin Press", 2016), ("Dunmere", 2018), ("Kestrel Labs", 2020), ("Brightwater", 2024))


async def live(memory: Any) -> None:
    """Four homes, four jobs, each from a June on, and what else there is."""
    for city, year in HOMES:
        text = f"Ana lives in {city}"
        await memory.remember("Ana", "lives_in", city, valid_from=f"{year}-06-01", text=text)
    for firm, year in JOBS:
        text = f"Ana works at {firm}"
        await memory.remember("Ana", "works_at", firm, valid_from=f"{year}-06-01", text=text)
    for relation, what, since in (
        ("owns", "a kayak", "2020-05-01"),
        ("prefers", "jazz", "2015-01-01"),
        ("attended", "the harbour fair", "2023-05-06"),
        ("attended", "a pottery class", "2022-05-06"),
    ):
        await memory.remember("Ana", relation, what, valid_from=since)


def objects(found: Any) -> list[str]:
    facts = [hit.fact for hit in found.facts] if hasattr(found, "query") else found.facts
    return [fact.object for fact in facts]


# --- between ---


async def test_facts_true_at_some_moment_of_a_stretch(memory: Any) -> None:
    await live(memory)

    async def homes(first: str, last: str, **more: Any) -> list[str]:
        return objects(await memory.facts(predicate="lives_in", between=(first, last), **more))

    assert await homes("2018-01-01", "2020-01-01") == ["Bonn", "Cork"]
    assert await homes("2018-01-01", "2019-05-31") == ["Bonn"]
    assert await homes("2018-01-01", "2019-06-01") == ["Bonn", "Cork"]  # a date: that whole day
    assert await homes("2018-01-01", "2019-06-01T00:00:00Z") == ["Bonn"]  # a moment: not in it
    assert await homes("2019-06-01", "2019-06-01") == ["Cork"]  # where Bonn ends, it is no more
    assert await homes("2010-01-01", "2017-05-31") == []
    assert await homes("2030-01-01", "2031-01-01") == ["Rome"]
    assert await homes("2018-01-01", "2031-01-01", open=False) == ["Bonn", "Cork", "Oslo"]
    pages = [
        f.object async for f in memory.iter_facts(between=("2018-01-01", "2020-01-01"), limit=2)
    ]
    assert len(pages) == 5


async def test_what_a_correction_took_back_was_true_at_no_time(memory: Any) -> None:
    wrong = await memory.remember("Maya", "lives_in", "Berlin", valid_from="2019-01-01")
    known = clock.now()
    await memory.correct(wrong.facts[0], object="Bern", reason="misheard")
    stretch = ("2018-01-01", "2020-01-01")
    assert objects(await memory.facts(between=stretch)) == ["Bern"]
    assert objects(await memory.facts(between=stretch, known_at=known)) == ["Berlin"]
    assert objects(await memory.search("Where does Maya live?", between=stretch)) == ["Bern"]


async def test_a_search_between_gives_only_what_was_true_then(memory: Any) -> None:
    await live(memory)
    found = await memory.search("Where did Ana live?", between=("2018-01-01", "2019-12-31"))
    assert set(objects(found)) == {"Bonn", "Cork", "Hollin Press", "Dunmere", "jazz"}
    assert all("date" not in hit.scores.parts for hit in found.facts)
    assert [hit.why for hit in found.facts] == ["shortlist"] * len(found.facts)
    lines = await memory.search("Ana", between=("2018-01-01", "2018-01-31"), lines="nodates")
    assert "Ana lives in Bonn" in lines.context


async def test_turns_of_then_are_found_among_many_later_ones(make_memory: Any) -> None:
    memory = make_memory()
    first = [{"role": "user", "content": text} for text in ("The kiln is red", "I like its glaze")]
    await memory.add(first, said_at="2025-01-01T10:00:00Z", conversation="first")
    later = [{"role": "user", "content": f"The kiln is red, I say {n}"} for n in range(130)]
    await memory.add(later, said_at="2025-02-01T10:00:00Z", conversation="later")
    for span in ({"as_of": "2025-01-02"}, {"between": ("2025-01-01", "2025-01-02")}):
        found = await memory.search("The kiln is red, I say", mode="turns", **span)
        assert [hit.message.text for hit in found.turns] == [turn["content"] for turn in first]


async def test_turns_said_between(memory: Any) -> None:
    for day in (1, 2, 3):
        await memory.add(f"The kayak needs paint {day}.", said_at=f"2025-01-0{day}T12:00:00Z")

    async def said(**when: Any) -> set[str]:
        found = await memory.search("kayak paint", mode="turns", **when)
        return {hit.message.text[-2] for hit in found.turns}

    assert await said(between=("2025-01-02", "2025-01-02")) == {"2"}
    assert await said(between=("2025-01-01", "2025-01-03T12:00:00Z")) == {"1", "2"}
    assert await said(as_of="2025-01-02T12:00:00Z") == {"1", "2"}


async def test_a_small_stretch_is_not_starved_by_a_long_history(memory: Any) -> None:
    """The vector index looks among what was true then, not among the nearest of all."""
    await memory.remember_many(
        (
            {
                "subject": f"Bo {n}",
                "predicate": "owns",
                "object": f"kite {n}",
                "text": "Bo owns a kite",
                "valid_from": "2020-01-01",
                "valid_until": "2021-01-01" if n % 2 else None,
            }
            for n in range(200)
        ),
        decide=False,
    )
    await memory.remember(
        "Cy", "uses", "an oar", valid_from="2010-01-01", valid_until="2011-01-01", text="Cy rows"
    )
    found = await memory.search("Bo owns a kite", between=("2010-03-01", "2010-04-01"), limit=3)
    assert objects(found) == ["an oar"]
    named = await memory.search("Bo owns a kite in 2010", limit=3)
    assert named.facts[0].scores.parts["date"] == 0
    assert len(named.facts) == 3


@pytest.mark.parametrize(
    "when",
    [
        {"between": ("2025-01-02", "2025-01-01")},
        {"between": "2025-01-02"},
        {"between": ("2025-01-02", None)},
        {"between": ("2025-01-02", "2025-01-03"), "as_of": "2025-01-02"},
    ],
)
async def test_what_is_no_stretch_is_refused(memory: Any, when: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        await memory.facts(**when)
    with pytest.raises(InputError):
        await memory.search("kayak", **when)


# --- diff ---


def told(found: Any) -> list[tuple[str, str, str | None]]:
    return [(each.kind, each.fact.object, each.by_text) for each in found.changes]


async def test_what_began_and_ended(memory: Any) -> None:
    await live(memory)
    found = await memory.diff("2019-06-01", "2020-06-01")
    assert told(found) == [
        ("ended", "Bonn", "Ana lives in Cork"),
        ("began", "Cork", None),
        ("began", "a kayak", None),
        ("ended", "Dunmere", "Ana works at Kestrel Labs"),
        ("began", "Kestrel Labs", None),
    ]
    assert (found.clock, found.complete) == ("valid", True)
    assert found.start == datetime(2019, 6, 1, tzinfo=UTC)
    assert found.end == datetime(2020, 6, 2, tzinfo=UTC)  # the whole last day
    ended = found.changes[0]
    assert (ended.reason, ended.at) == ("belief", ended.fact.valid_until)
    some = await memory.diff("2019-06-01", "2020-06-01", predicate="works_at", subject=" ANA ")
    assert [each.fact.object for each in some.changes] == ["Dunmere", "Kestrel Labs"]
    first = await memory.diff("2019-06-01", "2020-06-01", limit=2)
    assert (told(first), first.complete) == (told(found)[:2], False)
    assert told(await memory.diff("2019-06-02", "2020-04-30")) == []
    assert (await memory.diff("2019-06-01", subject="Bo")).changes == ()


async def test_what_the_memory_did(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    begin = clock.now()
    old = (await memory.remember("Kes", "works_at", "Acme", said_at="2025-01-01")).facts[0]
    stated = clock.now()
    decider.script = {"relation_to_candidate": [{"candidate": "works", "p": {"negates": 0.97}}]}
    await memory.remember(
        "Kes", "related_to", "Acme", said_at="2025-03-01", text="Kes left Acme", speaker="Bo"
    )
    closed = clock.now()
    decider.script = {
        "relation_to_candidate": [{"candidate": "Kes works", "p": {"duplicate": 0.97}}]
    }
    await memory.remember(
        "Kes", "works_at", "Acme", valid_from="2025-01-20", text="Kes is at Acme", speaker="Cy"
    )
    found = await memory.diff(begin, clock="recorded", predicate="works_at")
    about_old = [each for each in found.changes if each.fact.id == old.id]
    assert [each.kind for each in about_old] == ["recorded", "closed", "reopened"]
    assert about_old[1].by_text == "Kes left Acme"
    assert about_old[1].valid_until_after == datetime(2025, 3, 1, tzinfo=UTC)
    assert (about_old[1].reason, about_old[2].reason) == ("belief", None)
    assert [each.at for each in found.changes] == sorted(each.at for each in found.changes)
    middle = await memory.diff(stated, closed, clock="recorded")
    assert [(each.kind, each.fact.open) for each in middle.changes if each.fact.id == old.id] == [
        ("closed", False)  # as it was known then, though it is open now
    ]


async def test_an_end_that_came_with_a_fact_is_part_of_its_recording(memory: Any) -> None:
    begin = clock.now()
    await memory.remember(
        "Ann", "lives_in", "Bonn", valid_from="2019-01-01", valid_until="2022-01-01"
    )
    (one,) = (await memory.diff(begin, clock="recorded")).changes
    assert (one.kind, one.valid_until_after) == ("recorded", datetime(2022, 1, 1, tzinfo=UTC))


async def test_disputes_corrections_and_archiving_are_told(make_memory: Make) -> None:
    contradicts = {"relation_to_candidate": [{"candidate": "Ann", "p": {"contradiction": 0.97}}]}
    memory = make_memory(decider=ScriptedDecider(contradicts))
    begin = clock.now()
    await memory.remember("Ann", "prefers", "tea", text="Ann likes tea most")
    coffee = await memory.remember("Ann", "prefers", "coffee", text="Ann likes coffee most")
    await memory.correct(coffee.facts[0], object="cocoa", reason="misheard")
    kinds = {
        (each.kind, each.fact.object): each
        for each in (await memory.diff(begin, clock="recorded")).changes
    }
    assert kinds["disputed", "coffee"].by_text == "Ann likes tea most"
    taken_back = kinds["closed", "coffee"]
    assert (taken_back.reason, taken_back.why) == ("corrected", "misheard")
    assert taken_back.by_text is not None
    assert ("began", "coffee") not in {
        (each.kind, each.fact.object) for each in (await memory.diff("2020-01-01")).changes
    }


async def test_what_was_forgotten_is_in_no_diff(memory: Any) -> None:
    begin = clock.now()
    added = await memory.remember("Ann", "lives_in", "Bonn", valid_from="2019-01-01")
    await memory.forget(fact=added.facts[0].id)
    assert (await memory.diff("2018-01-01")).changes == ()
    assert (await memory.diff(begin, clock="recorded")).changes == ()


async def test_a_diff_that_cannot_be_is_refused(memory: Any) -> None:
    for arguments, more in (
        (("2025-01-02", "2025-01-01"), {}),
        (("soon",), {}),
        (("2999-01-01",), {}),  # after now
        (("2025-01-01",), {"clock": "wall"}),
        (("2025-01-01",), {"limit": 0}),
        (("2025-01-01",), {"predicate": "orbits"}),
    ):
        with pytest.raises(InputError):
            await memory.diff(*arguments, **more)


# --- a question that names a time ---


class Mini(embed_local.LocalEmbedder):
    """The packaged model, under the name by which this server's vectors go."""

    def __init__(self) -> None:
        super().__init__()
        self.model = "hash-384"


@pytest.fixture(params=["hash", pytest.param("local", marks=pytest.mark.model)])
async def ana(request: pytest.FixtureRequest, make_memory: Make) -> Any:
    memory = make_memory(embedder=Mini()) if request.param == "local" else make_memory()
    await live(memory)
    others = [("lives_in", what, year) for what, year in HOMES]
    others += [("works_at", what, year) for what, year in JOBS]
    await memory.remember_many(
        (
            {"subject": "Bo", "predicate": p, "object": o, "valid_from": f"{year}-06-01"}
            for p, o, year in others
        ),
        decide=False,
    )
    return memory


QUESTIONS = [
    ("Where does Ana live?", "Rome"),
    ("Where does Ana work?", "Brightwater"),
    ("Where did Ana live in 2018?", "Bonn"),
    ("Where did Ana live in January 2020?", "Cork"),
    ("Where did Ana live on 2022-05-08?", "Oslo"),
    ("Where did Ana live before June 2019?", "Bonn"),
    ("Where did Ana live before 2021?", "Cork"),
    ("Where has Ana lived since 2024?", "Rome"),
    ("Where did Ana work in 2017?", "Hollin Press"),
    ("Where did Ana work on 8 May 2019?", "Dunmere"),
    ("Where did Ana work in 2022?", "Kestrel Labs"),
    ("2018年 Ana lives in", "Bonn"),
]


async def test_the_value_of_the_time_named_comes_first(ana: Any) -> None:
    for question, wanted in QUESTIONS:
        found = await ana.search(question)
        own = [hit for hit in found.facts if hit.fact.subject == "Ana"]
        relation = "works_at" if "work" in question else "lives_in"
        first = next(hit for hit in own if hit.fact.predicate == relation)
        assert first.fact.object == wanted, question
        names_one = any(char.isdigit() for char in question)
        assert ("date" in first.scores.parts) is names_one
        if names_one:
            assert first.scores.parts["date"] > 0
        # What holds now is still there.
        assert {"Rome", "Brightwater"} <= {hit.fact.object for hit in own}, question


async def test_events_belong_to_their_month(ana: Any) -> None:
    found = await ana.search("What did Ana attend in May 2023?")
    events = [hit.fact.object for hit in found.facts if hit.fact.predicate == "attended"]
    assert events[0] == "the harbour fair"


async def test_as_of_leaves_no_part_to_the_date_named(memory: Any) -> None:
    await live(memory)
    found = await memory.search("Where did Ana live in 2018?", as_of="2020-01-01")
    assert "Cork" in objects(found)
    assert all("date" not in hit.scores.parts for hit in found.facts)


async def test_the_part_of_the_date_can_be_switched_off(make_memory: Make, settings: Any) -> None:
    off = settings.model_copy(update={"search_without": "date"})
    memory = make_memory(settings=off)
    await live(memory)
    found = await memory.search("Where did Ana live in 2018?")
    assert all("date" not in hit.scores.parts for hit in found.facts)
    assert next(h.fact.object for h in found.facts if h.fact.predicate == "lives_in") == "Rome"
