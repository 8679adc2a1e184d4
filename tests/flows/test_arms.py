"""The arms of a study, each writing and reading one small conversation on the real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.arms import ARMS, OWN, chosen
from engram_graph.evaluation.arms.statements import Statement, Teller
from engram_graph.evaluation.shortlist import namespace_of
from engram_graph.evaluation.study.records import Arm, Read, Talk, Task, Written
from engram_graph.formats.locomo import Turn
from engram_graph.models.facts import Draft, Message
from engram_graph.settings import Settings
from engram_graph.testing import fake_llm
from engram_graph.testing.fake_llm import FakeLLM
from engram_graph.testing.scripted import ScriptedDecider
from tests.flows.arm_fakes import FakeModels
from tests.flows.flow_fakes import draft

pytestmark = pytest.mark.anyio
SAID = [
    ("Maya", "I live in Lisbon."),
    ("Maya", "My sister Ida has two dogs."),
    ("Odo", "Where do you live now?"),
    ("Maya", "I moved: I live in Porto now."),
    ("Odo", "Porto has good coffee."),
]
FACTS = {
    "I live in Lisbon.": ("Maya lives in Lisbon", "Maya|lives_in|Lisbon"),
    "My sister Ida has two dogs.": ("Ida has two dogs", "Ida|owns|two dogs"),
    "I moved: I live in Porto now.": ("Maya lives in Porto", "Maya|lives_in|Porto"),
}
UPDATE = [{"fact": "Porto", "candidate": "Lisbon", "p": {"update": 0.97, "new": 0.03}}]
SCRIPT = {
    "relation_to_candidate": UPDATE,
    "relation_second": UPDATE,
    "relevant_to_query": [
        {"candidate": "coffee", "p": 0.9},
        {"candidate": "live", "p": 0.7},
        {"p": 0.1},
    ],
}
QUESTION = "Where does Maya live now?"


class Extractor:
    """Knows what each turn states."""

    name = "scripted"

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        return [draft(*FACTS[message.text])] if message.text in FACTS else []

    async def aclose(self) -> None:
        """Nothing to release."""


def answers(body: dict[str, Any]) -> str:
    """What the language model says: an order of items, or decisions."""
    if '"items"' in body["messages"][-1]["content"]:
        return fake_llm.ranking(body, "coffee", "Lisbon")
    return fake_llm.decisions(body)


@pytest.fixture
def llm() -> Iterator[FakeLLM]:
    with FakeLLM() as one:
        one.answers = answers
        yield one


@pytest.fixture
def models(settings: Settings, llm: FakeLLM) -> FakeModels:
    return FakeModels(settings, ScriptedDecider(SCRIPT), Extractor(), llm.url)


@pytest.fixture
async def talk(models: FakeModels, namespace: str) -> AsyncIterator[Talk]:
    """The conversation, under a name of the test's own; its store of turns goes at the end."""
    first = datetime(2024, 3, 1, 12, tzinfo=UTC)
    turns = tuple(
        Turn(f"c:{n}", namespace, speaker, text, first + timedelta(days=n), 1)
        for n, (speaker, text) in enumerate(SAID)
    )
    one = Talk(namespace, turns, (Task("q1", namespace, QUESTION, "Porto", "single-hop"),))
    yield one
    async with models.memory(namespace_of(one), decider="rules") as memory:
        await memory.forget(everything=True)


async def run(name: str, models: FakeModels, talk: Talk) -> tuple[Arm, Written, Read]:
    (arm,) = chosen([name])
    namespace = f"{talk.id}:{name}"
    written = await arm.write(models, talk, namespace)
    return arm, written, await arm.read(models, talk, namespace, talk.tasks[0])


def sources(read: Read) -> list[str | None]:
    return [line.source_id for line in read.lines]


