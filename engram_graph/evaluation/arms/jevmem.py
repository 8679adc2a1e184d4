"""Jev-Mem, through the package jevmem: notes that Jev screens, joins and looks through.

It asks Jev by a client of its own, so that nothing is recorded and costs are unknown.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from engram_graph.adapters import jev
from engram_graph.errors import PeerError
from engram_graph.evaluation.arms import peers
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Task, Written
from engram_graph.models.facts import Vector
from engram_graph.settings import Settings

_PACKAGE = peers.Package("jevmem", "jevmem", python=(3, 12))
_ANY_TURN = 2.0  # a threshold no probability reaches: turns of a chat are not screened as notes are


@dataclass(slots=True)
class JevMem:
    """Its default profile, but for the screen against notes on work in progress."""

    name: str = "jevmem"
    about: str = "Jev-Mem by the package jevmem: each turn a note, read by its automatic mode."
    ks: tuple[int, ...] = (3, 40)
    limit: int = 40
    needs: tuple[str, ...] = ("jev",)
    tell_needs: tuple[str, ...] = ("jev",)
    flags: Mapping[str, Any] = field(
        default_factory=lambda: {"package": "jevmem", "status_block": _ANY_TURN}
    )
    _stores: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def missing(self) -> str | None:
        """See ``peers.Package``."""
        return _PACKAGE.missing()

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """A note for each turn."""
        notes = [(f"{t.speaker}: {t.text}", t.said_at, t.source_id) for t in talk.turns]
        refused = await self._write(models, namespace, notes)
        return Written(
            turns=len(talk.turns),
            facts=len(notes) - refused.total(),
            active=len(notes) - refused.total(),
            counters=dict(sorted(refused.items())),
            cost_usd={"peer": None},
        )

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """A note for each statement."""
        notes = [(each.text, each.said_at, each.source_id) for each in statements]
        await self._write(models, namespace, notes)

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """Its recall; what its upkeep found superseded is marked."""
        async with self._memory(models, namespace) as memory:
            found = await asyncio.to_thread(
                memory.retriever.recall, task.text, [namespace], self.limit
            )
            lines = tuple(_line(memory.store.get(each.id), each.flags) for each in found.evidence)
        degraded = ("jevmem: Jev gave no answer",) if found.degraded else ()
        shortlist = tuple(dict.fromkeys(line.source_id for line in lines if line.source_id))
        return Read(lines, shortlist, cost_usd=None, degraded=degraded)

    async def _write(
        self, models: Models, namespace: str, notes: Sequence[tuple[str, datetime, str | None]]
    ) -> Counter[str]:
        """How many notes were refused, by reason."""
        refused: Counter[str] = Counter()
        async with self._memory(models, namespace, new=True) as memory:
            for text, said_at, source_id in notes:
                done = await asyncio.to_thread(
                    memory.write, text, namespace, timestamp=said_at.timestamp(), source=source_id
                )
                if done.degraded:
                    raise PeerError(f"jevmem: {done.reason or 'Jev gave no answer'}")
                if done.rejected:
                    refused[
                        f"refused:{str(done.reason).split('(')[0].split(' p=')[0].strip()}"
                    ] += 1
        return refused

    @asynccontextmanager
    async def _memory(
        self, models: Models, namespace: str, *, new: bool = False
    ) -> AsyncIterator[_Memory]:
        async with peers.ours(models, namespace) as (settings, vectors), peers.at_work(self.name):
            if settings.replays:
                raise PeerError("what jevmem asks Jev is not recorded, so it cannot be replayed")
            if new:
                await vectors.dimension()  # before a thread asks for it
                embedding = _Embedding(vectors.waiting())
                self._stores[namespace] = await asyncio.to_thread(_Memory, settings, embedding)
            elif namespace not in self._stores:
                raise PeerError("nothing was written: jevmem keeps a conversation for one run")
            memory: _Memory = self._stores[namespace]
            memory.store.embedder = _Embedding(vectors.waiting())
            yield memory


class _Memory:
    """A store in memory with its writer, reader and upkeep, joined as its own service does."""

    def __init__(self, settings: Settings, embedding: _Embedding) -> None:
        from jevmem import Config, JevDecider, Retriever, Store, Writer
        from jevmem.consolidate import Consolidator

        config = Config(status_block=_ANY_TURN)
        model, base_url = settings.typesafe_default_model or jev.MODEL, settings.typesafe_base_url
        if base_url is not None:
            base_url = jev.endpoint(base_url, model)[0].removesuffix("/v1/systemone")
        decider = JevDecider(
            model=model,
            base_url=base_url,
            api_key=settings.typesafe_api_key.get_secret_value() or None,
        )
        self.store = Store(":memory:", embedding)
        self.retriever = Retriever(self.store, decider, config)
        self._writer = Writer(self.store, decider, config)
        self._upkeep = Consolidator(self.store, decider, self._writer, config)

    def write(self, content: str, scope: str, *, timestamp: float, source: str | None) -> Any:
        done = self._writer.write(content, scope, timestamp=timestamp, source=source)
        if not done.rejected and not done.degraded and self._upkeep.due():
            self._upkeep.run()
        return done


@dataclass(frozen=True, slots=True)
class _Embedding:
    """The study's embedder as jevmem calls it, from a thread."""

    of: Callable[[Sequence[str]], list[Vector]]
    spec = "study"

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        vectors = np.array(self.of(texts), dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _line(note: Any, flags: Sequence[str]) -> Line:
    ended = any(flag.startswith("superseded") for flag in flags)
    said = datetime.fromtimestamp(note.timestamp, tz=UTC)
    text = peers.dated(said, note.content)
    return Line(f"{text} (superseded)" if ended else text, note.source, ended)


def jevmem() -> JevMem:
    """The study's, as far as the package is."""
    return JevMem()
