"""Questions put to a decider, its answers, and the judgements that follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import Any, Literal

from engram_graph.models.entities import Profile
from engram_graph.models.facts import Draft, Fact, Message, Record
from engram_graph.vocabulary import ClosedReason, Outcome


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as a question is asked about it; ``before``: the one before it, to read it by."""

    message: Message
    before: Message | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One narrow question about a new fact, about a pair, or about what a search found.

    Attributes:
        name: such as ``worth_remembering`` or ``relation_to_candidate``.
        type: ``noul`` (probability of yes) or ``choice`` (one probability per option).
        candidate: the fact compared with, for questions on a pair.
        about: a known fact in the new one's place, where both of a pair are known.
        options: the choice's labels in their fixed order.
        version: of the wording; part of each decision.
        told_by: who stated the candidate.
        pair: the two entities compared, for a question on entities.
        turn: the message asked about, for a question on messages.
    """

    name: str
    type: Literal["noul", "choice"]
    candidate: Fact | None = None
    options: tuple[str, ...] = ()
    version: int = 1
    told_by: frozenset[str] = frozenset()
    about: Fact | None = None
    pair: tuple[Profile, Profile] | None = None
    turn: Turn | None = None

    @property
    def id(self) -> str:
        """Unique within a request: the name, or ``name:`` and the ids of what is compared."""
        ids = [fact.id for fact in (self.about, self.candidate) if fact is not None]
        ids += [profile.entity.id for profile in self.pair or ()]
        ids += [self.turn.message.id] if self.turn else []
        return ":".join((self.name, *ids))


@dataclass(frozen=True, slots=True)
class Answer:
    """A decider's answer to one question.

    Attributes:
        probabilities: option → p; for a noul ``{"yes": p, "no": 1 - p}``.
        backend: who answered (``rules``, ``jev``, ``llm``, ``recorded``, ``fallback``).
        fallback: no usable answer came; the probabilities are empty and prove nothing.
    """

    question: str
    probabilities: dict[str, float]
    backend: str
    fallback: bool = False

    @property
    def chosen(self) -> str:
        """The likeliest option (the first of ties); empty for a fallback."""
        return max(self.probabilities, key=self.probabilities.__getitem__, default="")

    def p(self, option: str) -> float:
        """Probability of ``option``; 0 when it was not offered."""
        return self.probabilities.get(option, 0.0)


@dataclass(frozen=True, slots=True)
class Ask:
    """What one request to a decider is about.

    Attributes:
        draft: the new fact; of questions on known pairs alone, what the first one is about; of
            questions about a search, one whose text is the query, as is ``message``.
        valid_from: its resolved start (UTC).
        speaker, role, message: who said it and the whole message.
        questions: in their fixed order.
    """

    draft: Draft
    valid_from: datetime
    speaker: str
    role: str
    message: str
    questions: tuple[Question, ...]

    def new_fact(self, question: Question) -> Draft:
        """What ``question`` compares with its candidate: its own fact, else the draft."""
        return question.about.as_draft() if question.about else self.draft


@dataclass(frozen=True, slots=True)
class Reply:
    """Everything one request gave.

    Attributes:
        answers: question id → answer, one for each question asked.
        latency_ms: wall time. cost_usd: None when unknown. error: why answers are fallbacks.
        broke_off: some questions were not asked in the end; asked again, they may be answered.
        replayed: from a recording. Latency and cost are those of then; nothing was spent now.
        steps: of a ladder, each request as it was answered or failed; empty for a single one.
    """

    answers: dict[str, Answer]
    backend: str
    model: str
    latency_ms: float = 0.0
    cost_usd: float | None = None
    request_id: str | None = None
    error: str | None = None
    broke_off: bool = False
    replayed: bool = field(default=False, compare=False)
    steps: tuple[Reply, ...] = ()


def total_cost(costs: Iterable[float | None]) -> float | None:
    """What several requests cost together, in USD; None when it is unknown of one."""
    known = list(costs)
    found = [cost for cost in known if cost is not None]
    return fsum(found) if len(found) == len(known) else None


@dataclass(frozen=True, slots=True)
class Round:
    """One request about a draft, and what came back."""

    questions: tuple[Question, ...]
    reply: Reply


@dataclass(frozen=True, slots=True)
class RequestLog:
    """One ``:Request`` node to be written.

    Attributes:
        ladder: of a ladder's step, the id of the step whose id judgements name for all of them.
        preset: name of the method under which it was asked.
    """

    id: str
    backend: str
    model: str
    question_versions: dict[str, int]
    candidates: tuple[str, ...]
    answers: dict[str, Any]
    latency_ms: float
    cost_usd: float | None
    request_id: str | None
    error: str | None
    sent_at: datetime
    ladder: str | None = None
    preset: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """One ``:Decision`` to be written: what was decided, on what, with which probability.

    Attributes:
        fact_id: the fact it is ABOUT; None when nothing was stored.
        candidate_id: the fact it was COMPARED_WITH.
        chosen, p: the label and its probability; a rule has p = 1.
        belief: fact id → (before, after) for every belief this decision moved.
        closing: (valid_until, reason) before and after, of the fact it is ABOUT.
        pieces: probabilities of the answers that moved belief, one logit each.
        request: id of the Request it rests on; None for a rule.
    """

    id: str
    question: str
    outcome: Outcome
    chosen: str = ""
    p: float = 1.0
    reason: str = ""
    fact_id: str | None = None
    candidate_id: str | None = None
    backend: str = "rule"
    belief: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    closing: (
        tuple[tuple[datetime | None, str | None], tuple[datetime | None, str | None]] | None
    ) = None
    pieces: tuple[float, ...] = ()
    request: str | None = None


class Decision(Record):
    """A judgement read back from the graph.

    ``question_version``: of the wording; None for what was not asked.

    ``belief_before``/``belief_after`` are those of the fact asked about.
    """

    id: str
    question: str
    question_version: int | None = None
    outcome: str
    chosen: str
    p: float
    reason: str
    backend: str
    decided_at: datetime
    pieces: tuple[float, ...] = ()
    fact_id: str | None = None
    candidate_id: str | None = None
    belief_before: float | None = None
    belief_after: float | None = None
    candidate_belief_before: float | None = None
    candidate_belief_after: float | None = None
    valid_until_before: datetime | None = None
    valid_until_after: datetime | None = None
    reason_before: ClosedReason | None = None
    reason_after: ClosedReason | None = None
    request_id: str | None = None
