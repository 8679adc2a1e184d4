"""What a plan is made from: one draft, resolved, and the facts it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engram_graph.models.facts import Draft, Fact, Message, Vector
from engram_graph.rules.method import DEFAULT, Method
from engram_graph.rules.names import USER, entity_key, rare_entity_names
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import ClosedReason, Role, TemporalStatus

_NEAR = frozenset({"near"})
_ASKED = _NEAR | {"related"}
_PLAN_PREDICATES = frozenset({"plans", "goal"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known fact a draft is compared with.

    Attributes:
        speakers: who has said so already, in these words or in others that counted as support.
        how: why it is here: ``near`` by vector, ``related`` by graph (both are asked about),
            ``twin`` (same subject, predicate and object, in any state).
        superseded_by: ids of the facts that supersede it.
    """

    fact: Fact
    speakers: frozenset[str] = frozenset()
    how: frozenset[str] = frozenset({"near"})
    superseded_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact belongs: what its candidates are looked up by.

    Attributes:
        named: keys of the entities its text names.
    """

    namespace: str
    message_id: str
    subject_key: str
    predicate: str
    object_key: str
    named: tuple[str, ...]
    valid_from: datetime

    def under(self, keys: Mapping[str, str]) -> Place:
        """The same place with aliases (left) replaced by the entities' own keys (right)."""
        return replace(
            self,
            subject_key=keys.get(self.subject_key, self.subject_key),
            object_key=keys.get(self.object_key, self.object_key),
            named=tuple(dict.fromkeys(keys.get(key, key) for key in self.named)),
        )


@dataclass(frozen=True, slots=True)
class Situation:
    """One draft and all that is known about it when the plan is made.

    Attributes:
        draft: resolved: first person replaced by the speaker, text set.
        valid_from, valid_until: its interval; the end only when it was stated.
        fact_id: id the new fact gets (of ``stored`` when that is given).
        extractor: its provenance.
        caller_relation: the caller asked for this very fact: its predicate is final, and whether
            it is worth keeping is not asked. Otherwise edge_type decides at .85 or more.
        subject_version: of the subject entity, when the candidates were read.
        mentions: keys of entities the text names besides.
        decided_at: later than all that was decided on what it sees (``moment_after``).
        stored: the fact as stored tentative while a decider was away, now asked again.
        retold: further messages that state ``stored``.
        counted: candidates whose evidence ``stored`` has given already; never given twice.
        redacted: a secret that only the decider recognised was taken out.
    """

    namespace: str
    message: Message
    draft: Draft
    valid_from: datetime
    valid_from_stated: bool
    valid_until: datetime | None
    fact_id: str
    extractor: str
    caller_relation: bool
    subject_version: int
    candidates: tuple[Candidate, ...]
    decided_at: datetime
    embedding: Vector | None = None
    mentions: tuple[str, ...] = ()
    method: Method = DEFAULT
    stored: Fact | None = None
    retold: tuple[Message, ...] = ()
    counted: frozenset[str] = frozenset()
    redacted: bool = False

    @property
    def thresholds(self) -> Thresholds:
        """The method's numbers."""
        return self.method.thresholds

    @property
    def subject_key(self) -> str:
        """The key of the entity that is locked while the plan is applied."""
        return entity_key(self.draft.subject)

    @property
    def from_assistant(self) -> bool:
        """An assistant said it: at most an echo of what others said, so never support."""
        return self.message.role == Role.ASSISTANT

    @property
    def guarded(self) -> bool:
        """An assistant said it of the user: kept, but tentative, and it closes nothing.

        House rule 6. The user is also whoever is known to speak here under a name.
        """
        if not self.from_assistant:
            return False
        heard = {entity_key(who) for known in self.candidates for who in known.speakers}
        ends = {self.subject_key, entity_key(self.draft.object)}
        return USER in ends or self.subject_key in heard

    @property
    def asked(self) -> tuple[Candidate, ...]:
        """The candidates questions are asked about, in their given order.

        What a person has corrected by hand is settled, and no fact is compared with itself.
        """
        return tuple(
            c
            for c in self.candidates
            if c.how & (_ASKED if self.method.graph_candidates else _NEAR)
            and c.fact.id != self.fact_id
            and c.fact.closed_reason != ClosedReason.CORRECTED
        )

    def place(self, predicate: str) -> Place:
        """Where the fact belongs if its relation is ``predicate``."""
        return place_of(self.message, self.draft, predicate, self.valid_from)

    def goes_on(self, fact: Fact) -> bool:
        """Whether ``fact`` is valid now: no end, or one still to come (by the wall clock)."""
        return fact.valid_until is None or fact.valid_until > self.decided_at

    def may_be_fulfilled(self, fact: Fact) -> bool:
        """Whether ``fact`` is a plan still open, so that plan_fulfilled is asked (§4d)."""
        if not self.method.fulfilled:
            return False
        planned = fact.temporal_status == TemporalStatus.PLANNED
        return (planned or fact.predicate in _PLAN_PREDICATES) and self.goes_on(fact)


def moment_after(now: datetime, facts: Iterable[Fact]) -> datetime:
    """When something is decided that rests on ``facts``: now, and after what made them so.

    The clock of the machine that wrote one of them may be ahead of this one. Decisions on a fact
    are dated in the order they were made all the same.
    """
    tick = timedelta(microseconds=1)
    return max([now, *((fact.changed_at or fact.recorded_at) + tick for fact in facts)])


def under_own_names(draft: Draft, names: Mapping[str, str]) -> Draft:
    """``draft`` about the entities its subject and object mean."""
    if not names:
        return draft
    ends = {"subject": own_name(draft.subject, names), "object": own_name(draft.object, names)}
    return draft.model_copy(update=ends)


def by_own_name(message: Message, names: Mapping[str, str]) -> Message:
    """``message`` as from the entity its speaker is: one person under two names is one source."""
    speaker = own_name(message.speaker, names)
    return (
        message.model_copy(update={"speaker": speaker}) if speaker != message.speaker else message
    )


def own_name(name: str, names: Mapping[str, str]) -> str:
    """The name of the entity that ``name`` means, if it is among ``names`` (key of an alias →
    name of its entity)."""
    return names.get(entity_key(name), name) if names else name


def place_of(message: Message, draft: Draft, predicate: str, valid_from: datetime) -> Place:
    """Where ``draft`` of ``message`` belongs if its relation is ``predicate``."""
    return Place(
        namespace=message.namespace,
        message_id=message.id,
        subject_key=entity_key(draft.subject),
        predicate=predicate,
        object_key=entity_key(draft.object),
        named=tuple(entity_key(name) for name in rare_entity_names(draft.text)),
        valid_from=valid_from,
    )
