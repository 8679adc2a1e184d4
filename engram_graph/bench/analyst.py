"""``engram bench --analyst``: the queries for people in one namespace of many.

The measured namespace is written fact by fact, so that it holds moves, ends, chains and decisions;
the others are imported. Every query of ``cypher/analyst/`` runs with its defaults, and asks about
what this namespace has most of.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from engram_graph import intake
from engram_graph.bench import sentences
from engram_graph.bench.load import Loader, texts
from engram_graph.bench.searches import warming
from engram_graph.bench.setting import Setting, remove
from engram_graph.bench.timing import Times
from engram_graph.errors import InputError
from engram_graph.flows import write
from engram_graph.graph import analyst
from engram_graph.graph.queries import load

TARGET_MS = 50.0
"""What the median of a query may take."""
_FEWEST = 20  # facts in a namespace, so that each query has something to ask about
_BEGAN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_APART = timedelta(hours=8)
_SPEAKERS = ("Ana", "Bruno", "Carla")

Row = dict[str, Any]


def checked(namespaces: int, facts: int) -> int:
    """Facts in each of so many namespaces.

    Raises:
        InputError: too few for the queries to find anything.
    """
    if facts // namespaces < _FEWEST:
        raise InputError(
            f"{facts} facts are too few for {namespaces} namespaces",
            hint=f"Each needs {_FEWEST} or more.",
            field="facts",
        )
    return facts // namespaces


async def measured(
    setting: Setting, namespaces: int, facts: int, rounds: int, step: Callable[[int], None]
) -> list[Row]:
    """Fill the namespaces, and time each query in one of them.

    Args:
        facts: in each namespace.
        step: told how much of ``steps`` is done.

    Returns:
        A row for each query, the slowest first: work, p50_ms, p90_ms, n, rows (of its answer),
        facts (in all namespaces), target (ms), met.
    """
    others = [f"{setting.namespace}-{number}" for number in range(1, namespaces)]
    try:
        for number, name in enumerate(others, 1):
            given = sentences.facts(number, facts)
            await Loader(setting.runtime, setting.vectors, name).facts(given, step)
        await _told(setting, facts, step)
        found = await _queries(setting, rounds, step)
    finally:
        for name in others:
            await remove(setting.runtime.graph, name)
    return [row | {"facts": namespaces * facts} for row in found]


def steps(namespaces: int, facts: int, rounds: int) -> int:
    """How many steps ``measured`` reports."""
    return namespaces * facts + len(analyst.library()) * (rounds + warming(rounds))


async def _told(setting: Setting, facts: int, step: Callable[[int], None]) -> None:
    """Facts one by one through the whole write path, a third of a day apart."""
    for number, item in enumerate(sentences.facts(0, facts)):
        told = item | {
            "valid_from": _BEGAN + number * _APART,
            "said_at": _BEGAN + number * _APART,
            "speaker": _SPEAKERS[number % len(_SPEAKERS)],
            "source_id": f"told {number}",
        }
        setting.vectors.prepare(texts(item))
        message, extracted = intake.given(setting.namespace, told)
        stored, vectors, degraded = await write.store(setting.runtime, message, extracted)
        await write.process(setting.runtime, stored, vectors, degraded)
        step(1)


async def _queries(setting: Setting, rounds: int, step: Callable[[int], None]) -> list[Row]:
    graph, namespace = setting.runtime.graph, setting.namespace
    most = (await graph.read(load("bench")["most"], namespace=namespace))[0]
    most |= {"after": _BEGAN, "before": _BEGAN + 1000 * _APART}
    rows = []
    for name, query in analyst.library().items():
        asks = [p.name for p in query.params if p.required and p.name != analyst.NAMESPACE]
        arguments = query.arguments({each: most[each] for each in asks})
        times = Times()
        for number in range(-warming(rounds), rounds):
            if number == 0:
                times = Times()

            await times.take(partial(analyst.run, graph, namespace, query, arguments))
            step(1)
        answer = await analyst.run(graph, namespace, query, arguments)
        rows.append(
            {
                "work": name,
                "p50_ms": round(times.at(0.5), 2),
                "p90_ms": round(times.at(0.9), 2),
                "n": len(times.values),
                "rows": len(answer),
                "target": TARGET_MS,
                "met": times.at(0.5) <= TARGET_MS,
            }
        )
    return sorted(rows, key=lambda row: -row["p50_ms"])
