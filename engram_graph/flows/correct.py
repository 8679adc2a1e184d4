"""Correction by hand: one fact is closed and another takes its place, with the reason logged."""

from __future__ import annotations

from engram_graph import clock
from engram_graph.errors import InputError
from engram_graph.flows import write as write_flow
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.write_fact import changed
from engram_graph.graph.read import get_fact
from engram_graph.graph.retry import apply_planned
from engram_graph.graph.surroundings import surroundings
from engram_graph.intake import CALLER, Correction, sentence
from engram_graph.models.facts import Draft, Extracted, Fact, Vector
from engram_graph.models.plans import WritePlan
from engram_graph.models.results import Added
from engram_graph.rules.correct import correction_plan
from engram_graph.rules.situation import Situation, moment_after, place_of, under_own_names
from engram_graph.vocabulary import MessageStatus


async def correct(runtime: Runtime, namespace: str, fact_id: str, change: Correction) -> Added:
    """Carry out ``change`` on a fact.

    Raises:
        NotFoundError: no such fact. InputError: nothing would change, or corrected before.
        ConflictError: other writers kept changing it.
    """
    message = change.message
    made: tuple[WritePlan, Fact, tuple[str, ...]] | None = None

    vectors: dict[str, tuple[Vector | None, str | None]] = {}

    async def make(_within: float | None) -> WritePlan:
        nonlocal made
        old = await get_fact(runtime.graph, namespace, fact_id)
        draft = _draft(old.fact, change)
        if draft.text not in vectors:  # made once: others may wait the next time
            (new,), why = await runtime.embed([draft.text])
            vectors[draft.text] = new, why
        vector, reason = vectors[draft.text]
        begins = change.valid_from or old.fact.valid_from
        around = await surroundings(
            runtime.graph,
            place_of(message, draft, draft.predicate, begins),
            vector,
            runtime.method.thresholds,
            runtime.now(),
        )
        situation = Situation(
            namespace=namespace,
            message=message,
            draft=under_own_names(draft, around.names),
            valid_from=begins,
            valid_from_stated=change.valid_from is not None,
            valid_until=change.valid_until,
            fact_id=clock.derived_id(message.id, "0"),
            extractor=CALLER,
            caller_relation=True,
            subject_version=around.subject_version,
            candidates=around.candidates,
            decided_at=moment_after(runtime.now(), [old.fact]),
            embedding=vector,
            method=runtime.method,
        )
        plan = correction_plan(old, situation, change.reason, clock.new_id)
        if made is None:
            # Without drafts: a correction is a deed at one moment and is never resumed.
            await write_flow.store(runtime, message, Extracted(extractor=CALLER))
        made = plan, old.fact, (reason,) if reason else ()
        return plan

    await apply_planned(runtime.graph, make, finish=True, what=f"fact {fact_id}")
    assert made is not None  # it was applied
    plan, old, degraded = made
    return Added(
        message=message.model_copy(update={"status": MessageStatus.DONE}),
        facts=(plan.fact,) if plan.fact else (),
        closed=tuple(changed(old, c, plan.decided_at) for c in plan.changes if c.id == fact_id),
        degraded=degraded,
    )


def _draft(old: Fact, change: Correction) -> Draft:
    subject = change.subject or old.subject
    predicate = change.predicate or old.predicate
    obj = change.object or old.object
    same = (subject, predicate, obj) == (old.subject, old.predicate, old.object)
    text = change.text or (old.text if same else sentence(subject, predicate, obj, old.negated))
    begins = change.valid_from or old.valid_from
    if same and text == old.text and begins == old.valid_from and change.valid_until is None:
        raise InputError("the correction changes nothing", field="fact")
    if change.valid_until is None and old.valid_until is not None and begins > old.valid_until:
        raise InputError(
            f"valid_from {begins.isoformat()} lies after the end of the fact, "
            f"{old.valid_until.isoformat()}",
            hint="Give valid_until as well, or remember a new fact.",
            field="valid_from",
        )
    if change.valid_until is not None and change.valid_until < begins:
        raise InputError(
            f"valid_until {change.valid_until.isoformat()} lies before {begins.isoformat()}",
            field="valid_until",
        )
    return Draft(
        subject=subject,
        predicate=predicate,
        object=obj,
        text=text,
        negated=old.negated,
        valid_from=begins,
        valid_until=change.valid_until,
        temporal_status=old.temporal_status,
        kind=old.kind,
        durability=old.durability,
        sensitivity=old.sensitivity,
    )
