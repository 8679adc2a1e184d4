"""What a label tells of the probabilities that led to it (docs/calibration.md, in words). Pure.

A fact's life is cut into periods by the moves of its end. A label tells of the period it was given
in whether the fact held; an answer that said the fact had ended is right where it did not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from engram_graph.models.decisions import Decision
from engram_graph.models.feedback import Feedback
from engram_graph.rules import questions as ask
from engram_graph.rules.calibration import Point
from engram_graph.vocabulary import SUPERSEDING, ClosedReason, Outcome

BELIEF = "belief"
OWN = frozenset({ClosedReason.BELIEF, ClosedReason.SUPERSEDED, ClosedReason.FULFILLED})
"""Reasons by which the memory closes a fact by itself."""
_NO_ANSWERS = frozenset({"rule", "caller", "fallback"})  # backends without a probability


@dataclass(frozen=True, slots=True)
class Logged:
    """A decision, with its place among those of one moment, and whether it moved an end."""

    decision: Decision
    position: int = 0
    moves_end: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """A labelled close.

    Attributes:
        wrong: the fact still held. probability: the least that its answer needed.
        belief: the fact was left with; None where belief did not close it.
    """

    wrong: bool
    probability: float | None
    belief: float | None


@dataclass(frozen=True, slots=True)
class Derived:
    """What all labels of a namespace tell.

    Attributes:
        points: question → probability of its answer, and whether the answer is right.
        used: ids of the labels that told something.
    """

    points: dict[str, list[Point]]
    closes: tuple[Close, ...]
    used: frozenset[str]


def derive(labels: Iterable[Feedback], log: Iterable[Logged]) -> Derived:
    """Labelled answers and closes.

    Args:
        log: every decision on a labelled fact, and on a fact of a labelled decision.
    """
    ordered = sorted(labels, key=lambda label: (label.given_at, label.id))
    known = sorted(
        log, key=lambda each: (each.decision.decided_at, each.position, each.decision.id)
    )
    by_fact: dict[str, list[Logged]] = {}
    for each in known:
        for fact_id in {each.decision.fact_id, each.decision.candidate_id} - {None}:
            by_fact.setdefault(str(fact_id), []).append(each)
    on_decision = {label.decision_id: label for label in ordered if label.decision_id}
    points: dict[str, list[Point]] = {}
    closes: list[Close] = []
    used: set[str] = set()
    for each in known:
        label = on_decision.get(each.decision.id)
        if label is not None and each.decision.backend not in _NO_ANSWERS:
            points.setdefault(each.decision.question, []).append(
                (each.decision.p, label.verdict == "right")
            )
            used.add(label.id)
    for fact_id, decisions in by_fact.items():
        life = _Life(fact_id, decisions, ordered)
        closes += life.closes()
        for answer, right in life.answers():
            if answer.id not in on_decision:
                points.setdefault(answer.question, []).append((answer.p, right))
        used |= life.used
    believed = {label.fact_id: label for label in ordered if label.fact_id}
    for label in believed.values():
        if label.belief is not None and (label.open or label.closed_reason == ClosedReason.BELIEF):
            points.setdefault(BELIEF, []).append(_believed(label, label.belief))
            used.add(label.id)
    return Derived(points, tuple(closes), frozenset(used))


def holds(label: Feedback) -> bool:
    """Whether a fact held when it was labelled: rightly open, or wrongly ended."""
    return bool(label.open) == (label.verdict == "right")


def _believed(label: Feedback, belief: float) -> Point:
    return max(belief, 1 - belief), (belief >= 0.5) == holds(label)


class _Life:
    """One fact: the moves of its end, what labels say of the periods between, and its answers."""

    def __init__(self, fact_id: str, log: Sequence[Logged], labels: Sequence[Feedback]) -> None:
        self._id = fact_id
        self._log = log
        self._moves = [each for each in log if each.moves_end and each.decision.fact_id == fact_id]
        self._told: dict[int, Feedback] = {}
        self._held: dict[int, bool] = {}
        self.used: set[str] = set()
        moves = {each.decision.id: place for place, each in enumerate(self._moves, 1)}
        for label in labels:  # the latest of a period stays
            place = moves.get(label.decision_id or "")
            if label.fact_id == fact_id:
                place = self._period(label.given_at)
                if label.open and not self._is_open(place):
                    continue  # its end still lay ahead: nobody can say yet
                held = holds(label)
            elif place is not None:
                held = self._is_open(place) == (label.verdict == "right")
            else:
                continue
            self._told[place], self._held[place] = label, held

    def answers(self) -> Iterable[tuple[Decision, bool]]:
        """The answers that said the fact had ended, and whether they were right."""
        for each in self._log:
            answer = each.decision
            if not self._ends(answer):
                continue
            place = self._period(answer.decided_at)
            if place not in self._held and answer.outcome == Outcome.APPLIED:
                place = self._led_to(place)
            if place in self._held and self._by_itself(place):
                self.used.add(self._told[place].id)
                yield answer, not self._held[place]

    def closes(self) -> Iterable[Close]:
        """The labelled closes."""
        for place, move in enumerate(self._moves, 1):
            closed = self._is_open(place - 1) and not self._is_open(place)
            if closed and place in self._held and self._by_itself(place):
                self.used.add(self._told[place].id)
                yield self._close(move.decision, self._held[place])

    def _close(self, move: Decision, held: bool) -> Close:
        led = [
            each.decision
            for each in self._log
            if self._ends(each.decision)
            and each.decision.outcome == Outcome.APPLIED
            and each.decision.decided_at == move.decided_at
        ]
        beliefs = [each.candidate_belief_after for each in led]
        by_belief = move.reason_after == ClosedReason.BELIEF
        return Close(
            wrong=held,
            probability=min((p for each in led for p in each.pieces or (each.p,)), default=None),
            belief=beliefs[-1] if by_belief and beliefs else None,
        )

    def _ends(self, answer: Decision) -> bool:
        """Whether it is a decider's answer that this fact has ended."""
        if answer.candidate_id != self._id or answer.backend in _NO_ANSWERS:
            return False
        superseding = answer.question == ask.RELATION and answer.chosen in SUPERSEDING
        return superseding or (answer.question == ask.PLAN_FULFILLED and answer.chosen == "yes")

    def _period(self, moment: datetime) -> int:
        """The number of the period after all that was decided at ``moment``."""
        return sum(move.decision.decided_at <= moment for move in self._moves)

    def _led_to(self, place: int) -> int:
        """The labelled period with an end that evidence from an open one led to, if there is."""
        following = place + 1
        while following <= len(self._moves) and not self._is_open(following):
            if self._is_open(place) and following in self._held:
                return following
            following += 1
        return place

    def _is_open(self, place: int) -> bool:
        return place == 0 or self._moves[place - 1].decision.valid_until_after is None

    def _by_itself(self, place: int) -> bool:
        """Whether no person, and no end that was stated with it, closed the fact."""
        return self._is_open(place) or self._moves[place - 1].decision.reason_after in OWN
