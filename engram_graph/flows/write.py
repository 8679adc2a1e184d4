"""A message becomes facts: store it first, extract, write each fact; whatever fails, resume."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engram_graph import telemetry
from engram_graph.errors import ExtractionError, InputError
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.write_fact import Written, settle_fact, write_fact
from engram_graph.graph import history, write
from engram_graph.models.facts import Draft, Extracted, Fact, Message, Vector
from engram_graph.models.results import Added
from engram_graph.rules.names import entity_key, resolve_person
from engram_graph.rules.render import is_recall_block, one_line, without_recall_block
from engram_graph.rules.secrets import redact, redact_json, redact_values, redacted_draft
from engram_graph.rules.text import turn_text
from engram_graph.rules.validate import clean_name, clean_text
from engram_graph.vocabulary import MessageStatus, Role

log = logging.getLogger(__name__)
UNSETTLED = "unsettled: resume asks again"


async def store(
    runtime: Runtime, message: Message, extracted: Extracted | None = None
) -> tuple[write.Stored, list[Vector | None], tuple[str, ...]]:
    """Make ``message`` safe. From here on nothing that fails can lose it.

    Returns:
        It as stored; a vector for each draft; what fell back.
    """
    drafts = extracted.drafts if extracted else ()
    texts = [turn_text(message.speaker, message.text), *(d.text for d in drafts)]
    (vector, *vectors), reason = await runtime.embed(texts)
    stored = await write.store_message(runtime.graph, message, vector, extracted)
    runtime.speakers.note(message.namespace, message.speaker)
    return stored, vectors, (reason,) if reason else ()


async def process(
    runtime: Runtime,
    stored: write.Stored,
    vectors: Sequence[Vector | None] = (),
    degraded: tuple[str, ...] = (),
) -> Added:
    """Extract and write the facts of a stored message; a finished one is only read back.

    Raises:
        StoreError: the database failed; the message stays pending.
    """
    message = stored.message
    if message.status is MessageStatus.DONE:
        facts = await write.facts_of_message(runtime.graph, message)
        return Added(message=message, facts=tuple(facts), duplicate=not stored.created)
    extracted = stored.drafts
    if extracted is None:
        try:
            extracted = await _extract(runtime, message)
        except ExtractionError as error:
            telemetry.count("engram.degraded", part="extract")
            log.warning("extractor %s failed: %s", runtime.extractor.name, error.code)
            await write.set_status(runtime.graph, message, MessageStatus.FAILED, error.message)
            failed = message.model_copy(
                update={"status": MessageStatus.FAILED, "error": error.message}
            )
            return Added(message=failed, degraded=(*degraded, f"extractor: {error.message}"))
        if extracted.drafts:
            extracted = await write.set_drafts(runtime.graph, message, extracted)
    left = [(index, draft) for index, draft in enumerate(extracted.drafts) if not draft.forgotten]
    if not left:
        await write.set_status(runtime.graph, message, MessageStatus.DONE)
    written: list[Written] = []
    for index, draft in left:
        secrets = [value for one in written for value in one.secrets]
        one = await write_fact(
            runtime,
            without(message, secrets),
            (usable_draft(draft, message, secrets) or draft) if secrets else draft,
            index=index,
            extractor=extracted.extractor,
            finish=index == left[-1][0],
            embedding=None if secrets or index >= len(vectors) else vectors[index],
        )
        written.append(one)
    message = without(message, [value for one in written for value in one.secrets])
    done = message.model_copy(update={"status": MessageStatus.DONE, "error": None})
    return _added(done, written, degraded)


async def resume(runtime: Runtime, namespace: str) -> list[Added]:
    """Finish the messages that are pending or failed, oldest first; then ask again about facts
    that were stored while the decider gave no usable answer, until it gives none again."""
    done = [
        await process(runtime, stored)
        for stored in await write.unfinished(runtime.graph, namespace)
    ]
    finished = {fact.id for added in done for fact in added.facts}
    for fact_id in await write.unsettled(runtime.graph, namespace):
        if fact_id in finished:  # asked just now
            continue
        settled = await settle_fact(runtime, namespace, fact_id)
        if settled is None:
            continue
        message, written = settled
        again = _added(without(message, written.secrets), [written], ())
        done.append(again.model_copy(update={"asked_again": True}))
        if written.unanswered:
            break
    return done


def without(message: Message, secrets: Sequence[str]) -> Message:
    """``message`` with ``secrets`` taken out."""
    if not secrets:
        return message
    return message.model_copy(
        update={
            "text": redact_values(message.text, secrets),
            "metadata": redact_json(message.metadata, secrets),
        }
    )


async def _extract(runtime: Runtime, message: Message) -> Extracted:
    name = runtime.extractor.name
    if message.role not in (Role.USER, Role.ASSISTANT):
        return Extracted(extractor=name)
    # What this memory recalled is no evidence when it comes back inside a message.
    heard = without_recall_block(message.text)
    if not heard.strip():
        return Extracted(extractor=name)
    recent = await write.recent_messages(
        runtime.graph, message, runtime.method.thresholds.context_messages
    )
    with telemetry.part("extract", name) as span:
        drafts = await runtime.extractor.extract(message.model_copy(update={"text": heard}), recent)
        span.set_attribute("engram.drafts", len(drafts))
    usable = [d for d in (usable_draft(draft, message) for draft in drafts) if d is not None]
    if recalled := is_recall_block(message.text):
        usable = [
            d for d in usable if not await _stands_in(runtime, message.namespace, d, recalled)
        ]
    return Extracted(extractor=name, drafts=tuple(usable))


async def _stands_in(
    runtime: Runtime, namespace: str, draft: Draft, recalled: Sequence[str]
) -> bool:
    """Whether a recalled line tells a known fact with the triple of ``draft`` (house rule 2)."""
    known = await history.facts(
        runtime.graph,
        namespace,
        subject_key=entity_key(draft.subject),
        predicate=draft.predicate,
        object_key=entity_key(draft.object),
    )
    told = {one_line(fact.text) for fact in known}
    return any(text in line for text in told for line in recalled)


def usable_draft(draft: Draft, message: Message, known: Sequence[str] = ()) -> Draft | None:
    """``draft`` without secrets and with its first person resolved; None when it cannot be kept.

    Args:
        known: values that are secrets, besides those its own text betrays.
    """
    _, found = redact("\n".join((draft.text, draft.object, draft.subject, draft.quote or "")))
    secrets = (*known, *found)
    clean = redacted_draft(draft, secrets)
    names = {"subject": redact_values(draft.subject, secrets), "object": clean.object}
    try:
        whom = {
            end: clean_name(resolve_person(name, message.speaker, message.role), end)
            for end, name in names.items()
        }
        return clean.model_copy(update={"text": clean_text(clean.text), **whom})
    except InputError:
        return None


def _added(message: Message, written: list[Written], degraded: tuple[str, ...]) -> Added:
    closed: list[Fact] = []
    reopened: list[Fact] = []
    for before, after in (pair for one in written for pair in one.changed):
        if before.valid_until != after.valid_until:
            (closed if after.valid_until is not None else reopened).append(after)
    reasons = dict.fromkeys((*degraded, *(reason for one in written for reason in one.degraded)))
    if any(one.fact is not None and one.fact.unsettled for one in written):
        reasons[UNSETTLED] = None
    return Added(
        message=message,
        facts=tuple(one.fact for one in written if one.fact is not None),
        repeated=tuple(one.repeated for one in written if one.repeated is not None),
        closed=tuple(closed),
        reopened=tuple(reopened),
        degraded=tuple(reasons),
    )