def test_every_arm_of_the_study_is_there() -> None:
    names = (
        "turns_cosine turns_hybrid turns_jev turns_hybrid_jev turns_llm turns_jev_wide facts_v1 "
        "facts_v2 facts_v3 facts both facts_llm full_context mem0 jevmem graphiti agent_memory"
    )
    assert list(ARMS) == names.split()
    made = chosen(ARMS)
    assert [arm.name for arm in made] == list(ARMS)
    assert all(arm.about.endswith(".") and arm.ks for arm in made)
    assert {name for arm in made for name in arm.needs} == {"jev", "llm"}


def test_an_unknown_arm_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match="'turns_cosin'") as caught:
        chosen(["facts", "turns_cosin"])
    assert "turns_cosine, turns_hybrid" in str(caught.value.hint)
    with pytest.raises(InputError, match="no arm is named"):
        chosen([])
    assert [arm.name for arm in chosen(["both", "facts", "both"])] == ["both", "facts"]


def test_presets_and_parts_are_among_the_flags() -> None:
    flags = {arm.name: arm.flags for arm in chosen(OWN)}
    presets = {name: flags[name].get("preset") for name in flags if "facts" in name}
    assert presets == {
        "facts_v1": "v1",
        "facts_v2": "v2",
        "facts_v3": "v3",
        "facts": "default",
        "facts_llm": "default",
    }
    assert flags["turns_jev_wide"]["wide"] is True
    assert "cosine" not in flags["turns_cosine"]["search_without"].split(",")


async def test_arms_of_turns_share_one_store_and_differ_in_their_order(
    models: FakeModels, llm: FakeLLM, talk: Talk
) -> None:
    reads: dict[str, Read] = {}
    for name in (name for name in OWN if name.startswith("turns")):
        _, written, reads[name] = await run(name, models, talk)
        assert (written.turns, written.facts, written.failed) == (len(SAID), 0, ())
        assert set(sources(reads[name])) == {turn.source_id for turn in talk.turns}
    async with models.memory(namespace_of(talk)) as memory:
        assert (await memory.stats()).messages == len(SAID)
        assert [each.namespace for each in await memory.namespaces()].count(memory.namespace) == 1

    cosine = reads["turns_cosine"]
    by_cosine = sources(cosine)
    assert cosine.lines[0].text == "[2024-03-03] Odo: Where do you live now?"
    assert list(cosine.shortlist) == by_cosine
    assert (cosine.cost_usd, cosine.latency_ms) == (0.75, 7.0)
    assert sources(reads["turns_hybrid"]) != by_cosine
    assert sources(reads["turns_hybrid"])[0] == "c:3"

    # Two turns help by the script; what does not help follows in the order of the shortlist.
    for name, shortlist in (("turns_jev", "turns_cosine"), ("turns_hybrid_jev", "turns_hybrid")):
        assert reads[name].shortlist == reads[shortlist].shortlist
        assert sources(reads[name])[0] == "c:4"
        helps = {"c:0", "c:2", "c:3", "c:4"}
        rest = [each for each in reads[shortlist].shortlist if each not in helps]
        assert sources(reads[name])[4:] == rest
    assert sources(reads["turns_llm"])[:2] == ["c:4", "c:0"]
    assert reads["turns_llm"].shortlist == cosine.shortlist
    assert llm.requests
    assert sources(reads["turns_jev_wide"])[0] == "c:4"


