"""Labels that people give, and what they tell of the probabilities in the log."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from engram_graph.models.facts import Record
from engram_graph.vocabulary import ClosedReason

Label = Literal["right", "wrong"]


class Feedback(Record):
    """A label on a fact or on a decision; it changes neither.

    Attributes:
        fact_id, decision_id: what it is about, one of the two.
        verdict: of a fact: whether it stands rightly, open or ended as it is. Of a decision:
            whether its answer is right.
        why, given_by: in the words of who gave it.
        belief, open, closed_reason: how the fact stood then; None for a decision. ``open`` also of
            an end that still lay ahead.
    """

    id: str
    namespace: str
    fact_id: str | None = None
    decision_id: str | None = None
    verdict: Label
    why: str | None = None
    given_by: str | None = None
    given_at: datetime
    belief: float | None = None
    open: bool | None = None
    closed_reason: ClosedReason | None = None


class ReliabilityBin(Record):
    """Labelled answers with a probability in [low, high); of the last bin ``high`` belongs to it.

    Attributes:
        confidence: mean probability. accuracy: share that is right. Both 0 when ``n`` is.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


class Threshold(Record):
    """What a threshold would have kept of the labelled ones.

    Attributes:
        value: of the threshold. kept, wrong: how many pass it, and how many of those are wrong.
        rate: wrong / kept. upper: its one-sided 95 % bound (Clopper–Pearson).
    """

    value: float
    kept: int
    wrong: int
    rate: float
    upper: float


class QuestionCalibration(Record):
    """How well the probabilities of one question agree with the labels.

    Attributes:
        question: ``belief`` is no question: it is the belief in labelled facts.
        answers: in the log. labelled: of those, that a label tells right from wrong.
        enough: whether there are as many as the report's minimum; else all else is a first hint.
        accuracy_low, accuracy_high: Wilson's 95 % interval.
        confidence: mean probability of what was answered. ece, brier: of that probability.
        meets: the lowest threshold from which on the share of wrong answers is at most the bound.
        shown: the lowest at which that is shown with 95 % confidence. None: no threshold does.
    """

    question: str
    answers: int
    labelled: int
    enough: bool
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    confidence: float
    ece: float
    brier: float
    bins: tuple[ReliabilityBin, ...] = ()
    meets: Threshold | None = None
    shown: Threshold | None = None


class CloseCalibration(Record):
    """The facts that the memory closed by itself, as far as they are labelled.

    Attributes:
        labelled, wrong: how many, and how many of those still held.
        rate: wrong / labelled; low, high: Wilson's 95 % interval. upper: one-sided, exact.
        by_probability, by_probability_shown: least of the probabilities that an answer closed with.
        by_belief, by_belief_shown: belief at or below which a fact was closed. Of closes by belief.
    """

    labelled: int = 0
    wrong: int = 0
    rate: float = 0.0
    low: float = 0.0
    high: float = 1.0
    upper: float = 1.0
    by_probability: Threshold | None = None
    by_probability_shown: Threshold | None = None
    by_belief: Threshold | None = None
    by_belief_shown: Threshold | None = None


class Calibration(Record):
    """What the labels of a namespace say about its probabilities; docs/calibration.md defines it.

    Attributes:
        bound: on the rate of wrong closes. minimum: labels from which on a question has enough.
        needed: labels, all right, that show the bound with 95 % confidence.
        labels: given. used: of those, that tell something about a probability or a close.
    """

    namespace: str
    bound: float
    minimum: int
    needed: int
    labels: int
    used: int
    questions: tuple[QuestionCalibration, ...] = ()
    closes: CloseCalibration = Field(default_factory=CloseCalibration)
