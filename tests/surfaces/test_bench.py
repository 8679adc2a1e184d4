"""``engram bench`` in miniature: every row is there, finite, and nothing stays behind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.patterns import PatternExtractor
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.bench import run as bench
from engram_graph.bench import sentences
from engram_graph.bench.growth import per_x10
from engram_graph.bench.setting import remove
from engram_graph.bench.timing import Times, in_turn, row
from engram_graph.errors import ConfigurationError, InputError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph.analyst import library
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load

_LEFT = """CYPHER 25
MATCH (n:Fact|Message|Entity|Conversation|Decision|Request)
WHERE n.namespace STARTS WITH 'bench-'
RETURN count(n) AS left"""


def _runtime(graph: Graph, **parts: Any) -> Runtime:
    own = {
        "embedder": HashEmbedder(),
        "extractor": PatternExtractor(),
        "decider": RulesDecider(),
    }
    return Runtime(graph=graph, **(own | parts))


@pytest.mark.anyio
async def test_a_tiny_run_gives_every_row_and_leaves_nothing(graph: Graph) -> None:
    steps: list[tuple[int, int]] = []

    rows = await bench.run(
        _runtime(graph), facts=40, rounds=2, progress=lambda done, of: steps.append((done, of))
    )

    assert [r["work"] for r in rows] == [
        "one fact, new subject",
        "one fact, same subject",
        "message, drafts: 1",
        "message, drafts: 5",
        "message, drafts: 20",
        "hybrid search",
        "turn search with windows",
        "bulk import, per batch",
        "one fact, growth from 4 facts",
        "hybrid search, growth from 4 facts",
        "turn search, growth from 4 turns",
    ]
    for each in rows:
        for name in ("p50_ms", "p90_ms", "bare_p50_ms", "bare_p90_ms", "ratio"):
            assert math.isfinite(each[name])
            assert each[name] > 0
        assert each["n"] > 0
        assert each["facts"] > 0
        assert each["met"] is (each["ratio"] <= each["target"]) or each["ratio"] == each["target"]
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert (await graph.statement(_LEFT))[0]["left"] == 0


@pytest.mark.anyio
async def test_growth_measures_each_size_and_finds_the_sparse_tenant(graph: Graph) -> None:
    steps: list[tuple[int, int]] = []

    rows = await bench.grow(
        _runtime(graph),
        [100, 300],
        rounds=2,
        progress=lambda done, of: steps.append((done, of)),
    )

    assert [(r["facts"], r["work"]) for r in rows] == [
        (size, work)
        for size in (100, 300)
        for work in (
            "import of facts",
            "turns written at once",
            "hybrid search",
            "turn search with windows",
            "sparse tenant, facts by vector",
            "sparse tenant, facts by full text",
            "sparse tenant, turns by vector",
            "sparse tenant, turns by full text",
        )
    ]
    assert [r["found"] for r in rows if "found" in r] == [5] * 8
    assert all(r["seconds"] > 0 and r["per_s"] > 0 for r in rows if "seconds" in r)
    assert [r["facts"] for r in rows if "per_x10" in r] == [300, 300]
    assert steps[-1][0] == steps[-1][1]
    assert (await graph.statement(_LEFT))[0]["left"] == 0


@pytest.mark.anyio
@pytest.mark.parametrize("sizes", [[], [99, 1000], [1000, 1000], [1000, 100]])
async def test_growth_wants_sizes_that_grow(graph: Graph, sizes: list[int]) -> None:
    with pytest.raises(InputError, match="grow"):
        await bench.grow(_runtime(graph), sizes)


def test_growth_is_told_for_ten_times_as_many() -> None:
    before, after = Times([2.0]), Times([8.0])

    assert per_x10(10_000, after, 100, before) == pytest.approx(2.0)
    assert per_x10(1_000, after, 100, before) == pytest.approx(4.0)


@pytest.mark.anyio
async def test_every_query_for_people_is_timed(graph: Graph) -> None:
    steps: list[tuple[int, int]] = []

    rows = await bench.people(
        _runtime(graph),
        3,
        facts=360,
        rounds=2,
        progress=lambda done, of: steps.append((done, of)),
    )

    assert {each["work"] for each in rows} == set(library())
    assert [each["p50_ms"] for each in rows] == sorted((r["p50_ms"] for r in rows), reverse=True)
    assert all(each["facts"] == 360 and each["n"] == 2 for each in rows)
    answered = {each["work"] for each in rows if each["rows"]}
    assert {"world_as_of", "why_closed", "supersession_chain", "message_consequences"} <= answered
    assert steps[-1][0] == steps[-1][1]
    assert (await graph.statement(_LEFT))[0]["left"] == 0


@pytest.mark.anyio
async def test_each_namespace_holds_enough_to_ask_about(graph: Graph) -> None:
    with pytest.raises(InputError, match="too few"):
        await bench.people(_runtime(graph), 50, facts=900)


@pytest.mark.anyio
async def test_a_run_that_fails_leaves_nothing_either(graph: Graph) -> None:
    def stop(done: int, of: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await bench.run(_runtime(graph), facts=40, rounds=2, progress=stop)

    assert (await graph.statement(_LEFT))[0]["left"] == 0


@pytest.mark.anyio
async def test_models_are_refused(graph: Graph) -> None:
    with pytest.raises(ConfigurationError, match="not a model"):
        await bench.run(_runtime(graph, embedder=None))


@pytest.mark.anyio
async def test_remove_takes_one_namespace_only(graph: Graph, namespace: str) -> None:
    other = f"{namespace}-other"
    for name in (namespace, other):
        await graph.write(
            load("bench")["bare_message"],
            message={
                "id": f"{name}-m",
                "namespace": name,
                "source_id": "1",
                "status": "done",
                "conversation": "default",
            },
        )

    await remove(graph, namespace)

    left = load("bench")["left"]
    assert (await graph.read(left, namespace=namespace))[0]["left"] == 0
    assert (await graph.read(left, namespace=other))[0]["left"] == 1
    await remove(graph, other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sentences.facts(1, 50),
        lambda: list(itertools.islice(sentences.stream(1), 50)),
        lambda: list(itertools.islice(sentences.newcomers(2), 50)),
        lambda: list(itertools.islice(sentences.about_one(3), 50)),
    ],
)
def test_sentences_are_varied_and_the_same_in_every_run(make: Callable[[], list[Any]]) -> None:
    first = make()

    assert first == make()
    assert len({item["text"] for item in first}) == 50


def test_newcomers_are_never_the_same_person() -> None:
    subjects = [item["subject"] for item in itertools.islice(sentences.newcomers(2), 500)]

    assert len(set(subjects)) == 500


def test_questions_are_the_same_in_every_run() -> None:
    assert list(itertools.islice(sentences.questions(3), 20)) == list(
        itertools.islice(sentences.questions(3), 20)
    )


@pytest.mark.anyio
async def test_the_two_sides_take_turns_in_going_first() -> None:
    order: list[str] = []

    async def one() -> None:
        order.append("one")

    async def other() -> None:
        order.append("other")

    first, second = Times(), Times()
    for number in range(4):
        await in_turn(number, (first, one), (second, other))

    assert order == ["other", "one", "one", "other"] * 2
    assert len(first.values) == len(second.values) == 4


def test_a_row_says_whether_its_target_is_met() -> None:
    measured, beside = Times([3.0, 1.0, 2.0]), Times([1.0, 1.0, 1.0])

    found = row("work", 10, measured, beside, target=2.0, ratio=2.0)

    assert (found["p50_ms"], found["p90_ms"], found["n"], found["met"]) == (2.0, 3.0, 3, True)
    assert not row("work", 10, measured, beside, target=1.9, ratio=2.0)["met"]
