"""``forget``: what was asked for goes without a trace, and what stays is as sound as before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import neo4j
import pytest
from canonical import canonical
from flow_fakes import ScriptedExtractor, draft

from engram_graph.errors import InputError, NotFoundError, ScopeError
from engram_graph.graph.driver import Graph
from engram_graph.models.decisions import Ask, Reply
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
UPDATE = {"update": 0.97, "new": 0.03}
DUPLICATE = {"duplicate": 0.9, "new": 0.1}
CONTRADICTION = {"contradiction": 0.97, "new": 0.03}


def pairs(*rules: tuple[str, str, dict[str, float]]) -> ScriptedDecider:
    """A decider with an answer for each (fact, candidate), by words of their texts."""
    rows = [{"fact": fact, "candidate": old, "p": p} for fact, old, p in rules]
    return ScriptedDecider({"relation_to_candidate": rows})


async def moment() -> datetime:
    """Now, apart from what was written before and after."""
    await asyncio.sleep(0.02)
    found = datetime.now(UTC)
    await asyncio.sleep(0.02)
    return found


async def told(memory: Any, triple: str, **more: Any) -> Any:
    """The stored fact of ``subject|predicate|object``."""
    subject, predicate, obj = triple.split("|")
    text = more.pop("text", f"{subject} {predicate.replace('_', ' ')} {obj}")
    added = await memory.remember(subject, predicate, obj, text=text, **more)
    return (*added.facts, *added.repeated)[0]


async def homes(memory: Any, *towns: str, **more: Any) -> list[Any]:
    """Ruo's homes, each a year after the one before."""
    return [
        await told(memory, f"Ruo|lives_in|{town}", said_at=f"{2021 + n}-01-01", **more)
        for n, town in enumerate(towns)
    ]


async def everything(graph: Graph, namespace: str) -> str:
    """All properties of all nodes and relationships of the test's namespaces, in lower case."""
    rows = await graph.statement(
        "CYPHER 25 MATCH (n) WHERE n.namespace STARTS WITH $namespace "
        "RETURN properties(n) AS node, COLLECT { MATCH (n)-[r]-() RETURN properties(r) } AS edges",
        namespace=namespace,
    )
    shown = [{**row["node"], "embedding": None} for row in rows]
    return json.dumps([shown, [row["edges"] for row in rows]], default=str).lower()


async def absent(graph: Graph, namespace: str, *words: str) -> None:
    found = await everything(graph, namespace)
    assert [word for word in words if word.lower() in found] == []


async def counts(memory: Any) -> tuple[int, int, int]:
    stats = await memory.stats()
    return stats.facts, stats.entities, stats.messages


async def links(memory: Any, graph: Graph, kind: str) -> set[tuple[str, str]]:
    rows = await graph.statement(
        "CYPHER 25 MATCH (a:Fact {namespace: $namespace})-[r:$($kind)]->(b:Fact) "
        "RETURN a.id AS a, b.id AS b",
        namespace=memory.namespace,
        kind=kind,
    )
    return {(row["a"], row["b"]) for row in rows}


# -- a fact ---------------------------------------------------------------------------------------


async def test_a_chain_closes_over_the_gap(make_memory: Make, graph: Graph, namespace: str) -> None:
    decider = pairs(("Thornmere", "Alderby", UPDATE), ("Cedrow", "Thornmere", UPDATE))
    memory = make_memory(decider=decider)
    oldest, middle, newest = await homes(memory, "Alderby", "Thornmere", "Cedrow")
    before = {fact.id: fact async for fact in memory.iter_facts()}
    gone = await memory.forget(fact=middle)
    assert (gone.facts, gone.messages, gone.entities, gone.fact_ids) == (1, 1, 1, (middle.id,))
    after = {fact.id: fact async for fact in memory.iter_facts()}
    assert set(after) == {oldest.id, newest.id}
    for fact in after.values():
        version = {"version": fact.version}
        assert fact.model_copy(update=version) == before[fact.id].model_copy(update=version)
    assert after[oldest.id].closed_reason == "belief"
    assert await links(memory, graph, "SUPERSEDES") == {(newest.id, oldest.id)}
    behind = await memory.explain(oldest.id)
    assert [fact.id for fact in behind.newer] == [newest.id]
    recall = await memory.search("Where did Ruo live?")
    assert {hit.fact.id for hit in recall.facts} == {oldest.id, newest.id}
    turns = await memory.search("Thornmere", mode="turns")
    assert "Thornmere" not in turns.context
    assert await counts(memory) == (2, 3, 2)
    await absent(graph, namespace, "Thornmere", middle.id)


