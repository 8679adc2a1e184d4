"""mem0, through its own package: facts by a language model, in a vector store on this machine.

Its prompts name the day on which they are asked, so a recording replays on that day alone. Its
extras ``nlp`` and ``extras`` are used if they are installed; without them it searches by vectors
alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram_graph.errors import PeerError
from engram_graph.evaluation.arms import peers
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Tally, Task, Written
from engram_graph.models.facts import Vector

_PACKAGE = peers.Package("mem0", "mem0ai")
_SAID, _SOURCE = "said_on", "source_id"


@dataclass(slots=True)
class Mem0:
    """Its defaults: each turn is added with its date, and read by its search."""

    name: str = "mem0"
    about: str = "mem0 with its defaults: a language model reads each turn, told with its date."
    ks: tuple[int, ...] = (3, 20)
    limit: int = 30
    needs: tuple[str, ...] = ("llm",)
    tell_needs: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=lambda: {"package": "mem0ai"})
    _stores: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def missing(self) -> str | None:
        """See ``peers.Package``."""
        return _PACKAGE.missing()

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Add the turns, one after the other."""
        asked: list[Tally] = []
        async with self._memory(models, namespace, new=models.endpoint()) as memory:
            for turn in talk.turns:
                said = peers.dated(turn.said_at, f"{turn.speaker}: {turn.text}")
                with peers.counted(models, asked):
                    await memory.add(
                        [{"role": turn.role, "content": said}],
                        user_id=namespace,
                        metadata={_SAID: turn.said_at.isoformat(), _SOURCE: turn.source_id},
                    )
            kept = await memory.get_all(filters={"user_id": namespace}, top_k=100_000)
        return peers.written(len(talk.turns), len(kept["results"]), asked)

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Add the statements as they are, without its language model."""
        async with self._memory(models, namespace, new={}) as memory:
            for each in statements:
                await memory.add(
                    each.text,
                    user_id=namespace,
                    metadata={_SAID: each.said_at.isoformat(), _SOURCE: each.source_id},
                    infer=False,
                )

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """Its search, best first."""
        async with self._memory(models, namespace) as memory:
            found = await memory.search(task.text, filters={"user_id": namespace}, top_k=self.limit)
        lines = tuple(_line(row) for row in found["results"])
        return Read(lines, tuple(dict.fromkeys(x.source_id for x in lines if x.source_id)))

    @asynccontextmanager
    async def _memory(
        self, models: Models, namespace: str, *, new: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Any]:
        """The store of a namespace.

        Args:
            new: begin an empty one, with this language model.
        """
        async with peers.ours(models, namespace) as (_, vectors), peers.at_work(self.name):
            if new is not None:
                if namespace in self._stores:
                    self._stores.pop(namespace).close()
                self._stores[namespace] = _store(namespace, await vectors.dimension(), new)
            elif namespace not in self._stores:
                raise PeerError("nothing was written: mem0 keeps a conversation for one run")
            memory = self._stores[namespace]
            memory.embedding_model = _Embedding(vectors.waiting())
            yield memory


@dataclass(frozen=True, slots=True)
class _Embedding:
    """The study's embedder by the methods that mem0 calls, from a thread."""

    of: Callable[[Sequence[str]], list[Vector]]

    def embed(self, text: str, memory_action: str | None = None) -> Vector:
        return self.of([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[Vector]:
        return self.of(texts)


def _store(namespace: str, dimension: int, llm: Mapping[str, Any]) -> Any:
    peers.quiet()
    from mem0 import AsyncMemory

    path = peers.new_folder(peers.short_name(namespace))
    key = llm.get("api_key") or "none"
    model = {
        "model": llm.get("model") or "none",
        "api_key": key,
        "openai_base_url": llm.get("base_url"),
        "temperature": 0.0,
    }
    return AsyncMemory.from_config(
        {
            "llm": {"provider": "openai", "config": model},
            "embedder": {"provider": "openai", "config": {"api_key": key}},  # replaced by ours
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "memories",
                    "embedding_model_dims": dimension,
                    "path": str(path / "qdrant"),
                },
            },
            "history_db_path": str(path / "history.db"),
        }
    )


def _line(row: Mapping[str, Any]) -> Line:
    more = row.get("metadata") or {}
    said = datetime.fromisoformat(more[_SAID]) if more.get(_SAID) else None
    return Line(peers.dated(said, row["memory"]), more.get(_SOURCE))


def mem0() -> Mem0:
    """The study's: mem0ai."""
    return Mem0()
