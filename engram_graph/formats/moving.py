"""What another memory holds, as the records of an export: the import does the rest.

Ids follow from the other memory's own ids, so that the same thing moved twice is one thing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from engram_graph import clock
from engram_graph.errors import InputError
from engram_graph.models.decisions import Decision
from engram_graph.models.export import (
    AliasRecord,
    AnyRecord,
    ConversationRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    LinkRecord,
    MessageRecord,
)
from engram_graph.models.facts import Entity, Extracted, Fact, Link, Message
from engram_graph.models.moving import Foreign, ForeignFact, ForeignMessage
from engram_graph.rules.belief import start
from engram_graph.rules.names import entity_key
from engram_graph.rules.thresholds import Thresholds
from engram_graph.rules.validate import clean_metadata, clean_name, clean_text
from engram_graph.vocabulary import (
    FALLBACK,
    MessageStatus,
    Outcome,
    Role,
    predicate,
)

_NAME = 100  # characters of a name that is made from a sentence


def moment(value: object, field: str) -> datetime | None:
    """A moment of another memory: a datetime or ISO text; without a zone it is UTC.

    Raises:
        InputError: it is neither.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime) and value.tzinfo is None:
        value = value.isoformat()
    if isinstance(value, str):
        text = value.strip()
        try:
            if datetime.fromisoformat(text).tzinfo is None and len(text) > 10:
                text += "+00:00"
        except ValueError:
            pass  # ``instant`` says what is wrong with it
        value = text
    return clock.instant(value, field)  # type: ignore[arg-type]


