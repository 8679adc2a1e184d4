"""A namespace decided again under other rules, in a copy that is removed afterwards.

Every message, draft and answer is in the store, so nothing is asked: the same flows write the same
drafts in the same order, at the moments of then, and a decider answers from the log.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import anyio

from engram_graph import clock
from engram_graph.errors import ConflictError, InputError, NotFoundError
from engram_graph.flows.correct import correct
from engram_graph.flows.logged import LoggedDecider, LoggedEmbedder, Names, escalations
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.write_fact import settle_fact, write_fact
from engram_graph.graph import bulk, entities, merge, transfer, transfer_import
from engram_graph.graph import whatif as store
from engram_graph.graph.forget_namespace import forget_namespace
from engram_graph.intake import Correction
from engram_graph.models.decisions import Decision, Judgement, total_cost
from engram_graph.models.export import FactRecord, LinkRecord
from engram_graph.models.facts import Fact, Link, Message, Vector
from engram_graph.models.whatif import WhatIf
from engram_graph.rules.method import Method
from engram_graph.rules.questions import SAME_FACT
from engram_graph.rules.replay import events, incomplete
from engram_graph.rules.replay_log import (
    Corrected,
    Event,
    Given,
    Log,
    Merged,
    Named,
    Noted,
    Settled,
    Told,
)
from engram_graph.rules.whatif import fact_diffs, link_diffs
from engram_graph.vocabulary import Outcome

Progress = Callable[[int, int], None]
_ATTEMPTS = 5
_BATCH = 500  # messages copied at once


async def whatif(
    runtime: Runtime,
    namespace: str,
    method: Method,
    numbers: Mapping[str, float],
    *,
    ask: bool,
    progress: Progress | None,
) -> WhatIf:
    """See ``AsyncMemory.whatif``."""
    async with replayed(runtime, namespace, method, ask=ask, progress=progress) as copy:
        facts, links = await copy.result()
        return WhatIf(
            namespace=namespace,
            preset=method.name,
            numbers=dict(numbers),
            drafts=copy.drafts,
            given=copy.given,
            facts=fact_diffs([r.fact for r in copy.log.facts.values()], facts),
            links=link_diffs(copy.log.links, links),
            unanswered=tuple(copy.decider.unanswered),
            passed_over=tuple(copy.passed_over),
            incomplete=copy.incomplete,
            requests=len(copy.decider.costs),
            cost_usd=total_cost(copy.decider.costs),
        )


@asynccontextmanager
async def replayed(
    runtime: Runtime,
    namespace: str,
    method: Method,
    *,
    ask: bool = False,
    progress: Progress | None = None,
) -> AsyncIterator[Replay]:
    """A namespace as it would stand, in another one that is gone when the context ends.

    Raises:
        ConflictError: it kept changing while it was read.
    """
    log = await _read(runtime, namespace)
    copy = Replay(runtime, namespace, log, method, ask)
    try:
        await copy.run(progress)
        yield copy
    finally:
        with anyio.CancelScope(shield=True):
            await forget_namespace(runtime.graph, copy.namespace)


async def _read(runtime: Runtime, namespace: str) -> Log:
    for _ in range(_ATTEMPTS):
        _, before = await transfer.state(runtime.graph, namespace)
        log = Log()
        async for page in transfer.pages(runtime.graph, namespace, vectors=True):
            log.take(page)
        _, after = await transfer.state(runtime.graph, namespace)
        if before == after:
            return log
    raise ConflictError(
        f"namespace {namespace!r} kept changing while it was read",
        hint="Try again while nobody writes to it.",
    )


@dataclass(slots=True)
class _Clock:
    """The moment of the event at work."""

    at: datetime = field(default_factory=clock.now)

    def now(self) -> datetime:
        return self.at


class Replay:
    """One replay and what came of it.

    Attributes:
        namespace: where the copy stands. log: what is replayed. decider: answers from it.
        drafts, given: how many drafts were decided again, and deeds taken as they were.
        passed_over: deeds that could not be repeated, in words.
        incomplete: ids of facts that lost something to ``forget``.
    """

    def __init__(
        self, runtime: Runtime, namespace: str, log: Log, method: Method, ask: bool
    ) -> None:
        # The name tells what it is, if the process is killed before it is removed.
        self.namespace = f"{namespace}/what-if/{clock.new_id()}"
        self.log = log
        self.names = Names()
        self.decider = LoggedDecider(self.names, runtime.decider if ask else None)
        self.drafts = self.given = 0
        self.passed_over: list[str] = []
        self.incomplete: tuple[str, ...] = ()
        self._stronger = LoggedDecider(self.names)
        self._clock = _Clock()
        self._runtime = replace(
            runtime,
            embedder=LoggedEmbedder(runtime, _vectors(log)),
            decider=self.decider,
            escalation=None,
            method=method,
            fits=runtime.graph.vectors,
            now=self._clock.now,
        )
        self._graph = runtime.graph
        self._of = namespace
        self._messages: dict[str, Message] = {}

    async def run(self, progress: Progress | None) -> None:
        """Do everything again, in its order."""
        await self._copy_messages()
        found = events(self.log, clock.derived_id)
        self.incomplete = incomplete(self.log, found)
        for done, event in enumerate(found, 1):
            self._clock.at = event.at
            await self._repeat(event)
            if progress:
                progress(done, len(found))

    async def result(self) -> tuple[list[Fact], list[Link]]:
        """What stands in the copy, as if it stood in the namespace itself."""
        facts: list[Fact] = []
        links: list[Link] = []
        async for page in transfer.pages(self._graph, self.namespace, vectors=False):
            for record in page:
                if isinstance(record, FactRecord):
                    own = {"id": self.names.original(record.fact.id), "namespace": self._of}
                    facts.append(record.fact.model_copy(update=own))
                elif isinstance(record, LinkRecord):
                    links.append(self._renamed(record.link, self.names.original))
        return facts, links

    async def _copy_messages(self) -> None:
        records = []
        for old, record in self.log.messages.items():
            new = self.names.pair(old, clock.derived_id(self.namespace, old))
            values = {"id": new, "namespace": self.namespace}
            message = record.message.model_copy(update=values)
            self._messages[old] = message
            records.append(record.model_copy(update={"message": message}))
        for begin in range(0, len(records), _BATCH):
            batch = records[begin : begin + _BATCH]
            await transfer_import.messages(self._graph, self.namespace, batch)

    async def _repeat(self, event: Event) -> None:
        if not isinstance(event, Told | Settled):
            self.given += 1
        try:
            match event:
                case Told():
                    await self._tell(event)
                case Settled():
                    await self._settle(event)
                case Corrected():
                    await self._correct(event)
                case Given():
                    await self._give(event)
                case Named():
                    await entities.add_alias(
                        self._graph, self.namespace, event.entity, event.alias, event.at
                    )
                case Merged():
                    await self._merge(event)
                case Noted():
                    await self._note(event)
        except (InputError, NotFoundError) as error:
            deed = type(event).__name__.lower()
            self.passed_over.append(f"{deed} at {event.at.isoformat()}: {error.message}")

    def _answer_from(self, fact_id: str, at: datetime) -> None:
        requests = self.log.asked(fact_id, at)
        stronger = escalations(requests)
        self.decider.about(fact_id, [each for each in requests if each not in stronger])
        self._stronger.about(fact_id, stronger)
        self._runtime.escalation = self._stronger if stronger else None

    async def _tell(self, event: Told) -> None:
        self.drafts += 1
        message = self._messages[event.message]
        self.names.pair(event.fact_id, clock.derived_id(message.id, str(event.index)))
        self._answer_from(event.fact_id, event.at)
        await write_fact(
            self._runtime,
            message,
            event.draft,
            index=event.index,
            extractor=event.extractor,
            finish=False,
        )

    async def _settle(self, event: Settled) -> None:
        self._answer_from(event.fact_id, event.at)
        await settle_fact(self._runtime, self.namespace, self.names.copy(event.fact_id))

    async def _correct(self, event: Corrected) -> None:
        message, fact = self._messages[event.message], event.fact
        self.names.pair(fact.id, clock.derived_id(message.id, "0"))
        change = Correction(
            message=message,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            text=fact.text,
            valid_from=fact.valid_from if fact.valid_from_stated else None,
            valid_until=event.valid_until,
            reason=event.reason,
        )
        await correct(self._runtime, self.namespace, self.names.copy(event.old_id), change)

    async def _give(self, event: Given) -> None:
        rows: list[tuple[Fact, Vector | None, Judgement]] = []
        for fact, start in event.facts:
            new = self.names.pair(fact.id, clock.derived_id(self.namespace, fact.id))
            copy = fact.model_copy(update={"id": new, "namespace": self.namespace})
            judgement = Judgement(
                id=clock.new_id(),
                question=start.question,
                outcome=Outcome(start.outcome),
                chosen=start.chosen,
                p=start.p,
                reason=start.reason,
                fact_id=new,
                belief={new: (None, copy.belief)},
            )
            rows.append((copy, self.log.facts[fact.id].vector, judgement))
        await bulk.import_facts(self._graph, self._messages[event.message], rows, event.at)

    async def _merge(self, event: Merged) -> None:
        if event.apart:
            await merge.unmerge(self._graph, self.namespace, event.gone, event.reason, event.at)
            return
        ground = merge.Ground(reason=event.reason, p=event.p, backend=event.backend)
        await merge.merge(self._graph, self.namespace, event.kept, event.gone, ground, event.at)

    async def _note(self, event: Noted) -> None:
        links = [self._renamed(link, self.names.copy) for link in event.links]
        unlinked = [self._renamed(link, self.names.copy) for link in _unlinked(event)]
        decisions = [(self._copied(r.decision), r.position, r.moves_end) for r in event.decisions]
        ids = {end for link in (*links, *unlinked) for end in (link.source, link.target)}
        ids |= {each for one, *_ in decisions for each in (one.fact_id, one.candidate_id) if each}
        there = await store.present(self._graph, self.namespace, sorted(ids))
        await store.note(
            self._graph,
            self.namespace,
            event.at,
            [d for d in decisions if {d[0].fact_id, d[0].candidate_id} - {None} <= there],
            [link for link in links if {link.source, link.target} <= there],
            [link for link in unlinked if {link.source, link.target} <= there],
            {self.names.copy(each): count for each, count in event.against.items()},
        )

    def _copied(self, decision: Decision) -> Decision:
        about, compared = decision.fact_id, decision.candidate_id
        own = {
            "id": clock.new_id(),
            "fact_id": self.names.copy(about) if about else None,
            "candidate_id": self.names.copy(compared) if compared else None,
        }
        return decision.model_copy(update=own)

    def _renamed(self, link: Link, name: Callable[[str], str]) -> Link:
        return link.model_copy(update={"source": name(link.source), "target": name(link.target)})


def _unlinked(event: Noted) -> list[Link]:
    """The links that upkeep took away."""
    return [
        Link(type="SAME_AS", source=one.fact_id, target=one.candidate_id)
        for one in (record.decision for record in event.decisions)
        if one.question == SAME_FACT and one.outcome == Outcome.APPLIED and one.chosen != "yes"
        if one.fact_id and one.candidate_id
    ]


def _vectors(log: Log) -> dict[str, Vector | None]:
    """The vector of each stored text; of one that is stored several times one that is there."""
    found: dict[str, Vector | None] = {}
    for record in log.facts.values():
        found[record.fact.text] = found.get(record.fact.text) or record.vector
    return found
