"""Entities with several names, merged and taken apart again, also while others write."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from flow_fakes import ScriptedExtractor, draft

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import DecisionUnavailableError, InputError, NotFoundError
from engram_graph.graph.driver import Graph
from engram_graph.graph.entities import resolve
from engram_graph.models.decisions import Answer, Ask, Reply

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]

SHAPE = """CYPHER 25
MATCH (f:Fact {namespace: $n})-[:SUBJECT]->(s), (f)-[:OBJECT]->(o)
RETURN f.id AS id, s.id AS subject, o.id AS object,
  COLLECT { MATCH (f)-[:MENTIONS]->(e) RETURN e.id ORDER BY e.id } AS mentions,
  COLLECT { MATCH (s)-[r]->(o) WHERE r.fact_id = f.id RETURN type(r) } AS edges,
  COLLECT { MATCH (f)-[r:SAME_AS]-() RETURN r.p } AS same
ORDER BY id"""
ENTITIES = """CYPHER 25
MATCH (e:Entity {namespace: $n})
RETURN e.id AS id, e.key AS key, e.name AS name, e.aliases AS aliases, e.created_at AS created,
  COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN a.key ORDER BY a.created_at, a.key } AS keys
ORDER BY id"""


class Judge(RulesDecider):
    """The rules decider with an opinion of its own on entities: ``p``; none when it is None.

    ``away``: it answers nothing. ``asked``: how many pairs it was asked about.
    """

    def __init__(self, p: float | None) -> None:
        super().__init__()
        self.p = p
        self.away = False
        self.asked = 0

    async def ask(self, ask: Ask) -> Reply:
        if self.away:
            raise DecisionUnavailableError("nobody answers")
        reply = await super().ask(ask)
        pairs = [question for question in ask.questions if question.pair is not None]
        self.asked += len(pairs)
        for question in pairs:
            given = {} if self.p is None else {"yes": self.p, "no": 1.0 - self.p}
            reply.answers[question.id] = Answer(question.id, given, "judge", fallback=not given)
        return reply


async def shape(graph: Graph, namespace: str) -> Any:
    """Everything a merge may touch but versions and the log."""
    return (
        await graph.statement(SHAPE, n=namespace),
        await graph.statement(ENTITIES, n=namespace),
    )


async def names(memory: Any) -> list[str]:
    return [entity.name for entity in await memory.entities()]


@pytest.fixture
async def two(memory: Any) -> Any:
    """Maya under two names, with facts at either end, between them, and mentions."""
    await memory.remember("Maya", "lives_in", "Lisbon", said_at="2024-01-01")
    await memory.remember("Maya", "owns", "a kite", said_at="2024-01-02")
    await memory.remember("Maya Lindqvist", "lives_in", "Porto", said_at="2024-02-01")
    await memory.remember("Maya Lindqvist", "owns", "a kite", said_at="2024-02-02")
    await memory.remember("Maya Lindqvist", "speaks", "Swedish", negated=True)
    await memory.remember("Jonas", "friend_of", "Maya Lindqvist", said_at="2024-02-03")
    await memory.remember("Jonas", "related_to", "Rome", text="Jonas saw Maya Lindqvist in Rome")
    await memory.remember("Maya", "related_to", "Maya Lindqvist", said_at="2024-02-05")
    return memory


# -- names ----------------------------------------------------------------------------------------


async def test_entities_are_listed_by_name(memory: Any) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.remember("Maya", "owns", "The Kite")
    found = await memory.entities()
    assert [(e.key, e.name, e.facts) for e in found] == [
        ("kite", "The Kite", 1),
        ("lisbon", "Lisbon", 1),
        ("maya", "Maya", 2),
    ]
    assert await memory.entity(" MAYA. ") == found[2]
    assert [e.name for e in await memory.entities(limit=1)] == ["The Kite"]
    assert [e.name for e in await memory.entities(like="IS")] == ["Lisbon"]
    await memory.add_alias("Maya", "Miss Sunshine")
    assert [e.name for e in await memory.entities(like="sunshine")] == ["Maya"]
    assert await memory.entities(like="nobody") == []
    with pytest.raises(NotFoundError):
        await memory.entity("nobody")
    for bad in ({"limit": 0}, {"like": " "}):
        with pytest.raises(InputError):
            await memory.entities(**bad)


async def test_what_is_said_of_an_alias_is_said_of_the_entity(memory: Any) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon", valid_from="2024-01-01")
    entity = await memory.add_alias("maya", "Miss Sunshine")
    assert entity.aliases == ("Miss Sunshine",)
    moved = await memory.remember("miss sunshine", "lives_in", "Porto", valid_from="2025-01-01")
    (fact,) = moved.facts
    assert (fact.subject, fact.subject_key, fact.object) == ("Maya", "maya", "Porto")
    assert [f.object for f in moved.closed] == ["Lisbon"]
    again = await memory.remember("Jonas", "friend_of", "Miss Sunshine")
    assert again.facts[0].object == "Maya"
    repeated = await memory.remember("Jonas", "friend_of", "Maya", text=again.facts[0].text)
    assert [f.id for f in repeated.repeated] == [again.facts[0].id]
    corrected = await memory.correct(again.facts[0], subject="Miss Sunshine", object="Jonas")
    assert (corrected.facts[0].subject, corrected.facts[0].object) == ("Maya", "Jonas")
    assert await names(memory) == ["Jonas", "Lisbon", "Maya", "Porto"]


async def test_an_alias_reads_as_the_entity(memory: Any) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.remember("Jonas", "friend_of", "Maya")
    await memory.add_alias("Maya", "Miss Sunshine")
    line = await memory.history("miss sunshine", "lives_in")
    assert (line.subject, [f.object for f in line.facts]) == ("Maya", ["Lisbon"])
    about = (await memory.facts(subject="Miss Sunshine")).facts
    assert [f.object for f in about] == ["Lisbon"]
    of = (await memory.facts(object="Miss Sunshine")).facts
    assert [f.subject for f in of] == ["Jonas"]
    both = (await memory.facts(subject="Jonas", object="Miss Sunshine")).facts
    assert both == of
    assert (await memory.entity("Miss Sunshine")).name == "Maya"


async def test_drafts_and_imports_know_aliases_too(make_memory: Make) -> None:
    told = [draft("The boss owns a boat", "The boss|owns|a boat")]
    memory = make_memory(extractor=ScriptedExtractor(told))
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.add_alias("Maya", "boss")
    added = await memory.add("The boss owns a boat.")
    assert [f.subject for f in added.facts] == ["Maya"]
    rows = [{"subject": "Jo", "predicate": "colleague_of", "object": "Boss"}]
    rows += [{"subject": "Boss", "predicate": "owns", "object": f"hat {n}"} for n in range(3)]
    assert (await memory.remember_many(rows, decide=False)).facts == 4
    assert (await memory.remember_many(rows, decide=False)).facts == 0
    assert len((await memory.facts(subject="Maya")).facts) == 5
    assert (await memory.facts(object="Maya")).facts[0].subject == "Jo"


async def test_a_name_in_a_sentence_may_be_an_alias(memory: Any, graph: Graph) -> None:
    maya = (await memory.remember("Maya", "lives_in", "Lisbon")).facts[0]
    await memory.add_alias("Maya", "Sunshine")
    await memory.remember("Jo", "related_to", "Rome", text="Jo saw Sunshine in Rome")
    rows = await graph.statement(
        "CYPHER 25 MATCH (:Fact {namespace: $n})-[:MENTIONS]->(e) RETURN e.name AS name",
        n=memory.namespace,
    )
    assert rows == [{"name": maya.subject}]


async def test_the_user_may_have_a_name(memory: Any) -> None:
    await memory.add("I live in Lisbon.")
    await memory.add_alias("user", "Maya")
    added = await memory.add("I own a kite.", speaker="Maya")
    assert [f.subject for f in added.facts] == ["user"]
    assert len((await memory.history("Maya")).facts) == 2


async def test_one_person_under_two_names_is_one_source(memory: Any) -> None:
    own = (await memory.add("I live in Lisbon.", speaker="Maya")).facts[0]
    await memory.add_alias("Maya", "Sunshine")
    again = await memory.add("I live in Lisbon.", speaker="Sunshine")
    pair = [d for d in (await memory.explain(again.facts[0])).decisions if d.candidate_id == own.id]
    assert [(d.chosen, d.outcome) for d in pair] == [("duplicate", "same_source")]
    heard = await memory.add("Maya lives in Rome.", speaker="Mallory")
    assert heard.closed == ()  # hearsay, also when she spoke by another name
    moved = await memory.add("I live in Porto.", speaker="Sunshine")
    assert own.id in {f.id for f in moved.closed}
    assert moved.facts[0].subject == "Maya"


async def test_what_the_named_user_said_is_no_hearsay(memory: Any) -> None:
    own = (await memory.add("I live in Lisbon.", speaker="Maya")).facts[0]
    await memory.add("I own a kite.")
    await memory.merge_entities("user", "Maya")
    heard = await memory.add("Maya lives in Rome.", speaker="Mallory")
    assert (heard.facts[0].subject, heard.closed) == ("user", ())
    moved = await memory.add("I live in Porto.", speaker="Maya")
    assert own.id in {f.id for f in moved.closed}


async def test_an_entity_may_be_the_user(memory: Any) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.add_alias("Maya", "user")
    added = await memory.add("I own a kite.")
    assert [f.subject for f in added.facts] == ["Maya"]


async def test_a_name_means_one_entity(memory: Any, graph: Graph) -> None:
    await memory.remember("Maya", "friend_of", "Jonas")
    await memory.add_alias("Maya", "Sunshine")
    before = await shape(graph, memory.namespace)
    for name, alias, said in (
        ("Maya", "Jonas", "taken"),
        ("Jonas", "sunshine", "alias of 'Maya'"),
        ("Maya", "maya", "itself"),
        ("Maya", "myself", "whoever speaks"),
        ("Maya", " ", "blank"),
        ("Maya", "password: hunter2!x9", "credential"),
    ):
        with pytest.raises(InputError, match=said):
            await memory.add_alias(name, alias)
    with pytest.raises(InputError) as refused:
        await memory.add_alias("Maya", "Jonas")
    assert "merge_entities('Maya', 'Jonas')" in refused.value.hint
    with pytest.raises(NotFoundError):
        await memory.add_alias("nobody", "Sam")
    assert (await memory.add_alias("Sunshine", "SUNSHINE")).aliases == ("Sunshine",)
    assert await shape(graph, memory.namespace) == before


async def test_an_alias_taken_away_is_a_name_of_its_own(memory: Any) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.add_alias("Maya", "Sunshine")
    await memory.add_alias("Maya", "Sam")
    assert (await memory.remove_alias("Maya", "sunshine")).aliases == ("Sam",)
    added = await memory.remember("Sunshine", "lives_in", "Porto")
    assert (added.facts[0].subject, added.closed) == ("Sunshine", ())
    for name, alias in (("Maya", "Sunshine"), ("Maya", "Maya"), ("nobody", "Sam")):
        with pytest.raises(NotFoundError):
            await memory.remove_alias(name, alias)


async def test_resolving_leaves_out_what_is_no_alias(memory: Any, graph: Graph) -> None:
    await memory.remember("Maya", "lives_in", "Lisbon")
    await memory.add_alias("Maya", "Sunshine")
    found = await resolve(graph, memory.namespace, ["sunshine", "maya", "nobody", "sunshine"])
    assert found == {"sunshine": ("maya", "Maya")}
    assert await resolve(graph, memory.namespace + "-2", ["sunshine"]) == {}


# -- merging --------------------------------------------------------------------------------------


async def test_a_merge_moves_every_fact(two: Any, graph: Graph) -> None:
    old = await two.entity("Maya Lindqvist")
    before = {f.id: f for f in (await two.facts()).facts}
    merged = await two.merge_entities("Maya", "Maya Lindqvist", reason="her passport")
    assert merged.merged == old
    assert merged.entity.aliases == ("Maya Lindqvist",)
    assert merged.entity == await two.entity("Maya Lindqvist")
    after = {f.id: f for f in (await two.facts()).facts}
    assert after.keys() == before.keys()
    moved = {i for i, f in after.items() if f.version > before[i].version}
    assert moved == set(merged.facts)
    assert len(moved) == 5
    assert {f.subject for f in after.values()} == {"Maya", "Jonas"}
    texts = [f.text for f in before.values()]
    assert [f.text for f in after.values()] == texts
    rows = await graph.statement(
        "CYPHER 25 MATCH (:Fact {namespace: $n})-[:MENTIONS]->(e) RETURN e.name AS name",
        n=two.namespace,
    )
    assert rows == [{"name": "Maya"}]
    assert [f.text for f in merged.loops] == ["Maya related to Maya Lindqvist"]


async def test_a_merge_closes_nothing_and_says_what_does_not_fit(two: Any) -> None:
    merged = await two.merge_entities("Maya", "Maya Lindqvist")
    (group,) = merged.conflicts
    assert [f.object for f in group] == ["Lisbon", "Porto"]
    homes = (await two.history("Maya", "lives_in")).facts
    assert [(f.open, f.disputed, f.belief) for f in homes] == [(True, False, 0.98)] * 2
    (link,) = merged.same
    behind = await two.explain(link.source)
    assert [(x.type, x.p, {x.source, x.target}) for x in behind.links] == [
        ("SAME_AS", 1.0, {link.source, link.target})
    ]


async def test_a_merge_is_logged_with_each_fact(two: Any) -> None:
    merged = await two.merge_entities("Maya", "Maya Lindqvist", reason="her passport")
    for fact_id in merged.facts:
        (judged,) = [d for d in (await two.explain(fact_id)).decisions if d.outcome == "merged"]
        assert (judged.question, judged.chosen, judged.p) == ("same_entity", "yes", 1.0)
        assert judged.backend == "caller"
        assert judged.reason == "Maya Lindqvist is Maya: her passport"


async def test_unmerging_leaves_everything_as_it_was(two: Any, graph: Graph) -> None:
    await two.add_alias("Maya Lindqvist", "ML")
    await two.add_alias("Maya", "Sunshine")
    before = await shape(graph, two.namespace)
    merged = await two.merge_entities("Maya", "Maya Lindqvist")
    assert merged.entity.aliases == ("ML", "Sunshine", "Maya Lindqvist")
    assert await shape(graph, two.namespace) != before
    back = await two.unmerge(merged, reason="two people after all")
    assert await shape(graph, two.namespace) == before
    assert (back.entity.id, back.entity.aliases) == (merged.merged.id, ("ML",))
    assert back.kept is not None
    assert back.kept.aliases == ("Sunshine",)
    assert set(back.facts) == set(merged.facts)
    (judged,) = [d for d in (await two.explain(back.facts[0])).decisions if d.outcome == "unmerged"]
    assert (judged.chosen, judged.reason) == (
        "no",
        "Maya Lindqvist is not Maya: two people after all",
    )
    with pytest.raises(NotFoundError, match="no merge"):
        await two.unmerge(merged)
    assert await shape(graph, two.namespace) == before


@pytest.mark.parametrize("how", ["gone", "kept", "alias", "decision", "record", "entity"])
async def test_a_merge_is_found_by_whatever_names_it(two: Any, graph: Graph, how: str) -> None:
    await two.add_alias("Maya Lindqvist", "ML")
    before = await shape(graph, two.namespace)
    merged = await two.merge_entities("Maya", "ML")
    judged = (await two.explain(merged.facts[1])).decisions[-1]
    what = {
        "gone": "maya lindqvist",
        "kept": "Maya",
        "alias": "ML",
        "decision": judged.id,
        "record": judged,
        "entity": merged.entity,
    }
    await two.unmerge(what[how])
    assert await shape(graph, two.namespace) == before


async def test_what_was_said_since_stays_with_the_one_it_was_said_of(two: Any) -> None:
    await two.merge_entities("Maya", "Maya Lindqvist")
    since = (await two.remember("Maya Lindqvist", "owns", "a boat")).facts[0]
    assert since.subject == "Maya"
    await two.unmerge("Maya Lindqvist")
    assert (await two.get(since.id)).subject == "Maya"
    assert {f.object for f in (await two.facts(subject="Maya Lindqvist")).facts} == {
        "Porto",
        "a kite",
        "Swedish",
    }
    new = (await two.remember("Maya Lindqvist", "owns", "a hat")).facts[0]
    assert new.subject == "Maya Lindqvist"


async def test_merges_are_taken_back_in_any_order(memory: Any, graph: Graph) -> None:
    for name, thing in (("A1", "x"), ("B1", "y"), ("C1", "z")):
        await memory.remember(name, "owns", thing)
    before = await shape(graph, memory.namespace)
    for order in (("B1", "A1"), ("A1", "B1")):
        await memory.merge_entities("A1", "B1")
        await memory.merge_entities("C1", "A1")
        assert len((await memory.facts(subject="B1")).facts) == 3
        for name in order:
            back = await memory.unmerge(name)
            assert back.entity.name == name
        assert await shape(graph, memory.namespace) == before
    await memory.merge_entities("A1", "B1")
    await memory.merge_entities("A1", "C1")
    assert (await memory.unmerge("A1")).entity.name == "C1"  # the latest
    assert (await memory.unmerge("A1")).entity.name == "B1"
    with pytest.raises(NotFoundError):
        await memory.unmerge("A1")
    assert await shape(graph, memory.namespace) == before


@pytest.mark.parametrize("seed", range(4))
async def test_however_often_merged_it_all_comes_back(memory: Any, graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    people = ["Ada Ax", "Bea Bo", "Cid Cox", "Dot Dee", "Eve Eck"]
    for n in range(14):
        one, other, *told = rng.sample(people, 4)
        text = f"{one} met {other} with {' and '.join(told)}, time {n}"
        await memory.remember(one, rng.choice(["friend_of", "related_to"]), other, text=text)
    before = await shape(graph, memory.namespace)
    for _ in range(3):
        left = list(people)
        rng.shuffle(left)
        gone = []
        while len(left) > 1:
            keep, other = rng.sample(left, 2)
            await memory.merge_entities(keep, other)
            left.remove(other)
            gone.append(other)
            if rng.random() < 0.3:
                name = gone.pop(rng.randrange(len(gone)))
                assert (await memory.unmerge(name)).entity.name == name
                left.append(name)
                if rng.random() < 0.5:
                    break
        rng.shuffle(gone)
        for name in gone:
            assert (await memory.unmerge(name)).entity.name == name
        assert await shape(graph, memory.namespace) == before
        assert (await memory.doctor()).sound


async def test_bad_merges_change_nothing(two: Any, graph: Graph) -> None:
    before = await shape(graph, two.namespace)
    for keep, other, error in (
        ("Maya", "MAYA", InputError),
        ("Maya", "nobody", NotFoundError),
        ("nobody", "Maya", NotFoundError),
        (" ", "Maya", InputError),
    ):
        with pytest.raises(error):
            await two.merge_entities(keep, other)
    with pytest.raises(InputError, match="credential"):
        await two.merge_entities("Maya", "Jonas", reason="password: hunter2!x9")
    with pytest.raises(NotFoundError):
        await two.unmerge("Maya")
    assert await shape(graph, two.namespace) == before
    await two.merge_entities("Maya", "Maya Lindqvist")
    with pytest.raises(InputError, match="already"):
        await two.merge_entities("Maya", "Maya Lindqvist")
    with pytest.raises(InputError, match="merged") as refused:
        await two.remove_alias("Maya", "Maya Lindqvist")
    assert "unmerge" in refused.value.hint


async def test_a_merge_stays_in_its_namespace(make_memory: Make, namespace: str) -> None:
    one, other = make_memory(f"{namespace}-1"), make_memory(f"{namespace}-2")
    for memory in (one, other):
        await memory.remember("Maya", "owns", "a kite")
        await memory.remember("ML", "owns", "a boat")
    merged = await one.merge_entities("Maya", "ML")
    assert await names(other) == ["a boat", "a kite", "Maya", "ML"]
    with pytest.raises(NotFoundError):
        await other.unmerge(merged)
    with pytest.raises(NotFoundError):
        await other.unmerge("ML")
    await one.unmerge(merged)


# -- forgotten ------------------------------------------------------------------------------------


async def test_an_entity_is_forgotten_under_any_of_its_names(two: Any, graph: Graph) -> None:
    await two.add_alias("Maya Lindqvist", "ML")
    await two.merge_entities("Maya", "Maya Lindqvist", reason="her passport")
    await two.forget(entity="ML")
    assert await names(two) == ["Jonas", "Rome"]
    left = """CYPHER 25 MATCH (n:Alias|Decision {namespace: $n})
    WHERE n:Alias OR n.reason CONTAINS 'Maya' OR n.reason CONTAINS 'passport'
    RETURN count(n) AS n"""
    assert await graph.statement(left, n=two.namespace) == [{"n": 0}]


async def test_what_is_forgotten_does_not_come_back(two: Any) -> None:
    merged = await two.merge_entities("Maya", "Maya Lindqvist")
    first, *rest = merged.facts
    await two.forget(fact=first)
    back = await two.unmerge("Maya Lindqvist")
    assert first not in back.facts
    assert set(back.facts) <= set(rest)
    assert back.facts


async def test_with_nothing_left_of_it_a_merge_cannot_be_taken_back(memory: Any) -> None:
    await memory.remember("Maya", "owns", "a kite")
    gone = (await memory.remember("ML", "owns", "a boat")).facts[0]
    await memory.merge_entities("Maya", "ML")
    await memory.forget(fact=gone.id)
    with pytest.raises(NotFoundError):
        await memory.unmerge("ML")
    assert (await memory.remove_alias("Maya", "ML")).aliases == ()


async def test_the_one_that_was_kept_goes_when_nothing_is_left_of_it(memory: Any) -> None:
    own = (await memory.remember("Maya", "owns", "a kite")).facts[0]
    await memory.remember("ML", "owns", "a boat")
    await memory.merge_entities("Maya", "ML")
    await memory.add_alias("Maya", "Sunshine")
    await memory.forget(fact=own.id)
    back = await memory.unmerge("Maya")
    assert (back.entity.name, back.kept) == ("ML", None)
    assert await names(memory) == ["a boat", "ML"]


# -- while others write ---------------------------------------------------------------------------


async def test_writers_meanwhile_land_on_the_entity_that_is_left(make_memory: Make) -> None:
    many = [make_memory() for _ in range(6)]
    await asyncio.gather(*(one.open() for one in many))
    await many[0].remember("Maya", "owns", "a kite")
    await many[0].remember("ML", "owns", "a boat")
    await asyncio.gather(
        *(
            one.remember(*triple, source_id=f"{n}-{' '.join(triple)}")
            for n, one in enumerate(many[1:])
            for triple in (
                ("ML", "lives_in", f"City {n}"),
                ("ML", "owns", "a boat"),
                (f"Friend {n}", "friend_of", "ML"),
                (f"Friend {n}", "related_to", "Rome"),
            )
        ),
        many[0].merge_entities("Maya", "ML"),
    )
    found = [e.name for e in await many[0].entities() if e.name in ("Maya", "ML")]
    assert found == ["Maya"]
    stats = await many[0].stats()
    assert stats.unfinished == 0
    assert len((await many[0].facts(object="ML")).facts) == 5
    homes = (await many[0].history("ML", "lives_in")).facts
    assert {f.object for f in homes} == {f"City {n}" for n in range(5)}
    boats = (await many[0].facts(subject="Maya", object="a boat")).facts
    assert len(boats) == 1


async def test_writers_while_a_merge_is_taken_back(make_memory: Make) -> None:
    many = [make_memory() for _ in range(4)]
    await asyncio.gather(*(one.open() for one in many))
    await many[0].remember("Maya", "owns", "a kite")
    await many[0].remember("ML", "owns", "a boat")
    for turn in range(3):
        await many[0].merge_entities("Maya", "ML")
        await asyncio.gather(
            *(
                one.remember("ML", "owns", f"hat {turn} {n}", text=f"ML owns hat {turn} {n}")
                for n, one in enumerate(many[1:])
            ),
            many[0].unmerge("ML"),
        )
    facts = [fact async for fact in many[0].iter_facts(limit=100)]
    assert len(facts) == 11
    assert {fact.subject for fact in facts} <= {"Maya", "ML"}


async def test_one_merge_from_many_clients_is_one(make_memory: Make) -> None:
    many = [make_memory() for _ in range(4)]
    await asyncio.gather(*(one.open() for one in many))
    await many[0].remember("Maya", "owns", "a kite")
    await many[0].remember("ML", "owns", "a boat")
    done = await asyncio.gather(
        *(one.merge_entities("Maya", "ML") for one in many), return_exceptions=True
    )
    assert sum(not isinstance(one, Exception) for one in done) == 1
    assert all(isinstance(one, InputError) for one in done if isinstance(one, Exception))
    back = await asyncio.gather(*(one.unmerge("ML") for one in many), return_exceptions=True)
    assert sum(not isinstance(one, Exception) for one in back) == 1
    assert all(isinstance(one, NotFoundError) for one in back if isinstance(one, Exception))


async def test_a_name_cannot_become_an_alias_and_an_entity_at_once(make_memory: Make) -> None:
    one, two, three = (make_memory() for _ in range(3))
    await asyncio.gather(*(each.open() for each in (one, two, three)))
    await one.remember("Maya", "owns", "a kite")
    await one.remember("Jonas", "owns", "a boat")
    for n in range(6):
        done = await asyncio.gather(
            one.remember(f"Sam {n}", "owns", f"thing {n}"),
            two.add_alias("Maya", f"Sam {n}"),
            three.add_alias("Jonas", f"Sam {n}"),
            return_exceptions=True,
        )
        assert not isinstance(done[0], Exception)
        assert sum(not isinstance(one, Exception) for one in done[1:]) <= 1
        assert all(isinstance(one, InputError) for one in done[1:] if isinstance(one, Exception))


# -- by decision ----------------------------------------------------------------------------------


async def test_suggestions_change_nothing(two: Any, graph: Graph) -> None:
    before = await shape(graph, two.namespace)
    (found,) = await two.suggest_merges()
    assert {found.keep.name, found.other.name} == {"Maya", "Maya Lindqvist"}
    assert found.why == ("one name within the other",)
    assert (found.p, found.backend, found.merged) == (0.05, "rules", None)
    assert await shape(graph, two.namespace) == before


async def test_the_rules_merge_the_same_words_only(memory: Any) -> None:
    await memory.remember("Maya Lindqvist", "owns", "a kite")
    await memory.remember("Lindqvist, Maya", "owns", "a boat")
    await memory.remember("Maya", "owns", "a hat")
    found = await memory.suggest_merges(apply=True)
    assert [each.merged is not None for each in found] == [True, False, False]
    kept = await memory.entity("Maya Lindqvist")
    assert kept.facts == 2
    assert (await memory.entity("Maya")).facts == 1


async def test_a_sure_decider_merges_and_is_named(make_memory: Make, graph: Graph) -> None:
    decider = Judge(0.93)
    memory = make_memory(decider=decider)
    await memory.remember("Maya", "owns", "a kite")
    await memory.remember("Maya Lindqvist", "owns", "a boat")
    await memory.remember("Maya Lindqvist", "owns", "a hat")
    (found,) = await memory.suggest_merges(apply=True)
    assert found.merged is not None
    assert (found.keep.name, found.p, found.backend) == ("Maya Lindqvist", 0.93, "judge")
    behind = await memory.explain(found.merged.facts[0])
    judged = behind.decisions[-1]
    assert (judged.outcome, judged.p, judged.backend) == ("merged", 0.93, "judge")
    (asked,) = await graph.statement(
        "CYPHER 25 MATCH (q:Request {id: $id}) RETURN q.namespace AS namespace, q.answers "
        "AS answers",
        id=judged.request_id,
    )
    (answer,) = json.loads(asked["answers"]).values()
    assert (asked["namespace"], answer["probabilities"]["yes"]) == (memory.namespace, 0.93)
    assert await memory.suggest_merges(apply=True) == []
    await memory.unmerge("Maya")
    assert await memory.suggest_merges(apply=True) == []  # a person has said no
    assert decider.asked == 1


async def test_an_unsure_or_absent_decider_merges_nothing(make_memory: Make) -> None:
    decider = Judge(0.84)
    memory = make_memory(decider=decider)
    await memory.remember("Maya", "owns", "a kite")
    await memory.remember("Maya Lindqvist", "owns", "a boat")
    (found,) = await memory.suggest_merges(apply=True)
    assert (found.p, found.merged) == (0.84, None)
    decider.p = None
    (found,) = await memory.suggest_merges(apply=True)
    assert (found.p, found.merged) == (None, None)
    decider.away = True
    (found,) = await memory.suggest_merges(apply=True)
    assert (found.p, found.backend, found.merged) == (None, "fallback", None)
    stats = await memory.stats()
    assert stats.requests >= 3


async def test_three_of_a_kind_become_one(make_memory: Make) -> None:
    memory = make_memory(decider=Judge(0.95))
    for name in ("Maya", "Maya Lindqvist", "Lindqvist, Maya"):
        await memory.remember(name, "owns", f"hat of {name}", text="A hat.")
    await memory.suggest_merges(apply=True)
    (left,) = [e for e in await memory.entities() if "hat" not in e.key]
    assert left.facts == 3
    assert len(left.aliases) == 2


async def test_the_blocking_client_does_the_same(sync_memory: Any) -> None:
    sync_memory.remember("Maya", "owns", "a kite")
    sync_memory.remember("ML", "owns", "a boat")
    sync_memory.add_alias("Maya", "Sunshine")
    assert sync_memory.remove_alias("Maya", "Sunshine").aliases == ()
    merged = sync_memory.merge_entities("Maya", "ML")
    assert sync_memory.entity("ML").id == merged.entity.id
    assert sync_memory.unmerge(merged).entity.name == "ML"
    assert sync_memory.suggest_merges() == []
    assert len(sync_memory.entities()) == 4
