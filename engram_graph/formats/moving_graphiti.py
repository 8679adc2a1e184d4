"""Rows of graphiti's graph (graphiti-core 0.31) as foreign messages and facts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from engram_graph.errors import InputError
from engram_graph.formats.moving import moment
from engram_graph.models.moving import Foreign, ForeignFact, ForeignMessage
from engram_graph.vocabulary import ClosedReason, Role

SOURCE = "graphiti"
_SPEAKER = re.compile(r"\s*([^:\n]{1,60}?)(?:\s*\((\w+)\))?:\s+(\S.*)", re.DOTALL)
_NEXT_SPEAKER = re.compile(r"^[^:\n]{1,60}:\s", re.MULTILINE)
Row = Mapping[str, Any]


def read(group: str, episodes: Iterable[Row], facts: Iterable[Row], rest: Row) -> Foreign:
    """A group of graphiti.

    Args:
        episodes, facts, rest: rows of the statements of these names in ``moving.cypher``.
    """
    foreign = Foreign("graphiti", group)
    times: dict[str, datetime] = {}
    for row in episodes:
        try:
            message = _message(group, row["episode"])
        except InputError as error:
            foreign.leave("episode", row["episode"]["uuid"], error.message)
            continue
        foreign.messages.append(message)
        times[message.id] = message.said_at
    attributes = 0
    found: list[ForeignFact] = []
    for row in facts:
        attributes += row["attributes"]
        try:
            found.append(_fact(row, times))
        except InputError as error:
            foreign.leave("fact", row["fact"]["uuid"], error.message)
    foreign.facts.extend(_chained(found))
    counts = {
        "summaries of entities": rest["summaries"],
        "entities without a fact": rest["entities"],
        "communities": rest["communities"],
        "sagas": rest["sagas"],
        "attributes of facts": attributes,
    }
    foreign.not_moved.update({name: count for name, count in counts.items() if count})
    return foreign


def _message(group: str, row: Row) -> ForeignMessage:
    recorded = moment(row["created_at"], "created_at")
    said = moment(row["valid_at"], "valid_at") or recorded
    if said is None:
        raise InputError("it has no moment")
    text = row["content"] or ""
    speaker, role = row["source_description"] or SOURCE, Role.SYSTEM
    if row["source"] == "message":
        role = Role.USER
        speaker = "user"
        # One turn, as "Maya: I moved"; a transcript of several stays as it is.
        told = _SPEAKER.fullmatch(text) if isinstance(text, str) else None
        if told and not _NEXT_SPEAKER.search(told[3]):
            speaker, text = told[1], told[3].strip()
            role = Role.ASSISTANT if "assistant" in (speaker.lower(), told[2]) else Role.USER
    return ForeignMessage(
        id=row["uuid"],
        conversation=group or SOURCE,
        speaker=speaker,
        role=role,
        text=text,
        said_at=said,
        recorded_at=recorded or said,
        metadata={
            "graphiti": {
                key: row[name]
                for key, name in (("uuid", "uuid"), ("name", "name"), ("source", "source"))
                if row[name]
            }
        },
    )


def _fact(row: Row, times: Mapping[str, datetime]) -> ForeignFact:
    edge = row["fact"]
    episodes = tuple(edge["episodes"] or ())
    created = moment(edge["created_at"], "created_at")
    if created is None:
        raise InputError("it has no created_at")
    stated = moment(edge["valid_at"], "valid_at")
    heard = moment(edge["reference_time"], "reference_time")
    begins = stated or heard or next((times[e] for e in episodes if e in times), created)
    expired = moment(edge["expired_at"], "expired_at")
    ends = moment(edge["invalid_at"], "invalid_at") or expired
    return ForeignFact(
        id=edge["uuid"],
        subject=row["subject"] or "",
        relation=edge["name"] or "",
        object=row["object"] or "",
        text=edge["fact"] or "",
        valid_from=begins,
        stated=stated is not None,
        valid_until=ends,
        recorded_at=created,
        closed_at=expired,
        sources=episodes,
        metadata={"graphiti": {"uuid": edge["uuid"], "name": edge["name"] or ""}},
    )


def _chained(facts: list[ForeignFact]) -> list[ForeignFact]:
    """Facts with what superseded what, as far as that shows.

    graphiti does not keep which fact ended another, but gives it the other's start as its end. So
    a fact of the same subject that starts in the very moment of an end is taken for what ended it:
    the only one of the same relation, else the only one.
    """
    starting: dict[tuple[str, datetime], list[ForeignFact]] = defaultdict(list)
    for fact in facts:
        if fact.stated:
            starting[fact.subject, fact.valid_from].append(fact)
    older: dict[str, list[str]] = defaultdict(list)
    ended: set[str] = set()
    for fact in facts:
        if fact.valid_until is None or fact.valid_until <= fact.valid_from:
            continue
        newer = starting[fact.subject, fact.valid_until]
        alike = [one for one in newer if one.relation == fact.relation] or newer
        if len(alike) == 1:
            older[alike[0].id].append(fact.id)
            ended.add(fact.id)
    return [
        replace(
            fact,
            supersedes=tuple(older[fact.id]),
            closed_reason=ClosedReason.SUPERSEDED if fact.id in ended else fact.closed_reason,
        )
        for fact in facts
    ]
