"""The closed vocabulary: 25 predicates with cardinality and Neo4j type, and every label in use.

Cardinality follows decision_rules §3: eight predicates hold one value at a time, the others many.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engram_graph.errors import InputError


@dataclass(frozen=True, slots=True)
class Predicate:
    """A relation between two entities.

    Attributes:
        name: as in code and in the ``predicate`` property, such as ``lives_in``.
        single: whether a subject has one value at a time.
        help: one line for people and for models.
    """

    name: str
    single: bool
    help: str

    @property
    def neo4j_type(self) -> str:
        """The relationship type of its typed edges, such as ``LIVES_IN``."""
        return self.name.upper()


_ALL = (
    Predicate("lives_in", True, "where someone has their home"),
    Predicate("born_in", True, "where or when someone was born"),
    Predicate("works_at", True, "the employer or place of work"),
    Predicate("has_role", True, "the job title or position held"),
    Predicate("studies_at", True, "the school or university attended now"),
    Predicate("married_to", True, "the spouse"),
    Predicate("partner_of", True, "the partner, not married"),
    Predicate("follows_diet", True, "a way of eating kept as a rule"),
    Predicate("member_of", False, "a club, team, band or association belonged to"),
    Predicate("family_of", False, "a relative"),
    Predicate("friend_of", False, "a friend"),
    Predicate("colleague_of", False, "somebody worked with"),
    Predicate("owns", False, "a thing, animal or property had"),
    Predicate("uses", False, "a tool, product or service in use"),
    Predicate("prefers", False, "something liked or favoured"),
    Predicate("dislikes", False, "something not liked"),
    Predicate("allergic_to", False, "what causes an allergy"),
    Predicate("has_condition", False, "an illness or lasting state of health"),
    Predicate("hobby", False, "what is done for pleasure in free time"),
    Predicate("habit", False, "what is done regularly"),
    Predicate("goal", False, "what someone wants to reach"),
    Predicate("plans", False, "what someone intends to do"),
    Predicate("attended", False, "an event taken part in"),
    Predicate("speaks", False, "a language spoken"),
    Predicate("related_to", False, "any other relation (fallback)"),
)
PREDICATES: dict[str, Predicate] = {p.name: p for p in _ALL}
FALLBACK = "related_to"
NEGATED = "NEGATED"
"""Relationship type of the typed edge of a fact that says no, whatever its predicate."""


def predicate(name: object) -> Predicate:
    """The predicate called ``name`` (any case, spaces or hyphens for underscores).

    Raises:
        InputError: there is none; the hint lists all 25.
    """
    if isinstance(name, str):
        key = "_".join(name.strip().lower().replace("-", " ").split())
        if key in PREDICATES:
            return PREDICATES[key]
    raise InputError(
        f"unknown predicate: {name!r}",
        hint="One of: " + ", ".join(PREDICATES),
        field="predicate",
    )


class FactKind(StrEnum):
    """What sort of thing a fact tells."""

    PREFERENCE = "preference"
    BIO = "bio"
    EVENT = "event"
    RELATIONSHIP = "relationship"
    TASK = "task"
    OPINION = "opinion"


class TemporalStatus(StrEnum):
    """How a fact stands to the time it was said."""

    CURRENT = "current"
    PLANNED = "planned"
    PAST = "past"
    HYPOTHETICAL = "hypothetical"


class Durability(StrEnum):
    """How long a fact is expected to matter."""

    PERMANENT = "permanent"
    LONG_TERM = "long_term"
    SHORT_LIVED = "short_lived"


class Sensitivity(StrEnum):
    """What care a fact needs; ``credentials`` are redacted."""

    NONE = "none"
    HEALTH = "health"
    FINANCIAL = "financial"
    RELATIONSHIP = "relationship"
    CREDENTIALS = "credentials"


class Verdict(StrEnum):
    """How a new fact relates to a candidate."""

    NEW = "new"
    DUPLICATE = "duplicate"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    REFINEMENT = "refinement"
    NEGATES = "negates"


SUPERSEDING = frozenset({Verdict.UPDATE, Verdict.CONTRADICTION, Verdict.NEGATES})
SUPPORTING = frozenset({Verdict.DUPLICATE, Verdict.REFINEMENT})


class ClosedReason(StrEnum):
    """Why a fact has an end.

    ``belief``: evidence pushed it below the closing threshold (may be reopened).
    ``superseded``: a newer fact was already known when it arrived.
    ``fulfilled``: a plan that came true. ``corrected``: closed by hand.
    ``stated``: its end was given with it.
    """

    BELIEF = "belief"
    SUPERSEDED = "superseded"
    FULFILLED = "fulfilled"
    CORRECTED = "corrected"
    STATED = "stated"


class Role(StrEnum):
    """Who spoke, in the chat format's words."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class MessageStatus(StrEnum):
    """How far a message's facts have come."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class Outcome(StrEnum):
    """What came of a judgement. On a pair, the first refusal that holds is named.

    The refusals in their order: ``ignored_weak``, ``blocked_temporal``, ``blocked_structure``,
    ``unconfirmed``, ``blocked_order``. ``forgotten``: what decided it was forgotten, and only what
    came of it is kept.
    Upkeep: ``kept`` is an answer that changed nothing, ``archived`` and ``restored`` say whether
    search gives a fact.
    """

    STORED = "stored"
    NOT_STORED = "not_stored"
    APPLIED = "applied"
    IGNORED_WEAK = "ignored_weak"
    BLOCKED_TEMPORAL = "blocked_temporal"
    BLOCKED_STRUCTURE = "blocked_structure"
    UNCONFIRMED = "unconfirmed"
    BLOCKED_ORDER = "blocked_order"
    NEW_INTERVAL = "new_interval"
    SAME_SOURCE = "same_source"
    BLOCKED_ROLE = "blocked_role"
    CLOSED = "closed"
    REOPENED = "reopened"
    CORRECTED = "corrected"
    REPEATED = "repeated"
    REDACTED = "redacted"
    KEPT = "kept"
    ARCHIVED = "archived"
    RESTORED = "restored"
    DISPUTED = "disputed"
    MERGED = "merged"
    UNMERGED = "unmerged"
    FALLBACK = "fallback"
    FORGOTTEN = "forgotten"
