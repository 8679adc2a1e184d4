"""Who speaks in a namespace: remembered for a minute, never mixed, and left out of one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.flows.speakers import NAMESPACES, SECONDS, Speakers
from engram_graph.graph.driver import Graph
from engram_graph.models.facts import Vector

pytestmark = pytest.mark.anyio


class Clock:
    """Moves when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


async def test_speakers_are_known_for_a_minute_and_then_read_again(
    memory: Any, graph: Graph, namespace: str
) -> None:
    await memory.add("Hello.", speaker="Ann")
    clock = Clock()
    known = Speakers(graph, clock)
    assert await known.of(namespace) == {"Ann"}
    await memory.add("Hello.", speaker="Bo")
    clock.seconds += SECONDS - 1
    assert await known.of(namespace) == {"Ann"}
    clock.seconds += 1
    assert await known.of(namespace) == {"Ann", "Bo"}


async def test_who_speaks_through_this_client_is_known_at_once(
    memory: Any, graph: Graph, namespace: str
) -> None:
    await memory.add("Hello.", speaker="Ann")
    clock = Clock()
    known = Speakers(graph, clock)
    known.note(namespace, "Zoe")  # nothing was read yet: a note alone would hide the others
    assert await known.of(namespace) == {"Ann"}
    known.note(namespace, "Bo")
    assert await known.of(namespace) == {"Ann", "Bo"}
    clock.seconds += SECONDS  # a note does not keep what was read young
    assert await known.of(namespace) == {"Ann"}


async def test_speakers_of_one_namespace_are_not_those_of_another(
    make_memory: Any, graph: Graph, namespace: str
) -> None:
    other = f"{namespace}-b"
    await make_memory(namespace).add("Hello.", speaker="Ann")
    await make_memory(other).add("Hello.", speaker="Bo")
    known = Speakers(graph)
    assert (await known.of(namespace), await known.of(other)) == ({"Ann"}, {"Bo"})
    known.note(other, "Cai")
    assert (await known.of(namespace), await known.of(other)) == ({"Ann"}, {"Bo", "Cai"})
    assert await known.of(f"{namespace}-c") == set()


async def test_no_more_namespaces_are_remembered_than_that(
    memory: Any, graph: Graph, namespace: str
) -> None:
    await memory.add("Hello.", speaker="Ann")
    known = Speakers(graph, Clock())
    await known.of(namespace)
    await memory.add("Hello.", speaker="Bo")
    for number in range(NAMESPACES - 1):
        await known.of(f"{namespace}-{number}")
    assert await known.of(namespace) == {"Ann"}
    await known.of(f"{namespace}-last")
    assert await known.of(namespace) == {"Ann", "Bo"}


class Heard(HashEmbedder):
    """Keeps the questions it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if query:
            self.questions.append(list(texts))
        return await super().embed(texts, query=query)


async def test_a_question_that_names_a_speaker_has_a_vector_without_the_name(
    make_memory: Any, namespace: str
) -> None:
    heard = Heard()
    memory = make_memory(embedder=heard)
    await memory.add("I own a kayak.", speaker="Ann")
    await memory.add("Boats are nice.", speaker="Bo")
    found = {}
    for question in ("What does Ann own?", "What does Cai own?"):
        found[question] = await memory.search(question, mode="turns")
    assert heard.questions == [["What does Ann own?", "What does own"], ["What does Cai own?"]]
    hit = found["What does Ann own?"].turns[0]
    assert hit.message.speaker == "Ann"
    assert hit.scores.parts["named"] > 0
    heard.questions.clear()
    await memory.search("Where does Ann row?", mode="facts")
    assert heard.questions == [["Where does Ann row?"]]
    await make_memory(f"{namespace}-b", embedder=heard).search("Is Ann here?", mode="turns")
    assert heard.questions[1:] == [["Is Ann here?"]]  # no Ann speaks there
