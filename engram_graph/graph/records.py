"""Rows to models and models to parameters: both ways, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from engram_graph.models.decisions import Decision, Judgement, RequestLog
from engram_graph.models.facts import Extracted, Fact, Link, Message, Vector
from engram_graph.rules.questions import RELATION, SECOND, question_id
from engram_graph.rules.secrets import redact_json, redact_values
from engram_graph.rules.text import namespace_key, search_text, turn_text
from engram_graph.vocabulary import NEGATED, PREDICATES, ClosedReason

Row = dict[str, Any]
_FACT_FIELDS = frozenset(Fact.model_fields)
_DECISION_FIELDS = frozenset(Decision.model_fields)
_WHOLE = frozenset({"belief_start", "settle"})  # rest on everything asked about the fact
_NOT_ON_THE_NODE = {"subject", "subject_key", "object", "object_key"}


def native(value: Any) -> Any:
    """Driver values as Python's own: instants become aware UTC datetimes."""
    if isinstance(value, dict):
        return {key: native(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [native(inner) for inner in value]
    if hasattr(value, "to_native"):
        plain = value.to_native()
        return plain.astimezone(UTC) if isinstance(plain, datetime) else plain
    return value


def fact(row: Row) -> Fact:
    """A ``fact`` map of a statement as a Fact."""
    return Fact.model_validate({k: v for k, v in native(row).items() if k in _FACT_FIELDS})


def message(row: Row) -> Message:
    """A ``message`` map of a statement as a Message."""
    plain = native(row)
    return Message(
        id=plain["id"],
        namespace=plain["namespace"],
        conversation=plain["conversation"],
        speaker=plain["speaker"],
        role=plain["role"],
        text=plain["text"],
        said_at=plain["said_at"],
        recorded_at=plain["recorded_at"],
        source_id=plain["source_id"],
        metadata=json.loads(plain.get("metadata") or "{}"),
        status=plain["status"],
        error=plain.get("error"),
    )


def drafts(row: Row) -> Extracted | None:
    """The drafts kept on a message; None when nothing was extracted yet."""
    kept = row.get("drafts")
    return None if kept is None else Extracted.model_validate_json(kept)


def drafts_json(extracted: Extracted) -> str:
    """Drafts as they are kept on a message."""
    return extracted.model_dump_json(exclude_defaults=True)


def link(row: Row) -> Link:
    """A ``link`` map of a statement as a Link."""
    return Link.model_validate(native(row))


def decision(row: Row) -> Decision:
    """A ``decision`` map of a statement as a Decision."""
    return Decision.model_validate({k: v for k, v in native(row).items() if k in _DECISION_FIELDS})


def message_properties(item: Message, embedding: Vector | None, kept: str | None) -> Row:
    """Every property of a ``:Message``."""
    return {
        "id": item.id,
        "namespace_key": namespace_key(item.namespace),
        "conversation": item.conversation,
        "speaker": item.speaker,
        "role": item.role.value,
        "text": item.text,
        "search_text": search_text(turn_text(item.speaker, item.text)),
        "embedding": embedding,
        "said_at": item.said_at,
        "recorded_at": item.recorded_at,
        "metadata": json.dumps(item.metadata, ensure_ascii=False) if item.metadata else None,
        "drafts": kept,
        "status": item.status.value,
        "error": item.error,
    }


def redacted_message(row: Row, values: Sequence[str], embedding: Vector | None) -> Row:
    """What changes of a ``:Message`` when ``values`` are taken out of it."""
    text = redact_values(row["text"], values)
    changed: Row = {
        "text": text,
        "search_text": search_text(turn_text(row["speaker"], text)),
        "embedding": embedding,
    }
    for name in ("metadata", "drafts"):
        if row.get(name):
            kept = redact_json(json.loads(row[name]), values)
            changed[name] = json.dumps(kept, ensure_ascii=False)
    return changed


def fact_properties(item: Fact, embedding: Vector | None) -> Row:
    """Every property of a ``:Fact``; ``candidate`` = may still be closed, reopened or supported."""
    properties = {k: v for k, v in item.model_dump().items() if k not in _NOT_ON_THE_NODE}
    return properties | {
        "namespace_key": namespace_key(item.namespace),
        "search_text": search_text(item.text),
        "embedding": embedding,
        "unsettled": item.unsettled or None,  # an index of the few that are
        "candidate": is_candidate(item.valid_until, item.closed_reason),
    }


def is_candidate(valid_until: datetime | None, reason: ClosedReason | None) -> bool:
    """Whether a fact is compared with new ones: open, or closed by belief (may reopen)."""
    return valid_until is None or reason is ClosedReason.BELIEF


def edge_type(fact: Fact) -> str:
    """The relationship type of a fact's typed edge; only names of the vocabulary pass."""
    return NEGATED if fact.negated else PREDICATES[fact.predicate].neo4j_type


def link_parameters(item: Link) -> Row:
    """A link for ``link_facts``."""
    return {
        "type": item.type,
        "source": item.source,
        "target": item.target,
        "properties": {"p": item.p, "reason": item.reason, "decided_at": item.decided_at},
    }


def request_properties(item: RequestLog, namespace: str) -> Row:
    """Every property of a ``:Request``; answers are JSON, lossless."""
    return {
        "id": item.id,
        "namespace": namespace,
        "backend": item.backend,
        "model": item.model,
        "question_versions": json.dumps(item.question_versions),
        "candidates": list(item.candidates),
        "answers": json.dumps(item.answers, ensure_ascii=False),
        "latency_ms": item.latency_ms,
        "cost_usd": item.cost_usd,
        "request_id": item.request_id,
        "error": item.error,
        "preset": item.preset,
        "sent_at": item.sent_at,
    }


def judgement_parameters(
    item: Judgement,
    namespace: str,
    decided_at: datetime,
    position: int,
    requests: Sequence[RequestLog] = (),
) -> Row:
    """A judgement for ``record_decisions``; ``position`` orders those of one plan.

    Args:
        requests: the plan's, of which those that asked about the pair are what it rests on.
    """
    properties: Row = {
        "id": item.id,
        "namespace": namespace,
        "question": item.question,
        "question_version": next(
            (v for r in requests if (v := r.question_versions.get(item.question))), None
        ),
        "outcome": item.outcome.value,
        "chosen": item.chosen,
        "p": item.p,
        "reason": item.reason,
        "backend": item.backend,
        "decided_at": decided_at,
        "position": position,
        "pieces": list(item.pieces) or None,
        "moves_end": item.closing is not None,
    }
    if item.closing is not None:
        (until_before, reason_before), (until_after, reason_after) = item.closing
        properties |= {
            "valid_until_before": until_before,
            "valid_until_after": until_after,
            "reason_before": reason_before,
            "reason_after": reason_after,
        }
    about = item.belief.get(item.fact_id or "", (None, None))
    compared = item.belief.get(item.candidate_id or "", (None, None))
    return {
        "properties": properties,
        "fact_id": item.fact_id,
        "candidate_id": item.candidate_id,
        "requests": _rests_on(item, requests),
        "about_before": about[0],
        "about_after": about[1],
        "compared_before": compared[0],
        "compared_after": compared[1],
    }


def _rests_on(item: Judgement, requests: Sequence[RequestLog]) -> list[str]:
    """The requests that asked about the pair (in both phrasings), else the one it names.

    Of a ladder that is every step.
    """
    if item.request is None:
        return []
    if item.question in _WHOLE:
        return [request.id for request in requests]
    names = (RELATION, SECOND) if item.question == RELATION else (item.question,)
    keys = {question_id(name, item.candidate_id or "") for name in names}
    found = [request.id for request in requests if keys & request.answers.keys()]
    return found or [
        item.request,
        *(r.id for r in requests if r.ladder == item.request and r.id != item.request),
    ]