async def test_facts_end_and_say_which_turns_told_them(models: FakeModels, talk: Talk) -> None:
    arm, written, read = await run("facts", models, talk)
    assert (written.turns, written.facts, written.active, written.failed) == (5, 3, 2, ())
    assert written.counters["closed:belief"] == 1
    assert written.counters["relation_to_candidate:applied"] == 1
    assert written.counters["requests:scripted"] == 4  # one more about what the graph finds
    (close,) = written.closes
    assert (close["text"], close["by"]) == ("Maya lives in Lisbon", "Maya lives in Porto")
    assert (close["old_sources"], close["new_sources"]) == (["c:0"], ["c:3"])
    assert (close["turn"], close["reason"]) == ("c:3", "belief")
    assert close["valid_until"].startswith("2024-03-04")
    moves = [(row["turn"], row["fact"], row["question"]) for row in written.beliefs]
    assert moves == [
        ("c:0", "Maya lives in Lisbon", "belief_start"),
        ("c:1", "Ida has two dogs", "belief_start"),
        ("c:3", "Maya lives in Porto", "belief_start"),
        ("c:3", "Maya lives in Porto", "relation_to_candidate"),
        ("c:3", "Maya lives in Lisbon", "relation_to_candidate"),
    ]
    assert written.latency_ms == (7.0,) * len(SAID)
    assert written.cost_usd == {"decisions": 2.5, "embeddings": 1.25}

    ended = {line.text: (line.source_id, line.ended) for line in read.lines}
    assert ended == {
        "[said 2024-03-04] Maya lives in Porto": ("c:3", False),
        "[said 2024-03-02] Ida has two dogs": ("c:1", False),
        "[said 2024-03-01] Maya lives in Lisbon (no longer true since 2024-03-04)": ("c:0", True),
    }
    assert {"c:1", "c:3"} <= set(read.shortlist)
    # Another process reads the same; writing again starts from nothing and comes to the same.
    namespace = f"{talk.id}:facts"
    (other,) = chosen(["facts"])
    assert await other.read(models, talk, namespace, talk.tasks[0]) == read
    assert await arm.write(models, talk, namespace) == written


@pytest.mark.parametrize("name", ["facts_v1", "facts_v2", "facts_v3", "facts_llm"])
async def test_each_arm_of_facts_writes_and_reads(
    name: str, models: FakeModels, talk: Talk
) -> None:
    _, written, read = await run(name, models, talk)
    assert written.facts == 3
    assert {"c:1", "c:3"} <= set(sources(read))
    backend = "llm" if name == "facts_llm" else "scripted"
    asked = [name for name in written.counters if name.startswith("requests:")]
    assert asked == [f"requests:{backend}"]


async def test_both_gives_facts_then_the_turns_they_lack(models: FakeModels, talk: Talk) -> None:
    _, _, read = await run("both", models, talk)
    texts = [line.text for line in read.lines]
    assert sum(text.startswith("[said") for text in texts[:3]) == 3
    assert read.lines[2].ended  # what holds comes first
    assert "[2024-03-05] Odo: Porto has good coffee." in texts[3:]


async def test_full_context_is_every_turn_in_its_order(models: FakeModels, talk: Talk) -> None:
    (arm,) = chosen(["full_context"])
    read = await arm.read(models, talk, "unused", talk.tasks[0])
    assert sources(read) == [turn.source_id for turn in talk.turns]
    assert read.lines[0].text == "[2024-03-01] Maya: I live in Lisbon."
    assert arm.limit >= len(talk.turns)


async def test_a_turn_that_cannot_be_written_is_named(models: FakeModels, talk: Talk) -> None:
    empty = replace(talk.turns[1], text=" ")
    broken = replace(talk, turns=(talk.turns[0], empty))
    for name in ("turns_hybrid", "facts"):
        _, written, _ = await run(name, models, broken)
        ((source_id, reason),) = written.failed
        assert source_id == "c:1"
        assert reason
    async with models.memory(namespace_of(broken)) as memory:
        await memory.forget(everything=True)


@pytest.mark.parametrize("name", ["facts", "turns_hybrid"])
async def test_statements_are_told_without_a_language_model(
    name: str, models: FakeModels, llm: FakeLLM, talk: Talk
) -> None:
    statements = [
        Statement("Maya", "lives_in", city, f"Maya lives in {city}.", when, source_id=source_id)
        for city, when, source_id in (
            ("Lisbon", datetime(2024, 3, 1, tzinfo=UTC), "s:0"),
            ("Porto", datetime(2024, 3, 4, tzinfo=UTC), "s:1"),
        )
    ]
    (arm,) = chosen([name])
    assert isinstance(arm, Teller)
    namespace = f"{talk.id}:told"
    await arm.tell(models, namespace, statements)
    read = await arm.read(models, talk, namespace, talk.tasks[0])
    ended = {line.source_id: line.ended for line in read.lines}
    assert ended == {"s:1": False, "s:0": name == "facts"}
    assert llm.requests == []
