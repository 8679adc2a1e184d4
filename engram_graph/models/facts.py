"""What is stored, as frozen records: messages, drafts, entities, facts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engram_graph.vocabulary import (
    ClosedReason,
    Durability,
    FactKind,
    MessageStatus,
    Role,
    Sensitivity,
    TemporalStatus,
)

Vector = list[float]


class Record(BaseModel):
    """Base of the public records: frozen, and no unknown field slips in."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(Record):
    """One utterance (a turn), stored in every mode.

    Attributes:
        source_id: the caller's own id; the same one again changes nothing.
        said_at: when it was said (UTC). recorded_at: when it was stored.
        metadata: any JSON object, kept as given; it decides nothing.
    """

    id: str
    namespace: str
    conversation: str
    speaker: str
    role: Role
    text: str
    said_at: datetime
    recorded_at: datetime
    source_id: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    status: MessageStatus = MessageStatus.PENDING
    error: str | None = None


class Draft(Record):
    """A fact as extracted or given, not stored yet.

    Attributes:
        subject, object: entity names as written; first person means the speaker.
        predicate: one of the 25 names.
        text: the fact as one sentence.
        when: the date as written ("yesterday", "2024-03"); resolved against the message.
        quote: the words of the message it rests on.
        valid_from, valid_until: resolved instants, when the caller or extractor knows them.
        negated: the text says that the relation does NOT (or no longer) hold.
    """

    subject: str
    predicate: str
    object: str
    text: str
    when: str | None = None
    quote: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    negated: bool = False
    temporal_status: TemporalStatus = TemporalStatus.CURRENT
    kind: FactKind = FactKind.BIO
    durability: Durability = Durability.LONG_TERM
    sensitivity: Sensitivity = Sensitivity.NONE

    @property
    def forgotten(self) -> bool:
        """Whether only its place among the message's drafts is left."""
        return not self.text


class Extracted(Record):
    """The drafts of one message and what made them; kept on the message until done and after.

    ``extractor``: ``caller`` for given facts, else the extractor's name.
    """

    extractor: str
    drafts: tuple[Draft, ...] = ()


class Entity(Record):
    """Somebody or something facts are about.

    Attributes:
        key: the normalised name (unique in a namespace). name: as first written.
        aliases: other names that mean it.
        facts: how often it is subject or object of one; None where nobody has counted.
    """

    id: str
    namespace: str
    key: str
    name: str
    aliases: tuple[str, ...] = ()
    facts: int | None = None


class Fact(Record):
    """One stored fact, with both clocks.

    Attributes:
        belief: probability that it holds, in [.02, .98]; moves with evidence (log-odds).
        confidence: how sure the write was, in [0, 1]; never changes.
        valid_from, valid_until: when it was true, half-open; ``valid_until`` None while open.
        valid_from_stated: the start was given, not taken from the message's date.
        recorded_at, closed_at: when the memory knew. changed_at: of the latest decision that moved
            its belief or its end; None while none has.
        tentative: stored unsure. disputed: contradicted but not closed.
        unsettled: a question about it got no usable answer; ``resume`` asks again.
        extractor: what made it: ``caller``, ``patterns``, ``llm:<model>``, ``import``.
        version: counts changes; a plan is applied only to the version it was made from.
    """

    id: str
    namespace: str
    subject: str
    subject_key: str
    predicate: str
    object: str
    object_key: str
    text: str
    kind: FactKind = FactKind.BIO
    durability: Durability = Durability.LONG_TERM
    sensitivity: Sensitivity = Sensitivity.NONE
    temporal_status: TemporalStatus = TemporalStatus.CURRENT
    negated: bool = False
    source_quote: str | None = None
    extractor: str = "caller"
    confidence: float = 1.0
    tentative: bool = False
    disputed: bool = False
    unsettled: bool = False
    belief: float = 0.98
    against_count: int = 0
    valid_from: datetime
    valid_from_stated: bool = False
    valid_until: datetime | None = None
    open: bool = True
    recorded_at: datetime
    closed_at: datetime | None = None
    closed_reason: ClosedReason | None = None
    read_at: datetime | None = None
    archived_at: datetime | None = None
    changed_at: datetime | None = None
    version: int = 1

    @property
    def never_held(self) -> bool:
        """Whether a correction by hand says that it was not true at any moment."""
        return self.closed_reason is ClosedReason.CORRECTED and self.valid_until == self.valid_from

    def as_draft(self) -> Draft:
        """What it says, as if it were told now."""
        shared = Draft.model_fields.keys() & type(self).model_fields.keys()
        given = {name: getattr(self, name) for name in shared}
        return Draft(**given, quote=self.source_quote)

    def holds_at(self, moment: datetime) -> bool:
        """Whether ``moment`` lies in [valid_from, valid_until)."""
        return self.valid_from <= moment and (self.valid_until is None or moment < self.valid_until)


class Link(Record):
    """A relationship between two facts (``source`` is the newer one of a chain)."""

    type: Literal["SUPERSEDES", "SAME_AS", "CONTRADICTS", "REFINES"]
    source: str
    target: str
    p: float | None = None
    reason: str | None = None
    decided_at: datetime | None = None
