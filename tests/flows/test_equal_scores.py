"""Where many score the same, what is found follows from the store, not from how it came about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.graph.driver import Graph
from engram_graph.graph.surroundings import surroundings
from engram_graph.models.facts import Vector
from engram_graph.rules.situation import Place
from engram_graph.rules.thresholds import Thresholds

pytestmark = pytest.mark.anyio
# Fewer than the indexes are asked for beyond what is kept, more than are kept.
COLOURS = ("amber", "beige", "coral", "ebony", "green", "ivory", "khaki", "lilac", "mauve", "ochre")
FACTS = tuple(f"{who} prefers {each}" for who in ("Ann", "Bob", "Cyd", "Dan") for each in COLOURS)


class Alike(HashEmbedder):
    """Gives every text the same vector."""

    def vector(self, text: str) -> Vector:
        return super().vector("alike")


@pytest.fixture(params=["vector", "text"])
async def twice(
    make_memory: Callable[..., Any], namespace: str, settings: Any, request: pytest.FixtureRequest
) -> tuple[Any, Any]:
    """Two memories with the same facts of equal score, told in opposite orders; one index finds."""
    one = settings.model_copy(update={"search_without": request.param})
    pair = (
        make_memory(namespace, settings=one, embedder=Alike()),
        make_memory(f"{namespace}-2", settings=one, embedder=Alike()),
    )
    for memory, told in zip(pair, (FACTS, FACTS[::-1]), strict=True):
        for text in told:
            who, _, colour = text.split()
            await memory.remember(who, "prefers", colour, text=text, valid_from="2023-05-01")
    return pair


async def test_a_search_finds_the_same(twice: tuple[Any, Any]) -> None:
    for within in ({}, {"as_of": "2023-06-01"}):
        found = [
            [hit.fact.text for hit in (await each.search("Who prefers what?", **within)).facts]
            for each in twice
        ]
        assert len(found[0]) < len(FACTS)
        assert found[0] == found[1]


async def test_a_new_fact_is_compared_with_the_same(
    twice: tuple[Any, Any], graph: Graph, namespace: str
) -> None:
    near = []
    for name in (namespace, f"{namespace}-2"):
        place = Place(name, "none", "eve", "prefers", "black", (), datetime(2023, 5, 1, tzinfo=UTC))
        around = await surroundings(
            graph, place, Alike().vector(""), Thresholds(), datetime.now(UTC)
        )
        near.append([each.fact.text for each in around.candidates if "near" in each.how])
    assert len(near[0]) == Thresholds().near < len(FACTS)
    assert near[0] == near[1]
