"""Rows of the graph of neo4j-agent-memory (0.8) as foreign messages and facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from engram_graph.errors import InputError
from engram_graph.formats.moving import ROLES, moment, short
from engram_graph.models.moving import Foreign, ForeignFact, ForeignMessage
from engram_graph.vocabulary import ClosedReason, Role

_OWN = "agent_memory"
Row = Mapping[str, Any]


def read(
    user: str | None,
    messages: Iterable[Row],
    relations: Iterable[Row],
    facts: Iterable[Row],
    preferences: Iterable[Row],
    rest: Row,
) -> Foreign:
    """What neo4j-agent-memory holds of ``user``, or all of it.

    Args:
        messages, relations, facts, preferences, rest: rows of the statements of these names in
            ``moving.cypher``.
    """
    foreign = Foreign("agent-memory", user or "")
    for row in messages:
        try:
            foreign.messages.append(_message(row))
        except InputError as error:
            foreign.leave("message", row["message"]["id"], error.message)
    for kind, rows, make in (
        ("relation", relations, _relation),
        ("fact", facts, _fact),
    ):
        for row in rows:
            try:
                foreign.facts.append(make(row))
            except InputError as error:
                foreign.leave(kind, row[kind]["id"], error.message)
    wishes = list(preferences)
    owners = {row["preference"]["id"]: _owners(row) for row in wishes}
    for row in wishes:
        try:
            foreign.facts.extend(_preferences(row, owners))
        except InputError as error:
            foreign.leave("preference", row["preference"]["id"], error.message)
    counts = {
        "facts that are no user's": rest["facts_of_nobody"],
        "entities without a relationship": rest["entities"],
        "reasoning traces": rest["reasoning_traces"],
    }
    foreign.not_moved.update({name: count for name, count in counts.items() if count})
    return foreign


def _message(row: Row) -> ForeignMessage:
    message = row["message"]
    said = moment(message["timestamp"], "timestamp")
    if said is None:
        raise InputError("it has no timestamp")
    role = ROLES.get(str(message["role"]), Role.USER)
    return ForeignMessage(
        id=message["id"],
        conversation=row["session"] or "default",
        speaker=(row["user"] if role is Role.USER else None) or role.value,
        role=role,
        text=message["content"] or "",
        said_at=said,
        recorded_at=said,
        metadata=_metadata(message["metadata"], id=message["id"]),
    )


def _relation(row: Row) -> ForeignFact:
    edge = row["relation"]
    name = edge["type"] or edge["relation_type"] or "related_to"
    subject, obj = row["subject"] or "", row["object"] or ""
    evidence = edge["evidence"] or [None]
    return _dated(
        edge,
        id=edge["id"],
        subject=subject,
        relation=name,
        object=obj,
        text=edge["description"] or f"{subject} {_words(name)} {obj}",
        quote=evidence[0],
        sources=tuple(edge["source_message_ids"] or ()),
        aliases=(
            (subject, tuple(row["subject_aliases"])),
            (obj, tuple(row["object_aliases"])),
        ),
        metadata=_metadata(None, id=edge["id"], type=name),
    )


def _fact(row: Row) -> ForeignFact:
    fact = row["fact"]
    subject, obj = fact["subject"] or "", fact["object"] or ""
    return _dated(
        fact,
        id=fact["id"],
        subject=subject,
        relation=fact["predicate"] or "",
        object=short(obj),
        text=f"{subject} {_words(fact['predicate'] or '')} {obj}",
        metadata=_metadata(fact["metadata"], id=fact["id"], predicate=fact["predicate"]),
    )


def _owners(row: Row) -> list[str]:
    return list(row["users"]) or [Role.USER.value]


def _preferences(row: Row, owners: Mapping[str, list[str]]) -> list[ForeignFact]:
    """A preference of each user that has it."""
    wish = row["preference"]
    told = wish["preference"] or ""
    place = f" ({wish['context']})" if wish["context"] else ""
    learned = moment(wish["valid_until"], "valid_until") if row["superseded"] else None
    reason = ClosedReason.SUPERSEDED if row["superseded"] else ClosedReason.STATED
    return [
        _dated(
            wish,
            id=f"{wish['id']} of {user}",
            subject=user,
            relation="prefers",
            object=short(told),
            text=f"{user} prefers {told}{place}",
            closed_at=learned,
            closed_reason=reason,
            supersedes=tuple(
                f"{old} of {user}" for old in row["older"] if user in owners.get(old, ())
            ),
            metadata=_metadata(wish["metadata"], id=wish["id"], category=wish["category"]),
        )
        for user in _owners(row)
    ]


def _dated(row: Row, **what: Any) -> ForeignFact:
    created = moment(row["created_at"], "created_at")
    begins = moment(row["valid_from"], "valid_from")
    if created is None:
        raise InputError("it has no created_at")
    confidence = 1.0 if row["confidence"] is None else row["confidence"]
    if not isinstance(confidence, int | float):
        raise InputError("its confidence is no number")
    return ForeignFact(
        valid_from=begins or created,
        stated=begins is not None,
        valid_until=moment(row["valid_until"], "valid_until"),
        recorded_at=created,
        confidence=float(confidence),
        **what,
    )


def _words(name: str) -> str:
    return name.replace("_", " ").lower()


def _metadata(stored: object, **own: object) -> dict[str, Any]:
    """Metadata as it is kept there, a JSON text, with what it is called there."""
    given: Any = {}
    if isinstance(stored, str) and stored:
        try:
            given = json.loads(stored)
        except ValueError:
            given = {"metadata": stored}
    plain = given if isinstance(given, dict) else {"metadata": given}
    return plain | {_OWN: {name: value for name, value in own.items() if value is not None}}
