"""``engram bench``: the product beside bare statements, on one server, in one run.

Milliseconds differ from machine to machine; the ratios are what counts. Both sides store the same
properties and vectors and are timed in turn. Parameters of the bare side are made before its
clock starts; the product's time holds everything from the arguments to the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from engram_graph import intake
from engram_graph.bench import analyst, growth, sentences
from engram_graph.bench.growth import TARGETS, WORK
from engram_graph.bench.load import BATCH, Loader, texts
from engram_graph.bench.searches import Sort, timed, warming
from engram_graph.bench.setting import Setting, prepared, remove
from engram_graph.bench.timing import Times, in_turn, row
from engram_graph.flows import write
from engram_graph.flows.runtime import Runtime
from engram_graph.models.facts import Extracted
from engram_graph.rules.text import turn_text
from engram_graph.vocabulary import Role

WRITE = 2.5
BULK = 1.5
GROWTH = 4.0
_SIZES = (1, 5, 20)

Row = dict[str, Any]
Progress = Callable[[int, int], None]


async def run(
    runtime: Runtime,
    *,
    facts: int = 10_000,
    rounds: int = 200,
    progress: Progress | None = None,
) -> list[Row]:
    """Measure writing, searching and importing; all that was written is removed at the end.

    Args:
        runtime: with the hash embedder and the rules decider, so that no model is measured.
        facts: in the namespace for the main rows; growth is from a tenth of it to twice as many.
        rounds: of each measurement.
        progress: told (done, all) steps.

    Returns:
        Rows with work, p50_ms, p90_ms, bare_p50_ms, bare_p90_ms, ratio, n, facts, target, met.
        A ratio compares medians, that of the import whole times; it should be at most the target.
        For growth the bare columns hold the same work at the smaller size.

    Raises:
        ConfigurationError: the runtime has other models.
    """
    async with prepared(runtime) as setting:
        return await _Bench(setting, rounds, progress).all(facts)


async def grow(
    runtime: Runtime,
    sizes: Sequence[int],
    *,
    rounds: int = 200,
    progress: Progress | None = None,
) -> list[Row]:
    """Measure searches at each of ``sizes``; all that was written is removed at the end.

    Args:
        runtime, rounds, progress: as of ``run``.
        sizes: facts, and as many turns; growing.

    Returns:
        Rows of ``growth.measured``.

    Raises:
        InputError: sizes that do not grow. ConfigurationError: the runtime has other models.
    """
    sizes = growth.checked(sizes)
    step = _counter(progress, growth.steps(sizes, rounds))
    async with prepared(runtime) as setting:
        return await growth.measured(setting, sizes, rounds, step)


async def people(
    runtime: Runtime,
    namespaces: int,
    *,
    facts: int = 100_000,
    rounds: int = 200,
    progress: Progress | None = None,
) -> list[Row]:
    """Time the queries for people; all that was written is removed at the end.

    Args:
        runtime, rounds, progress: as of ``run``.
        namespaces: that share the facts evenly.

    Returns:
        Rows of ``analyst.measured``.

    Raises:
        InputError: too few facts. ConfigurationError: the runtime has other models.
    """
    each = analyst.checked(namespaces, facts)
    step = _counter(progress, analyst.steps(namespaces, each, rounds))
    async with prepared(runtime) as setting:
        return await analyst.measured(setting, namespaces, each, rounds, step)


def _counter(progress: Progress | None, of: int) -> Callable[[int], None]:
    """Adds up steps, and tells ``progress`` how many of ``of`` are done."""
    done = 0

    def step(steps: int) -> None:
        nonlocal done
        done += steps
        if progress:
            progress(done, of)

    return step


class _Bench:
    """One run: its namespaces, and how far it is."""

    def __init__(self, setting: Setting, rounds: int, progress: Progress | None) -> None:
        self.namespace = setting.namespace
        self.bare = setting.bare
        self._runtime = setting.runtime
        self._vectors = setting.vectors
        self._loader = Loader(setting.runtime, setting.vectors, setting.namespace)
        self._rounds = rounds
        self._warm = warming(rounds)
        self._progress = progress
        self._done, self._all = 0, 1
        self._held = 0

    async def all(self, facts: int) -> list[Row]:
        """Every row, in the order in which people ask for them."""
        small, large = max(2, facts // 10), 2 * facts
        self._all = 2 * large + 10 * (self._warm + self._rounds)
        self._all += sum(2 + self._few(n) for n in _SIZES)
        given = sentences.facts(1, large)
        await self._load(given[:small])
        few_written, _ = await self._write(sentences.newcomers(2))
        few_found, _ = await self._search("facts", 3)
        few_turns, _ = await self._search("turns", 10)
        imported = await self._bulk(given[small:facts])
        await self._loader.turns(given[small:facts], arrived=self._step)
        rows = [
            await self._written("one fact, new subject", sentences.newcomers(4)),
            await self._written("one fact, same subject", sentences.about_one(5)),
            *[await self._messages(20 + size, size) for size in _SIZES],
            await self._searched("facts", 6),
            await self._searched("turns", 11),
            imported,
        ]
        await self._load(given[facts:])
        many_written, _ = await self._write(sentences.newcomers(7))
        many_found, _ = await self._search("facts", 8)
        many_turns, _ = await self._search("turns", 12)
        return [
            *rows,
            self._row(f"one fact, growth from {small} facts", many_written, few_written, GROWTH),
            self._row(f"hybrid search, growth from {small} facts", many_found, few_found, GROWTH),
            self._row(f"turn search, growth from {small} turns", many_turns, few_turns, GROWTH),
        ]

    async def _written(self, work: str, items: Iterator[Row]) -> Row:
        measured, bare = await self._write(items)
        return self._row(work, measured, bare, WRITE)

    async def _write(self, items: Iterator[Row]) -> tuple[Times, Times]:
        """Single facts through the whole write path, beside bare transactions."""
        measured, bare = Times(), Times()
        for number in range(-self._warm, self._rounds):
            if number == 0:
                measured, bare = Times(), Times()
            item = next(items)
            self._vectors.prepare(texts(item))
            parameters = self.bare.fact(next(items))
            await in_turn(
                number,
                (measured, partial(self._remember, item)),
                (bare, partial(self.bare.write, parameters)),
            )
            self._step(1)
            self._held += 1
        return measured, bare

    async def _messages(self, seed: int, size: int) -> Row:
        """Messages of ``size`` drafts through the whole write path, every question asked, beside
        as many bare transactions of one fact."""
        measured, bare = Times(), Times()
        told = sentences.messages(seed, size)
        for number in range(-2, self._few(size)):
            if number == 0:
                measured, bare = Times(), Times()
            items = next(told)
            text = " ".join(item["text"] for item in items)
            turn = turn_text(Role.USER.value, text)
            self._vectors.prepare([turn, *(item["text"] for item in items)])
            parameters = [self.bare.fact(item) for item in next(told)]
            await in_turn(
                number,
                (measured, partial(self._add, text, items)),
                (bare, partial(self._one_by_one, parameters)),
            )
            self._step(1)
            self._held += size
        return self._row(f"message, drafts: {size}", measured, bare, WRITE)

    def _few(self, size: int) -> int:
        """Rounds of messages with ``size`` drafts."""
        return max(5, self._rounds // size)

    async def _add(self, text: str, items: Sequence[Row]) -> None:
        drafts = tuple(intake.given(self.namespace, item)[1].drafts[0] for item in items)
        message = intake.message(self.namespace, {"content": text}, {})
        extracted = Extracted(extractor="llm:none", drafts=drafts)
        stored, vectors, degraded = await write.store(self._runtime, message, extracted)
        await write.process(self._runtime, stored, vectors, degraded)

    async def _one_by_one(self, parameters: Sequence[Row]) -> None:
        for each in parameters:
            await self.bare.write(each)

    async def _remember(self, item: Row) -> None:
        message, extracted = intake.given(self.namespace, item)
        stored, vectors, degraded = await write.store(self._runtime, message, extracted)
        await write.process(self._runtime, stored, vectors, degraded)

    async def _searched(self, sort: Sort, seed: int) -> Row:
        return self._row(WORK[sort], *await self._search(sort, seed), TARGETS[sort])

    async def _search(self, sort: Sort, seed: int) -> tuple[Times, Times]:
        """Questions through the whole read path, beside bare statements over the same records."""
        return await timed(
            self._runtime,
            self._vectors,
            self.bare,
            self.namespace,
            sort,
            sentences.questions(seed),
            self._rounds,
            self._step,
        )

    async def _bulk(self, items: Sequence[Row]) -> Row:
        """Batches imported, beside the same batches by a bare UNWIND, which are then removed."""
        measured, bare = Times(), Times()
        size = max(1, min(BATCH, len(items) // 4))
        message = await self.bare.message("import")
        for number, begin in enumerate(range(0, len(items), size)):
            batch = items[begin : begin + size]
            self._vectors.prepare(text for item in batch for text in texts(item))
            rows = self.bare.rows(batch)
            await in_turn(
                number,
                (measured, partial(self._loader.import_facts, batch)),
                (bare, partial(self.bare.bulk, message, rows)),
            )
            self._arrived(len(batch))
        await remove(self._runtime.graph, self.bare.namespace)
        ratio = measured.total / bare.total
        return row("bulk import, per batch", self._held, measured, bare, BULK, ratio) | {
            "facts_per_s": round(len(items) / measured.total, 1),
            "bare_facts_per_s": round(len(items) / bare.total, 1),
        }

    async def _load(self, items: Sequence[Row]) -> None:
        await self._loader.facts(items, self._arrived)
        await self._loader.turns(items, arrived=self._step)

    def _row(self, work: str, measured: Times, beside: Times, target: float) -> Row:
        ratio = measured.at(0.5) / beside.at(0.5)
        return row(work, self._held, measured, beside, target, ratio)

    def _arrived(self, facts: int) -> None:
        self._held += facts
        self._step(facts)

    def _step(self, steps: int) -> None:
        self._done += steps
        if self._progress:
            self._progress(self._done, self._all)
