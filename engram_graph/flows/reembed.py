"""All vectors are made anew by another embedder, while clients read and write.

Each embedder's vectors stand at a place of their own (``graph/places.py``). The new place is filled
while the old one is used; then one write makes it the current one; then the indexes of the old one
are dropped, what was written in between is caught up with, and the old vectors are taken away.
Broken off at any point, the next run goes on from the record in the graph.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from engram_graph.errors import ConfigurationError, DimensionError, EmbeddingError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import reembed as store
from engram_graph.graph import schema
from engram_graph.models.upkeep import ReembedReport
from engram_graph.ports import Embedder
from engram_graph.rules.tokens import estimate_tokens

Progress = Callable[[int, int], None]
_BATCH = 128
_PASSES = 10  # as long as writers keep adding more than a batch; the sweep gets the rest
_SAMPLE = 64
_WRITES_PER_S = 500.0  # vectors into an index, for the estimate


async def reembed(
    runtime: Runtime, *, dry_run: bool = False, progress: Progress | None = None
) -> ReembedReport:
    """See ``AsyncMemory.reembed``.

    Raises:
        ConfigurationError: there is no embedder. ConflictError: another run, for another embedder,
            began meanwhile. EmbeddingError: the model failed; the next run goes on.
    """
    embedder, graph = runtime.embedder, runtime.graph
    if embedder is None:
        raise ConfigurationError(
            "there is no embedder to make vectors with",
            hint="Set ENGRAM_EMBEDDER, or install the extra 'local'.",
        )
    if not embedder.dimension:
        await embedder.embed(["dimension"])  # some tell it only by working
    (before,) = await graph.locate()
    place = store.target(before, embedder.model, embedder.dimension).place
    found = await store.counts(graph, place)
    seconds, tokens = await _estimate(runtime, embedder, place, found) if dry_run else (None, None)
    switched = False
    if not dry_run:
        switched = await _Run(runtime, embedder, found.missing, progress).whole()
    return ReembedReport(
        embedder=embedder.model,
        dimension=embedder.dimension,
        before=before["embedder"],
        dimension_before=before["dimension"],
        applied=not dry_run,
        switched=switched,
        facts=found.facts,
        messages=found.messages,
        items=found.items,
        missing=found.missing,
        seconds=seconds,
        tokens=tokens,
    )


class _Run:
    def __init__(
        self, runtime: Runtime, embedder: Embedder, missing: int, progress: Progress | None
    ) -> None:
        self._graph = runtime.graph
        self._embedder = embedder
        self._total = missing
        self._done = 0
        self._progress = progress

    async def whole(self) -> bool:
        """Every step that is left; whether another place is the current one now."""
        model, dimension = self._embedder.model, self._embedder.dimension
        with contextlib.suppress(DimensionError, EmbeddingError):
            await schema.migrate(self._graph, model, dimension)  # enough while nothing is embedded
        target = await store.begin(self._graph, model, dimension)
        for _ in range(_PASSES):
            if await self._fill(target.place) <= _BATCH:
                break
        if target.switches:
            await store.switch(self._graph, target.place)
        await store.drop_others(self._graph, target.place)
        for _ in range(_PASSES):
            if not await self._fill(target.place):
                break
        for kind in store.KINDS:
            await store.clean(self._graph, kind, target.place)
        await store.end(self._graph, target.place)
        return target.switches

    async def _fill(self, place: int) -> int:
        """One pass over all records without a vector at ``place``; how many got one."""
        before = self._done
        for kind in store.KINDS:
            after = ""
            while texts := await store.without_vector(self._graph, kind, place, after, _BATCH):
                vectors = await self._embedder.embed([one.words for one in texts])
                self._done += await store.fill(self._graph, kind, place, texts, vectors)
                after = texts[-1].id
                if self._progress:
                    self._progress(min(self._done, self._total), self._total)
        return self._done - before


async def _estimate(
    runtime: Runtime, embedder: Embedder, place: int, found: store.Counts
) -> tuple[float, int]:
    """Seconds and tokens for what is missing, by embedding a few of its texts."""
    words: list[str] = []
    for kind in store.KINDS:
        page = await store.without_vector(runtime.graph, kind, place, "", _SAMPLE)
        words += [one.words for one in page]
    if not words:
        return 0.0, 0
    await embedder.embed(words[:1])  # loads the model, once
    started = time.monotonic()
    await embedder.embed(words[1:])
    each = (time.monotonic() - started) / max(len(words) - 1, 1)
    tokens = sum(estimate_tokens(text) for text in words) / len(words)
    return found.missing * (each + 1 / _WRITES_PER_S), round(found.missing * tokens)
