"""Eight writers, two hundred statements on five facts: real threads, and real processes.

No belief update is lost, no fact is stored twice, no deadlock reaches a caller; and the log, read
in its order, gives the stored belief.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

import evidence
import evidence_writer
import pytest

from engram_graph.graph.driver import Graph
from engram_graph.graph.records import native
from engram_graph.sync import Memory
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Calls = list[dict[str, Any]]
CLOCKS_AHEAD = (0, 3600, -3600, 0.002, -0.002, 90, -90, 0)
"""Seconds by which the clocks of eight machines are ahead of ours."""


def shares() -> list[Calls]:
    """The statements dealt out in turn: the writers are on one fact at a time."""
    told = evidence.statements()
    return [told[at :: evidence.WRITERS] for at in range(evidence.WRITERS)]


def by_threads(settings: Any, namespace: str) -> list[str]:
    """Each thread with a blocking client of its own; the errors that reached a caller."""
    meet = Barrier(evidence.WRITERS)

    def write(calls: Calls) -> list[str]:
        decider = ScriptedDecider(evidence.script())
        with Memory(namespace, settings=settings, decider=decider) as memory:
            meet.wait()
            return evidence_writer.run(memory, calls)

    with ThreadPoolExecutor(evidence.WRITERS) as pool:
        return [error for errors in pool.map(write, shares()) for error in errors]


def by_processes(settings: Any, namespace: str) -> list[str]:
    """Each process with a client and a clock of its own; the errors that reached a caller."""
    with ExitStack() as stack:
        writers = [stack.enter_context(process()) for _ in range(evidence.WRITERS)]
        for writer, calls, ahead in zip(writers, shares(), CLOCKS_AHEAD, strict=True):
            orders = {
                "settings": known(settings),
                "namespace": namespace,
                "script": evidence.script(),
                "calls": calls,
                "clock_ahead_s": ahead,
            }
            say(writer, json.dumps(orders))
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"  # type: ignore[union-attr]
        for writer in writers:
            say(writer, "go")
        told = [json.loads(writer.communicate()[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * evidence.WRITERS
    return [error for each in told for error in each["errors"]]


@contextmanager
def process() -> Iterator[subprocess.Popen[str]]:
    script = Path(evidence_writer.__file__)
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        try:
            yield one
        finally:
            one.kill()


def say(writer: subprocess.Popen[str], line: str) -> None:
    assert writer.stdin is not None
    writer.stdin.write(line + "\n")
    writer.stdin.flush()


def known(settings: Any) -> dict[str, Any]:
    """The settings that a client of this run's server needs."""
    names = ("neo4j_uri", "neo4j_username", "embedder", "extractor")
    given = {name: getattr(settings, name) for name in names}
    return given | {"neo4j_password": settings.neo4j_password.get_secret_value()}


async def check_story(memory: Any, fact_id: str) -> None:
    """Belief and end of a fact, told again from the log, also as they were known at each moment."""
    told = await memory.explain(fact_id)
    assert told.story[-1].agrees
    ends = [
        d for d in told.decisions if d.fact_id == fact_id and d.outcome in ("closed", "reopened")
    ]
    assert {d.outcome for d in ends} == {"closed", "reopened"}
    for before, d in itertools.pairwise(ends):
        assert before.valid_until_after == d.valid_until_before
    for d in (ends[0], ends[1], ends[-1]):
        known = [
            fact
            async for fact in memory.iter_facts(subject=told.fact.subject, known_at=d.decided_at)
            if fact.id == fact_id
        ]
        assert [fact.valid_until for fact in known] == [d.valid_until_after]
    assert ends[-1].valid_until_after == told.fact.valid_until


@pytest.mark.parametrize("write", [by_threads, by_processes], ids=["threads", "processes"])
async def test_the_evidence_of_eight_writers_adds_up(
    write: Callable[[Any, str], list[str]],
    memory: Any,
    graph: Graph,
    settings: Any,
    namespace: str,
) -> None:
    for call in evidence.first_statements():
        await memory.remember(**call)
    assert write(settings, namespace) == []

    stats = await memory.stats()
    assert (stats.messages, stats.unfinished) == (evidence.STATEMENTS, 0)
    facts = [fact async for fact in memory.iter_facts()]
    said = Counter((f.subject, f.predicate, f.object, f.text) for f in facts)
    assert set(said.values()) == {1}
    assert len(facts) == len(evidence.FACTS) * (1 + 10 + 13)  # itself, other words, against it

    rows = [native(row) for row in await graph.statement(evidence.LOG, namespace=namespace)]
    logs = [list(log) for _, log in itertools.groupby(rows, key=lambda row: row["id"])]
    assert len(logs) == len(facts)
    for log in logs:
        assert evidence.replayed(log) == pytest.approx(log[0]["belief"], abs=1e-9)
    of = {log[0]["text"]: log for log in logs}
    for fact in evidence.FACTS:
        await check_story(memory, of[fact.text][0]["id"])
        # Its start, and each of 39 statements once.
        assert Counter((row["question"], row["chosen"]) for row in of[fact.text]) == Counter(
            {
                ("belief_start", "sure"): 1,
                ("repetition", "duplicate"): 16,
                ("relation_to_candidate", "duplicate"): 10,
                ("relation_to_candidate", fact.against): 13,
            }
        )
