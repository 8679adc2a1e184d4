"""Questions that call somebody by another name, with neighbours who live the same lives."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio

CITIES = ("Bonn", "Cork", "Oslo", "Turin", "Ghent", "Porto", "Graz", "Malmo")


@pytest.fixture
async def street(memory: Any) -> Any:
    """Eight people and where they live; the sixth has other names."""
    for number, city in enumerate(CITIES):
        await memory.remember(f"Person{number}", "lives_in", city, said_at="2024-01-01")
    await memory.add_alias("Person5", "Miss Sunshine")
    await memory.add_alias("Person5", "小雨")
    return memory


@pytest.mark.parametrize(
    "question",
    [
        "Where does Miss Sunshine live?",
        "where is miss sunshine's home",
        "Wo wohnt MISS SUNSHINE?",
        "小雨 住在哪里?",
    ],
)
@pytest.mark.parametrize("mode", ["facts", "both"])
async def test_another_name_finds_who_is_meant(street: Any, question: str, mode: str) -> None:
    found = await street.search(question, mode=mode)
    assert found.facts[0].fact.object == "Porto"
    assert found.query == question


async def test_names_of_another_namespace_mean_nobody(street: Any, make_memory: Any) -> None:
    other = make_memory(f"{street.namespace}-b")
    await other.remember("Person5", "lives_in", "Lyon", said_at="2024-01-01")
    await other.remember("Somebody", "friend_of", "Miss Sunshine", said_at="2024-01-01")
    found = await other.search("Who is a friend of Miss Sunshine?")
    assert found.facts[0].fact.subject == "Somebody"


async def test_after_a_merge_the_old_name_still_asks(street: Any) -> None:
    await street.remember("Quillon", "owns", "a kayak", said_at="2024-01-01")
    await street.merge_entities("Person2", "Quillon")
    found = await street.search("Where does Quillon live?")
    assert found.facts[0].fact.object == "Oslo"
