"""A question becomes a recall: shortlists, a model's judgement, lines for the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from engram_graph import clock
from engram_graph.flows import shortlists
from engram_graph.flows.judging import NOT_ASKED, Judgement, judge
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.selecting import Shown, Wanted, select_facts, select_turns
from engram_graph.flows.shortlists import FactList
from engram_graph.graph import read
from engram_graph.models.decisions import Turn, total_cost
from engram_graph.models.results import FactHit, Lines, Mode, Recall, TurnHit
from engram_graph.rules import selection
from engram_graph.rules.render import NOTHING, UNSURE, context_block, fact_line, turn_line

_UNREAD = frozenset({"history", "neighbour"})  # came along; nobody looked for them


async def search(
    runtime: Runtime,
    namespace: str,
    query: str,
    *,
    mode: Mode,
    limit: int,
    as_of: datetime | None,
    token_budget: int,
    shortlist: int = 0,
    wide: bool = False,
    lines: Lines = "compact",
) -> Recall:
    """Find what bears on ``query``; see ``AsyncMemory.search``.

    Args:
        shortlist: items of each sort that a model judges, where that is more than ``limit``.
    """
    asked, reason = await shortlists.ask(runtime, namespace, query, as_of, turns=mode != "facts")
    wanted = Wanted(asked, limit, wide)
    look_at = limit if runtime.judge is None else max(limit, shortlist)
    found, turns = FactList([], frozenset()), list[TurnHit]()
    if mode != "turns":
        found = await shortlists.facts(runtime, asked, look_at)
    if mode != "facts":
        turns = await shortlists.turns(runtime, asked, look_at)
    on_facts, on_turns = await _judged(runtime, wanted, found.hits[:look_at], turns)
    judged_facts = selection.scored(found.hits[:look_at], on_facts.said.relevance)
    turns = selection.scored(turns, on_turns.said.relevance)
    sufficient = None if runtime.judge is None else selection.sufficient([*judged_facts, *turns])
    shown = await select_facts(runtime, wanted, found, judged_facts, on_facts)
    turns = select_turns(runtime, wanted, turns, on_turns)
    now = clock.now()
    if mode == "both":
        shown, turns = await _without_repeats(runtime, namespace, shown, turns, as_of or now)
    facts = _with_lines(shown, lines, now, as_of)
    turns = [
        hit.model_copy(update={"line": turn_line(hit.message, lines)}) for hit in turns[:limit]
    ]
    _note(runtime, namespace, facts)
    told = [hit.line for hit in facts] + [hit.line for hit in turns]
    if sufficient is False:
        told.insert(0, UNSURE if any(told) else NOTHING)
    judgements = (on_facts, on_turns)
    return Recall(
        query=query,
        namespace=namespace,
        mode=mode,
        facts=tuple(facts),
        turns=tuple(turns),
        context=context_block(told, token_budget),
        sufficient=sufficient,
        degraded=tuple(
            dict.fromkeys(
                [
                    *([reason] if reason else []),
                    *(why for each in judgements for why in each.degraded),
                ]
            )
        ),
        cost_usd=total_cost(each.cost_usd for each in judgements),
        latency_ms=max(each.latency_ms for each in judgements),
    )


async def _judged(
    runtime: Runtime,
    wanted: Wanted,
    facts: Sequence[FactHit],
    turns: Sequence[TurnHit],
) -> tuple[Judgement, Judgement]:
    """What the runtime's judge says of both shortlists, asked at once."""
    judge_of, numbers = runtime.judge, runtime.method.thresholds
    if judge_of is None:
        return NOT_ASKED, NOT_ASKED
    text, namespace = wanted.query.text, wanted.query.namespace
    ids = [hit.message.id for hit in turns]
    before = await read.turns_before(runtime.graph, namespace, ids)
    items = [Turn(hit.message, before.get(hit.message.id)) for hit in turns]
    on_facts, on_turns = await asyncio.gather(
        judge(judge_of, text, [hit.fact for hit in facts], numbers, relation=not wanted.wide),
        judge(judge_of, text, items, numbers),
    )
    return on_facts, on_turns


async def _without_repeats(
    runtime: Runtime,
    namespace: str,
    facts: list[Shown],
    turns: list[TurnHit],
    moment: datetime,
) -> tuple[list[Shown], list[TurnHit]]:
    """Facts that hold first, then the turns that carry what the facts lack."""
    told = [fact for each in facts for fact in (each.hit.fact, *each.same)]
    sources = await read.sources_of(runtime.graph, namespace, [fact.id for fact in told])
    return (
        sorted(facts, key=lambda each: not selection.lasts(each.hit.fact, moment)),
        selection.untold(turns, told, sources),
    )


def _with_lines(
    facts: Sequence[Shown], form: Lines, now: datetime, as_of: datetime | None
) -> list[FactHit]:
    # Without dates a line cannot say when it was true: it is shown if it was so at the moment.
    moment = as_of if as_of is not None and form == "nodates" else now
    return [
        each.hit.model_copy(
            update={"line": fact_line(each.hit.fact, now=moment, form=form, also=each.same)}
        )
        for each in facts
    ]


def _note(runtime: Runtime, namespace: str, facts: Sequence[FactHit]) -> None:
    read_now = [hit for hit in facts if hit.why not in _UNREAD]
    runtime.reads.note(namespace, (each for hit in read_now for each in (hit.fact.id, *hit.also)))
