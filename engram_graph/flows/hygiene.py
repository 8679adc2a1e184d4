"""Upkeep of a store: links between facts that say the same, and what search need not give.

A pass may be broken off at any point and goes on the next time: an answered pair leaves a decision
whose id derives from the decider and from all it was told of the two, so that the same pair is
asked about once by each decider, and again once one of the facts reads differently. A worth that
was asked again counts for as long as an unread fact counts as fresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engram_graph import clock
from engram_graph.flows.asking import answered
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import hygiene as store
from engram_graph.graph.read import get_fact
from engram_graph.models.decisions import Ask, Judgement, Question, Reply, RequestLog, total_cost
from engram_graph.models.facts import Fact
from engram_graph.models.upkeep import Archived, HygieneReport, SameAs
from engram_graph.rules import hygiene as rules
from engram_graph.rules import questions as about
from engram_graph.rules.answers import FALLBACK_BACKEND, failed, request_log, yes
from engram_graph.rules.hygiene import Ageing, Pair
from engram_graph.vocabulary import Outcome, Role

Progress = Callable[[int, int], None]
_SUBJECTS = 50  # read at once
_AT_ONCE = 8  # worth: facts asked about, each in a request of its own, and written together


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a pass is to do; ``now``: what it takes for the present moment, None for the clock."""

    same_as: bool
    worth: bool
    short_lived: bool
    apply: bool
    now: datetime | None


@dataclass(slots=True)
class _Pass:
    """One run, and what it has found so far."""

    runtime: Runtime
    namespace: str
    wanted: Wanted
    progress: Progress | None
    total: int = 0
    done: int = 0
    pairs: int = 0
    asked: int = 0
    skipped: int = 0
    stale: int = 0
    same_as: list[SameAs] = field(default_factory=list)
    archived: dict[str, Archived] = field(default_factory=dict)
    costs: list[float | None] = field(default_factory=list)
    degraded: dict[str, None] = field(default_factory=dict)
    away: bool = False
    ticks: int = 0

    def now(self) -> datetime:
        if self.wanted.now is None:
            return clock.now()
        self.ticks += 1  # two records never share a moment
        return self.wanted.now + timedelta(microseconds=self.ticks)

    def advance(self, steps: int) -> None:
        self.done += steps
        if self.progress and self.total:
            self.progress(min(self.done, self.total), self.total)

    async def ask(self, ask: Ask) -> Reply | None:
        """The decider's reply; None when it gave nothing usable, which ends the asking."""
        reply = await answered(self.runtime.decider, ask)
        if reply.backend != FALLBACK_BACKEND:
            self.costs.append(reply.cost_usd)
        self.away = self.away or failed(reply)
        if why := reply.error or ("no usable answer" if failed(reply) else None):
            self.degraded[f"decider: {why}"] = None
        return None if failed(reply) else reply

    def report(self) -> HygieneReport:
        return HygieneReport(
            namespace=self.namespace,
            applied=self.wanted.apply,
            pairs=self.pairs,
            asked=self.asked,
            skipped=self.skipped,
            same_as=tuple(self.same_as),
            stale=self.stale,
            archived=tuple(self.archived.values()),
            requests=len(self.costs),
            cost_usd=total_cost(self.costs),
            degraded=tuple(self.degraded),
        )


async def hygiene(
    runtime: Runtime, namespace: str, wanted: Wanted, progress: Progress | None
) -> HygieneReport:
    """Run one pass; see ``AsyncMemory.hygiene``."""
    await runtime.reads.flush()  # a fact read a moment ago is not stale
    run = _Pass(runtime, namespace, wanted, progress)
    graph, numbers = runtime.graph, runtime.method.thresholds
    stale: list[str] = []
    if wanted.same_as:
        run.total += await store.count_pairs(graph, namespace, numbers.same_group)
    if wanted.worth:
        before = run.now() - timedelta(days=numbers.stale_days)
        stale = await store.stale_ids(graph, namespace, before)
        run.total += len(stale)
    if wanted.same_as:
        await _same_as(run)
    for begin in range(0, len(stale), _AT_ONCE):
        if run.away:
            break
        await _worth(run, stale[begin : begin + _AT_ONCE])
    if wanted.short_lived:
        await _short_lived(run)
    return run.report()


async def restore(runtime: Runtime, namespace: str, fact_id: str) -> Fact:
    """Take the archiving of a fact back.

    Raises:
        NotFoundError: no such fact.
    """
    found = await get_fact(runtime.graph, namespace, fact_id)
    judgement = rules.restored(found.fact, clock.new_id())
    if not await store.restore(runtime.graph, namespace, fact_id, judgement, clock.now()):
        return found.fact
    return (await get_fact(runtime.graph, namespace, fact_id)).fact


async def _same_as(run: _Pass) -> None:
    """Ask whether facts of one subject and predicate are the same, many pairs in a request.

    The pairs of a request come from any group: most groups hold two or three facts, and a request
    for each would be many times as many.
    """
    waiting: list[tuple[str, Pair]] = []
    size = run.runtime.method.thresholds.same_batch
    async for found in _undecided(run):
        waiting += found
        while len(waiting) >= size and not run.away:
            await _compare(run, waiting[:size])
            waiting = waiting[size:]
        if run.away:
            return
    if waiting:
        await _compare(run, waiting)


