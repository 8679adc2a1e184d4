"""One replay: a namespace's log, told again to the same flows in a namespace of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from engram_graph import clock
from engram_graph.errors import ConflictError, InputError, NotFoundError
from engram_graph.flows.correct import correct
from engram_graph.flows.logged import LoggedDecider, LoggedEmbedder, Names, escalations
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.write_fact import settle_fact, write_fact
from engram_graph.graph import bulk, entities, merge, transfer, transfer_import
from engram_graph.graph import whatif as store
from engram_graph.graph.driver import Row
from engram_graph.intake import Correction
from engram_graph.models.decisions import Decision, Judgement
from engram_graph.models.facts import Fact, Link, Message, Vector
from engram_graph.rules.method import Method, preset
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
from engram_graph.rules.scratch import scratch
from engram_graph.vocabulary import Outcome

Progress = Callable[[int, int], None]
_BATCH = 500  # messages copied at once


@dataclass(slots=True)
class _Clock:
    """The moment of the event at work."""

    at: datetime = field(default_factory=clock.now)

    def now(self) -> datetime:
        return self.at


class Replay:
    """One replay and what came of it.

    Attributes:
        namespace: where the copy stands. log: what is replayed; seen: how the namespace stood then.
        decider: answers from it.
        drafts, given: how many drafts were decided again, and deeds taken as they were.
        passed_over: deeds that could not be repeated, in words.
        incomplete: ids of facts that lost something to ``forget``.
    """

    def __init__(
        self,
        runtime: Runtime,
        namespace: str,
        log: Log,
        seen: Row,
        method: Method,
        ask: bool,
    ) -> None:
        # The name tells what it is, if the process is killed before it is removed.
        self.namespace = scratch(namespace) + clock.new_id()
        self.log = log
        self.seen = seen
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
        self._made: Log | None = None

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
        made = await self.records()
        facts = [
            record.fact.model_copy(
                update={"id": self.names.original(record.fact.id), "namespace": self._of}
            )
            for record in made.facts.values()
        ]
        return facts, [self._renamed(link, self.names.original) for link in made.links]

    async def records(self) -> Log:
        """All that stands in the copy."""
        if self._made is None:
            self._made = Log()
            async for page in transfer.pages(self._graph, self.namespace, vectors=False):
                self._made.take(page)
            if len(self._made.messages) < len(self._messages):
                raise ConflictError(
                    f"something in namespace {self._of!r} was forgotten meanwhile",
                    hint="Try again: nothing was applied.",
                )
        return self._made

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
        # The index need not find the same facts twice: its search is approximate.
        same = self._same_rules({each.preset for each in requests})
        compared = {self.names.copy(one) for each in requests for one in each.candidates}
        self._runtime.near_ids = sorted(compared) if same else None
        stronger = escalations(requests)
        self.decider.about(fact_id, [each for each in requests if each not in stronger])
        self._stronger.about(fact_id, stronger)
        self._runtime.escalation = self._stronger if stronger else None

    def _same_rules(self, presets: set[str | None]) -> bool:
        method = self._runtime.method
        return presets == {method.name} and method == preset(method.name)

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
