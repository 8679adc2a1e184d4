"""Many given facts: decided one by one, or imported in batches without a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from engram_graph import clock, telemetry
from engram_graph.flows import write as write_flow
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.write_fact import is_stated, valid_from
from engram_graph.graph import bulk as store
from engram_graph.graph import write
from engram_graph.models.decisions import Judgement
from engram_graph.models.facts import Draft, Extracted, Fact, Message
from engram_graph.models.results import Imported
from engram_graph.rules.asking import drafted_fact
from engram_graph.rules.belief import start
from engram_graph.rules.names import entity_key, normal_text
from engram_graph.vocabulary import ClosedReason, MessageStatus, Outcome, Role

Given = tuple[Message, Extracted]
Progress = Callable[[int, int], None]
_BATCH = 1000
_IMPORT = "import"


async def decide_facts(
    runtime: Runtime, given: Sequence[Given], progress: Progress | None
) -> Imported:
    """Remember each fact in turn, with every decision."""
    stored = facts = skipped = 0
    for place, (message, extracted) in enumerate(given, 1):
        kept, vectors, degraded = await write_flow.store(runtime, message, extracted)
        added = await write_flow.process(runtime, kept, vectors, degraded)
        stored += not added.duplicate
        skipped += added.duplicate or not added.facts
        facts += 0 if added.duplicate else len(added.facts)
        if progress:
            progress(place, len(given))
    return Imported(messages=stored, facts=facts, skipped=skipped)


async def import_facts(
    runtime: Runtime, namespace: str, given: Sequence[Given], progress: Progress | None
) -> Imported:
    """Write facts as they are: no question is asked and nothing closes.

    One message per speaker stands for the whole import; ``source_id`` and ``metadata`` of single
    facts are not kept. A fact's id derives from its content: the same facts again are left alone.
    """
    if not given:
        return Imported()
    now = clock.now()
    by_speaker: dict[str, dict[str, Fact]] = {}
    seen: set[str] = set()
    for message, extracted in given:
        fact = _fact(message, extracted.drafts[0], now, runtime)
        if fact.id not in seen:
            seen.add(fact.id)
            by_speaker.setdefault(message.speaker, {})[fact.id] = fact
    messages = stored = done = 0
    for speaker, facts in by_speaker.items():
        kept = await _import_message(runtime, namespace, speaker, facts, now)
        items = list(facts.values())
        for begin in range(0, len(items), _BATCH):
            batch = items[begin : begin + _BATCH]
            vectors, _ = await runtime.embed([fact.text for fact in batch])
            rows = [
                (fact, vector, _judgement(fact))
                for fact, vector in zip(batch, vectors, strict=True)
            ]
            new = await store.import_facts(runtime.graph, kept.message, rows, now)
            telemetry.count("engram.facts.stored", new, tentative=False)
            stored += new
            done += len(batch)
            if progress:
                progress(done, len(seen))
        await write.set_status(runtime.graph, kept.message, MessageStatus.DONE)
        messages += kept.created
    return Imported(messages=messages, facts=stored, skipped=len(given) - stored)


async def _import_message(
    runtime: Runtime, namespace: str, speaker: str, facts: dict[str, Fact], now: datetime
) -> write.Stored:
    message = Message(
        id=clock.new_id(),
        namespace=namespace,
        conversation=_IMPORT,
        speaker=speaker,
        role=Role.SYSTEM,
        text=f"Import of {len(facts)} facts",
        said_at=now,
        recorded_at=now,
        source_id=clock.derived_id(namespace, _IMPORT, speaker, *sorted(facts)),
        status=MessageStatus.PENDING,
    )
    kept, _, _ = await write_flow.store(runtime, message, Extracted(extractor=_IMPORT))
    return kept


def _fact(message: Message, draft: Draft, now: datetime, runtime: Runtime) -> Fact:
    began = valid_from(draft, message)
    stated = is_stated(draft, message)
    dated = stated or message.said_at != message.recorded_at  # else the start is this very call
    fact = drafted_fact(
        draft,
        fact_id=clock.derived_id(
            message.namespace,
            entity_key(draft.subject),
            draft.predicate,
            entity_key(draft.object),
            normal_text(draft.text),
            str(draft.negated),
            began.isoformat() if dated else "",
            draft.valid_until.isoformat() if draft.valid_until else "",
        ),
        namespace=message.namespace,
        extractor=_IMPORT,
        valid_from=began,
        valid_from_stated=stated,
        recorded_at=now,
    )
    believed: dict[str, object] = {"belief": start(False, 1.0, runtime.method.thresholds)}
    if draft.valid_until:
        believed |= {
            "valid_until": draft.valid_until,
            "open": False,
            "closed_at": now,
            "closed_reason": ClosedReason.STATED,
        }
    return fact.model_copy(update=believed)


def _judgement(fact: Fact) -> Judgement:
    return Judgement(
        id=clock.derived_id(fact.id, "belief_start"),
        question="belief_start",
        outcome=Outcome.STORED,
        reason="imported undecided",
        fact_id=fact.id,
        belief={fact.id: (None, fact.belief)},
    )
