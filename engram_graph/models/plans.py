"""A write, as plain data: rules make it, ``graph/write.py`` carries it out, nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from engram_graph.models.decisions import Judgement, RequestLog
from engram_graph.models.facts import Fact, Link, Vector
from engram_graph.vocabulary import ClosedReason


@dataclass(frozen=True, slots=True)
class FactChange:
    """New values for an existing fact; every field is written.

    Attributes:
        version: the one the plan was made from; another one in the store means: plan again.
    """

    id: str
    version: int
    belief: float
    against_count: int
    disputed: bool
    valid_until: datetime | None
    closed_at: datetime | None
    closed_reason: ClosedReason | None
    unsettled: bool


@dataclass(frozen=True, slots=True)
class WritePlan:
    """All that one draft changes, applied whole or not at all.

    Attributes:
        message_id: the message the draft came from.
        subject_key, subject_version: the entity locked while applying, and its version when
            the candidates were read (0 when it did not exist).
        mentions: keys of other entities the fact's text names.
        beside: keys of the entities of the facts that change: their typed edges change, too.
        fact: the fact to store; None when the draft repeats ``repeats``.
        settles: version of the stored fact that ``fact`` rewrites in place (asked again after a
            fallback); None for a fact that is new.
        repeats: the fact that gets one more source.
        drop_links: links that no longer hold (a reopened fact is not superseded).
    """

    namespace: str
    message_id: str
    subject_key: str
    subject_version: int
    decided_at: datetime
    fact: Fact | None = None
    settles: int | None = None
    embedding: Vector | None = None
    mentions: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    repeats: str | None = None
    changes: tuple[FactChange, ...] = ()
    links: tuple[Link, ...] = ()
    drop_links: tuple[Link, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    requests: tuple[RequestLog, ...] = field(default=())
