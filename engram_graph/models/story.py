"""The story of one fact: steps in the order the memory took them, each with its numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from engram_graph.models.facts import Record

GateName = Literal[
    "strength", "temporal", "structure", "agreement", "role", "order", "interval", "source"
]


class Asked(Record):
    """One question of a request, with its answer.

    Attributes:
        about, about_text: the fact it was compared with; None for a question about itself.
        options: in the order they were offered. probabilities: option → p.
        chosen, p: the likeliest option; empty and 0 when ``fallback``.
        led_to: what the answer did, in words; empty when it did nothing.
    """

    question: str
    version: int
    about: str | None = None
    about_text: str | None = None
    options: tuple[str, ...] = ()
    probabilities: dict[str, float] = Field(default_factory=dict)
    chosen: str = ""
    p: float = 0.0
    backend: str
    fallback: bool = False
    led_to: str = ""


class Gate(Record):
    """One check between an answer and its effect, in the order they are made.

    Attributes:
        value, needed: the number looked at and what it must reach; None where none is.
        why: in words.
    """

    name: GateName
    passed: bool
    value: float | None = None
    needed: float | None = None
    why: str = ""


class Piece(Record):
    """One answer that counted: its label, its probability, and what it added in log-odds."""

    question: str
    label: str
    p: float
    log_odds: float


class Change(Record):
    """One change of a belief, with its arithmetic.

    Attributes:
        before: None when the belief starts here.
        pieces: the answers that counted; empty when they are no longer kept.
        delta: Σ of the pieces; None for a start, and when the pieces are not known.
        log_odds: l(before) + delta. clamped: it went beyond [.02, .98] and was set back.
        replayed: what this arithmetic gives. agrees: whether that is what was stored (``after``).
    """

    fact_id: str
    before: float | None
    after: float
    pieces: tuple[Piece, ...] = ()
    delta: float | None = None
    log_odds: float | None = None
    clamped: bool = False
    replayed: float | None = None
    agrees: bool | None = None


class Telling(Record):
    """Base of all steps. ``at``: when the memory did it. ``lines``: the step in words."""

    at: datetime
    lines: tuple[str, ...] = ()


class Told(Telling):
    """A message states the fact. ``first``: it is the one the fact was made from."""

    kind: Literal["told"] = "told"
    message_id: str
    speaker: str
    role: str
    said_at: datetime
    quote: str
    extractor: str
    first: bool = True


class Questions(Telling):
    """One call to a decider, and the questions of it that concern the fact.

    Attributes:
        id: of the ``:Request``. reference: the decider's own id of the call.
        of, of_text: the fact the call was made for: this one, or one that came later.
    """

    kind: Literal["questions"] = "questions"
    id: str
    of: str
    of_text: str | None = None
    backend: str
    model: str
    reference: str | None = None
    latency_ms: float = 0.0
    cost_usd: float | None = None
    error: str | None = None
    questions: tuple[Asked, ...] = ()


class Decided(Telling):
    """One decision that moved a belief, was refused, or noted something.

    Attributes:
        other, other_text: the second fact of the pair. newer: this fact was the new one of the two.
        gates: the checks that were made; the last one refused when ``outcome`` is a refusal.
        change: of this fact's belief. other_change: of the other's.
        kept: False when the answers it rests on were pruned from the request log.
    """

    kind: Literal["decided"] = "decided"
    id: str
    question: str
    outcome: str
    chosen: str
    p: float
    backend: str
    reason: str = ""
    other: str | None = None
    other_text: str | None = None
    newer: bool = True
    gates: tuple[Gate, ...] = ()
    change: Change | None = None
    other_change: Change | None = None
    kept: bool = True


class Ended(Telling):
    """An end was set, moved or taken away: of this fact, or by it of another.

    Attributes:
        id: of the decision. of, of_text: the fact whose end it is; by, by_text: what ended it.
        valid_until_before, valid_until_after: when it was true (None: open).
            ``at`` is the other clock: since when the memory knows.
        why: a reason given in words.
    """

    kind: Literal["ended"] = "ended"
    id: str
    outcome: str
    of: str
    of_text: str | None = None
    own: bool = True
    by: str | None = None
    by_text: str | None = None
    valid_until_before: datetime | None = None
    valid_until_after: datetime | None = None
    reason_before: str | None = None
    reason_after: str | None = None
    why: str = ""


class Linked(Telling):
    """A link to another fact. ``source``: this fact is where the link starts."""

    kind: Literal["linked"] = "linked"
    type: str
    other: str
    other_text: str | None = None
    source: bool = True
    p: float | None = None


class Labelled(Telling):
    """A person said whether the fact stands rightly, or whether a decision on it was right.

    Attributes:
        id: of the label. decision: id of the decision; None for the fact.
        question, chosen: of the decision. open: whether the fact was, when it was labelled.
    """

    kind: Literal["labelled"] = "labelled"
    id: str
    verdict: str
    why: str = ""
    given_by: str = ""
    decision: str | None = None
    question: str = ""
    chosen: str = ""
    open: bool | None = None


class Now(Telling):
    """How the fact stands, and whether the story accounts for its belief.

    Attributes:
        replayed: belief after all changes in order, clamped at each step; None when nothing
            says how it began. agrees: whether that is the stored belief (to 1e-9).
        chain: texts of what it superseded, itself, and what superseded it, oldest first.
    """

    kind: Literal["now"] = "now"
    belief: float
    replayed: float | None = None
    agrees: bool | None = None
    valid_from: datetime
    valid_until: datetime | None = None
    state: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


Step = Annotated[
    Told | Questions | Decided | Ended | Linked | Labelled | Now, Field(discriminator="kind")
]
