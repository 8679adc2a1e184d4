"""One draft becomes a fact: find candidates, decide, apply; again when the plan went stale."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from engram_graph import clock
from engram_graph.flows.deciding import Decided, around_fact, decide
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import write
from engram_graph.graph.retry import apply_planned
from engram_graph.models.facts import Draft, Fact, Message, Vector
from engram_graph.models.plans import FactChange, WritePlan
from engram_graph.rules.names import entity_key, normal_text
from engram_graph.rules.situation import (
    Candidate,
    Situation,
    by_own_name,
    moment_after,
    place_of,
    under_own_names,
)
from engram_graph.vocabulary import ClosedReason

CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Written:
    """What came of one draft.

    Attributes:
        fact: the stored fact, None when it repeats ``repeated`` or was not worth storing.
        changed: existing facts in their new state, each with the state before.
        degraded: what fell back, in words.
        secrets: values that only the decider recognised; they are gone from the message.
        unanswered: ``fact`` was asked about again in vain, and is as it was.
    """

    fact: Fact | None = None
    repeated: Fact | None = None
    changed: tuple[tuple[Fact, Fact], ...] = ()
    degraded: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    unanswered: bool = False


async def write_fact(
    runtime: Runtime,
    message: Message,
    draft: Draft,
    *,
    index: int,
    extractor: str,
    finish: bool,
    embedding: Vector | None = None,
) -> Written:
    """Decide and store one draft of a stored message. Repeatable: the same draft is one fact.

    Args:
        draft: its first person is resolved already.
        index: its place among the message's drafts; the fact's id derives from it.
        finish: mark the message done in the same transaction.

    Raises:
        ConflictError: other writers kept changing the same facts.
        StoreError: the database failed; the message stays unfinished.
    """
    degraded: tuple[str, ...] = ()
    if embedding is None:
        (embedding,), reason = await runtime.embed([draft.text])
        degraded = (reason,) if reason else ()
    vector = embedding
    place = place_of(message, draft, draft.predicate, valid_from(draft, message))

    async def look() -> Situation:
        around = await around_fact(runtime, place, vector)
        return Situation(
            namespace=message.namespace,
            message=by_own_name(message, around.names),
            draft=under_own_names(draft, around.names),
            valid_from=_begins(draft, message, around.candidates),
            valid_from_stated=is_stated(draft, message),
            valid_until=draft.valid_until,
            fact_id=clock.derived_id(message.id, str(index)),
            extractor=extractor,
            caller_relation=extractor == CALLER,
            subject_version=around.subject_version,
            candidates=around.candidates,
            embedding=vector,
            mentions=around.mentions,
            decided_at=moment_after(runtime.now(), (c.fact for c in around.candidates)),
            method=runtime.method,
        )

    decided, applied = await _carry_out(runtime, place.namespace, draft.subject, look, finish)
    assert decided is not None  # ``look`` always sees a situation here
    return _written(decided, degraded) if applied else await _as_stored(runtime, decided)


async def settle_fact(
    runtime: Runtime, namespace: str, fact_id: str
) -> tuple[Message, Written] | None:
    """Ask again about a fact that was stored while questions about it went unanswered.

    What its answers had moved already is not moved twice. Without any answer nothing is written.
    None when another client was quicker.

    Raises:
        ConflictError, StoreError: as ``write_fact``.
    """
    first = await write.unsettled_fact(runtime.graph, namespace, fact_id)
    if first is None:
        return None
    (vector,), reason = await runtime.embed([first.fact.text])

    async def look() -> Situation | None:
        now = await write.unsettled_fact(runtime.graph, namespace, fact_id)
        if now is None:
            return None
        fact, draft = now.fact, _as_draft(now.fact)
        place = place_of(now.messages[0], draft, fact.predicate, fact.valid_from)
        around = await around_fact(runtime, place, vector)
        return Situation(
            namespace=namespace,
            message=by_own_name(now.messages[0], around.names),
            retold=now.messages[1:],
            draft=draft,
            valid_from=fact.valid_from,
            valid_from_stated=fact.valid_from_stated,
            valid_until=draft.valid_until,
            fact_id=fact.id,
            extractor=fact.extractor,
            caller_relation=fact.extractor == CALLER,
            subject_version=around.subject_version,
            candidates=around.candidates,
            embedding=vector,
            decided_at=moment_after(runtime.now(), (fact, *(c.fact for c in around.candidates))),
            method=runtime.method,
            stored=fact,
            counted=now.counted,
        )

    decided, _ = await _carry_out(runtime, namespace, first.fact.subject, look, False)
    if decided is None:
        return None
    return decided.situation.message, _written(decided, (reason,) if reason else ())


async def _carry_out(
    runtime: Runtime,
    namespace: str,
    subject: str,
    look: Callable[[], Awaitable[Situation | None]],
    finish: bool,
) -> tuple[Decided | None, bool]:
    """Decide on what ``look`` sees and apply it, until nobody has changed it in between.

    Returns:
        What was decided (None when there is nothing left to decide); whether it was applied now.
    """
    async with runtime.writer_lock(namespace, entity_key(subject)):
        decided: Decided | None = None

        async def make(within: float | None) -> WritePlan | None:
            nonlocal decided
            situation = await look()
            decided = None if situation is None else await decide(runtime, situation, within)
            return decided.plan if decided else None

        what = f"what is known about {subject!r}"
        applied = await apply_planned(runtime.graph, make, finish=finish, what=what)
        return decided, applied


def _written(decided: Decided, degraded: tuple[str, ...]) -> Written:
    plan, reasons = decided.plan, (*degraded, *decided.degraded)
    if plan is None:
        return Written(decided.situation.stored, degraded=reasons, unanswered=True)
    return Written(
        plan.fact,
        decided.repeated,
        _changes(plan, decided.situation.candidates),
        reasons,
        decided.secrets,
    )


def _as_draft(fact: Fact) -> Draft:
    """A stored fact as it was given; its end only if it was stated."""
    stated = fact.closed_reason == ClosedReason.STATED
    draft = fact.as_draft()
    return draft if stated else draft.model_copy(update={"valid_until": None})


async def _as_stored(runtime: Runtime, decided: Decided) -> Written:
    """What came of a draft that was applied before, by a run that broke off or another client."""
    s = decided.situation
    known = await write.facts_of_message(runtime.graph, s.message)
    pair = (s.subject_key, entity_key(s.draft.object))
    own = next((fact for fact in known if fact.id == s.fact_id), None)
    twin = next((fact for fact in known if (fact.subject_key, fact.object_key) == pair), None)
    return Written(own, None if own else twin, secrets=decided.secrets)


def valid_from(draft: Draft, message: Message) -> datetime:
    """When the fact started: as given, else its ``when`` against the message, else said_at."""
    if draft.valid_from is not None:
        return draft.valid_from
    found = clock.relative_instant(draft.when, message.said_at) if draft.when else None
    return found or message.said_at


def _begins(draft: Draft, message: Message, candidates: tuple[Candidate, ...]) -> datetime:
    """The start of a fact; of one told at once by several clients, the start that was kept.

    Without a date the moment of the call counts. The call that came first may be written last: the
    same words, recorded in between, are then one fact all the same.
    """
    begins = valid_from(draft, message)
    if is_stated(draft, message) or message.said_at != message.recorded_at:
        return begins
    at_once = [
        candidate.fact.valid_from
        for candidate in candidates
        if "twin" in candidate.how
        and candidate.fact.recorded_at > message.recorded_at
        and not candidate.fact.valid_from_stated
        and normal_text(candidate.fact.text) == normal_text(draft.text)
    ]
    return max(begins, *at_once) if at_once else begins


def is_stated(draft: Draft, message: Message) -> bool:
    """Whether the start was given rather than taken from the message's date."""
    if draft.valid_from is not None:
        return True
    return bool(draft.when and clock.relative_instant(draft.when, message.said_at))


def _changes(plan: WritePlan, candidates: tuple[Candidate, ...]) -> tuple[tuple[Fact, Fact], ...]:
    before = {c.fact.id: c.fact for c in candidates}
    return tuple(
        (before[c.id], changed(before[c.id], c, plan.decided_at))
        for c in plan.changes
        if c.id in before
    )


def changed(fact: Fact, change: FactChange, decided_at: datetime) -> Fact:
    """``fact`` as ``change`` leaves it."""
    return fact.model_copy(
        update={
            "belief": change.belief,
            "against_count": change.against_count,
            "disputed": change.disputed,
            "valid_until": change.valid_until,
            "closed_at": change.closed_at,
            "closed_reason": change.closed_reason,
            "open": change.valid_until is None,
            "unsettled": change.unsettled,
            "changed_at": decided_at,
            "version": change.version + 1,
        }
    )
