"""The client's reading methods: check what comes in, then run one flow or statement."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Literal

from engram_graph import intake
from engram_graph.client.base import Connection, Moment, fact_id
from engram_graph.clock import instant, interval, now
from engram_graph.errors import InputError
from engram_graph.flows import doctor, explain, read
from engram_graph.graph import history as graph_history
from engram_graph.graph.read import get_fact, get_message
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import (
    Clock,
    Diff,
    Explanation,
    Lines,
    Mode,
    NamespaceInfo,
    Page,
    Recall,
    Report,
    Stats,
    Timeline,
)
from engram_graph.rules.names import entity_key
from engram_graph.rules.thresholds import DEFAULT as NUMBERS
from engram_graph.rules.timeline import Span
from engram_graph.rules.validate import clean_name, clean_query, clean_text
from engram_graph.vocabulary import predicate as known_predicate

Period = tuple[Moment, Moment]
"""Start and end of a stretch of time, closed-open; a date as the end means that whole day."""


class Reading(Connection):
    """``search``, ``facts``, ``history``, ``diff``, ``explain`` and what belongs to them."""

    async def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        mode: Mode = "facts",
        limit: int | None = None,
        as_of: Moment | None = None,
        between: Period | None = None,
        context_tokens: int | None = None,
        wide: bool = False,
        lines: Lines = "compact",
    ) -> Recall:
        """Find what bears on ``query``.

        Where a model judges (``ENGRAM_RERANK``), it is asked which of the items found help to
        answer. Those come first; the first ten found follow even if it sees no use in them; of
        facts also those of the relation asked about, the chain behind each, and what is one hop
        away. Without a model, facts come by score × belief, each with the chain behind it.

        Args:
            mode: ``facts``, ``turns`` (messages), or ``both``: facts, those that hold first, then
                the turns that none of them was taken from or repeats.
            limit: most items of each sort, 1 to 150; the setting ``shortlist`` by default, and 150
                if ``wide``. Without a model, chains come on top.
            as_of: only what was true at that moment (turns: said by then).
            between: only what was true at some moment of [start, end) (turns: said in it). A date
                as the end means that whole day. Without either, a question that names a time
                prefers facts true then (docs/searching.md).
            context_tokens: budget of ``context``, 50 to 1,000,000; ``Recall.counted_by`` says how
                they are counted.
            wide: look at 150 items and leave none out: all in the order of their relevance, and
                nothing besides.
            lines: of ``context``: ``compact``, ``full`` (belief, since when, made by what),
                ``lean`` (date and text) or ``nodates`` (texts of what holds).
        """
        scope = self._scope(namespace)
        query = clean_query(query)
        if mode not in ("facts", "turns", "both"):
            raise InputError(f"unknown mode: {mode!r}", hint="One of: facts, turns, both")
        if lines not in ("compact", "full", "lean", "nodates"):
            raise InputError(
                f"unknown lines: {lines!r}", hint="One of: compact, full, lean, nodates"
            )
        if not isinstance(wide, bool):
            raise InputError("wide must be True or False", field="wide")
        shortlist = NUMBERS.wide if wide else self.settings.shortlist
        limit = intake.whole_number(limit, shortlist, "limit", 1, 150)
        tokens = intake.whole_number(
            context_tokens, self.settings.context_tokens, "context_tokens", 50, 1_000_000
        )
        within = _within(as_of, between)
        return await read.search(
            await self.open(),
            scope,
            query,
            mode=mode,
            limit=limit,
            within=within,
            token_budget=tokens,
            shortlist=shortlist,
            wide=wide,
            lines=lines,
        )

    async def get(self, id: str, *, namespace: str | None = None) -> Fact:  # noqa: A002
        """One fact by its id.

        Raises:
            NotFoundError: not in this namespace. InputError: an id that none can be.
        """
        scope = self._scope(namespace)
        clean_text(id, "id")
        return (await get_fact((await self.open()).graph, scope, id)).fact

    async def get_message(self, id: str, *, namespace: str | None = None) -> Message:  # noqa: A002
        """One message by its id.

        Raises:
            NotFoundError: not in this namespace. InputError: an id that none can be.
        """
        scope = self._scope(namespace)
        clean_text(id, "id")
        return await get_message((await self.open()).graph, scope, id)

    async def facts(
        self,
        *,
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        open: bool | None = None,  # noqa: A002
        as_of: Moment | None = None,
        between: Period | None = None,
        known_at: Moment | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Facts in recording order, by page.

        Args:
            open: True for those without an end, False for those with one.
            as_of: true at that moment. known_at: as the memory knew it then (inclusive).
            between: true at some moment of [start, end); a date as the end means that whole day.
            cursor: of the page before.
        """
        scope = self._scope(namespace)
        limit = intake.whole_number(limit, 100, "limit", 1, 10_000)
        if open is not None and not isinstance(open, bool):
            raise InputError("open must be True, False or None", field="open")
        found = await graph_history.facts(
            (await self.open()).graph,
            scope,
            subject_key=_key(subject, "subject"),
            predicate=known_predicate(predicate).name if predicate is not None else None,
            object_key=_key(object, "object"),
            open_only=open,
            within=_within(as_of, between),
            known_at=instant(known_at, "known_at") if known_at is not None else None,
            after=_read_cursor(cursor),
            limit=limit + 1,
        )
        more = len(found) > limit
        found = found[:limit]
        return Page(facts=tuple(found), cursor=_write_cursor(found[-1]) if more else None)

    async def iter_facts(self, **filters: Any) -> AsyncIterator[Fact]:
        """All facts that ``facts`` would give over its pages."""
        cursor: str | None = None
        while True:
            page = await self.facts(cursor=cursor, **filters)
            for fact in page.facts:
                yield fact
            cursor = page.cursor
            if cursor is None:
                return

    async def history(
        self, subject: str, predicate: str | None = None, *, namespace: str | None = None
    ) -> Timeline:
        """All facts of a subject (and predicate) by valid_from, with what superseded what."""
        scope = self._scope(namespace)
        clean_name(subject, "subject")
        name = known_predicate(predicate).name if predicate is not None else None
        return await graph_history.timeline(
            (await self.open()).graph, scope, subject, entity_key(subject), name
        )

    async def diff(
        self,
        start: Moment,
        end: Moment | None = None,
        *,
        clock: Clock = "valid",
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        limit: int = 1_000,
    ) -> Diff:
        """What changed in [start, end), oldest first.

        What was forgotten is in no diff: it leaves no trace.

        Args:
            end: None means now; a date means that whole day.
            clock: ``valid``: what began and ended in the world, as far as is known now.
                ``recorded``: what the memory did: facts recorded, ended, reopened, disputed,
                archived, restored.
            limit: most changes, 1 to 100,000; ``complete`` is False when there are more.

        Raises:
            InputError: no such clock, or the end does not come after the start.
        """
        scope = self._scope(namespace)
        if clock not in ("valid", "recorded"):
            raise InputError(f"unknown clock: {clock!r}", hint="One of: valid, recorded")
        limit = intake.whole_number(limit, 1_000, "limit", 1, 100_000)
        first, until = interval((start, now() if end is None else end), "diff")
        found = await graph_history.diff(
            (await self.open()).graph,
            scope,
            Span.between(first, until),
            clock=clock,
            subject_key=_key(subject, "subject"),
            predicate=known_predicate(predicate).name if predicate is not None else None,
            limit=limit + 1,
        )
        return Diff(
            namespace=scope,
            start=first,
            end=until,
            clock=clock,
            changes=tuple(found[:limit]),
            complete=len(found) <= limit,
        )

    async def explain(self, fact: Fact | str, *, namespace: str | None = None) -> Explanation:
        """The story of a fact: sources, questions, decisions with their arithmetic, chain, links.

        ``.story`` holds it step by step, ``.text`` as lines for a person.

        Args:
            fact: it, its id, the first 8 or more characters of that, or
                ``subject|predicate|object``: the open one, else the one that began last.

        Raises:
            NotFoundError: not in this namespace. AmbiguousError: several fit.
        """
        scope = self._scope(namespace)
        reference = fact_id(fact)
        return await explain.explain(await self.open(), scope, reference)

    async def namespaces(self) -> list[NamespaceInfo]:
        """Every namespace in the database with its counts."""
        return await graph_history.namespaces((await self.open()).graph)

    async def stats(self, *, namespace: str | None = None) -> Stats:
        """Counts of one namespace, what its decider cost, and how long each question takes."""
        scope = self._scope(namespace)
        return await graph_history.stats((await self.open()).graph, scope)

    async def doctor(self, *, namespace: str | None = None, everywhere: bool = False) -> Report:
        """Check the graph's invariants; reports, never repairs.

        Args:
            everywhere: all namespaces instead of one, and what belongs to none: the indexes, and
                vectors that a reembed was making when it broke off.
        """
        scope = None if everywhere else self._scope(namespace)
        return await doctor.check((await self.open()).graph, scope)


def _within(as_of: Moment | None, between: Period | None) -> Span | None:
    if between is None:
        return None if as_of is None else Span.at(instant(as_of, "as_of"))
    if as_of is not None:
        raise InputError(
            "as_of and between are two ways to say when", hint="Give one of them.", field="between"
        )
    return Span.between(*interval(between))


def _key(name: str | None, field: Literal["subject", "object"]) -> str | None:
    return None if name is None else entity_key(clean_name(name, field))


def _write_cursor(fact: Fact) -> str:
    place = json.dumps([fact.recorded_at.isoformat(), fact.id])
    return base64.urlsafe_b64encode(place.encode()).decode()


def _read_cursor(cursor: str | None) -> tuple[datetime, str] | None:
    if cursor is None:
        return None
    try:
        recorded_at, fact_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return instant(recorded_at), str(fact_id)
    except (ValueError, TypeError, AttributeError, InputError):
        raise InputError(
            "cursor is not one of ours", hint="Pass the cursor of the page before."
        ) from None
