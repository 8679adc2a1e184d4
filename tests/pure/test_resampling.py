"""Bootstraps: small cases whose distribution can be written down, and what must hold for any."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.calibration import resampled_ece
from engram_graph.rules import calibration

CLUSTERS: list[dict[str, list[int]]] = [
    {"a": [1, 1, 0, 1], "b": [-1, 0], "c": [0, 0, 1]},
    {"a": [-1, -1, -1], "b": [1], "c": [0, 0, 1, -1]},
    {"a": [1], "b": [-1, -1, 0, 0, 0]},
]
Distribution = Counter[Fraction]


def whole(clusters: Mapping[str, Sequence[int]]) -> Distribution:
    """Every way to draw as many conversations as there are, each equally likely."""
    told = list(clusters.values())
    ways = list(itertools.product(told, repeat=len(told)))
    found: Distribution = Counter()
    for way in ways:
        questions = [each for conversation in way for each in conversation]
        found[Fraction(sum(questions), len(questions))] += Fraction(1, len(ways))
    return found


def nested(clusters: Mapping[str, Sequence[int]]) -> Distribution:
    """Every way to draw conversations, and every way to draw the questions inside them."""
    told = list(clusters.values())
    found: Distribution = Counter()
    for way in itertools.product(told, repeat=len(told)):
        sums: Distribution = Counter({Fraction(0): Fraction(1)})
        for conversation in way:
            drawn = list(itertools.product(conversation, repeat=len(conversation)))
            inside = Counter(map(sum, drawn))
            longer: Distribution = Counter()
            for (total, chance), (more, times) in itertools.product(sums.items(), inside.items()):
                longer[total + more] += chance * Fraction(times, len(drawn))
            sums = longer
        n = sum(map(len, way))
        for total, chance in sums.items():
            found[total / n] += chance / len(told) ** len(told)
    return found


def quantile(distribution: Distribution, share: float) -> float:
    """The value at which so much of the distribution is reached."""
    reached = Fraction(0)
    for value in sorted(distribution):
        reached += distribution[value]
        if reached >= share:
            return float(value)
    raise AssertionError("no distribution")


def drawn_from(distribution: Distribution, found: float, share: float) -> bool:
    """Whether a percentile of 10,000 draws lies where four standard errors allow it to."""
    slack = 4 * math.sqrt(share * (1 - share) / statistics.DRAWS)
    low, high = quantile(distribution, share - slack), quantile(distribution, share + slack)
    return low - 1e-12 <= found <= high + 1e-12


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_whole_conversations_by_every_way_to_draw_them(clusters: dict[str, list[int]]) -> None:
    distribution = whole(clusters)
    assert sum(distribution.values()) == 1
    assert drawn_from(distribution, statistics.cluster_bound(clusters), 0.05)
    assert not drawn_from(distribution, statistics.cluster_bound(clusters) + 0.2, 0.05)


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_questions_inside_conversations_by_every_way_to_draw_them(
    clusters: dict[str, list[int]],
) -> None:
    distribution = nested(clusters)
    assert sum(distribution.values()) == 1
    low, high = statistics.nested_interval(clusters)
    assert drawn_from(distribution, low, 0.025)
    assert drawn_from(distribution, high, 0.975)


def test_whole_conversations_are_another_distribution_than_nested_ones() -> None:
    clusters = CLUSTERS[2]
    assert not drawn_from(whole(clusters), statistics.nested_interval(clusters)[0], 0.025)


def test_the_same_seed_gives_the_same_bounds() -> None:
    clusters = {name: [(7 * at + len(name)) % 3 - 1 for at in range(40)] for name in "abcde"}
    clusters["f"] = [1, -1, 1, 1]
    assert statistics.cluster_bound(clusters) == statistics.cluster_bound(clusters)
    assert statistics.nested_interval(clusters) == statistics.nested_interval(clusters)
    few = [statistics.nested_interval(clusters, draws=30, seed=seed) for seed in (0, 0, 1)]
    assert few[0] == few[1] != few[2]


def test_items_by_every_way_to_draw_them() -> None:
    values = [0.0, 0.25, 1.0]
    ways = [sum(way) / 3 for way in itertools.product(values, repeat=3)]
    found = statistics.interval(lambda drawn, axis: drawn.mean(axis=axis), values)
    assert found == (min(ways), max(ways))  # each of the two has 1/27, more than 2.5 %


@pytest.mark.parametrize("clusters", [{}, {"a": [1, 0]}, {"a": [1], "b": []}])
def test_what_cannot_be_resampled_is_refused(clusters: dict[str, list[int]]) -> None:
    with pytest.raises(InputError):
        statistics.cluster_bound(clusters)
    with pytest.raises(InputError):
        statistics.nested_interval(clusters)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    for call in (statistics.cluster_bound, statistics.nested_interval):
        with pytest.raises(MissingExtraError, match="scipy"):
            call(CLUSTERS[0])


DIFFERENCES = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=12)
MANY = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), DIFFERENCES, min_size=2)


@settings(max_examples=40)
@given(MANY)
def test_bounds_lie_between_the_extremes(clusters: dict[str, list[int]]) -> None:
    means = [sum(each) / len(each) for each in clusters.values()]
    everything = [each for told in clusters.values() for each in told]
    bound = statistics.cluster_bound(clusters, draws=200)
    assert min(means) - 1e-9 <= bound <= sum(everything) / len(everything) + 1e-9
    low, high = statistics.nested_interval(clusters, draws=200)
    assert min(everything) <= low <= high <= max(everything)


@settings(max_examples=20)
@given(DIFFERENCES, st.integers(2, 5))
def test_equal_conversations_leave_no_doubt(told: list[int], times: int) -> None:
    clusters = {str(at): told for at in range(times)}
    bound = statistics.cluster_bound(clusters, draws=50)
    assert bound == pytest.approx(sum(told) / len(told), abs=1e-12)


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=5, max_size=5),
        min_size=1,
        max_size=6,
    )
)
def test_many_draws_at_once_have_the_ece_of_each(draws: list[list[tuple[float, bool]]]) -> None:
    confidence = np.array([[c for c, _ in draw] for draw in draws])
    right = np.array([[float(r) for _, r in draw] for draw in draws])
    assert resampled_ece(confidence, right, axis=1) == pytest.approx(
        [calibration.ece(draw) for draw in draws], abs=1e-12
    )
