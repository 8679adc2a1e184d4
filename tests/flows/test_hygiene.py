"""Upkeep on the real graph: links, archiving, what is asked once, what search gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical
from flow_fakes import AwayDecider, ScriptedExtractor, draft

from engram_graph.errors import InputError, NotFoundError
from engram_graph.flows import reads
from engram_graph.graph import hygiene as store
from engram_graph.graph.driver import Graph
from engram_graph.models.decisions import Ask, Reply
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
SAME = {"same_fact": [{"fact": "bike", "candidate": "bike", "p": 0.9}, {"p": 0.5}]}
NEVER = {"same_fact": 0.1}


class Counting(ScriptedDecider):
    """Notes how many questions each request holds, and is away after ``lasts`` requests."""

    def __init__(self, script: Any = None, lasts: int = 10**6) -> None:
        super().__init__(script)
        self.sizes: list[int] = []
        self.pairs: list[tuple[str, str]] = []
        self.lasts = lasts

    async def ask(self, ask: Ask) -> Reply:
        pairs = [q for q in ask.questions if q.name == "same_fact"]
        if pairs:
            if len(self.sizes) == self.lasts:
                self.down = None
            self.sizes.append(len(pairs))
            self.pairs += [(q.about.id, q.candidate.id) for q in pairs if q.about and q.candidate]
        return await super().ask(ask)


async def owns(memory: Any, *things: str, subject: str = "Ann", **more: Any) -> list[str]:
    """Ids of facts that ``subject`` owns each of ``things``."""
    return [(await memory.remember(subject, "owns", thing, **more)).facts[0].id for thing in things]


async def links(memory: Any, fact_id: str) -> set[tuple[str, float]]:
    found = (await memory.explain(fact_id)).links
    return {
        (link.target if link.source == fact_id else link.source, link.p)
        for link in found
        if link.type == "SAME_AS"
    }


async def decisions(memory: Any, fact_id: str, question: str) -> list[Any]:
    return [d for d in (await memory.explain(fact_id)).decisions if d.question == question]


def changes(report: Any) -> list[tuple[str, str, str]]:
    return [(one.change, one.fact.object, one.other.object) for one in report.same_as]


def later(days: int) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


# -- same_as --------------------------------------------------------------------------------------


async def test_a_dry_run_tells_and_changes_nothing(make_memory: Make, graph: Graph) -> None:
    memory = make_memory(decider=ScriptedDecider(SAME))
    await owns(memory, "a bike", "the old bike", "a kayak")
    before = await canonical(graph, memory.namespace)
    report = await memory.hygiene()
    assert changes(report) == [("link", "the old bike", "a bike")]
    assert (report.applied, report.pairs, report.asked, report.requests) == (False, 3, 3, 1)
    assert report.degraded == ()
    assert await canonical(graph, memory.namespace) == before
    assert (await memory.stats()).requests == 3  # one for each fact written, none for the dry run


async def test_a_pass_links_logs_and_moves_no_belief(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider(SAME))
    bike, old_bike, kayak = await owns(memory, "a bike", "the old bike", "a kayak")
    before = [await memory.get(each) for each in (bike, old_bike, kayak)]
    report = await memory.hygiene(apply=True)
    assert changes(report) == [("link", "the old bike", "a bike")]
    assert await links(memory, bike) == {(old_bike, 0.9)}
    assert await links(memory, kayak) == set()
    assert [await memory.get(each) for each in (bike, old_bike, kayak)] == before
    both = await decisions(memory, old_bike, "same_fact")
    linked, kept = sorted(both, key=lambda each: each.outcome)
    assert (linked.outcome, linked.chosen, linked.p) == ("applied", "yes", 0.9)
    assert (linked.fact_id, linked.candidate_id) == (old_bike, bike)
    assert (kept.outcome, kept.fact_id) == ("kept", kayak)
    assert linked.request_id == kept.request_id
    assert linked.belief_after is None
    assert linked.backend == "scripted"
    story = (await memory.explain(bike)).text
    assert "same fact: applied, with “Ann owns the old bike”: same_as linked." in story
    assert "same fact: kept" not in story


async def test_a_link_that_no_longer_holds_goes(make_memory: Make) -> None:
    decider = ScriptedDecider(SAME)
    memory = make_memory(decider=decider)
    bike, _ = await owns(memory, "a bike", "the old bike")
    await memory.hygiene(apply=True)
    other = make_memory(decider=(second := ScriptedDecider(NEVER)))
    second.name = "another"  # a decider of its own is asked anew
    report = await other.hygiene(apply=True)
    assert changes(report) == [("unlink", "the old bike", "a bike")]
    assert await links(memory, bike) == set()
    outcomes = [(d.outcome, d.chosen) for d in await decisions(memory, bike, "same_fact")]
    assert outcomes == [("applied", "yes"), ("applied", "no")]


@pytest.mark.parametrize("p", [0.16, 0.5, 0.84])
async def test_in_between_nothing_changes_and_it_is_remembered(make_memory: Make, p: float) -> None:
    decider = Counting({"same_fact": p})
    memory = make_memory(decider=decider)
    bike, _ = await owns(memory, "a bike", "a kayak")
    assert changes(await memory.hygiene(apply=True)) == []
    assert [d.outcome for d in await decisions(memory, bike, "same_fact")] == ["kept"]
    again = await memory.hygiene(apply=True)
    assert (again.pairs, again.asked, again.requests) == (1, 0, 0)
    assert decider.sizes == [1]


async def test_only_new_pairs_are_asked_the_next_time(make_memory: Make) -> None:
    decider = Counting()
    memory = make_memory(decider=decider)
    await owns(memory, "a bike", "a kayak", "a tent")
    await memory.hygiene(apply=True)
    (boat,) = await owns(memory, "a boat")
    await memory.hygiene(apply=True)
    assert decider.sizes == [3, 3]
    assert {newer for newer, _ in decider.pairs[3:]} == {boat}


async def test_a_fact_that_reads_differently_is_asked_about_again(make_memory: Make) -> None:
    """An end that came by evidence is part of what a decider is told; belief is not."""
    decider = Counting({"relation_to_candidate": [{"fact": "sold", "candidate": "kayak",
                        "p": {"negates": 1.0}}]})  # fmt: skip
    memory = make_memory(decider=decider)
    bike, kayak = await owns(memory, "a bike", "a kayak", said_at="2025-01-01")
    await memory.hygiene(apply=True)
    await memory.remember("Ann", "owns", "a kayak", text="Ann sold the kayak", negated=True,
                          said_at="2025-06-01")  # fmt: skip
    assert not (await memory.get(kayak)).open
    await memory.hygiene(apply=True)
    assert decider.pairs == [(kayak, bike), (kayak, bike)]  # never with the denial


async def test_pairs_that_cannot_be_the_same_are_not_asked(make_memory: Make) -> None:
    decider = Counting({"same_fact": 1.0})
    memory = make_memory(decider=decider)
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2019-01-01",
                          valid_until="2020-01-01")  # fmt: skip
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2022-01-01",
                          text="Ann is back in Bonn")  # fmt: skip
    await owns(memory, "a bike", "a kayak")
    await memory.remember("Bob", "owns", "a bike")
    await memory.remember("Ann", "uses", "a bike")
    await memory.remember("Ann", "dislikes", "rain")
    await memory.remember("Ann", "dislikes", "snow", negated=True)
    report = await memory.hygiene(apply=True)
    assert report.pairs == 1
    assert changes(report) == [("link", "a kayak", "a bike")]
    assert decider.sizes == [1]


async def test_fifty_pairs_go_into_a_request_from_any_group(make_memory: Make) -> None:
    decider = Counting()
    memory = make_memory(decider=decider)
    given = [
        {"subject": f"S{number}", "predicate": "owns", "object": thing}
        for number in range(20)
        for thing in ("a bike", "a kayak", "a tent")
    ]
    await memory.remember_many(given, decide=False)
    told: list[tuple[int, int]] = []
    report = await memory.hygiene(apply=True, progress=lambda *at: told.append(at))
    assert decider.sizes == [50, 10]
    assert len(set(decider.pairs)) == 60
    assert (report.pairs, report.asked, report.requests) == (60, 60, 2)
    assert told[-1] == (60, 60)
    assert told == sorted(told)


async def test_the_newest_thirty_of_a_group(make_memory: Make) -> None:
    decider = Counting()
    memory = make_memory(decider=decider)
    await memory.remember_many(
        [{"subject": "Ann", "predicate": "owns", "object": f"book {n}"} for n in range(33)],
        decide=False,
    )
    newest = await owns(memory, "a bike")
    report = await memory.hygiene()
    assert (report.pairs, sum(decider.sizes)) == (435, 435)
    assert max(decider.sizes) == 50
    assert newest[0] in {each for pair in decider.pairs for each in pair}


async def test_a_pass_that_breaks_off_goes_on_the_next_time(make_memory: Make) -> None:
    memory = make_memory(decider=Counting(lasts=2))
    await memory.remember_many(
        [{"subject": "Ann", "predicate": "owns", "object": f"book {n}"} for n in range(17)],
        decide=False,
    )
    report = await memory.hygiene(apply=True)
    assert (report.pairs, report.asked) == (136, 100)
    assert report.degraded == ("decider: decision_unavailable",)
    decider = Counting()
    report = await make_memory(decider=decider).hygiene(apply=True)
    assert (report.asked, report.degraded, decider.sizes) == (36, (), [36])


async def test_an_answer_that_cannot_be_used_is_asked_again(make_memory: Make) -> None:
    decider = Counting()
    decider.malformed = {"same_fact": "missing"}
    memory = make_memory(decider=decider)
    bike, _ = await owns(memory, "a bike", "a kayak")
    report = await memory.hygiene(apply=True)
    assert (report.asked, report.degraded) == (0, ("decider: no usable answer",))
    assert await decisions(memory, bike, "same_fact") == []
    decider.malformed = {}
    assert (await memory.hygiene(apply=True)).asked == 1


async def test_a_fact_that_changes_meanwhile_is_left_for_the_next_pass(make_memory: Make) -> None:
    writer = make_memory()

    class Meddling(ScriptedDecider):
        async def ask(self, ask: Ask) -> Reply:
            reply = await super().ask(ask)
            if ask.questions[0].name == "same_fact" and self.asked.count("same_fact") == 1:
                await writer.remember("Ann", "owns", "a bike", speaker="Cid")  # support: it changes
            return reply

    decider = Meddling({"same_fact": 1.0, "worth_remembering": 0.5})
    extractor = ScriptedExtractor(
        [draft("Ann owns a bike", "Ann|owns|a bike")], [draft("Ann owns a cat", "Ann|owns|a cat")]
    )
    memory = make_memory(decider=decider, extractor=extractor)
    bike = (await memory.add("I own a bike", speaker="Ann")).facts[0].id  # tentative: belief moves
    cat = (await memory.add("I own a cat", speaker="Ann")).facts[0].id
    report = await memory.hygiene(apply=True)
    assert (report.asked, report.skipped, report.same_as) == (1, 1, ())
    assert await links(memory, bike) == set()
    assert changes(await memory.hygiene(apply=True)) == [("link", "a cat", "a bike")]
    assert await links(memory, cat) == {(bike, 1.0)}


async def test_the_namespace_is_the_border(make_memory: Make, namespace: str) -> None:
    decider = Counting({"same_fact": 1.0})
    memory = make_memory(decider=decider)
    other = make_memory(namespace + "b", decider=decider)
    await owns(memory, "a bike")
    await owns(other, "a bike", "a kayak")
    assert (await memory.hygiene(apply=True)).pairs == 0
    assert (await memory.hygiene(apply=True, namespace=namespace + "b")).asked == 1
    with pytest.raises(InputError):
        await memory.hygiene(namespace=" ")
    with pytest.raises(InputError):
        await memory.hygiene(now="soon")


async def test_forgetting_and_moving_take_the_log_of_a_pass_along(
    make_memory: Make, graph: Graph, namespace: str, tmp_path: Path
) -> None:
    """One request holds the answers about many facts: each under the ids of both."""
    memory = make_memory(decider=ScriptedDecider({"same_fact": 0.5}))
    bike, kayak, tent = await owns(memory, "a bike", "a kayak", "a tent")
    await memory.hygiene(apply=True)

    async def asked(name: str) -> set[str]:
        rows = await graph.statement(
            "CYPHER 25 MATCH (q:Request {namespace: $name}) RETURN q.answers AS answers", name=name
        )
        keys = {key for row in rows for key in json.loads(row["answers"])}
        return {key.removeprefix("same_fact:") for key in keys if key.startswith("same_fact:")}

    assert await asked(namespace) == {f"{kayak}:{bike}", f"{tent}:{bike}", f"{tent}:{kayak}"}
    await memory.export(tmp_path / "all.jsonl")
    await memory.import_(tmp_path / "all.jsonl", namespace=namespace + "b")
    moved = {f.object: f.id for f in (await memory.facts(namespace=namespace + "b")).facts}
    new = [moved[each] for each in ("a bike", "a kayak", "a tent")]
    assert set(new).isdisjoint({bike, kayak, tent})
    assert await asked(namespace + "b") == {
        f"{new[1]}:{new[0]}",
        f"{new[2]}:{new[0]}",
        f"{new[2]}:{new[1]}",
    }
    await memory.forget(fact=kayak)
    assert await asked(namespace) == {f"{tent}:{bike}"}
    assert (await memory.hygiene(apply=True)).asked == 0


# -- archiving ------------------------------------------------------------------------------------


@pytest.fixture
async def chat(make_memory: Make) -> Any:
    """Two extracted facts, of which one is short-lived, and one that was given."""
    decider = ScriptedDecider(
        {"durability": [{"fact": "cold", "p": {"short_lived": 1.0}}, {"p": {"long_term": 1.0}}]}
    )
    extractor = ScriptedExtractor(
        [
            draft("Ann has a cold", "Ann|has_condition|a cold"),
            draft("Ann owns a kayak", "Ann|owns|a kayak"),
        ]
    )
    memory = make_memory(decider=decider, extractor=extractor)
    await memory.add("I have a cold, and a kayak.", speaker="Ann")
    await memory.remember("Ann", "owns", "a tent")
    memory.script = decider
    return memory


def found(recall: Any) -> set[str]:
    return {hit.fact.object for hit in recall.facts}


async def only(memory: Any, thing: str) -> Any:
    return next(f for f in (await memory.facts()).facts if f.object == thing)


async def test_what_is_not_worth_keeping_leaves_search_and_nothing_else(chat: Any) -> None:
    chat.script.script = {"worth_remembering": [{"fact": "kayak", "p": 0.59}, {"p": 0.6}]}
    assert (await chat.hygiene(same_as=False, worth=True)).stale == 0  # nothing is 30 days old
    dry = await chat.hygiene(same_as=False, worth=True, now=later(31))
    assert [(one.fact.object, one.p) for one in dry.archived] == [("a kayak", 0.59)]
    assert (dry.stale, dry.requests, (await only(chat, "a kayak")).archived_at) == (2, 2, None)
    report = await chat.hygiene(same_as=False, worth=True, apply=True, now=later(31))
    assert [one.fact.object for one in report.archived] == ["a kayak"]
    kayak = await only(chat, "a kayak")
    assert kayak.archived_at is not None
    assert found(await chat.search("Ann's kayak")) == {"a cold", "a tent"}
    assert found(await chat.search("kayak", as_of=later(1))) == {"a cold", "a tent"}
    assert [f.object for f in (await chat.history("Ann", "owns")).facts] == ["a kayak", "a tent"]
    (decision,) = [
        d for d in await decisions(chat, kayak.id, "worth_remembering") if d.outcome == "archived"
    ]
    assert (decision.chosen, decision.p, decision.request_id is None) == ("yes", 0.59, False)
    # What was worth keeping is asked again after another 30 days, what is archived never.
    assert (await chat.hygiene(same_as=False, worth=True, now=later(59))).stale == 0
    assert (await chat.hygiene(same_as=False, worth=True, now=later(62))).stale == 1


async def test_short_lived_facts_go_after_a_week_without_a_question(chat: Any) -> None:
    asked = len(chat.script.asked)
    assert (await chat.hygiene(same_as=False, short_lived=True, now=later(6))).archived == ()
    report = await chat.hygiene(same_as=False, short_lived=True, apply=True, now=later(8))
    assert [(one.fact.object, one.question) for one in report.archived] == [
        ("a cold", "short_lived")
    ]
    assert (report.requests, len(chat.script.asked)) == (0, asked)
    cold = await only(chat, "a cold")
    (decision,) = await decisions(chat, cold.id, "short_lived")
    assert (decision.outcome, decision.backend) == ("archived", "rule")
    assert found(await chat.search("cold")) == {"a kayak", "a tent"}


async def test_restore_takes_it_back_for_good(chat: Any) -> None:
    await chat.hygiene(same_as=False, short_lived=True, apply=True, now=later(8))
    cold = await only(chat, "a cold")
    assert (await chat.restore(cold)).archived_at is None
    assert "a cold" in found(await chat.search("cold"))
    (restored,) = await decisions(chat, cold.id, "restore")
    assert (restored.outcome, restored.backend) == ("restored", "rule")
    report = await chat.hygiene(same_as=False, worth=True, short_lived=True, now=later(90))
    assert "a cold" not in {one.fact.object for one in report.archived}
    before = (await chat.stats()).decisions
    assert await chat.restore(cold.id) == await chat.get(cold.id)  # again: nothing changes
    assert (await chat.stats()).decisions == before
    with pytest.raises(NotFoundError):
        await chat.restore("no-such-fact")


@pytest.mark.parametrize(
    ("text", "speaker"),
    [("Ann has a cold", "Ann"), ("Ann has a cold", "Bob"), ("Ann caught a cold", "Ann")],
)
async def test_what_is_said_again_comes_back(chat: Any, text: str, speaker: str) -> None:
    await chat.hygiene(same_as=False, short_lived=True, apply=True, now=later(8))
    chat.script.script = {"relation_to_candidate": [{"candidate": "cold", "p": {"duplicate": 1.0}}]}
    added = await chat.remember("Ann", "has_condition", "a cold", text=text, speaker=speaker)
    assert bool(added.repeated) is (text == "Ann has a cold")
    first = next(f for f in (await chat.facts()).facts if f.text == "Ann has a cold")
    assert first.archived_at is None
    assert "Ann has a cold" in {h.fact.text for h in (await chat.search("cold")).facts}


async def test_archived_facts_take_nobodys_place_in_a_search(make_memory: Make) -> None:
    """Far more archived ones than the shortlist is long, all nearer to the question."""
    drafts = [draft(f"Ann has a cold {n}", f"Ann|has_condition|cold {n}") for n in range(60)]
    decider = ScriptedDecider({"durability": {"short_lived": 1.0}})
    memory = make_memory(decider=decider, extractor=ScriptedExtractor(drafts))
    await memory.add("A cold, again and again.", speaker="Ann")
    await memory.remember("Ann", "owns", "a kayak", text="Ann owns a kayak, cold or not")
    await memory.remember("Ann", "owns", "a tent")
    report = await memory.hygiene(same_as=False, short_lived=True, apply=True, now=later(8))
    assert len(report.archived) == 60
    for moment in (None, later(0)):
        recall = await memory.search("Ann has a cold", limit=2, as_of=moment)
        assert found(recall) == {"a kayak", "a tent"}


async def test_an_archived_fact_is_not_in_a_chain_either(make_memory: Make) -> None:
    decider = ScriptedDecider(
        {
            "durability": [{"fact": "tent", "p": {"short_lived": 1.0}}, {"p": {"long_term": 1.0}}],
            "relation_to_candidate": {"update": 0.98, "new": 0.02},
        }
    )
    drafts = [draft("Ann lives in a tent", "Ann|lives_in|a tent")]
    memory = make_memory(decider=decider, extractor=ScriptedExtractor(drafts))
    await memory.add("I live in a tent.", speaker="Ann", said_at="2024-01-01")
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2024-02-01")
    plain = make_memory()  # nobody reranks: what was superseded comes by the chain
    assert found(await plain.search("Cork")) == {"Cork", "a tent"}
    await memory.hygiene(same_as=False, short_lived=True, apply=True, now=later(8))
    assert found(await plain.search("Cork")) == {"Cork"}


async def test_a_fact_read_or_said_meanwhile_is_not_archived(
    make_memory: Make, graph: Graph
) -> None:
    class Reading(ScriptedDecider):
        async def ask(self, ask: Ask) -> Reply:
            if ask.questions[0].name == "worth_remembering" and len(ask.questions) == 1:
                reads_now = [(one, datetime.now(UTC)) for one in ids]
                await store.note_reads(graph, memory.namespace, reads_now)
            return await super().ask(ask)

    extractor = ScriptedExtractor([draft("Ann owns a kayak", "Ann|owns|a kayak")])
    memory = make_memory(decider=Reading({"worth_remembering": 0.1}), extractor=extractor)
    ids = [fact.id for fact in (await memory.add("I own a kayak", speaker="Ann")).facts]
    report = await memory.hygiene(same_as=False, worth=True, apply=True, now=later(31))
    assert (report.stale, report.archived) == (1, ())
    assert (await memory.get(ids[0])).archived_at is None
    outcomes = [d.outcome for d in await decisions(memory, ids[0], "worth_remembering")]
    assert "archived" not in outcomes


async def test_a_decider_that_is_away_archives_nothing_by_worth(make_memory: Make) -> None:
    decider = AwayDecider()
    decider.away = False
    memory = make_memory(decider=decider)
    await memory.add("I live in Bonn. I love jazz.", speaker="Ann")
    decider.away = True
    report = await memory.hygiene(worth=True, short_lived=True, apply=True, now=later(31))
    assert (report.archived, report.stale, report.requests) == ((), 0, 0)
    assert report.degraded == ("decider: decision_unavailable",)
    decider.away = False
    report = await memory.hygiene(worth=True, apply=True, now=later(31))
    assert (report.archived, report.degraded) == ((), ())
    assert report.stale > 0


# -- reads ----------------------------------------------------------------------------------------


async def test_what_a_search_gave_is_noted_when_the_client_closes(
    make_memory: Make, settings: Any, namespace: str
) -> None:
    memory = make_memory()
    for city, year in (("Bonn", 2019), ("Oslo", 2023)):
        await memory.add(f"I live in {city}.", speaker="Ann", said_at=f"{year}-01-01")
    bonn, oslo = (await memory.facts()).facts
    before = datetime.now(UTC)
    reader = make_memory()
    recall = await reader.search("Ann lives in Oslo", limit=1)
    assert [hit.why for hit in recall.facts] == ["shortlist", "history"]
    assert (await memory.get(oslo.id)).read_at is None  # not within the search
    await reader.aclose()
    noted = await memory.get(oslo.id)
    assert noted.read_at is not None
    assert before <= noted.read_at <= datetime.now(UTC)
    assert (noted.version, (await memory.get(bonn.id)).read_at) == (oslo.version, None)


async def test_a_read_fact_is_not_stale(chat: Any) -> None:
    """Also when its reading is not written yet: the pass writes it first."""
    chat.script.script = {"worth_remembering": 0.1}
    assert "a kayak" in found(await chat.search("kayak"))
    report = await chat.hygiene(same_as=False, worth=True, now=later(29))
    assert report.archived == ()
    assert (await only(chat, "a kayak")).read_at is not None


async def test_many_reads_are_written_without_waiting_for_the_end(
    memory: Any, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "EVERY_FACTS", 2)
    await owns(memory, "a bike", "a kayak")
    notes = (await memory.open()).reads
    await memory.search("Ann")
    assert notes._task is not None
    await notes._task  # ends by itself: nothing is left to write
    assert all(fact.read_at for fact in (await memory.facts()).facts)


async def test_the_newest_reading_wins(memory: Any, graph: Graph, namespace: str) -> None:
    (bike,) = await owns(memory, "a bike")
    new, old = datetime(2030, 1, 2, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    await store.note_reads(graph, namespace, [(bike, new)])
    await store.note_reads(graph, namespace, [(bike, old)])
    await store.note_reads(graph, "another", [(bike, datetime(2031, 1, 1, tzinfo=UTC))])
    assert (await memory.get(bike)).read_at == new


async def test_a_failing_note_fails_no_search_and_no_closing(make_memory: Make) -> None:
    memory = make_memory()
    await owns(memory, "a bike")
    runtime = await memory.open()
    await memory.search("bike")
    await runtime.graph.close()
    await runtime.reads.aclose()
    assert runtime.reads._waiting == {}
