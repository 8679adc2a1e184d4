"""What arms share: lines of a recall, and what a search finds before anybody judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from engram_graph import clock
from engram_graph.evaluation.study.records import Line, Models, Read, Tally, Task
from engram_graph.models.decisions import total_cost
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


async def search(
    models: Models,
    namespace: str,
    task: Task,
    settings: Mapping[str, Any],
    *,
    mode: Mode,
    limit: int = SHORTLIST,
    wide: bool = False,
    sources: Sources | None = None,
) -> Read:
    """What a search gives, and what it finds before anybody judges that.

    What nobody judged is looked up by a search of its own: the shortlist itself for turns, and for
    facts those first by score and belief. It shows as well what the question's vector cost.

    Args:
        settings: and parts of the client; ``rerank`` among them.
        limit: items of each sort.
    """
    unjudged = {**settings, "decider": "rules", "escalation": "none", "rerank": "none"}
    with models.tally() as embedded:
        async with models.memory(namespace, **unjudged) as memory:
            recall = await memory.search(
                task.text, mode=mode, limit=limit, context_tokens=NO_BUDGET
            )
    found = [hit for hit in recall.facts if hit.why == "shortlist"]
    shortlist = source_ids([*found, *recall.turns], sources)
    if settings["rerank"] != "none":
        async with models.memory(namespace, **settings) as memory:
            recall = await memory.search(
                task.text, mode=mode, limit=limit, wide=wide, context_tokens=NO_BUDGET
            )
    return Read(
        lines(recall, sources),
        tuple(shortlist),
        cost_usd=total_cost((embedded.usd, recall.cost_usd)),
        latency_ms=embedded.latency_ms + recall.latency_ms,
        degraded=recall.degraded,
    )


def costs(asked: Sequence[Tally]) -> dict[str, float | None]:
    """What several blocks cost together, by part; None where it is unknown of one."""
    parts = sorted({part for tally in asked for part in tally.cost_usd})
    return {part: total_cost(tally.cost_usd.get(part, 0.0) for tally in asked) for part in parts}


def _of_fact(hit: FactHit, sources: Sources, now: datetime) -> Line:
    until = hit.fact.valid_until
    return Line(hit.line, sources.get(hit.fact.id), ended=until is not None and until <= now)
