"""The lines of an export: a header, then one typed record a line, each after what it names."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, RootModel

from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.facts import Entity, Extracted, Fact, Link, Message, Record, Vector
from engram_graph.models.feedback import Feedback
from engram_graph.models.items import Item

FORMAT: Literal["engram_graph/export"] = "engram_graph/export"
VERSION: Literal[1] = 1
_COUNT = Field(default=0, ge=0, lt=2**53)
_NUMBER = Field(ge=0, lt=2**31)


class Counts(Record):
    """How many records of each kind a file holds; kinds stand in this order."""

    conversation: int = _COUNT
    message: int = _COUNT
    entity: int = _COUNT
    fact: int = _COUNT
    mention: int = _COUNT
    link: int = _COUNT
    decision: int = _COUNT
    request: int = _COUNT
    alias: int = _COUNT
    feedback: int = _COUNT
    item: int = _COUNT

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.model_dump().values())


class Embedding(Record):
    """What made the vectors of a namespace."""

    model: str
    dimension: int = Field(gt=0, lt=2**20)


class Header(Record):
    """The first line.

    Attributes:
        namespace: the exported one; an import may go into another.
        embedding: what made the stored vectors; None when there are none.
        vectors: messages and facts carry them.
    """

    format: Literal["engram_graph/export"] = FORMAT
    version: Literal[1] = VERSION
    namespace: str
    counts: Counts
    embedding: Embedding | None = None
    vectors: bool = False
    exported_at: datetime


class ConversationRecord(Record):
    """A conversation; the order of its messages follows from their clocks."""

    record: Literal["conversation"] = "conversation"
    name: str


class MessageRecord(Record):
    """A message with its drafts; None when nothing was extracted yet."""

    record: Literal["message"] = "message"
    message: Message
    drafts: Extracted | None = None
    vector: Vector | None = None


class EntityRecord(Record):
    """An entity; facts name it by its key. Its aliases are records of their own.

    ``apart``: ids of the entities that a merge with it was taken back from.
    """

    record: Literal["entity"] = "entity"
    entity: Entity
    version: int = _NUMBER
    created_at: datetime | None = None
    apart: tuple[str, ...] = ()


class FactRecord(Record):
    """A fact; ``sources`` are the ids of the messages that state it."""

    record: Literal["fact"] = "fact"
    fact: Fact
    sources: tuple[str, ...]
    vector: Vector | None = None


class MentionRecord(Record):
    """A fact (id) that names an entity (key) besides its subject and object.

    ``of``: ids of the entities that it named, when a merge made them this one; else empty.
    """

    record: Literal["mention"] = "mention"
    fact: str
    entity: str
    of: tuple[str, ...] = ()


class LinkRecord(Record):
    """A link between two facts."""

    record: Literal["link"] = "link"
    link: Link


class DecisionRecord(Record):
    """A decision; the requests it rests on name it, so its own ``request_id`` is left out.

    Attributes:
        position: its place among those of one plan. moves_end: it closed or reopened a fact.
        more: what only decisions of some kinds hold, such as what a merge of entities moved.
    """

    record: Literal["decision"] = "decision"
    decision: Decision
    position: int = _NUMBER
    moves_end: bool = False
    more: dict[str, str | bool | int | float | tuple[str, ...]] = Field(default_factory=dict)


class RequestRecord(Record):
    """A call to a decider with every answer; ``decisions`` are the ids of those that rest on it."""

    record: Literal["request"] = "request"
    request: RequestLog
    decisions: tuple[str, ...] = ()


class MergedEntity(Record):
    """The entity that an alias was before a merge; undoing the merge needs it."""

    id: str
    version: int = _NUMBER
    created_at: datetime | None = None
    apart: tuple[str, ...] = ()
    alias_keys: tuple[str, ...] = ()


class AliasRecord(Record):
    """A name that means an entity (key).

    Attributes:
        merged: what it was, if a merge left it. decisions: ids of those of the merge.
    """

    record: Literal["alias"] = "alias"
    key: str
    name: str
    entity: str
    created_at: datetime | None = None
    merged: MergedEntity | None = None
    decisions: tuple[str, ...] = ()


class FeedbackRecord(Record):
    """A label on a fact or a decision of the file."""

    record: Literal["feedback"] = "feedback"
    feedback: Feedback


class ItemText(Record):
    """A text that finds an item."""

    text: str
    vector: Vector | None = None


class ItemRecord(Record):
    """An item with the texts it is found by; its messages are records of their own."""

    record: Literal["item"] = "item"
    item: Item
    texts: tuple[ItemText, ...] = ()


AnyRecord = (
    ConversationRecord
    | MessageRecord
    | EntityRecord
    | FactRecord
    | MentionRecord
    | LinkRecord
    | DecisionRecord
    | RequestRecord
    | AliasRecord
    | FeedbackRecord
    | ItemRecord
)
KINDS = tuple(Counts.model_fields)
"""Every kind of record, in the order of a file."""


class ExportLine(RootModel[Header | Annotated[AnyRecord, Field(discriminator="record")]]):
    """One line of an export."""


class Exported(Record):
    """What was exported, and where to."""

    path: str
    namespace: str
    counts: Counts
