"""Each part of the order of a search can be switched off by a setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.errors import ConfigurationError
from engram_graph.rules.turns import WEIGHTS
from engram_graph.settings import Settings

pytestmark = pytest.mark.anyio
Without = Callable[[str], Any]


@pytest.fixture
def without(make_memory: Callable[..., Any], settings: Any) -> Without:
    """A client of the test's namespace that orders without these parts."""

    def make(parts: str) -> Any:
        off = Settings.load(search_without=parts).search_without
        return make_memory(settings=settings.model_copy(update={"search_without": off}))

    return make


async def test_parts_of_turns(memory: Any, without: Without) -> None:
    for day, text in ((1, "Kites are painted at the lake."), (2, "Kites are painted at the lake?")):
        await memory.add(text, speaker="Ann", said_at=f"2023-05-0{day}")
    asked: dict[str, Any] = {"query": "Who painted kites at the lake?", "mode": "turns"}
    whole = await memory.search(**asked)
    assert [hit.scores.parts.keys() for hit in whole.turns] == [WEIGHTS.keys()] * 2
    asking = {hit.message.text[-1]: hit.scores for hit in whole.turns}["?"]
    assert asking.parts["asks"] == WEIGHTS["asks"] < 0
    bare = await without("asks").search(**asked)
    found = {hit.message.text[-1]: hit.scores for hit in bare.turns}["?"]
    assert {**found.parts, "asks": WEIGHTS["asks"]} == pytest.approx(asking.parts)
    assert found.fused > asking.fused  # it counts against a turn
    for part in WEIGHTS:
        left = await without(part).search(**asked)
        assert [set(hit.scores.parts) for hit in left.turns] == [WEIGHTS.keys() - {part}] * 2


async def test_parts_of_facts(memory: Any, without: Without) -> None:
    await memory.remember("Ann", "owns", "a kite", text="Ann owns a kite")
    await memory.remember("Bo", "prefers", "the sea", text="Bo prefers the sea")
    both = {hit.fact.object: hit for hit in (await memory.search("kite")).facts}
    assert set(both) == {"a kite", "the sea"}
    [text] = (await without("vector").search("kite")).facts  # the sea holds no word of it
    assert text.fact.object == "a kite"
    assert text.scores.vector == pytest.approx(both["a kite"].scores.vector)  # told all the same
    assert text.scores.fused == 1.0
    vector = {hit.fact.object: hit for hit in (await without("text").search("kite")).facts}
    assert set(vector) == set(both)
    assert vector["a kite"].scores.text is not None


async def test_the_time_named(memory: Any, without: Without) -> None:
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2019-01-01")
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    query = "Where did Ann live in May 2019?"
    assert (await memory.search(query)).facts[0].scores.parts["date"] > 0
    found = (await without("date").search(query)).facts
    assert found
    assert all(hit.scores.parts == {} for hit in found)


@pytest.mark.parametrize("parts", ["window", "cosine;near", "vector,text", "vector, text, date"])
def test_what_cannot_be_off(parts: str) -> None:
    with pytest.raises(ConfigurationError, match="search_without"):
        Settings.load(search_without=parts)


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_SEARCH_WITHOUT", " date,near , date,")
    assert Settings.load().search_without == "date,near"
    monkeypatch.setenv("ENGRAM_SEARCH_WITHOUT", "")
    assert Settings.load().search_without == ""
