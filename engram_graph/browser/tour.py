"""What a guide tells: who it is about, which relation, and when it was otherwise than now."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from engram_graph.errors import NotFoundError
from engram_graph.models.facts import Fact
from engram_graph.vocabulary import PREDICATES, Predicate

if TYPE_CHECKING:
    from engram_graph.memory import AsyncMemory

_HUBS = 100  # entities among which the main one is looked for
_AROUND = timedelta(days=60)  # shown behind a change
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # of what is reckoned with: a date may be the last one


@dataclass(frozen=True, slots=True)
class Tour:
    """What a guide is about.

    Attributes:
        subject: a name as Browser shows it. facts: how many the memory holds about it.
        predicate: the relation that the guide follows.
        ended: a fact of it that a decision closed; None where there is none.
        as_of: a moment to ask about; one at which ``ended`` held, if there is one.
        since, until: a stretch of time in which something changed.
    """

    namespace: str
    subject: str
    facts: int
    predicate: Predicate
    ended: Fact | None
    as_of: datetime
    since: datetime
    until: datetime


async def plan(memory: AsyncMemory, about: str | None = None) -> Tour | None:
    """Choose what a guide through the client's namespace tells; None when it holds no fact.

    Args:
        about: a name or alias; by default who most facts are about.

    Raises:
        NotFoundError: there is no fact about ``about``.
    """
    subject = about if about is not None else await _main_subject(memory)
    if subject is None:
        return None
    facts = (await memory.history(subject)).facts
    if not facts:
        raise NotFoundError(
            f"there is no fact about {subject!r}",
            hint=f"`engram query hubs -n {shlex.quote(memory.namespace or '')}` lists who they are "
            "about.",
        )
    rows = await memory.query("why_closed", subject=subject)
    decided = {row["fact_id"] for row in rows if row["p"] is not None and row["closed_by"]}
    ended = _story([fact for fact in facts if fact.id in decided and not fact.negated])
    shown = ended or _story(facts) or facts[0]
    as_of, since, until = _moments(shown)
    return Tour(
        namespace=memory.namespace or "",
        subject=shown.subject,
        facts=len(facts),
        predicate=PREDICATES[shown.predicate],
        ended=ended,
        as_of=as_of,
        since=since,
        until=until,
    )


async def _main_subject(memory: AsyncMemory) -> str | None:
    rows = await memory.query("hubs", limit=_HUBS)
    best = max(rows, key=lambda row: (row["as_subject"], row["facts"]), default=None)
    return best["entity"] if best is not None and best["as_subject"] else None


def _story(facts: Sequence[Fact]) -> Fact | None:
    """The first fact of the relation that most of them are of; in doubt the vocabulary's order."""
    counted = Counter(fact.predicate for fact in facts)
    order = list(PREDICATES)
    told = max(counted, key=lambda name: (counted[name], -order.index(name)), default=None)
    return next((fact for fact in facts if fact.predicate == told), None)


def _moments(fact: Fact) -> tuple[datetime, datetime, datetime]:
    """A moment at which the fact held, and a stretch of time in which it ended or began."""
    begun = min(fact.valid_from, _LATEST)
    if fact.valid_until is None:
        day = _day(begun)
        return day + timedelta(days=1), day, day + _AROUND
    ended = min(fact.valid_until, _LATEST)
    middle = begun + (ended - begun) / 2
    day = _day(middle)
    as_of = day if day >= begun else middle
    return as_of, as_of, _day(ended + _AROUND)


def _day(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time(tzinfo=UTC))
