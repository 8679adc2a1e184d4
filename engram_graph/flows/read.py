"""A question becomes a recall: shortlists, a model's judgement, lines for the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from engram_graph import clock
from engram_graph.flows import shortlists
from engram_graph.flows.judging import judged
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.selecting import Shown, Wanted, select_facts, select_turns
from engram_graph.flows.shortlists import FactList
from engram_graph.graph import read
from engram_graph.models.facts import Fact
from engram_graph.models.results import FactHit, Lines, Mode, Recall, TurnHit
from engram_graph.rules import selection
from engram_graph.rules.render import (
    NOTHING,
    UNSURE,
    Block,
    context_block,
    fact_line,
    turn_line,
)
from engram_graph.rules.selection import Hit
from engram_graph.rules.timeline import Span
from engram_graph.rules.times import true_then
from engram_graph.rules.untold import untold

_UNREAD = frozenset({"history", "neighbour"})  # came along; nobody looked for them


async def search(
    runtime: Runtime,
    namespace: str,
    query: str,
    *,
    mode: Mode,
    limit: int,
    within: Span | None,
    token_budget: int,
    shortlist: int = 0,
    wide: bool = False,
    lines: Lines = "compact",
) -> Recall:
    """Find what bears on ``query``; see ``AsyncMemory.search``.

    Args:
        within: only what was true at one of these moments.
        shortlist: items of each sort that are looked at, where that is more than ``limit``.
    """
    asked, reason = await shortlists.ask(runtime, namespace, query, within, turns=mode != "facts")
    wanted = Wanted(asked, limit, wide)
    look_at = max(limit, shortlist)  # the best by belief may not be the first found
    found, turns = FactList([], frozenset()), list[TurnHit]()
    if mode != "turns":
        found = await shortlists.facts(runtime, asked, look_at)
    if mode != "facts":
        turns = await shortlists.turns(runtime, asked, look_at)
    looked_at = found.hits[:look_at]
    said = await judged(runtime, namespace, asked.text, looked_at, turns, relation=not wide)
    shown = await select_facts(runtime, wanted, found, looked_at, said.facts)
    turns = select_turns(runtime, wanted, turns, said.turns)
    now = clock.now()
    if mode == "both":
        shown, turns = await _without_repeats(runtime, asked, shown, turns, now, lines)
    facts = _with_lines(shown, lines, now, within)
    turns = [
        hit.model_copy(update={"line": turn_line(hit.message, lines)}) for hit in turns[:limit]
    ]
    _note(runtime, namespace, facts)
    facts, turns, context = await _in_context(runtime, facts, turns, said.sufficient, token_budget)
    return Recall(
        query=query,
        namespace=namespace,
        mode=mode,
        facts=tuple(facts),
        turns=tuple(turns),
        context=context.text,
        context_tokens=context.tokens,
        counted_by=runtime.counted_by,
        sufficient=said.sufficient,
        degraded=(*([reason] if reason else []), *said.degraded),
        cost_usd=said.cost_usd,
        latency_ms=said.latency_ms,
    )


async def _without_repeats(
    runtime: Runtime,
    asked: shortlists.Query,
    facts: list[Shown],
    turns: list[TurnHit],
    now: datetime,
    form: Lines,
) -> tuple[list[Shown], list[TurnHit]]:
    """Facts that hold first, then the turns that carry what the facts lack."""
    told = [fact for each in facts for fact in (each.hit.fact, *each.same)]
    sources = await read.sources_of(runtime.graph, asked.namespace, [fact.id for fact in told])
    return (
        sorted(facts, key=lambda each: not _holds(each.hit.fact, asked, now)),
        untold(turns, told, sources, quoted=form in ("compact", "full")),
    )


def _holds(fact: Fact, asked: shortlists.Query, now: datetime) -> bool:
    """Whether a fact holds at the time asked about: given, named in the question, or now."""
    if asked.named:
        return true_then(fact, asked.named) > 0
    return selection.lasts(fact, asked.within.last if asked.within else now)


async def _in_context(
    runtime: Runtime,
    facts: list[FactHit],
    turns: list[TurnHit],
    sufficient: bool | None,
    budget: int,
) -> tuple[list[FactHit], list[TurnHit], Block]:
    """The hits with what of them stands in the context, and that."""
    told = [hit.line for hit in facts] + [hit.line for hit in turns]
    notice = [UNSURE if any(told) else NOTHING] if sufficient is False else []
    # In a thread: to load a vocabulary takes a quarter of a second, to count long turns some time.
    block = await asyncio.to_thread(context_block, [*notice, *told], budget, runtime.count)
    lines = block.lines[len(notice) :]
    return (
        [_placed(hit, line) for hit, line in zip(facts, lines, strict=False)],
        [_placed(hit, line) for hit, line in zip(turns, lines[len(facts) :], strict=True)],
        block,
    )


def _placed(hit: Hit, line: str) -> Hit:
    """A hit with its line as it stands in the context, if it does."""
    return hit.model_copy(update={"line": line, "shown": True}) if line else hit


def _with_lines(
    facts: Sequence[Shown], form: Lines, now: datetime, within: Span | None
) -> list[FactHit]:
    # Without dates a line cannot say when it was true: it is shown if it was so at the time.
    moment = within.first if within is not None and form == "nodates" else now
    return [
        each.hit.model_copy(
            update={"line": fact_line(each.hit.fact, now=moment, form=form, also=each.same)}
        )
        for each in facts
    ]


def _note(runtime: Runtime, namespace: str, facts: Sequence[FactHit]) -> None:
    read_now = [hit for hit in facts if hit.why not in _UNREAD]
    runtime.reads.note(namespace, (each for hit in read_now for each in (hit.fact.id, *hit.also)))
