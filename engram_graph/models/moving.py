"""What is read from another memory, and what became of it here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from engram_graph.models.facts import Record
from engram_graph.vocabulary import ClosedReason, Role

Source = Literal["graphiti", "agent-memory", "mem0"]


class LeftOut(Record):
    """One thing of the other memory that is not here.

    Attributes:
        kind: what it is there, such as ``episode`` or ``fact``. id: its id there.
        reason: why, in words.
    """

    kind: str
    id: str
    reason: str


class Moved(Record):
    """What came of a move, or would come of it.

    Attributes:
        messages, facts: new here. skipped: moved before, and left as they are.
        left_out: what was refused, each with its reason.
        not_moved: kind → how many there are of what this memory has no place for.
        fallback: relation there → facts that are ``related_to`` here, as it is none of the 25.
        degraded: steps that fell back, such as ``embedder``.
        dry_run: only counted, nothing was written.
    """

    source: Source
    namespace: str
    messages: int = 0
    facts: int = 0
    skipped: int = 0
    left_out: tuple[LeftOut, ...] = ()
    not_moved: dict[str, int] = Field(default_factory=dict)
    fallback: dict[str, int] = Field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """A message as another memory has it. ``id``: its id there."""

    id: str
    conversation: str
    speaker: str
    role: Role
    text: str
    said_at: datetime
    recorded_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignFact:
    """A fact as another memory has it.

    Attributes:
        id: its id there. relation: as it is called there.
        valid_from, valid_until: UTC, half-open. stated: the start was given there.
        closed_at: when that memory learned of the end; None: with the fact itself.
        sources: ids of its messages. Without any, it becomes a message of its own, with
            ``metadata``.
        supersedes: ids of facts that ended because of it.
        aliases: (name, other names of it) of its subject and object.
    """

    id: str
    subject: str
    relation: str
    object: str
    text: str
    valid_from: datetime
    recorded_at: datetime
    stated: bool = False
    valid_until: datetime | None = None
    closed_at: datetime | None = None
    closed_reason: ClosedReason = ClosedReason.STATED
    confidence: float = 1.0
    quote: str | None = None
    speaker: str | None = None
    role: Role = Role.SYSTEM
    sources: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Foreign:
    """All that was read from another memory.

    Attributes:
        scope: which part of it, such as a group. left_out, not_moved: as in ``Moved``.
    """

    source: Source
    scope: str
    messages: list[ForeignMessage] = field(default_factory=list)
    facts: list[ForeignFact] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    not_moved: dict[str, int] = field(default_factory=dict)

    def leave(self, kind: str, name: object, reason: str) -> None:
        """Note something that is refused."""
        self.left_out.append(LeftOut(kind=kind, id=str(name), reason=reason))
