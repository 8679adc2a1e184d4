"""What a replay's records are called in the place of those they were replayed from. Pure.

Ids that exist in both stay what they were, so that nobody who holds one notices. A decision that
came out as before is the same decision, and people's labels on it stay. Calls to deciders are not
replayed: a decision rests on those that were made then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engram_graph.models.export import AliasRecord, DecisionRecord, EntityRecord, FactRecord
from engram_graph.rules.questions import RELATION, SECOND, question_id
from engram_graph.rules.replay_log import Log

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_WHOLE = frozenset({"belief_start", "settle"})  # rest on everything asked about the fact
Row = dict[str, Any]
Rename = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Adoption:
    """Rows for the statements that put a replay in the place of its originals.

    Attributes:
        facts, entities, aliases, mentions, links, decisions: what changes of each record.
        staying: labels to be put on the same fact or decision again. leaving: ids of the others.
    """

    facts: tuple[Row, ...]
    entities: tuple[Row, ...]
    aliases: tuple[Row, ...]
    mentions: tuple[Row, ...]
    links: tuple[Row, ...]
    decisions: tuple[Row, ...]
    staying: tuple[Row, ...]
    leaving: tuple[str, ...]


def adopt(log: Log, copy: Log, original: Rename) -> Adoption:
    """How ``copy`` takes the place of ``log``.

    Args:
        original: what a message, fact or draft of the copy is called in the log; other ids stay.
    """
    entities = _entity_ids(log, copy)
    same = _same_decisions(log, copy, original)
    ids = entities | {
        each.decision.id: same[each.decision.id].decision.id
        if each.decision.id in same
        else original(each.decision.id)
        for each in copy.decisions
    }

    def name(old: str) -> str:
        return ids.get(old) or original(old)

    calls = _Calls(log, copy, same, original)
    versions = {each.entity.key: each.version for each in log.entities}
    facts = tuple(_fact(each, log, original) for each in copy.facts.values())
    decisions = tuple(_decision(each, same, name, calls) for each in copy.decisions)
    kept = {row["id"] for row in facts} | {each.decision.id for each in same.values()}
    staying = [one for one in log.labels if (one.fact_id or one.decision_id) in kept]
    there = {one.id for one in staying}
    return Adoption(
        facts=facts,
        entities=tuple(_entity(each, versions, name) for each in copy.entities),
        aliases=tuple(_alias(each, name) for each in copy.aliases),
        mentions=tuple(
            {"fact": name(each.fact), "key": each.entity, "of": [name(i) for i in each.of]}
            for each in copy.mentions
            if each.of
        ),
        links=tuple(
            {
                "type": each.type,
                "source": name(each.source),
                "target": name(each.target),
                "reason": _told(each.reason, name),
            }
            for each in copy.links
            if each.reason
        ),
        decisions=decisions,
        staying=tuple(
            {"label": one.id, "fact": one.fact_id, "decision": one.decision_id} for one in staying
        ),
        leaving=tuple(one.id for one in log.labels if one.id not in there),
    )


def _entity_ids(log: Log, copy: Log) -> dict[str, str]:
    """Ids of entities and of merged ones in the copy → those in the log."""

    def by_key(one: Log) -> dict[str, str]:
        merged = {each.key: each.merged.id for each in one.aliases if each.merged}
        return merged | {each.entity.key: each.entity.id for each in one.entities}

    known = by_key(log)
    return {mine: known[key] for key, mine in by_key(copy).items() if key in known}


def _same_decisions(log: Log, copy: Log, original: Rename) -> dict[str, DecisionRecord]:
    """Id of a decision in the copy → the one in the log that says the same of the same."""
    pool: dict[Any, list[DecisionRecord]] = {}
    for each in log.decisions:
        pool.setdefault(_says(each, _itself), []).append(each)
    found = {}
    for each in copy.decisions:
        mine = each.decision.id
        alike = pool.get(_says(each, original), [])
        if (known := original(mine)) != mine:  # it stands for a draft
            alike = [one for one in alike if one.decision.id == known]
        if alike:
            found[mine] = alike[0]
            pool[_says(each, original)].remove(alike[0])
    return found


def _says(record: DecisionRecord, name: Rename) -> Any:
    """All that a decision says, but for ids of its own and its place in a plan."""
    named = {"fact_id", "candidate_id"}
    said = record.decision.model_dump(exclude={"id", "reason", "request_id"})
    return (
        record.moves_end,
        _told(record.decision.reason, name),
        *(name(value) if key in named and value else _round(value) for key, value in said.items()),
    )


def _round(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_round(each) for each in value)
    return round(value, 9) if isinstance(value, float) else value


class _Calls:
    """Which of the calls that were made a decision of the copy rests on."""

    def __init__(
        self, log: Log, copy: Log, same: dict[str, DecisionRecord], original: Rename
    ) -> None:
        self._log = log
        self._same = same
        self._original = original
        self._made = log.rests()
        self._replayed = copy.rests()

    def of(self, record: DecisionRecord) -> list[str]:
        """Ids of calls, sorted."""
        one = record.decision
        if one.id in self._same:
            made = self._made.get(self._same[one.id].decision.id, [])
            return sorted(request.id for request in made)
        if one.id not in self._replayed:
            return []
        named = self._original(one.fact_id or one.id)
        asked = self._log.asked(named, one.decided_at)
        if one.question in _WHOLE or self._original(one.id) != one.id:
            return [request.id for request in asked]
        keys = self._keys(record)
        return [request.id for request in asked if keys & request.answers.keys()]

    def _keys(self, record: DecisionRecord) -> set[str]:
        """The answers that a decision may rest on, as they are called in the log."""
        one = record.decision
        if one.candidate_id is None:
            return {one.question}
        names = {one.question, RELATION} | ({SECOND} if one.question == RELATION else set())
        return {question_id(each, self._original(one.candidate_id)) for each in names}


def _decision(
    record: DecisionRecord, same: dict[str, DecisionRecord], name: Rename, calls: _Calls
) -> Row:
    one = record.decision
    known = same.get(one.id)
    more = {key: _named(value, name) for key, value in record.more.items()}
    return {
        "copy": one.id,
        "id": name(one.id),
        "reason": _told(one.reason, name),
        "more": known.more if known else more,
        "requests": calls.of(record),
    }


def _fact(record: FactRecord, log: Log, name: Rename) -> Row:
    fact = record.fact
    known = log.facts.get(name(fact.id))
    return {
        "copy": fact.id,
        "id": name(fact.id),
        # Other than any that a plan under way was made from.
        "version": max(fact.version, known.fact.version + 1 if known else 0),
        "read_at": known.fact.read_at if known else None,
        "sources": [name(each) for each in record.sources],
    }


def _entity(record: EntityRecord, versions: Mapping[str, int], name: Rename) -> Row:
    return {
        "key": record.entity.key,
        "id": name(record.entity.id),
        "version": max(record.version, versions.get(record.entity.key, -1) + 1),
        "apart": [name(each) for each in record.apart] or None,
    }


def _alias(record: AliasRecord, name: Rename) -> Row:
    was = record.merged
    return {
        "key": record.key,
        "entity_id": name(was.id) if was else None,
        "apart": [name(each) for each in was.apart] or None if was else None,
    }


def _named(value: Any, name: Rename) -> Any:
    if isinstance(value, list | tuple):
        return [_named(each, name) for each in value]
    return name(value) if isinstance(value, str) and _UUID.fullmatch(value) else value


def _told(reason: str | None, name: Rename) -> str | None:
    """A reason with the ids it names, such as that of a merge."""
    return None if reason is None else _UUID.sub(lambda found: name(found[0]), reason)


def _itself(old: str) -> str:
    return old
