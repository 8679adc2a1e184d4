"""A reranker's numbers: read, put together, and never worth more than they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.decisions import Answer, Reply
from engram_graph.models.ranking import Ranking
from engram_graph.rules import questions as about
from engram_graph.rules import ranking
from engram_graph.rules.thresholds import DEFAULT

NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=3), unique=True, max_size=12)


def reply(**answers: Answer) -> Reply:
    return Reply({a.question: a for a in answers.values()}, backend="jev", model="m", cost_usd=0.5)


def noul(item: str, p: float) -> Answer:
    return Answer(f"{about.RELEVANT}:{item}", {"yes": p, "no": 1 - p}, "jev")


@pytest.mark.parametrize(
    ("p", "relation"),
    [
        ({"owns": 0.85, "none": 0.15}, "owns"),
        ({"owns": 0.84, "none": 0.16}, None),
        ({"none": 0.99, "owns": 0.01}, None),
    ],
)
def test_a_relation_is_named_when_it_is_sure(p: dict[str, float], relation: str | None) -> None:
    asked = Answer(about.QUERY_RELATION, p, "jev")
    lost = Answer(f"{about.RELEVANT}:b", {}, "jev", fallback=True)
    found = ranking.judged(reply(q=asked, a=noul("a", 0.7), b=lost), 2)
    assert (found.numbers, found.relation, found.missing) == ({"a": 0.7}, relation, 1)
    assert (found.scale, found.cost_usd) == ("probability", 0.5)
    nothing = Answer(about.QUERY_RELATION, {}, "jev", fallback=True)
    assert ranking.judged(reply(q=nothing), 0).relation is None


def test_what_was_wholly_lost_does_not_count_and_nothing_asked_is_not_lost() -> None:
    assert not Ranking(asked=3).counts
    assert Ranking(numbers={"a": 0.0}, asked=3).counts
    assert Ranking().counts


@given(NAMES)
def test_places_are_told_apart_and_what_is_not_listed_is_nothing(names: list[str]) -> None:
    order = list(range(len(names)))[::-2]
    numbers = ranking.places(names, order)
    assert list(numbers) == names
    listed = sorted((name for name in names if numbers[name] > 0), key=lambda n: -numbers[n])
    assert listed == [names[index] for index in order]
    assert all(0 <= number <= 1 for number in numbers.values())


@given(NAMES, st.integers(1, 5), st.data())
def test_parts_of_a_list_are_put_together_by_place(
    names: list[str], size: int, data: st.DataObject
) -> None:
    parts = [names[at : at + size] for at in range(0, len(names), size)]
    orders = [data.draw(st.permutations(range(len(p)))) for p in parts]
    cut = [data.draw(st.integers(0, len(order))) for order in orders]
    lists = [[p[i] for i in o[:n]] for p, o, n in zip(parts, orders, cut, strict=True)]
    whole = ranking.merged(
        [
            Ranking("place", ranking.places(p, o[:n]), asked=len(p))
            for p, o, n in zip(parts, orders, cut, strict=True)
        ]
    )
    longest = max(map(len, lists), default=0)
    expected = [one[k] for k in range(longest) for one in lists if k < len(one)]
    assert set(whole.numbers) == set(names)
    order = sorted((n for n in names if whole.numbers[n] > 0), key=lambda n: -whole.numbers[n])
    assert order == expected
    assert [whole.numbers[name] for name in order] == [1 / k for k in range(1, len(order) + 1)]
    assert ranking.merged([whole]).numbers == whole.numbers


def test_probabilities_stand_and_a_lost_part_is_told() -> None:
    whole = ranking.merged(
        [
            Ranking(numbers={"a": 0.4}, relation="owns", asked=1, cost_usd=0.25, latency_ms=3),
            Ranking(asked=2, problems=("gone",), cost_usd=None),
            Ranking(asked=1, problems=("gone",), cost_usd=None),
        ]
    )
    assert whole == Ranking("probability", {"a": 0.4}, "owns", 4, ("gone",), None, 3)
    assert (whole.missing, whole.counts) == (3, True)
    lost = Ranking(asked=2, problems=("gone",))
    last = Ranking("score", {"c": 0.9}, asked=1)
    assert ranking.merged([lost, last]).scale == "score"


@pytest.mark.parametrize(
    ("scale", "number", "said"),
    [
        ("probability", DEFAULT.relevant_above, False),
        ("probability", 0.51, True),
        ("probability", None, None),
        ("place", 0.0, False),
        ("place", 1 / 150, True),
        ("place", None, None),
        ("score", 0.999, None),
        ("score", 0.001, None),
    ],
)
def test_what_helps(scale: ranking.Scale, number: float | None, said: bool | None) -> None:
    assert ranking.helps(number, scale) is said


def test_sufficient_needs_one_yes_or_all_noes() -> None:
    assert ranking.sufficient([None, False, True]) is True
    assert ranking.sufficient([None, False]) is None
    assert ranking.sufficient([False, False]) is False
    assert ranking.sufficient([]) is False
