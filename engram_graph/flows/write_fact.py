"""One draft becomes a fact: embed, find candidates, ask, plan, apply; again when it went stale."""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, replace
from datetime import datetime

from engram_graph import clock
from engram_graph.errors import ConflictError, DecisionError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import write
from engram_graph.models.decisions import Ask, Question, Reply
from engram_graph.models.facts import Draft, Fact, Message, Vector
from engram_graph.models.plans import FactChange, WritePlan
from engram_graph.rules.answers import failed, fallback_reply
from engram_graph.rules.asking import first_questions, second_questions
from engram_graph.rules.names import entity_key, normal_text, rare_entity_names
from engram_graph.rules.plan import make_plan
from engram_graph.rules.repeat import repeat_plan, repetition
from engram_graph.rules.situation import Candidate, Situation

log = logging.getLogger(__name__)
_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Written:
    """What came of one draft.

    Attributes:
        fact: the stored fact, None when it repeats ``repeated``.
        changed: existing facts in their new state, each with the state before.
        degraded: what fell back, in words.
    """

    fact: Fact | None = None
    repeated: Fact | None = None
    changed: tuple[tuple[Fact, Fact], ...] = ()
    degraded: tuple[str, ...] = ()


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
    degraded: list[str] = []
    if embedding is None:
        (embedding,), reason = await runtime.embed([draft.text])
        degraded += [reason] if reason else []
    subject_key, object_key = entity_key(draft.subject), entity_key(draft.object)
    named = [entity_key(name) for name in rare_entity_names(draft.text)]
    async with runtime.writer_lock(message.namespace, subject_key):
        for attempt in range(_ATTEMPTS):
            around = await write.surroundings(
                runtime.graph,
                message.namespace,
                subject_key,
                draft.predicate,
                object_key,
                embedding,
                named,
                runtime.thresholds,
                valid_from(draft, message),
                clock.now(),
            )
            situation = Situation(
                namespace=message.namespace,
                message=message,
                draft=draft,
                valid_from=_begins(draft, message, around.candidates),
                valid_from_stated=is_stated(draft, message),
                valid_until=draft.valid_until,
                fact_id=clock.derived_id(message.id, str(index)),
                extractor=extractor,
                caller_relation=extractor == "caller",
                subject_version=around.subject_version,
                candidates=around.candidates,
                embedding=embedding,
                mentions=around.mentions,
                decided_at=clock.now(),
                thresholds=runtime.thresholds,
            )
            plan, repeated, reasons = await _decide(runtime, situation)
            try:
                applied = await write.apply(runtime.graph, plan, finish=finish)
            except write.StalePlanError:
                await asyncio.sleep(random.uniform(0, 0.02 * (attempt + 1)))
                continue
            if not applied:
                return await _as_stored(runtime, message, situation)
            return Written(
                plan.fact, repeated, _changes(plan, around.candidates), (*degraded, *reasons)
            )
    raise ConflictError(f"facts about {draft.subject!r} kept changing while one was written")


async def _as_stored(runtime: Runtime, message: Message, situation: Situation) -> Written:
    """What came of a draft that was applied before, by a run that broke off or another client."""
    known = await write.facts_of_message(runtime.graph, message)
    pair = (situation.subject_key, entity_key(situation.draft.object))
    own = next((fact for fact in known if fact.id == situation.fact_id), None)
    twin = next((fact for fact in known if (fact.subject_key, fact.object_key) == pair), None)
    return Written(fact=own, repeated=None if own else twin)


async def _decide(
    runtime: Runtime, situation: Situation
) -> tuple[WritePlan, Fact | None, list[str]]:
    """The plan; the known fact it repeats, if so; and what fell back."""
    twin = repetition(situation)
    if twin is not None:
        plan = repeat_plan(situation, twin, clock.new_id)
        # The decision stands for the draft, as its fact would: applied once, also when resumed.
        first, *others = plan.judgements
        kept = (replace(first, id=situation.fact_id), *others)
        return replace(plan, judgements=kept), twin.fact, []
    reply, reasons = await _ask(runtime, situation, first_questions(situation))
    second = None
    if not failed(reply) and (questions := second_questions(situation, reply)):
        second, more = await _ask(runtime, situation, questions)
        reasons += more
    return make_plan(situation, reply, second, clock.new_id), None, reasons


async def _ask(
    runtime: Runtime, situation: Situation, questions: tuple[Question, ...]
) -> tuple[Reply, list[str]]:
    """The decider's reply, with fallbacks where it gave none, and what fell back, in words."""
    asked = Ask(
        draft=situation.draft,
        valid_from=situation.valid_from,
        speaker=situation.message.speaker,
        role=situation.message.role,
        message=situation.message.text,
        questions=questions,
    )
    try:
        reply = await runtime.decider.ask(asked)
    except DecisionError as error:
        log.warning("decider %s failed: %s", runtime.decider.name, error.code)
        return fallback_reply(questions, error.code), [f"decider: {error.code}"]
    return reply, [f"decider: {reply.error}"] if reply.error else []


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
    return tuple((before[c.id], changed(before[c.id], c)) for c in plan.changes if c.id in before)


def changed(fact: Fact, change: FactChange) -> Fact:
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
            "version": change.version + 1,
        }
    )
