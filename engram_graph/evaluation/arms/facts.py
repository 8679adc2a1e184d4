"""Facts: what each turn states is extracted and decided against what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engram_graph.errors import InputError
from engram_graph.evaluation.arms.common import SHORTLIST, Sources, search
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.arms.stored import stored, written
from engram_graph.evaluation.study.records import Models, Read, Talk, Tally, Task, Written
from engram_graph.formats.locomo import Turn
from engram_graph.memory import AsyncMemory
from engram_graph.models.results import Mode
from engram_graph.vocabulary import MessageStatus

_JEV = {"decider": "jev", "escalation": "llm", "rerank": "decider"}


@dataclass(slots=True)
class FactArm:
    """Facts written and read under ``settings``; for the rest see ``records.Arm``.

    Attributes:
        mode: ``facts``, or ``both``: facts that hold, then facts that ended, then turns.
    """

    name: str
    about: str
    settings: Mapping[str, Any]
    ks: tuple[int, ...] = (3, 20)
    limit: int = SHORTLIST
    needs: tuple[str, ...] = ("jev", "llm")
    mode: Mode = "facts"
    flags: Mapping[str, Any] = field(init=False)
    tell_needs: tuple[str, ...] = field(init=False)
    _sources: dict[str, Sources] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.flags = {"mode": self.mode, **self.settings}
        self.tell_needs = self.needs

    def missing(self) -> str | None:
        """Nothing: it needs no package of its own."""
        return None

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Add the turns one after the other, each decided before the next one comes."""
        failed: list[tuple[str, str]] = []
        asked: list[Tally] = []
        async with models.memory(namespace, **self.settings) as memory:
            await memory.forget(everything=True)
            for turn in talk.turns:
                with models.tally() as tally:
                    why = await _add(memory, turn)
                asked.append(tally)
                if why is not None:
                    failed.append((turn.source_id, why))
            found = await stored(memory)
        self._sources[namespace] = found.first_sources
        return written(found, len(talk.turns), asked, failed)

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Give each statement as a fact, in order; what is in ``namespace`` is replaced."""
        async with models.memory(namespace, **self.settings) as memory:
            await memory.forget(everything=True)
            for each in statements:
                await memory.remember(
                    each.subject,
                    each.predicate,
                    each.object,
                    text=each.text,
                    negated=each.negated,
                    valid_from=each.valid_from,
                    valid_until=each.valid_until,
                    said_at=each.said_at,
                    speaker=each.speaker,
                    source_id=each.source_id,
                )
            self._sources[namespace] = (await stored(memory)).first_sources

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """What a search gives; ended facts say so."""
        if namespace not in self._sources:  # written by an earlier process
            async with models.memory(namespace, **self.settings) as memory:
                self._sources[namespace] = (await stored(memory)).first_sources
        sources = self._sources[namespace]
        read = await search(models, namespace, task, self.settings, mode=self.mode, sources=sources)
        return replace(read, lines=read.lines[: self.limit])  # chains may come on top


async def _add(memory: AsyncMemory, turn: Turn) -> str | None:
    """Add a turn; why it could not be, if it could not."""
    try:
        added = await memory.add(
            turn.text,
            conversation=turn.conversation,
            speaker=turn.speaker,
            role=turn.role,
            said_at=turn.said_at,
            source_id=turn.source_id,
        )
    except InputError as error:
        return error.message
    failed = added.message.status is MessageStatus.FAILED
    return (added.message.error or "the extractor failed") if failed else None


def facts_v1() -> FactArm:
    """The first article's: all answers count as evidence."""
    return _facts("facts_v1", "Facts by the rules of the first article.", preset="v1")


def facts_v2() -> FactArm:
    """The current paper's S2."""
    return _facts("facts_v2", "Facts by the rules of S2, engram v2 of the paper.", preset="v2")


def facts_v3() -> FactArm:
    """Belief rule v3: only likely answers count as evidence."""
    return _facts(
        "facts_v3", "Facts by belief rule v3 without the gate of one attribute.", preset="v3"
    )


def facts() -> FactArm:
    """Ours."""
    return _facts("facts", "Facts by the rules a client has by default.", preset="default")


def both() -> FactArm:
    """Ours, with the turns behind the facts."""
    return FactArm(
        "both",
        "Facts as of the arm facts, then turns that none of them was taken from or repeats.",
        {"preset": "default", **_JEV},
        ks=(3, 20, 40),
        limit=2 * SHORTLIST,
        mode="both",
    )


def facts_llm() -> FactArm:
    """A language model decides in Jev's place."""
    return FactArm(
        "facts_llm",
        "Facts as of the arm facts, with a language model for every decision.",
        {"preset": "default", "decider": "llm", "escalation": "none", "rerank": "decider"},
        needs=("llm",),
    )


def _facts(name: str, about: str, *, preset: str) -> FactArm:
    return FactArm(name, about, {"preset": preset, **_JEV})
