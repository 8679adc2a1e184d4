"""Random statements about one-valued relations, in any order, against a model of ten lines."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_graph.flows import doctor
from engram_graph.graph.driver import Graph

pytestmark = pytest.mark.anyio
Statement = tuple[str, str, int]
YEARS = range(2001, 2010)
STATEMENTS = st.lists(
    st.tuples(st.sampled_from(["Ann", "Bo"]), st.sampled_from("ABCDEFGH"), st.sampled_from(YEARS)),
    min_size=1,
    max_size=16,
)


def start(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def expected(statements: list[Statement], subject: str, year: int) -> str | None:
    """The value of the statement that began last by ``year``; of one year, the last one heard."""
    best: tuple[int, int, str | None] = (0, 0, None)
    for heard, (who, value, since) in enumerate(statements):
        if who == subject and since <= year:
            best = max(best, (since, heard, value), key=lambda each: each[:2])
    return best[2]


# Derandomised: the same examples each time, so that a failure is one for everybody.
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(statements=STATEMENTS)
async def test_at_each_moment_the_latest_statement_holds(
    make_memory: Callable[..., Any], graph: Graph, namespace: str, statements: list[Statement]
) -> None:
    memory = make_memory(f"{namespace}-{uuid.uuid4().hex}")
    try:
        await check(memory, graph, statements)
    finally:
        await memory.aclose()


async def check(memory: Any, graph: Graph, statements: list[Statement]) -> None:
    # Others who live in the same places: they are as near as anybody's own homes.
    await memory.remember_many(
        (
            {"subject": f"{who} {n}", "predicate": "lives_in", "object": city}
            for who in ("Ann", "Bo")
            for city in "ABCDEFGH"
            for n in range(1)
        ),
        decide=False,
    )
    for who, city, year in statements:
        await memory.remember(who, "lives_in", city, valid_from=start(year), said_at="2015-01-01")
    for who in ("Ann", "Bo"):
        for year in (YEARS[0] - 1, *YEARS, 2020):
            page = await memory.facts(subject=who, as_of=start(year))
            found = {fact.object for fact in page.facts}
            wanted = expected(statements, who, year)
            assert found == ({wanted} if wanted else set()), (who, year)
    report = await doctor.check(graph, memory.namespace)
    assert report.sound, report.findings
