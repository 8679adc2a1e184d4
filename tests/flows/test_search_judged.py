"""A model judges what a search found: what is kept, what comes along, and what an outage leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.adapters.http import Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.errors import DecisionUnavailableError, InputError
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.results import Recall
from engram_graph.rules.render import NOTHING, UNSURE
from engram_graph.testing.scripted import ScriptedDecider
from tests.contract.jev_server import JevServer, Scripted
from tests.flows.flow_fakes import ScriptedExtractor, draft

pytestmark = pytest.mark.anyio
Make = Callable[..., AsyncMemory]


def yes(*texts: str, p: float = 0.9, rest: float = 0.1) -> list[dict[str, Any]]:
    """Rules that say yes about candidates with one of ``texts``, and no about all others."""
    return [*({"candidate": text, "p": p} for text in texts), {"p": rest}]


def judge(*texts: str, relation: dict[str, float] | None = None, **more: float) -> ScriptedDecider:
    script = {"relevant_to_query": yes(*texts, **more), "query_relation": relation or {"none": 1.0}}
    return ScriptedDecider(script)


def objects(recall: Recall, why: str | None = None) -> list[str]:
    return [hit.fact.object for hit in recall.facts if why in (None, hit.why)]


def said(recall: Recall) -> list[str]:
    return [hit.message.text for hit in recall.turns]


async def boats(memory: AsyncMemory, count: int) -> None:
    """Facts in which a question about boats finds its words."""
    await memory.remember_many(
        [
            {"subject": f"Bo {n}", "predicate": "owns", "object": f"boat {n}"}
            | {"text": f"Bo {n} owns boat {n}", "valid_from": "2018-01-01"}
            for n in range(count)
        ],
        decide=False,
    )


@pytest.fixture
async def filled(memory: AsyncMemory) -> AsyncMemory:
    """Twelve boats, and Ann, who lived in Bonn, then Cork, then Oslo and works at Sable as Odo."""
    await boats(memory, 12)
    for city, year in (("Bonn", 2019), ("Cork", 2021), ("Oslo", 2023)):
        await memory.remember("Ann", "lives_in", city, valid_from=f"{year}-01-01")
    await memory.remember("Ann", "works_at", "Sable", valid_from="2022-01-01")
    await memory.remember("Odo", "works_at", "Sable", valid_from="2020-01-01")
    return memory


async def test_what_is_kept_leads_and_the_first_found_follow(
    filled: AsyncMemory, make_memory: Make
) -> None:
    decider = judge("boat 7", "Ann lives in Oslo", "boat 3")
    recall = await make_memory(decider=decider).search("Who owns a boat?")
    assert decider.asked.count("relevant_to_query") == 17
    assert decider.asked.count("query_relation") == 1
    kept = objects(recall, "shortlist")
    assert kept == ["Oslo", "boat 3", "boat 7"]  # equally relevant: by belief, then text
    assert {hit.scores.relevance for hit in recall.facts if hit.why == "shortlist"} == {0.9}
    floor = [hit for hit in recall.facts if hit.why == "floor"]
    assert 7 <= len(floor) <= 10
    assert [hit.scores.fused for hit in floor] == sorted(
        (hit.scores.fused for hit in floor), reverse=True
    )
    assert {hit.scores.relevance for hit in floor} == {0.1}
    assert (recall.sufficient, recall.degraded) == (True, ())
    assert recall.context.splitlines()[1].endswith("Ann lives in Oslo")


async def test_belief_weighs_and_an_ended_fact_counts_whole_in_its_time(
    filled: AsyncMemory, make_memory: Make
) -> None:
    judged = make_memory(decider=judge("Oslo", "Cork", "Bonn"))
    now = await judged.search("Where does Ann live?")
    assert objects(now, "shortlist") == ["Oslo", "Bonn", "Cork"]  # ended ones: .02 of belief
    then = await judged.search("Where does Ann live?", as_of="2021-05-05")
    assert objects(then, "shortlist") == ["Cork"]
    assert objects(then, "history") == []


async def test_the_chain_stands_behind_what_is_kept(filled: AsyncMemory, make_memory: Make) -> None:
    recall = await make_memory(decider=judge("Oslo")).search("boat")
    assert objects(recall)[:3] == ["Oslo", "Cork", "Bonn"]
    oslo, cork, bonn = recall.facts[:3]
    assert [hit.why for hit in (oslo, cork, bonn)] == ["shortlist", "history", "history"]
    assert (cork.successor, bonn.successor) == (oslo.fact.id, cork.fact.id)
    assert cork.scores.relevance == 0.1  # it was found and judged, too
    assert "(no longer true since 2023-01-01)" in cork.line


async def test_one_hop_from_the_object_of_what_is_kept(
    filled: AsyncMemory, make_memory: Make
) -> None:
    judged = make_memory(decider=judge("Ann works at Sable"))
    recall = await judged.search("boat")
    assert [(hit.fact.subject, hit.why) for hit in recall.facts if hit.fact.object == "Sable"] == [
        ("Ann", "shortlist"),
        ("Odo", "neighbour"),
    ]
    assert recall.facts[-1].fact.subject == "Odo"
    await filled.remember("Sable", "owns", "a pier", valid_from="2024-01-01")
    await filled.remember("Sable", "owns", "a mill", valid_from="2019-01-01")
    later = await judged.search("boat", as_of="2023-01-01")
    assert "a mill" in objects(later, "neighbour")
    assert "a pier" not in objects(later)
    open_one = (await filled.facts(object="a mill")).facts[0]
    await filled.correct(open_one, valid_until="2020-01-01", reason="sold")
    ended = await judged.search("boat")
    assert set(objects(ended, "neighbour")) == {"Sable", "a pier", "a mill"}
    assert objects(ended, "neighbour")[-1] == "a mill"


async def test_a_hub_leads_nowhere(filled: AsyncMemory, make_memory: Make) -> None:
    await filled.remember_many(
        [
            {"subject": f"Pia {n}", "predicate": "works_at", "object": "Sable"}
            | {"text": f"Pia {n} is with them"}
            for n in range(24)
        ],
        decide=False,
    )
    judged = make_memory(decider=judge("Ann works at Sable"))
    assert objects(await judged.search("boat"), "neighbour") == []  # 26 facts
    odo = (await filled.facts(subject="Odo")).facts[0]
    await filled.forget(fact=odo)
    assert len(objects(await judged.search("boat"), "neighbour")) == 15


async def test_the_relation_asked_about_is_pulled(
    filled: AsyncMemory, make_memory: Make, settings: Any
) -> None:
    await boats(filled, 40)
    for food in ("nuts", "rye", "milk"):
        await filled.remember("Ann", "allergic_to", food, text=f"{food} make her ill")
    asked = {"allergic_to": 0.85, "none": 0.15}
    recall = await make_memory(decider=judge("boat", relation=asked)).search("boat")
    assert len(objects(recall, "shortlist")) == 30  # the limit: no place for more
    recall = await make_memory(decider=judge("boat 3", relation=asked)).search("boat")
    assert objects(recall)[-3:] == objects(recall, "relation")
    assert set(objects(recall, "relation")) == {"nuts", "rye", "milk"}
    words = settings.model_copy(update={"embedder": "none"})
    by_words = make_memory(settings=words, decider=judge("boat 3", relation=asked))
    assert set(objects(await by_words.search("boat"), "relation")) == {"nuts", "rye", "milk"}
    unsure = {"allergic_to": 0.84, "none": 0.16}
    recall = await make_memory(decider=judge("boat 3", relation=unsure)).search("boat")
    assert objects(recall, "relation") == []
    asked = {"works_at": 1.0}
    judged = make_memory(decider=judge("boat 3", relation=asked))
    recall = await judged.search("boat", as_of="2021-05-05")
    assert [h.fact.subject for h in recall.facts if h.why == "relation"] == ["Odo"]


async def test_the_same_is_shown_once(filled: AsyncMemory, make_memory: Make) -> None:
    first = await filled.remember("Ann", "owns", "a kite", text="Ann owns a kite")
    second = await filled.remember("Ann", "owns", "a kite", text="The red kite is Ann's")
    recall = await make_memory(decider=judge("kite")).search("kite")
    hit = recall.facts[0]
    assert (hit.fact.id, hit.also) == (first.facts[0].id, (second.facts[0].id,))
    assert "Ann owns a kite; The red kite is Ann's" in hit.line
    assert objects(recall).count("a kite") == 1
    assert len(recall.facts) <= 30


async def test_the_limit_counts_all_but_not_what_is_judged(
    filled: AsyncMemory, make_memory: Make
) -> None:
    decider = judge("Oslo")
    recall = await make_memory(decider=decider).search("boat", limit=2)
    assert decider.asked.count("relevant_to_query") == 17
    assert objects(recall) == ["Oslo", "Cork"]


async def test_only_what_was_looked_for_is_noted_as_read(
    filled: AsyncMemory, make_memory: Make
) -> None:
    async with make_memory(decider=judge("Ann works at Sable", "Oslo")) as judged:
        recall = await judged.search("boat")
    read = {hit.why: (await filled.get(hit.fact.id)).read_at is not None for hit in recall.facts}
    assert read == {"shortlist": True, "floor": True, "history": False, "neighbour": False}


# Nothing certain


async def test_when_nothing_helps_the_context_begins_by_saying_so(
    filled: AsyncMemory, make_memory: Make, namespace: str
) -> None:
    judged = make_memory(decider=judge("no such thing"))
    recall = await judged.search("What is Ann's blood group?")
    assert recall.sufficient is False
    assert {hit.why for hit in recall.facts} <= {"floor", "history"}
    assert recall.context.splitlines()[1] == UNSURE
    empty = await judged.search("What is Ann's blood group?", namespace=f"{namespace}-empty")
    assert (empty.sufficient, empty.facts) == (False, ())
    assert empty.context.splitlines()[1] == NOTHING
    nobody = await filled.search("What is Ann's blood group?")
    assert (nobody.sufficient, nobody.cost_usd, nobody.latency_ms) == (None, 0.0, 0.0)
    assert UNSURE not in nobody.context


# Turns


class Listening(ScriptedDecider):
    """Keeps what it was asked; fails from the ``away``-th call on (counted from 1)."""

    def __init__(self, *texts: str, away: frozenset[int] = frozenset(), **more: float) -> None:
        super().__init__({"relevant_to_query": yes(*texts, **more)})
        self.asks: list[Ask] = []
        self.away = away

    async def ask(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if len(self.asks) in self.away:
            raise DecisionUnavailableError("gone")
        return await super().ask(ask)


async def test_a_turn_is_judged_with_its_date_and_the_turn_before_it(
    memory: AsyncMemory, make_memory: Make
) -> None:
    for day, speaker, text in (
        (1, "Ann", "Did you sell the boat?"),
        (2, "Odo", "Yes, to Pia."),
        (3, "Ann", "Good."),
    ):
        await memory.add(text, speaker=speaker, said_at=f"2025-03-0{day}")
    decider = Listening("to Pia")
    recall = await make_memory(decider=decider).search("Who bought the boat?", mode="turns")
    assert said(recall)[0] == "Yes, to Pia."
    assert [(hit.why, hit.scores.relevance) for hit in recall.turns] == [
        ("shortlist", 0.9),
        ("floor", 0.1),
        ("floor", 0.1),
    ]
    turns = {q.turn.message.text: q.turn for q in decider.asks[0].questions if q.turn}
    before = {text: turn.before and turn.before.text for text, turn in turns.items()}
    assert before == {
        "Did you sell the boat?": None,
        "Yes, to Pia.": "Did you sell the boat?",
        "Good.": "Yes, to Pia.",
    }
    assert "query_relation" not in decider.asked
    assert recall.sufficient is True


async def told(memory: AsyncMemory, count: int) -> None:
    await memory.add([{"role": "user", "content": f"Boat {n:02} sank."} for n in range(count)])


async def test_wide_asks_in_parts_and_leaves_nothing_out(
    memory: AsyncMemory, make_memory: Make
) -> None:
    await told(memory, 40)
    decider = Listening("Boat 07", "Boat 31", rest=0.2)
    recall = await make_memory(decider=decider).search("boat", mode="turns", wide=True)
    assert sorted(len(ask.questions) for ask in decider.asks) == [10, 30]
    assert len(recall.turns) == 40
    assert set(said(recall)[:2]) == {"Boat 07 sank.", "Boat 31 sank."}
    assert {hit.why for hit in recall.turns} == {"shortlist"}
    assert len((await make_memory(decider=Listening()).search("boat", mode="turns")).turns) == 10
    plain = await memory.search("boat", mode="turns", wide=True)
    assert said(recall)[2:] == [t for t in said(plain) if t not in said(recall)[:2]]


async def test_a_lost_part_of_wide_keeps_the_order_it_was_found_in(
    memory: AsyncMemory, make_memory: Make
) -> None:
    await told(memory, 40)
    decider = Listening("Boat", away=frozenset({2}))
    recall = await make_memory(decider=decider).search("boat", mode="turns", wide=True)
    scored = [hit.scores.relevance for hit in recall.turns]
    assert scored == [0.9] * 30 + [None] * 10
    assert said(recall) == said(await memory.search("boat", mode="turns", wide=True))
    assert recall.degraded == ("decider: decision_unavailable (10 of 40 turns not judged)",)
    assert recall.sufficient is True
    lost = Listening(away=frozenset({2}))
    recall = await make_memory(decider=lost).search("boat", mode="turns", wide=True)
    assert [hit.scores.relevance for hit in recall.turns] == [None] * 10 + [0.1] * 30
    assert recall.sufficient is None


async def test_wide_facts_come_alone(filled: AsyncMemory, make_memory: Make) -> None:
    asked = {"works_at": 1.0}
    decider = judge("Oslo", relation=asked)
    recall = await make_memory(decider=decider).search("boat", wide=True)
    assert objects(recall)[0] == "Oslo"
    assert {hit.why for hit in recall.facts} == {"shortlist"}
    assert len(recall.facts) == 17
    assert "query_relation" not in decider.asked
    plain = await filled.search("boat", wide=True)
    assert {hit.why for hit in plain.facts} == {"shortlist"}


async def test_both_says_nothing_twice(memory: AsyncMemory, make_memory: Make) -> None:
    await memory.add("I live in Bonn.", speaker="Ann", said_at="2019-01-01")
    await memory.add("I live in Oslo.", speaker="Ann", said_at="2023-01-01")
    await memory.add("The flat in Oslo is by the harbour!", speaker="Ann", said_at="2023-01-02")
    decider = judge("Oslo", "Bonn")
    recall = await make_memory(decider=decider).search("Ann's home", mode="both")
    assert objects(recall) == ["Oslo", "Bonn"]
    assert said(recall) == ["The flat in Oslo is by the harbour!"]
    lines = recall.context.splitlines()[1:-1]
    assert lines == [hit.line for hit in recall.facts] + [hit.line for hit in recall.turns]
    unjudged = await memory.search("Ann's home in Bonn", mode="both")
    assert (objects(unjudged), said(unjudged)) == (["Oslo", "Bonn"], said(recall))


async def test_both_shows_first_what_held_at_the_time_named(
    memory: AsyncMemory, make_memory: Make
) -> None:
    await memory.add("I live in Bonn.", speaker="Ann", said_at="2019-01-01")
    await memory.add("I live in Oslo.", speaker="Ann", said_at="2023-01-01")
    for asker in (memory, make_memory(decider=judge("Oslo", "Bonn"))):
        then = await asker.search("Where did Ann live in May 2021?", mode="both")
        assert objects(then) == ["Bonn", "Oslo"]
        now = await asker.search("Where does Ann live?", mode="both")
        assert objects(now) == ["Oslo", "Bonn"]


# An outage, and who is asked


async def test_an_outage_leaves_the_order_without_a_model(
    filled: AsyncMemory, make_memory: Make
) -> None:
    decider = judge("Oslo")
    decider.down = None
    judged = make_memory(decider=decider)
    for mode in ("facts", "both"):
        plain = await filled.search("boat", mode=mode)  # type: ignore[arg-type]
        recall = await judged.search("boat", mode=mode)  # type: ignore[arg-type]
        assert objects(recall) == objects(plain)
        assert said(recall) == said(plain)
        assert recall.context == plain.context
        assert recall.sufficient is None
        assert [text.split(" (")[0] for text in recall.degraded][:1] == [
            "decider: decision_unavailable"
        ]
    assert all(hit.scores.relevance is None for hit in recall.facts)
    decider.down = frozenset()
    decider.malformed = {"query_relation": "sum"}
    recall = await judged.search("boat")
    assert (objects(recall)[0], recall.sufficient) == ("Oslo", True)
    decider.malformed = {"relevant_to_query": "nan"}
    recall = await judged.search("boat")
    assert objects(recall) == objects(await filled.search("boat"))
    assert recall.degraded == ("decider: no usable answer (17 of 17 facts not judged)",)


async def test_settings_say_who_is_asked(
    filled: AsyncMemory, make_memory: Make, settings: Any
) -> None:
    def one(rerank: str, **parts: Any) -> AsyncMemory:
        return make_memory(settings=settings.model_copy(update={"rerank": rerank}), **parts)

    decider = judge("Oslo")
    recall = await one("none", decider=decider).search("boat")
    assert (decider.asked, recall.sufficient) == ([], None)
    assert recall.facts[0].scores.relevance is None
    by_rule = await one("decider").search("boat 7")
    assert by_rule.facts[0].fact.object == "boat 7"
    assert by_rule.facts[0].scores.relevance == 1.0
    turns = await one("decider").search("Cork lives", mode="turns")
    assert said(turns)[0] == "Ann lives in Cork"
    assert turns.turns[0].scores.relevance == 1.0
    assert (await one("auto").open()).reranker is None


# Lines


async def test_lines_come_in_four_forms(filled: AsyncMemory, make_memory: Make) -> None:
    first = {}
    for form in ("compact", "full", "lean", "nodates"):
        recall = await filled.search("Where does Ann live?", limit=3, lines=form)  # type: ignore[arg-type]
        first[form] = next(hit.line for hit in recall.facts if hit.fact.object == "Oslo")
        assert first[form] in recall.context
    assert first == {
        "compact": "[true from 2023-01-01] Ann lives in Oslo",
        "full": "[true from 2023-01-01] Ann lives in Oslo "
        "(belief 0.98, since 2023-01-01, by caller)",
        "lean": "[2023-01-01] Ann lives in Oslo",
        "nodates": "Ann lives in Oslo",
    }
    assert "Bonn" not in recall.context
    then = await filled.search("Ann", as_of="2020-01-01", lines="nodates")
    assert "Ann lives in Bonn" in then.context.splitlines()
    for wrong in ({"lines": "short"}, {"wide": 1}):
        with pytest.raises(InputError):
            await filled.search("Ann", **wrong)  # type: ignore[arg-type]


# Jev


def jev(server: JevServer) -> JevDecider:
    async def no_wait(seconds: float) -> None:
        pass

    return JevDecider(api_key="test-key", transport=server.transport, timing=Timing(sleep=no_wait))


async def test_jev_judges_thirty_in_parts_and_an_overload_is_told(
    memory: AsyncMemory, make_memory: Make
) -> None:
    await boats(memory, 45)
    await told(memory, 8)
    server = JevServer()
    judged = make_memory(decider=jev(server))
    recall = await judged.search("boat")
    (body,) = server.requests
    assert len(body["questions"]) == 31
    assert body["state"]["query"] == "boat"
    assert set(body["state"]["known_1"]) == {"text", "subject", "object", "valid_from"}
    assert [hit.scores.relevance for hit in recall.facts] == [0.93] * 30
    assert recall.cost_usd == pytest.approx(1000 * 0.042e-6)
    assert recall.latency_ms > 0
    server.limit = len(str(body)) // 2
    again = await judged.search("boat")
    assert objects(again) == objects(recall)
    assert len(server.requests) > 2
    server.limit = None
    turns = await judged.search("boat", mode="turns", limit=5)
    asked = server.requests[-1]["state"]
    about = [value for name, value in asked.items() if name.startswith("known_")]
    sixth = next(each for each in about if each["text"] == "user: Boat 06 sank.")
    assert set(sixth) == {"text", "said_on", "before"}
    assert sixth["before"] == "user: Boat 05 sank."
    assert len(turns.turns) == 5
    server.script(*[Scripted(529, {"detail": {"error_type": "system_overloaded"}})] * 9)
    away = await judged.search("boat")
    assert away.degraded == ("decider: decision_unavailable (30 of 30 facts not judged)",)
    assert objects(away) == objects(await memory.search("boat"))


async def test_reading_writes_no_request(
    filled: AsyncMemory, make_memory: Make, graph: Graph
) -> None:
    before = await filled.stats()
    await make_memory(decider=judge("Oslo")).search("boat", mode="both")
    after = await filled.stats()
    assert (after.requests, after.decisions) == (before.requests, before.decisions)


# Whether the memory holds anything on the question


@pytest.mark.parametrize("mode", ["facts", "turns", "both"])
@pytest.mark.parametrize("wide", [False, True])
async def test_what_is_said_about_holding_something(
    memory: AsyncMemory, make_memory: Make, namespace: str, mode: Any, wide: bool
) -> None:
    """Nobody judged: None. All judged: True or False. Not all, and nothing helps: None."""
    await memory.remember("Ann", "owns", "a boat")
    empty = f"{namespace}-empty"
    nobody = await memory.search("boat", mode=mode, wide=wide)
    assert (nobody.sufficient, UNSURE in nobody.context) == (None, False)
    nothing = await memory.search("boat", namespace=empty, mode=mode, wide=wide)
    assert (nothing.sufficient, nothing.context) == (None, "")

    yes_ = await make_memory(decider=judge("boat")).search("boat", mode=mode, wide=wide)
    assert (yes_.sufficient, UNSURE in yes_.context) == (True, False)
    no = make_memory(decider=judge("no such thing"))
    found = await no.search("boat", mode=mode, wide=wide)
    assert (found.sufficient, found.context.splitlines()[1]) == (False, UNSURE)
    assert found.context_tokens <= 1500
    none = await no.search("boat", namespace=empty, mode=mode, wide=wide)
    assert (none.sufficient, none.context.splitlines()[1]) == (False, NOTHING)

    gone = judge("boat")
    gone.down = None
    away = await make_memory(decider=gone).search("boat", mode=mode, wide=wide)
    assert (away.sufficient, away.context) == (None, nobody.context)
    assert away.degraded


@pytest.mark.parametrize("tokens", [50, 60, 120])
async def test_the_notice_fits_the_smallest_budget(
    memory: AsyncMemory, make_memory: Make, tokens: int
) -> None:
    await memory.remember("Ann", "owns", "a boat", text="Ann owns a boat " + "of oak " * 40)
    recall = await make_memory(decider=judge("none")).search("boat", context_tokens=tokens)
    assert recall.context.splitlines()[1] == UNSURE
    assert recall.context_tokens <= tokens


async def test_both_keeps_a_source_that_says_more(memory: AsyncMemory, make_memory: Make) -> None:
    extractor = ScriptedExtractor(
        [draft("Ann lives in Bergen", "Ann|lives_in|Bergen")],
        [draft("Ann owns a kayak", "Ann|owns|kayak")],
        [draft("安娜住在青石镇", "安娜|lives_in|青石镇")],
    )
    async with make_memory(extractor=extractor) as writer:
        for text in (
            "I live in Bergen, and my sister moved to Cork.",
            "I own a kayak, by the way.",
            "我住在青石镇，我养了三只猫。",
        ):
            await writer.add(text, speaker="Ann")
    recall = await memory.search("Where does Ann live?", mode="both")
    assert sorted(said(recall)) == [
        "I live in Bergen, and my sister moved to Cork.",
        "我住在青石镇，我养了三只猫。",
    ]
    assert len(recall.facts) == 3
    assert all(hit.shown for hit in (*recall.facts, *recall.turns))