async def _undecided(run: _Pass) -> AsyncIterator[list[tuple[str, Pair]]]:
    """The pairs nobody has decided yet, by page, each with the id of its decision to come."""
    graph, newest = run.runtime.graph, run.runtime.method.thresholds.same_group
    after: str | None = ""
    while after is not None:
        page, after = await store.groups(graph, run.namespace, after, newest, _SUBJECTS)
        pairs = {_decision_id(run, pair): pair for one in page for pair in rules.pairs(one, newest)}
        decided = await store.decided_before(graph, run.namespace, list(pairs))
        run.pairs += len(pairs)
        run.advance(sum(rules.count_pairs(one) for one in page) - len(pairs) + len(decided))
        yield [(each, pair) for each, pair in pairs.items() if each not in decided]


async def _compare(run: _Pass, batch: Sequence[tuple[str, Pair]]) -> None:
    """Ask about one batch, and carry out what the answers say."""
    questions = tuple(about.same_fact(pair.newer, pair.older) for _, pair in batch)
    first = batch[0][1].newer
    now = run.now()
    reply = await run.ask(
        Ask(
            draft=first.as_draft(),
            valid_from=first.valid_from,
            speaker=first.subject,
            role=Role.USER,
            message="",
            questions=questions,
        )
    )
    if reply is None:
        return
    request = request_log(reply, questions, clock.new_id(), now)
    items = [
        rules.compared(pair, answer, each, request.id, run.runtime.method.thresholds)
        for (each, pair), question in zip(batch, questions, strict=True)
        if (answer := reply.answers.get(question.id)) and not answer.fallback
    ]
    if run.wanted.apply:
        items = await store.apply_compared(run.runtime.graph, run.namespace, items, request, now)
    run.asked += len(batch)
    run.skipped += len(batch) - len(items)
    run.same_as += [
        SameAs(change=one.change, fact=one.pair.newer, other=one.pair.older, p=one.p)
        for one in items
        if one.change
    ]
    run.advance(len(batch))


async def _worth(run: _Pass, ids: Sequence[str]) -> None:
    """Ask again whether some stale facts are worth keeping, each about the message it came from."""
    numbers, now = run.runtime.method.thresholds, run.now()
    found = await store.ageing_facts(run.runtime.graph, run.namespace, ids)
    items = [one for one in found if rules.is_stale(one, now, numbers)]
    question = about.question(about.WORTH)
    replies = await asyncio.gather(*(run.ask(_about_worth(one, question)) for one in items))
    judgements: list[Judgement] = []
    requests: list[RequestLog] = []
    values: dict[str, float] = {}
    for ageing, reply in zip(items, replies, strict=True):
        if reply is None:
            continue
        answer = reply.answers[question.id]
        request = request_log(reply, [question], clock.new_id(), now)
        requests.append(request)
        judgements.append(rules.worth(ageing, answer, clock.new_id(), request.id, numbers))
        values[ageing.fact.id] = yes(answer)
    run.stale += len(judgements)
    await _archive(run, items, judgements, requests, values)
    run.advance(len(ids))


async def _short_lived(run: _Pass) -> None:
    """Archive what was said for a few days only."""
    numbers, now = run.runtime.method.thresholds, run.now()
    before = now - timedelta(days=numbers.short_lived_days)
    ids = await store.short_lived_ids(run.runtime.graph, run.namespace, before)
    for begin in range(0, len(ids), _SUBJECTS):
        page = ids[begin : begin + _SUBJECTS]
        found = await store.ageing_facts(run.runtime.graph, run.namespace, page)
        items = [one for one in found if rules.has_expired(one, now, numbers)]
        judgements = [rules.expired(one, clock.new_id(), numbers) for one in items]
        await _archive(run, items, judgements, [], {})


async def _archive(
    run: _Pass,
    items: Sequence[Ageing],
    judgements: Sequence[Judgement],
    requests: Sequence[RequestLog],
    values: dict[str, float],
) -> None:
    """Carry out what was judged, and report it; ``values``: fact id → worth."""
    if not judgements:
        return
    by_id = {one.fact.id: one for one in items}
    now = run.now()
    done = {j.fact_id for j in judgements if j.outcome is Outcome.ARCHIVED}
    if run.wanted.apply:
        done &= await store.apply_archiving(
            run.runtime.graph, run.namespace, by_id, judgements, requests, now
        )
    for judgement in judgements:
        if (fact_id := judgement.fact_id) in by_id and fact_id in done:
            fact = by_id[fact_id].fact
            run.archived[fact_id] = Archived(
                fact=fact.model_copy(update={"archived_at": now}) if run.wanted.apply else fact,
                question=judgement.question,
                p=values.get(fact_id, 1.0),
                reason=judgement.reason,
            )


def _about_worth(ageing: Ageing, question: Question) -> Ask:
    message = ageing.message
    return Ask(
        draft=ageing.fact.as_draft(),
        valid_from=ageing.fact.valid_from,
        speaker=message.speaker,
        role=message.role,
        message=message.text,
        questions=(question,),
    )


def _decision_id(run: _Pass, pair: Pair) -> str:
    question = about.same_fact(pair.newer, pair.older)
    asked = (question.name, str(question.version), run.runtime.decider.name)
    return clock.derived_id(*asked, *pair.shown)
