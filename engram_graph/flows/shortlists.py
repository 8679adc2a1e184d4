"""What may bear on a question, best first: hybrid shortlists of facts and of turns.

Each is an ordered list of hits with its score parts; selection asks nothing else of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from engram_graph.flows.runtime import Runtime
from engram_graph.graph import read
from engram_graph.graph.read import TurnRow
from engram_graph.models.facts import Vector
from engram_graph.models.results import FactHit, TurnHit
from engram_graph.rules.cues import without_names
from engram_graph.rules.fusion import EQUAL, dated, fuse
from engram_graph.rules.names import possible_keys
from engram_graph.rules.text import lucene_query, namespace_key, words
from engram_graph.rules.timeline import Span
from engram_graph.rules.times import hull, named_times, rival, true_then
from engram_graph.rules.turns import WEIGHTS, rank

POOL = 60
"""Turns found by each index, at least: the order of turns is fitted on pools of this size."""
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is looked up.

    Attributes:
        text: as it was asked, with the names of those it calls otherwise.
        content: vector of the question without speakers' names; the same one if it names none.
        lucene: full-text query, the namespace in it; None when it has no word.
        within: only what was true at one of these moments (turns: said in that stretch; by then,
            if it is one moment).
        named: the times the question names; none while ``within`` says what is asked about.
    """

    text: str
    namespace: str
    vector: Vector | None
    content: Vector | None
    lucene: str | None
    within: Span | None
    named: tuple[Span, ...] = ()

    @property
    def about(self) -> Span | None:
        """The time asked about, given or named."""
        return self.within or hull(self.named)


@dataclass(frozen=True, slots=True)
class FactList:
    """Facts found. ``chained``: ids of those that superseded something."""

    hits: list[FactHit]
    chained: frozenset[str]


async def ask(
    runtime: Runtime, namespace: str, text: str, within: Span | None, *, turns: bool = True
) -> tuple[Query, str | None]:
    """The question with its vectors, and why there are none.

    Whom it calls by another name is named behind it, so that facts about them are found.

    Args:
        turns: whether turns are looked up; facts need no vector without names.
    """
    named = named_times(text) if within is None and "date" not in runtime.without else ()
    nicknames: frozenset[str] = frozenset()
    if meant := await read.names_meant(runtime.graph, namespace, possible_keys(text)):
        names = ", ".join(dict.fromkeys(name for _, name in meant))
        nicknames = frozenset(words(" ".join(key for key, _ in meant))) - set(words(names))
        text = f"{text} ({names})"
    bare = text
    if turns and runtime.embedder is not None:
        bare = without_names(text, await runtime.speakers.of(namespace))
    vectors, reason = await runtime.embed([text] if bare == text else [text, bare], query=True)
    lucene = lucene_query(text, namespace_key(namespace), faint=nicknames)
    return Query(text, namespace, vectors[0], vectors[-1], lucene, within, named), reason


async def facts(runtime: Runtime, query: Query, limit: int) -> FactList:
    """Up to ``limit`` facts by vector and as many by full text, in their fused order.

    A question that names a time also finds as many of those true then, and prefers them.
    """
    lists = await asyncio.gather(
        *(
            read.shortlist_facts(
                runtime.graph, query.namespace, query.vector, query.lucene, limit, within
            )
            for within in ([None, hull(query.named)] if query.named else [query.within])
        )
    )
    by_id = {row.fact.id: row for rows in lists for row in rows}
    order = fuse(
        {
            "vector": {each: r.vector for each, r in by_id.items() if r.vector is not None},
            "text": {each: r.text for each, r in by_id.items() if r.text is not None},
        },
        _kept(runtime, EQUAL),
        {each: (row.fact.valid_from, row.fact.text) for each, row in by_id.items()},
    )
    if query.named:
        found = {each: row.fact for each, row in by_id.items()}
        then = {each: true_then(fact, query.named) for each, fact in found.items()}
        order = dated(order, then, {each: key for each, f in found.items() if (key := rival(f))})
    hits = [
        FactHit(fact=by_id[each].fact, scores=scores, successor=by_id[each].successor)
        for each, scores in order
    ]
    return FactList(hits, frozenset(each for each, row in by_id.items() if row.chained))


async def pool(runtime: Runtime, query: Query, limit: int) -> list[TurnRow]:
    """The turns among which the best ``limit`` are looked for."""
    said = query.within
    if said is not None and said.first == said.last:  # as of a moment: all that was said by then
        said = Span(_EVER, said.last)
    return await read.shortlist_turns(
        runtime.graph,
        query.namespace,
        query.vector,
        query.content,
        query.lucene,
        max(POOL, 2 * limit),
        said=said,
    )


async def turns(runtime: Runtime, query: Query, limit: int) -> list[TurnHit]:
    """Up to ``limit`` turns, best first."""
    rows = {row.turn.id: row for row in await pool(runtime, query, limit)}
    order = rank(query.text, [row.turn for row in rows.values()], limit, _kept(runtime, WEIGHTS))
    return [
        TurnHit(
            message=rows[each].message,
            scores=scores.model_copy(update={"text": rows[each].text}),
        )
        for each, scores in order
    ]


def _kept(runtime: Runtime, weights: Mapping[str, float]) -> dict[str, float]:
    return {part: weight for part, weight in weights.items() if part not in runtime.without}