def short(text: str) -> str:
    """A name for what is told in a sentence: the sentence itself, cut if it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _NAME else plain[: _NAME - 1].rstrip() + "…"


def known_relation(name: str) -> str | None:
    """Which of the 25 predicates a relation is; None when it is none of them."""
    try:
        return predicate(name).name
    except InputError:
        return None


def refuse_unusable(foreign: Foreign) -> None:
    """Take out of ``foreign`` what cannot be stored, each with its reason."""
    messages = {message.id: message for message in foreign.messages}
    foreign.messages[:] = [
        message
        for message in messages.values()
        if _fits(foreign, "message", message.id, partial(_check_message, message))
    ]
    facts = {
        fact.id: fact
        for fact in foreign.facts
        if _fits(foreign, "fact", fact.id, partial(_check_fact, fact))
    }
    foreign.facts[:] = [
        replace(fact, supersedes=tuple(_older(foreign, fact, facts))) for fact in facts.values()
    ]


def _older(foreign: Foreign, fact: ForeignFact, facts: Mapping[str, ForeignFact]) -> Iterator[str]:
    """What a fact superseded: it has ended, and began before; so there is no circle."""
    for name in fact.supersedes:
        if (old := facts.get(name)) is None:
            continue  # left out itself
        if old.valid_until is None:
            foreign.leave("link", f"{fact.id} → {name}", "what is superseded has no end")
        elif (old.valid_from, old.id) >= (fact.valid_from, fact.id):
            foreign.leave("link", f"{fact.id} → {name}", "what is superseded began later")
        else:
            yield name


def _fits(foreign: Foreign, kind: str, name: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except InputError as error:
        foreign.leave(kind, name, error.message)
        return False
    return True


def _check_message(message: ForeignMessage) -> None:
    clean_text(message.text, "text")
    clean_name(message.speaker, "speaker")
    clean_name(message.conversation, "conversation")
    clean_metadata(message.metadata)


def _check_fact(fact: ForeignFact) -> None:
    clean_text(fact.text, "text")
    clean_name(fact.subject, "subject")
    clean_name(fact.object, "object")
    clean_metadata(fact.metadata)
    if not math.isfinite(fact.confidence):
        raise InputError("its confidence is no number")
    if fact.valid_until is not None and fact.valid_until < fact.valid_from:
        raise InputError(
            f"it ends ({fact.valid_until.isoformat()}) before it starts "
            f"({fact.valid_from.isoformat()})"
        )


def fallbacks(foreign: Foreign) -> dict[str, int]:
    """Relation → how many facts of it become ``related_to``, the most frequent first."""
    found = (fact.relation for fact in foreign.facts if known_relation(fact.relation) is None)
    return dict(Counter(found).most_common())


class Records:
    """The records of an export for what was read.

    Args:
        foreign: what ``refuse_unusable`` has left.
        namespace: what the header of the export says; part of every id.
    """

    def __init__(self, foreign: Foreign, namespace: str, thresholds: Thresholds) -> None:
        self._foreign = foreign
        self._namespace = namespace
        self._thresholds = thresholds
        self._messages = {message.id for message in foreign.messages}
        self._facts = {fact.id: fact for fact in foreign.facts}
        self._newer = {old: fact.id for fact in foreign.facts for old in fact.supersedes}

    def fact_id(self, name: str) -> str:
        """The id, in the export, of a fact of the other memory."""
        return clock.derived_id(self._namespace, "fact", name)

    def message_ids(self) -> list[str]:
        """The ids, in the export, of all its messages."""
        return [each.message.id for each in self._message_records()]

    def fact_ids(self) -> dict[str, ForeignFact]:
        """The id, in the export, of every fact → the fact."""
        return {self.fact_id(name): fact for name, fact in self._facts.items()}

    def all(self) -> Iterator[AnyRecord]:
        """Every record, in the order of a file."""
        messages = list(self._message_records())
        for name in sorted({each.message.conversation for each in messages}):
            yield ConversationRecord(name=name)
        yield from messages
        names: dict[str, str] = {}
        for fact in self._facts.values():
            names.setdefault(entity_key(fact.subject), fact.subject.strip())
            names.setdefault(entity_key(fact.object), fact.object.strip())
        for key, name in names.items():
            entity_id = clock.derived_id(self._namespace, "entity", key)
            entity = Entity(id=entity_id, namespace=self._namespace, key=key, name=name)
            yield EntityRecord(entity=entity, version=1)
        for fact in self._facts.values():
            yield FactRecord(fact=self._fact(fact), sources=self._sources(fact))
        for fact in self._facts.values():
            yield from self._links(fact)
        for fact in self._facts.values():
            yield from self._decisions(fact)
        yield from self._aliases(names)

    def _message_records(self) -> Iterator[MessageRecord]:
        for message in self._foreign.messages:
            yield self._message(message)
        for fact in self._facts.values():
            if not self._stated(fact):
                yield self._message(
                    ForeignMessage(
                        id=f"fact {fact.id}",
                        conversation=f"moved from {self._foreign.source}",
                        speaker=fact.speaker or self._foreign.source,
                        role=fact.role,
                        text=fact.text,
                        said_at=fact.recorded_at,
                        recorded_at=fact.recorded_at,
                        metadata=fact.metadata,
                    )
                )

    def _stated(self, fact: ForeignFact) -> list[str]:
        return [each for each in fact.sources if each in self._messages]

    def _message_id(self, name: str) -> str:
        return clock.derived_id(self._namespace, "message", name)

    def _sources(self, fact: ForeignFact) -> tuple[str, ...]:
        stated = self._stated(fact) or [f"fact {fact.id}"]
        return tuple(self._message_id(each) for each in stated)

    def _message(self, message: ForeignMessage) -> MessageRecord:
        return MessageRecord(
            message=Message(
                id=self._message_id(message.id),
                namespace=self._namespace,
                conversation=message.conversation,
                speaker=message.speaker,
                role=message.role,
                text=message.text,
                said_at=message.said_at,
                recorded_at=message.recorded_at,
                source_id=f"{self._foreign.source}:{message.id}",
                metadata=message.metadata,
                status=MessageStatus.DONE,
            ),
            drafts=Extracted(extractor=self._foreign.source),
        )

    def _fact(self, fact: ForeignFact) -> Fact:
        ended = fact.valid_until is not None
        return Fact(
            id=self.fact_id(fact.id),
            namespace=self._namespace,
            subject=fact.subject.strip(),
            subject_key=entity_key(fact.subject),
            predicate=known_relation(fact.relation) or FALLBACK,
            object=fact.object.strip(),
            object_key=entity_key(fact.object),
            text=fact.text,
            source_quote=fact.quote,
            extractor=self._foreign.source,
            confidence=min(max(fact.confidence, 0.0), 1.0),
            belief=self._belief(fact),
            valid_from=fact.valid_from,
            valid_from_stated=fact.stated,
            valid_until=fact.valid_until,
            open=not ended,
            recorded_at=fact.recorded_at,
            closed_at=self._closed_at(fact) if ended else None,
            closed_reason=fact.closed_reason if ended else None,
            changed_at=self._closed_at(fact) if ended else None,
        )

    def _belief(self, fact: ForeignFact) -> float:
        return start(False, fact.confidence, self._thresholds)

    def _closed_at(self, fact: ForeignFact) -> datetime:
        return max(fact.closed_at or fact.recorded_at, fact.recorded_at)

    def _links(self, fact: ForeignFact) -> Iterator[LinkRecord]:
        for older in fact.supersedes:
            ended = self._facts[older]
            yield LinkRecord(
                link=Link(
                    type="SUPERSEDES",
                    source=self.fact_id(fact.id),
                    target=self.fact_id(older),
                    reason=ended.closed_reason,
                    decided_at=self._closed_at(ended),
                )
            )

    def _decisions(self, fact: ForeignFact) -> Iterator[DecisionRecord]:
        own = self.fact_id(fact.id)
        yield DecisionRecord(
            decision=Decision(
                id=clock.derived_id(own, "belief_start"),
                question="belief_start",
                outcome=Outcome.STORED,
                chosen="sure",
                p=1.0,
                reason=f"moved from {self._foreign.source}",
                backend="rule",
                decided_at=fact.recorded_at,
                fact_id=own,
                belief_after=self._belief(fact),
            ),
            position=0,
        )
        if fact.valid_until is None:
            return
        newer = self._newer.get(fact.id)
        yield DecisionRecord(
            decision=Decision(
                id=clock.derived_id(own, "close"),
                question="close",
                outcome=Outcome.CLOSED,
                chosen=fact.closed_reason,
                p=1.0,
                reason=f"ended in {self._foreign.source}",
                backend="rule",
                decided_at=self._closed_at(fact),
                fact_id=own,
                candidate_id=None if newer is None else self.fact_id(newer),
                valid_until_after=fact.valid_until,
                reason_after=fact.closed_reason,
            ),
            position=1,
            moves_end=True,
        )

    def _aliases(self, names: dict[str, str]) -> Iterator[AliasRecord]:
        taken = set(names)
        for fact in self._facts.values():
            for name, others in fact.aliases:
                for other in others:
                    key = entity_key(other) if isinstance(other, str) else ""
                    if key and key not in taken and entity_key(name) in names:
                        taken.add(key)
                        yield AliasRecord(key=key, name=other, entity=entity_key(name))


ROLES = {role.value: role for role in Role}
