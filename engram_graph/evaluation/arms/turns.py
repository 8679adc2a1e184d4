"""Turns alone: no model on write. All of these arms read one store of the conversation's turns.

The store is named after what was said, so whoever comes first writes it, and the others find it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engram_graph.embedders import embedder_kind
from engram_graph.evaluation.arms.common import COSINE_ONLY, SHORTLIST, search
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.shortlist import NoFacts, namespace_of
from engram_graph.evaluation.study.records import Models, Read, Talk, Task, Written
from engram_graph.formats.locomo import Turn
from engram_graph.memory import AsyncMemory
from engram_graph.rules.text import turn_text
from engram_graph.rules.thresholds import DEFAULT

_NO_FACTS = NoFacts()
_BATCH = 64  # texts embedded at once
_JEV = {"decider": "jev", "escalation": "none", "rerank": "decider"}


@dataclass(slots=True)
class TurnArm:
    """Dated turns, found and put in order by ``settings``.

    Attributes:
        wide: judge all that is found, and leave none out. For the rest see ``records.Arm``.
    """

    name: str
    about: str
    settings: Mapping[str, Any]
    ks: tuple[int, ...] = (3, 6, 20)
    limit: int = SHORTLIST
    needs: tuple[str, ...] = ()
    wide: bool = False
    tell_needs: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(init=False)
    _stores: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.flags = {"mode": "turns", "wide": self.wide, **self.settings}

    def missing(self) -> str | None:
        """Nothing: it needs no package of its own."""
        return None

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Store the turns, unless they are there; the store stays as it is for other arms."""
        self._stores[namespace] = namespace_of(talk)
        return await _store(models, talk)

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Store the words of statements as turns, in ``namespace``; what is there is replaced."""
        self._stores[namespace] = namespace
        async with models.memory(namespace, extractor=_NO_FACTS, decider="rules") as memory:
            await memory.forget(everything=True)
            for each in statements:
                await memory.add(
                    each.text,
                    said_at=each.said_at,
                    speaker=each.speaker,
                    source_id=each.source_id,
                )

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """The turns a search gives."""
        return await search(
            models,
            self._stores.get(namespace, namespace_of(talk)),
            task,
            {"decider": "rules", **self.settings, "extractor": _NO_FACTS},
            mode="turns",
            limit=self.limit,
            wide=self.wide,
        )


async def _store(models: Models, talk: Talk) -> Written:
    """Store what is missing of a conversation's turns; the same is told whoever stored them."""
    failed: tuple[tuple[str, str], ...] = ()
    async with models.memory(namespace_of(talk), extractor=_NO_FACTS, decider="rules") as memory:
        with models.tally() as embedded:
            await _embed(memory, talk)
        known = await memory.stats()
        if known.messages < len(talk.turns) or known.unfinished:
            with tempfile.TemporaryDirectory(prefix="engram-turns-") as folder:
                path = Path(folder) / "turns.jsonl"
                path.write_text("".join(map(_line, talk.turns)), encoding="utf-8")
                done = await memory.ingest(path)
            failed = tuple((talk.turns[at - 1].source_id, why) for at, why in done.failed)
    return Written(turns=len(talk.turns), failed=failed, cost_usd=embedded.cost_usd)


async def _embed(memory: AsyncMemory, talk: Talk) -> None:
    """Ask for the turns' vectors if they cost something: also where they are stored already."""
    if embedder_kind(memory.settings) != "openai":
        return
    runtime = await memory.open()
    for start in range(0, len(talk.turns), _BATCH):
        batch = talk.turns[start : start + _BATCH]
        await runtime.embed([turn_text(turn.speaker, turn.text) for turn in batch])


def _line(turn: Turn) -> str:
    said = {name: getattr(turn, name) for name in ("text", "speaker", "role", "source_id")}
    when = {"said_at": turn.said_at.isoformat(), "conversation": turn.conversation}
    return json.dumps(said | when) + "\n"


def _arm(name: str, about: str, **more: Any) -> TurnArm:
    return TurnArm(name, f"{about} Turns are stored as they were said.", **more)


def turns_cosine() -> TurnArm:
    """The study's baseline."""
    return _arm(
        "turns_cosine",
        "Turns by likeness to the question alone, judged by nobody.",
        settings={"search_without": COSINE_ONLY, "rerank": "none"},
    )


def turns_hybrid() -> TurnArm:
    """Ours, without a model."""
    return _arm(
        "turns_hybrid",
        "Turns by vectors, words, neighbours and dates together, judged by nobody.",
        settings={"rerank": "none"},
    )


def turns_jev() -> TurnArm:
    """The study's."""
    return _arm(
        "turns_jev",
        "The 30 turns most like the question, of which Jev keeps those that help; ten at least.",
        settings={"search_without": COSINE_ONLY, **_JEV},
        needs=("jev",),
    )


def turns_hybrid_jev() -> TurnArm:
    """Ours."""
    return _arm(
        "turns_hybrid_jev",
        "The 30 first turns of the hybrid order, of which Jev keeps those that help; ten at least.",
        settings=_JEV,
        needs=("jev",),
    )


def turns_llm() -> TurnArm:
    """The study's: a language model in Jev's place."""
    return _arm(
        "turns_llm",
        "The 30 turns most like the question, put in order by a language model.",
        settings={"search_without": COSINE_ONLY, "rerank": "llm"},
        ks=(3, 20),
        needs=("llm",),
    )


def turns_jev_wide() -> TurnArm:
    """The study's: nothing is cut but by k."""
    return _arm(
        "turns_jev_wide",
        "The 150 turns most like the question, all in the order of Jev's probability.",
        settings={"search_without": COSINE_ONLY, **_JEV},
        ks=(47,),
        limit=DEFAULT.wide,
        needs=("jev",),
        wide=True,
    )
