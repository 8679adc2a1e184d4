"""What arms share: lines of a recall, and what a search finds before anybody judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from engram_graph import clock
from engram_graph.evaluation.study.records import Line, Models, Task
from engram_graph.models.results import FactHit, Mode, Recall, TurnHit
from engram_graph.rules.turns import WEIGHTS

COSINE_ONLY: Final = ",".join(part for part in WEIGHTS if part != "cosine")
"""The setting ``search_without`` that leaves turns in the order of their likeness to a question."""
NO_BUDGET: Final = 1_000_000
"""Tokens of a context that never cuts a line; k cuts instead."""
SHORTLIST: Final = 30
"""Items a search looks at, and an arm gives at most."""
Sources = Mapping[str, str]
"""Fact id → source id of the turn that told it first."""


def lines(recall: Recall, sources: Sources | None = None) -> tuple[Line, ...]:
    """The lines of a recall as its context holds them: best first, each once.

    Args:
        sources: of facts.
    """
    now = clock.now()
    found: dict[str, Line] = {}
    for fact in recall.facts:
        found.setdefault(fact.line, _of_fact(fact, sources or {}, now))
    for turn in recall.turns:
        found.setdefault(turn.line, Line(turn.line, turn.message.source_id))
    return tuple(line for line in found.values() if line.text)


def source_ids(hits: Iterable[FactHit | TurnHit], sources: Sources | None = None) -> list[str]:
    """Of the turns that hits come from, each once; facts without a known source are left out."""
    known = sources or {}
    found = (
        known.get(hit.fact.id) if isinstance(hit, FactHit) else hit.message.source_id
        for hit in hits
    )
    return list(dict.fromkeys(each for each in found if each is not None))


async def found_unjudged(
    models: Models,
    namespace: str,
    task: Task,
    mode: Mode,
    sources: Sources | None = None,
    **settings: Any,
) -> tuple[str, ...]:
    """Source ids of what is found for a question while nobody judges it.

    Turns are the shortlist itself; facts stand by score and belief, without what came along.

    Args:
        settings: of the client, such as ``shortlist``.
    """
    plain = {"decider": "rules", **settings, "rerank": "none"}
    limit = plain.get("shortlist", SHORTLIST)
    async with models.memory(namespace, **plain) as memory:
        recall = await memory.search(task.text, mode=mode, limit=limit)
    facts = [hit for hit in recall.facts if hit.why == "shortlist"]
    return tuple(source_ids([*facts, *recall.turns], sources))


def _of_fact(hit: FactHit, sources: Sources, now: datetime) -> Line:
    until = hit.fact.valid_until
    return Line(hit.line, sources.get(hit.fact.id), ended=until is not None and until <= now)