async def test_the_ends_of_a_chain(make_memory: Make, graph: Graph) -> None:
    decider = pairs(("Bonn", "Arta", UPDATE), ("Cork", "Bonn", UPDATE), ("Delft", "Cork", UPDATE))
    memory = make_memory(decider=decider)
    one, two, three, four = await homes(memory, "Arta", "Bonn", "Cork", "Delft")
    await memory.forget(fact=four.id)
    assert await links(memory, graph, "SUPERSEDES") == {(two.id, one.id), (three.id, two.id)}
    assert not (await memory.get(three.id)).open  # what was closed stays closed
    await memory.forget(fact=one)
    assert await links(memory, graph, "SUPERSEDES") == {(three.id, two.id)}


async def test_a_fact_takes_its_copies_and_their_messages(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    decider = pairs(("spouse", "married", DUPLICATE), ("husband", "spouse", DUPLICATE))
    memory = make_memory(decider=decider)
    triple = "Tamsin|married_to|Quillon"
    first = await told(memory, triple, said_at="2025-01-01")
    for number, text in enumerate(("Quillon is Tamsin's spouse", "Quillon, husband of Tamsin")):
        await told(memory, triple, text=text, said_at="2025-01-02", speaker=f"Bero {number}")
    hobby = await told(memory, "Tamsin|hobby|rowing", said_at="2025-01-03")
    assert len(await links(memory, graph, "SAME_AS")) == 2  # a copy of a copy goes, too
    gone = await memory.forget(fact=first)
    assert (gone.facts, gone.messages, gone.entities) == (3, 3, 1)
    assert [fact.id async for fact in memory.iter_facts()] == [hobby.id]
    assert await counts(memory) == (1, 2, 1)
    await absent(graph, namespace, "Quillon", "spouse", "husband")


async def test_known_at_tells_the_same_of_what_stays(make_memory: Make) -> None:
    decider = pairs(
        ("Bonn", "Arta", UPDATE), ("Cork", "Bonn", UPDATE), ("still", "Arta", DUPLICATE)
    )
    memory = make_memory(decider=decider)
    marks = [await moment()]
    facts = []
    for number, town in enumerate(("Arta", "Bonn", "Cork")):
        facts.append(await told(memory, f"Ruo|lives_in|{town}", said_at=f"202{number}-01-01"))
        marks.append(await moment())

    async def known() -> list[Any]:
        return [
            [
                (f.id, f.valid_until, f.closed_reason, f.closed_at, f.open)
                async for f in memory.iter_facts(known_at=mark)
                if f.id != facts[1].id
            ]
            for mark in [*marks, datetime.now(UTC)]
        ]

    before = await known()
    assert before[2] != before[1]  # Arta was open once, and then was not
    await memory.forget(fact=facts[1])
    assert await known() == before


async def test_what_is_owed_is_carried_by_one_decision_without_content(make_memory: Make) -> None:
    memory = make_memory(decider=pairs(("Bonn", "Arta", UPDATE)))
    old, new = await homes(memory, "Arta", "Bonn")
    await memory.forget(fact=new)
    behind = await memory.explain(old.id)
    (left,) = [d for d in behind.decisions if d.outcome == "forgotten"]
    assert (left.question, left.chosen, left.backend) == ("forgotten", "", "rule")
    assert (left.candidate_id, left.request_id) == (None, None)
    assert left.belief_before == left.belief_after == behind.fact.belief < 0.25
    assert (left.valid_until_before, left.reason_before) == (None, None)
    assert (left.valid_until_after, left.reason_after) == (behind.fact.valid_until, "belief")
    assert left.decided_at == behind.fact.closed_at
    assert {d.outcome for d in behind.decisions} == {"stored", "forgotten"}
    assert [r["candidates"] for r in behind.requests] == [[]]


async def test_a_belief_that_nothing_forgotten_moved_needs_no_such_decision(
    make_memory: Make,
) -> None:
    memory = make_memory()
    tea = await told(memory, "Ann|prefers|tea")
    nuts = await told(memory, "Ann|allergic_to|nuts")
    await memory.forget(fact=nuts)
    assert {d.outcome for d in (await memory.explain(tea.id)).decisions} == {"stored"}


async def test_a_later_belief_stays_the_latest(make_memory: Make) -> None:
    unsure = {"new": 0.6, "refinement": 0.4}  # stored tentative, so that support lifts it
    decider = pairs(
        ("zero", "", unsure),
        ("one", "zero", {"refinement": 0.6, "new": 0.4}),
        ("two", "zero", {"refinement": 0.7, "new": 0.3}),
    )
    memory = make_memory(decider=decider)
    await told(memory, "Ann|owns|a thing", text="anything")
    known = await told(memory, "Ann|owns|a kite", text="kite zero")
    first = await told(memory, "Ann|owns|a red kite", text="kite one", speaker="Bo")
    second = await told(memory, "Ann|owns|a big kite", text="kite two", speaker="Cy")
    held = (await memory.get(known.id)).belief
    assert held > known.belief
    await memory.forget(fact=first)
    assert (await memory.get(known.id)).belief == held
    await memory.forget(fact=second)
    assert (await memory.get(known.id)).belief == held


async def test_a_dispute_ends_with_its_only_partner(make_memory: Make, graph: Graph) -> None:
    decider = pairs(("hates", "likes", CONTRADICTION), ("loathes", "likes", CONTRADICTION))
    memory = make_memory(decider=decider)
    likes = await told(memory, "Ann|prefers|tea", text="Ann likes tea")
    hates = await told(memory, "Ann|dislikes|tea", text="Ann hates tea")
    loathes = await told(memory, "Ann|dislikes|tea", text="Ann loathes tea", speaker="Bo")
    assert (await memory.get(likes.id)).disputed
    assert len(await links(memory, graph, "CONTRADICTS")) == 2
    await memory.forget(fact=hates)
    assert (await memory.get(likes.id)).disputed
    await memory.forget(fact=loathes)
    assert not (await memory.get(likes.id)).disputed
    assert await links(memory, graph, "CONTRADICTS") == set()


async def test_a_request_about_another_fact_loses_what_it_asked_about_the_forgotten(
    memory: Any, graph: Graph
) -> None:
    old = await told(memory, "Ann|lives_in|Arta", said_at="2020-01-01")
    other = await told(memory, "Ann|works_at|Bolt", said_at="2020-01-02")
    new = await told(memory, "Ann|lives_in|Cork", said_at="2021-01-01")

    async def asked() -> dict[str, Any]:
        return {request["id"]: request for request in (await memory.explain(new.id)).requests}

    before = await asked()
    assert all(old.id in request["candidates"] for request in before.values())
    await memory.forget(fact=old)
    after = await asked()
    for name, request in after.items():
        was = before[name]
        assert request["candidates"] == [each for each in was["candidates"] if each != old.id]
        assert request["answers"] == {k: a for k, a in was["answers"].items() if old.id not in k}
    assert any(other.id in key for request in after.values() for key in request["answers"])
    await absent(graph, memory.namespace, "Arta", old.id)


async def test_a_correction_leaves_no_word_of_what_was_put_right(
    memory: Any, graph: Graph, namespace: str
) -> None:
    old = await told(memory, "Ann|lives_in|Bonn", valid_from="2020-01-01")
    done = await memory.correct(
        old, object="Zwolle", valid_from="2021-01-01", reason="she said Zwolle"
    )
    await memory.forget(fact=done.facts[0])
    (left,) = (await memory.facts()).facts
    assert (left.id, left.closed_reason, left.open) == (old.id, "corrected", False)
    await absent(graph, namespace, "Zwolle")


# -- messages -------------------------------------------------------------------------------------


async def test_a_message_that_states_more_stays_and_its_draft_goes(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    drafts = [
        draft("Ann owns a kite", "Ann|owns|a kite", quote="a kite"),
        draft("Ann owns a vaxling", "Ann|owns|a vaxling", quote="a vaxling"),
    ]
    memory = make_memory(extractor=ScriptedExtractor(drafts))
    added = await memory.add("I own two things.", speaker="Ann", source_id="m1")
    kite, vaxling = added.facts
    gone = await memory.forget(fact=vaxling)
    assert (gone.facts, gone.messages, gone.entities) == (1, 0, 1)
    assert [fact.id async for fact in memory.iter_facts()] == [kite.id]
    await absent(graph, namespace, "vaxling")
    again = await memory.add("I own two things.", speaker="Ann", source_id="m1")
    assert (again.duplicate, [fact.id for fact in again.facts]) == (True, [kite.id])
    assert await memory.resume() == []
    await memory.forget(fact=kite)
    assert await counts(memory) == (0, 0, 0)


class Stumbling(ScriptedDecider):
    """Breaks the work off at the fact that says ``word``."""

    word = ""

    async def ask(self, ask: Ask) -> Reply:
        if self.word and self.word in ask.draft.text:
            raise RuntimeError("the process ends here")
        return await super().ask(ask)


@pytest.mark.parametrize("word", ["lamp", "hat"])
async def test_an_unfinished_message_goes_on_without_the_forgotten_draft(
    make_memory: Make, graph: Graph, namespace: str, word: str
) -> None:
    drafts = [draft(f"Ann owns a {n}", f"Ann|owns|a {n}") for n in ("vaxling", "lamp", "hat")]
    decider = Stumbling()
    decider.word = word
    memory = make_memory(extractor=ScriptedExtractor(drafts), decider=decider)
    with pytest.raises(RuntimeError):
        await memory.add("I own things.", speaker="Ann")
    written = [fact async for fact in memory.iter_facts()]
    gone = await memory.forget(fact=written[0])
    assert (gone.facts, gone.messages) == (1, 0)  # the message has more to say
    await absent(graph, namespace, "vaxling")
    decider.word = ""
    await memory.resume()
    assert [fact.object async for fact in memory.iter_facts()] == ["a lamp", "a hat"]
    assert (await memory.stats()).unfinished == 0


async def test_a_message_takes_only_what_rests_on_it(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    memory = make_memory(decider=ScriptedDecider())
    for number, thing in enumerate(("a canoe", "a canoe", "a vaxling"), 1):
        text = f"Pia owns {thing}"
        await told(memory, f"Pia|owns|{thing}", text=text, source_id=f"m{number}")
    assert (await memory.forget(message="m1")).facts == 0
    gone = await memory.forget(message="m3")
    assert (gone.facts, gone.messages, gone.entities) == (1, 1, 1)
    (canoe,) = (await memory.facts()).facts
    assert [m.source_id for m in (await memory.explain(canoe)).messages] == ["m2"]
    assert await counts(memory) == (1, 2, 1)
    await absent(graph, namespace, "vaxling", "m1", "m3")


async def test_a_repetition_goes_and_the_belief_it_gave_stays(make_memory: Make) -> None:
    decider = ScriptedDecider({"relation_to_candidate": {"new": 0.6, "refinement": 0.4}})
    memory = make_memory(decider=decider)
    await told(memory, "Bo|owns|a hat")
    kite = await told(memory, "Ann|owns|a kite", said_at="2025-01-01", speaker="Ann")
    again = await memory.remember(
        "Ann", "owns", "a kite", text="Ann owns a kite", said_at="2025-01-02", speaker="Bo"
    )
    assert [fact.id for fact in again.repeated] == [kite.id]
    held = (await memory.get(kite.id)).belief
    assert held > kite.belief
    await memory.forget(message=again.message)
    behind = await memory.explain(kite.id)
    assert behind.fact.belief == held
    assert [m.speaker for m in behind.messages] == ["Ann"]
    assert [d.outcome for d in behind.decisions if d.question == "repetition"] == []
    assert [d.belief_after for d in behind.decisions if d.outcome == "forgotten"] == [held]


async def test_a_quote_goes_with_the_message_it_was_taken_from(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    said = draft("Ann owns a kite", "Ann|owns|a kite", quote="my darling kite")
    memory = make_memory(extractor=ScriptedExtractor([said]))
    (kite,) = (await memory.add("Oh, my darling kite!", speaker="Ann", said_at="2025-01-01")).facts
    assert (await memory.get(kite.id)).source_quote == "my darling kite"
    repeated = await memory.add("I have one.", speaker="Ann", said_at="2025-01-02")
    assert repeated.repeated
    await memory.forget(message=(await memory.explain(kite.id)).messages[0])
    assert (await memory.get(kite.id)).source_quote is None
    rows = await graph.statement(
        "CYPHER 25 MATCH (f:Fact {id: $id}) RETURN f.source_quote AS quote", id=kite.id
    )
    assert rows == [{"quote": None}]


async def test_the_turns_before_and_after_meet(make_memory: Make, graph: Graph) -> None:
    memory = make_memory()
    for number in range(6):
        await memory.add(
            f"Turn {number}",
            conversation="talk",
            source_id=f"t{number}",
            said_at=f"2025-01-0{number + 1}",
        )
    await memory.add("Alone", conversation="aside", source_id="alone")
    for name in ("t2", "t3", "t0", "t5", "alone"):
        assert (await memory.forget(message=name)).messages == 1
    rows = await graph.statement(
        "CYPHER 25 MATCH (c:Conversation {namespace: $namespace}) RETURN c.name AS name, "
        "COLLECT { MATCH (a:Message {namespace: $namespace})-[:NEXT]->(b) "
        "RETURN a.source_id + b.source_id } AS steps",
        namespace=memory.namespace,
    )
    assert rows == [{"name": "talk", "steps": ["t1t4"]}]


async def test_a_message_without_facts_and_an_id_before_a_source_id(memory: Any) -> None:
    first = await memory.add("Good morning!", source_id="a")
    second = await memory.add("Good evening!", source_id=first.message.id)
    await memory.forget(message=first.message.id)
    assert (await memory.get_message(second.message.id)).text == "Good evening!"
    await memory.forget(message=first.message.id)  # now it is the other's source_id
    assert await counts(memory) == (0, 0, 0)


# -- entities and namespaces ----------------------------------------------------------------------


async def test_an_entity_takes_the_facts_around_it(memory: Any, graph: Graph) -> None:
    await told(memory, "Quillon|owns|a boat")
    await told(memory, "Ann|friend_of|Quillon")
    hobby = await told(memory, "Ann|hobby|rowing", text="Ann rows with Quillon")
    mentioned = await graph.statement(
        "CYPHER 25 MATCH (f:Fact {id: $id})-[:MENTIONS]->(e:Entity) RETURN e.key AS key",
        id=hobby.id,
    )
    assert mentioned == [{"key": "quillon"}]
    gone = await memory.forget(entity=" the  QUILLON.")
    assert (gone.facts, gone.entities, gone.messages) == (2, 2, 2)
    assert [fact.id async for fact in memory.iter_facts()] == [hobby.id]
    assert await counts(memory) == (1, 2, 1)
    with pytest.raises(NotFoundError):
        await memory.forget(entity="Quillon")


async def test_an_entity_goes_by_any_of_its_names_and_so_does_the_log_of_its_merges(
    memory: Any, graph: Graph, namespace: str
) -> None:
    await told(memory, "Quillon|owns|a boat")
    await told(memory, "Bertrand|owns|a lamp")
    hobby = await told(memory, "Ann|hobby|rowing", text="Ann rows with Bertrand")
    await memory.merge_entities("Quillon", "Bertrand", reason="his middle name")
    await memory.add_alias("Quillon", "Quilly")
    assert any(d.reason for d in (await memory.explain(hobby.id)).decisions)
    gone = await memory.forget(entity="the Quilly")
    assert (gone.facts, gone.entities) == (2, 3)
    assert [fact.id async for fact in memory.iter_facts()] == [hobby.id]
    await absent(graph, namespace, "middle name", "Quilly", "Quillon")


async def test_a_namespace_goes_and_its_neighbour_does_not_notice(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    decider = pairs(("Ostwick", "Tarnfold", UPDATE))
    left, right = (make_memory(f"{namespace}/{side}", decider=decider) for side in "lr")
    for memory in (left, right):
        await told(memory, "Tamsin|lives_in|Tarnfold", said_at="2025-01-01", source_id="m1")
    await told(left, "Tamsin|lives_in|Ostwick", said_at="2025-02-01")
    before = await canonical(graph, right.namespace)
    counted = await left.forget(everything=True, dry_run=True)
    gone = await left.forget(everything=True)
    assert counted.model_copy(update={"dry_run": False}) == gone
    assert (gone.facts, gone.entities, gone.messages, gone.fact_ids) == (2, 3, 2, ())
    assert await canonical(graph, right.namespace) == before
    assert await everything(graph, left.namespace) == "[[], []]"
    assert (await left.search("Tamsin Ostwick Tarnfold")).facts == ()
    found = await right.search("Where does Tamsin live?")
    assert [hit.fact.object for hit in found.facts] == ["Tarnfold"]
    assert (await left.forget(everything=True)).facts == 0


async def test_a_blank_namespace_is_an_error_and_a_wildcard_a_name(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    memory = make_memory()
    await told(memory, "Ilka|lives_in|Tarnfold")
    before = await everything(graph, namespace)
    for blank in ("", "   "):
        with pytest.raises(ScopeError):
            await memory.forget(everything=True, namespace=blank)
    for name in ("*", "%", f"{namespace[:-1]}?", f"{namespace}*"):
        assert (await memory.forget(everything=True, namespace=name)).facts == 0
    assert await everything(graph, namespace) == before


async def test_a_namespace_larger_than_one_batch(memory: Any, graph: Graph) -> None:
    facts = [
        {"subject": f"Person {n % 7}", "predicate": "owns", "object": f"kite {n}"}
        for n in range(2200)
    ]
    await memory.remember_many(facts, decide=False)
    gone = await memory.forget(everything=True)
    assert (gone.facts, gone.decisions, gone.messages, gone.entities) == (2200, 2200, 1, 2207)
    assert await everything(graph, memory.namespace) == "[[], []]"


# -- what is asked for ----------------------------------------------------------------------------


async def test_a_dry_run_changes_nothing_and_counts_what_goes(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    decider = pairs(("Bonn", "Arta", UPDATE), ("Cork", "Bonn", UPDATE))
    memory = make_memory(decider=decider)
    _, middle, _ = await homes(memory, "Arta", "Bonn", "Cork", source_id=None)
    before = await everything(graph, namespace)
    targets = ({"fact": middle}, {"message": middle.id}, {"entity": "ruo"})
    targets[1]["message"] = (await memory.explain(middle)).messages[0]
    for target in targets:
        counted = await memory.forget(**target, dry_run=True)
        assert counted.dry_run
        assert counted.facts > 0
        assert await everything(graph, namespace) == before
    counted = await memory.forget(fact=middle, dry_run=True)
    gone = await memory.forget(fact=middle)
    assert counted.model_copy(update={"dry_run": False}) == gone


@pytest.mark.parametrize("target", ["fact", "message", "entity"])
@pytest.mark.parametrize("dry_run", [True, False])
async def test_what_is_not_there_is_not_found(
    make_memory: Make, graph: Graph, namespace: str, target: str, dry_run: bool
) -> None:
    here, there = make_memory(), make_memory(f"{namespace}-there")
    kite = await told(there, "Ann|owns|a kite", source_id="m1")
    before = await everything(graph, namespace)
    named = {"fact": kite, "message": "m1", "entity": "Ann"}[target]
    with pytest.raises(NotFoundError):
        await here.forget(**{target: named}, dry_run=dry_run)
    assert await everything(graph, namespace) == before


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"everything": False},
        {"fact": "f", "message": "m"},
        {"entity": "Ann", "everything": True},
        {"everything": "yes"},
        {"fact": " "},
        {"message": 7},
        {"entity": ".,"},
    ],
)
async def test_a_call_that_names_no_one_thing_is_refused(memory: Any, call: dict[str, Any]) -> None:
    await told(memory, "Ann|owns|a kite")
    with pytest.raises(InputError):
        await memory.forget(**call)
    assert (await memory.stats()).facts == 1


def test_the_blocking_client_forgets(sync_memory: Any) -> None:
    kite = sync_memory.remember("Ann", "owns", "a kite").facts[0]
    assert sync_memory.forget(fact=kite).fact_ids == (kite.id,)
    assert sync_memory.stats().facts == 0


# -- others at work -------------------------------------------------------------------------------


class Meanwhile(ScriptedDecider):
    """Lets something happen once, while it is asked: after the candidates were read."""

    def __init__(self, script: Any = None) -> None:
        super().__init__(script)
        self.deed: Callable[[], Any] | None = None

    async def ask(self, ask: Ask) -> Reply:
        reply = await super().ask(ask)
        if self.deed is not None:
            deed, self.deed = self.deed, None
            await deed()
        return reply


@pytest.mark.parametrize("subject", ["Ruo", "Tessa"])
@pytest.mark.parametrize("p", [UPDATE, {"new": 0.97, "update": 0.03}, {"new": 0.4, "update": 0.45}])
async def test_a_plan_that_rests_on_a_forgotten_fact_is_made_again(
    make_memory: Make, graph: Graph, namespace: str, subject: str, p: dict[str, float]
) -> None:
    decider = Meanwhile({"relation_to_candidate": [{"fact": "Cork", "p": p}]})
    writer, other = make_memory(decider=decider), make_memory()
    (old,) = await homes(writer, "Arta")
    decider.deed = lambda: other.forget(fact=old)
    new = await told(writer, f"{subject}|lives_in|Cork", said_at="2025-01-01")
    assert [fact.id async for fact in writer.iter_facts()] == [new.id]
    await absent(graph, namespace, "Arta", old.id)


async def test_a_message_forgotten_while_its_facts_are_written(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    decider = Meanwhile()
    writer, other = make_memory(decider=decider), make_memory()
    decider.deed = lambda: other.forget(message="m1")
    with pytest.raises(NotFoundError):
        await told(writer, "Ann|owns|a vaxling", source_id="m1")
    assert await everything(graph, namespace) == "[[], []]"
    await told(writer, "Ann|owns|a vaxling", source_id="m1")
    assert await counts(writer) == (1, 2, 1)


async def while_deleted(server: Any, namespace: str, labels: str, work: Callable[[], Any]) -> Any:
    """What ``work`` gives when all ``labels`` of the namespace go while it waits for a lock."""
    blocked = """CYPHER 25 SHOW TRANSACTIONS YIELD transactionId AS id, status, metaData
    WITH collect([id, status, metaData.test]) AS all
    UNWIND [one IN all WHERE one[2] = $namespace | one[0]] AS holder
    UNWIND [one IN all WHERE one[1] STARTS WITH 'Blocked' AND one[1] CONTAINS holder] AS waiting
    RETURN waiting"""
    auth = (server.username, server.password)
    async with (
        neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth) as driver,
        driver.session() as session,
    ):
        tx = await session.begin_transaction(metadata={"test": namespace})
        await tx.run(
            "CYPHER 25 MATCH (n:$any($labels) {namespace: $namespace}) "
            "SET n.locked = true DETACH DELETE n",
            namespace=namespace,
            labels=labels.split(),
        )
        task = asyncio.create_task(work())
        while not (await driver.execute_query(blocked, namespace=namespace)).records:
            assert not task.done()
            await asyncio.sleep(0.02)
        await tx.commit()
        return await task


async def test_a_conversation_that_goes_while_a_message_waits_for_it(
    server: Any, make_memory: Make, namespace: str
) -> None:
    memory = make_memory()
    await memory.add("Good morning!")
    await while_deleted(
        server, namespace, "Conversation Message", lambda: memory.add("Good evening!")
    )
    assert namespace in [each.namespace for each in await memory.namespaces()]
    assert await counts(memory) == (0, 0, 1)


async def test_entities_that_go_while_a_fact_waits_for_them(
    server: Any, make_memory: Make, namespace: str
) -> None:
    memory = make_memory()
    await told(memory, "Ann|owns|a kite")
    labels = "Fact Entity Decision Request"
    lamp = await while_deleted(server, namespace, labels, lambda: told(memory, "Ann|owns|a lamp"))
    assert [fact.id async for fact in memory.iter_facts()] == [lamp.id]
    assert await counts(memory) == (1, 2, 2)


async def test_a_fact_that_goes_while_a_decision_waits_to_be_on_it(
    server: Any, make_memory: Make, graph: Graph, namespace: str
) -> None:
    weak = {"new": 0.4, "update": 0.45}  # a decision on the pair, and no change of the known fact
    memory = make_memory(decider=pairs(("Cork", "Arta", weak)))
    (old,) = await homes(memory, "Arta")
    labels = "Fact Decision Request"  # the entities are others': nothing to wait for before
    new = await while_deleted(
        server, namespace, labels, lambda: told(memory, "Tessa|lives_in|Cork")
    )
    await memory.forget(message=(await memory.explain(new)).messages[0])
    await graph.statement(
        "CYPHER 25 MATCH (n:Entity|Message {namespace: $namespace}) DETACH DELETE n",
        namespace=namespace,
    )
    await absent(graph, namespace, old.id)


async def test_forgetting_and_remembering_at_once_leave_a_sound_graph(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    writers = [make_memory() for _ in range(3)]
    forgetter = make_memory()
    await asyncio.gather(*(one.open() for one in (*writers, forgetter)))
    towns = ["Arta", "Bonn", "Cork", "Delft", "Essen", "Faro"]

    async def write(memory: Any, person: int) -> None:
        for year, town in enumerate(towns):
            await memory.remember(
                f"Person {person % 2}",
                "lives_in",
                town,
                said_at=f"20{10 + 2 * year + person}-01-01",
            )

    async def forget() -> None:
        for _ in range(6):
            facts = [f async for f in forgetter.iter_facts()]
            for fact in facts[::3]:
                try:
                    await forgetter.forget(fact=fact)
                except NotFoundError:
                    assert fact.id not in await everything(graph, namespace)

    await asyncio.gather(*(write(one, n) for n, one in enumerate(writers)), forget())
    stats = await forgetter.stats()
    assert stats.unfinished == 0
    assert stats.messages >= stats.facts > 0  # and ``doctor`` looks at the rest


async def test_a_namespace_emptied_while_others_write_is_sound(make_memory: Make) -> None:
    writer, other = make_memory(), make_memory()
    await asyncio.gather(writer.open(), other.open())
    lost = 0

    async def write() -> None:
        nonlocal lost
        for number in range(25):
            try:
                await writer.remember("Ann", "owns", f"kite {number}")
            except NotFoundError:  # the message went before its fact was written
                lost += 1

    async def empty() -> int:
        return sum([(await other.forget(everything=True)).facts for _ in range(6)])

    _, gone = await asyncio.gather(write(), empty())
    stats = await writer.stats()
    assert stats.facts + gone + lost == 25
    assert stats.unfinished == 0
