"""A namespace's records as a replay reads them, and the events they tell of. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.export import (
    AliasRecord,
    AnyRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Draft, Fact, Link
from engram_graph.models.feedback import Feedback


@dataclass(slots=True)
class Log:
    """All records of a namespace that a replay needs."""

    messages: dict[str, MessageRecord] = field(default_factory=dict)
    facts: dict[str, FactRecord] = field(default_factory=dict)
    decisions: list[DecisionRecord] = field(default_factory=list)
    requests: dict[datetime, list[RequestLog]] = field(default_factory=dict)
    entities: list[EntityRecord] = field(default_factory=list)
    aliases: list[AliasRecord] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    mentions: list[MentionRecord] = field(default_factory=list)
    labels: list[Feedback] = field(default_factory=list)
    _about: dict[str, str | None] = field(default_factory=dict)
    _resting: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def take(self, page: Iterable[AnyRecord]) -> None:
        """Add a page of an export."""
        for record in page:
            match record:
                case MessageRecord():
                    self.messages[record.message.id] = record
                case FactRecord():
                    self.facts[record.fact.id] = record
                case DecisionRecord():
                    self.decisions.append(record)
                    self._about[record.decision.id] = record.decision.fact_id
                case RequestRecord():
                    self.requests.setdefault(record.request.sent_at, []).append(record.request)
                    self._resting[record.request.id] = record.decisions
                case EntityRecord():
                    self.entities.append(record)
                case AliasRecord():
                    self.aliases.append(record)
                case LinkRecord():
                    self.links.append(record.link)
                case MentionRecord():
                    self.mentions.append(record)
                case FeedbackRecord():
                    self.labels.append(record.feedback)
                case _:
                    pass

    def asked(self, fact_id: str, at: datetime) -> tuple[RequestLog, ...]:
        """The calls made when ``fact_id`` was decided on, in their order.

        Two processes may have decided at one moment: what rests on a call tells whose it is.
        """
        found = sorted(self.requests.get(at, ()), key=attrgetter("id"))
        return tuple(
            request
            for request in found
            if all(fact_id in (one, self._about.get(one)) for one in self._resting[request.id])
        )

    def rests(self) -> dict[str, list[RequestLog]]:
        """Decision id → the calls that it rests on."""
        found: dict[str, list[RequestLog]] = {}
        for requests in self.requests.values():
            for request in requests:
                for decision in self._resting[request.id]:
                    found.setdefault(decision, []).append(request)
        return found


@dataclass(frozen=True, slots=True)
class Told:
    """A draft was decided: it became the fact, or the decision, ``fact_id``."""

    at: datetime
    message: str
    index: int
    draft: Draft
    extractor: str
    fact_id: str


@dataclass(frozen=True, slots=True)
class Settled:
    """Questions about a fact were asked again."""

    at: datetime
    fact_id: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """A person put ``fact``, as it was then, in the place of ``old_id``."""

    at: datetime
    message: str
    old_id: str
    fact: Fact
    valid_until: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class Given:
    """Facts that no draft tells of, each as it was then and the decision that it started with."""

    at: datetime
    message: str
    facts: tuple[tuple[Fact, Decision], ...]


@dataclass(frozen=True, slots=True)
class Named:
    """An entity got another name."""

    at: datetime
    entity: str
    alias: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Two entities became one, or (``apart``) two again."""

    at: datetime
    kept: str
    gone: str
    apart: bool
    reason: str
    p: float
    backend: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Decisions whose effect is taken as it was, and links that come with them.

    ``against``: fact id → how much evidence there was against it then, of facts that have lost
    some with what was forgotten.
    """

    at: datetime
    decisions: tuple[DecisionRecord, ...] = ()
    links: tuple[Link, ...] = ()
    against: dict[str, int] = field(default_factory=dict)


Event = Told | Settled | Corrected | Given | Named | Merged | Noted
