"""Scores of memory lines against gold windows, without a model. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from engram_graph.evaluation.statistics import interval
from engram_graph.evaluation.study.records import Line
from engram_graph.evaluation.validity.form import Conversation, GoldFact, GoldQuestion
from engram_graph.evaluation.validity.reading import (
    ends,
    holds_form,
    moved_from,
    plain,
    states,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a block of lines does for a question.

    Attributes:
        reached: every fact that answers it is stated as holding (of a past moment: stated at all);
            where nothing holds any more, that it is over is said.
        stale: a value that does not hold is stated as if it did; None for a question about a past
            moment, of which other values may well be told with their dates.
        first: reached, and no other value stands above.
        right: reached, and nothing stale; of a past moment: first. None if the block has room for
            fewer lines than facts are asked for: no arm could be right.
    """

    reached: bool
    stale: bool | None
    first: bool
    right: bool | None


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of questions in [0, 1]; ``questions`` is how many count.

    ``stale`` is of those about the end of a conversation; 0 where there are none.
    """

    questions: int
    right: float
    reached: float
    stale: float
    first: float

    def as_dict(self) -> dict[str, float | int]:
        """For result files, to four places."""
        names = ("right", "reached", "stale", "first")
        shares = {name: round(getattr(self, name), 4) for name in names}
        return {"questions": self.questions, **shares}


def verdict(
    conversation: Conversation,
    question: GoldQuestion,
    lines: Sequence[Line],
    room: int | None = None,
) -> Verdict:
    """How far ``lines``, best first, answer the question.

    Args:
        room: lines that the block has room for, if that is what limits it.
    """
    right = [conversation.gold[name] for name in question.current]
    wrong = [conversation.gold[name] for name in question.stale]
    past = question.as_of is not None
    found: dict[str, int] = {}
    over = other = stale = None
    for place, line in enumerate(lines):
        told = [fact for fact in right if _stated(fact, line, past)]
        bad = _rivals(told, [fact for fact in wrong if _stated(fact, line, past)])
        mixed = bool(told and bad) and not _told_apart(conversation, line.text, told, bad)
        for fact in told:
            found.setdefault(fact.id, place + mixed)  # below what it is mixed up with
        if over is None and any(ends(fact, line.text, line.ended) for fact in wrong):
            over = place
        if told and not mixed:
            continue  # "from Porto to Lisbon" states both, and says which one holds
        if stale is None and bad and not (past and not right and over == place):
            stale = place
        if other is None and holds_form(plain(line.text), question.distractors):
            other = place
    if right:
        reached = len(found) == len(right)
        best = min(found.values(), default=len(lines))
    else:
        reached = over is not None
        best = len(lines) if over is None else over
    above = min(place for place in (stale, other, len(lines)) if place is not None)
    first = reached and best <= above
    good = first if past else reached and stale is None
    counts = room is None or room >= len(right)
    return Verdict(reached, None if past else stale is not None, first, good if counts else None)


def _stated(fact: GoldFact, line: Line, past: bool) -> bool:
    """As holding; of a past moment, an end of it that is told does not matter."""
    return states(fact, line.text) and (past or not ends(fact, line.text, line.ended))


def _rivals(told: Sequence[GoldFact], bad: Sequence[GoldFact]) -> list[GoldFact]:
    """``bad`` without values that came back: the same words state both times."""
    triples = {fact.triple for fact in told}
    return [fact for fact in bad if fact.triple not in triples]


def _told_apart(
    conversation: Conversation, text: str, told: Sequence[GoldFact], bad: Sequence[GoldFact]
) -> bool:
    """Whether a line of several values says which one holds, or is no more mixed than a turn is.

    Else a memory would be right that puts all it was told into one line.
    """
    if all(moved_from(fact, text) for fact in bad):
        return True
    return any(
        all(states(f, turn.text) for f in (*told, *bad)) for turn in conversation.turns.values()
    )


def fitting(lines: Sequence[Line], tokens: Sequence[int], budget: int) -> Sequence[Line]:
    """The first lines that fit.

    Args:
        tokens: of the block of the first 1, 2, … lines.
    """
    return lines[: sum(spent <= budget for spent in tokens[: len(lines)])]


def rates(verdicts: Iterable[Verdict]) -> Rates | None:
    """Over the questions that count; None if none does."""
    counted = [each for each in verdicts if each.right is not None]
    if not counted:
        return None
    return Rates(
        len(counted),
        fmean(bool(each.right) for each in counted),
        fmean(each.reached for each in counted),
        fmean([each.stale for each in counted if each.stale is not None] or [0.0]),
        fmean(each.first for each in counted),
    )


def overall(by_kind: Mapping[str, Rates]) -> float:
    """Mean of ``right`` over kinds: each counts the same, however many questions it has."""
    return fmean(each.right for each in by_kind.values())


def bounds(answered: Mapping[tuple[str, str], Sequence[bool]]) -> tuple[float, float] | None:
    """95 % interval of ``overall``: conversations drawn with replacement, 10,000 times.

    Args:
        answered: (kind, conversation) → whether each of its questions is right.

    Returns:
        None for fewer than two conversations.
    """
    if len(answered) < 2:
        return None
    kinds = sorted({kind for kind, _ in answered})
    sums = [float(sum(each)) for each in answered.values()]
    counts = [float(len(each)) for each in answered.values()]
    of_kind = [float(kinds.index(kind)) for kind, _ in answered]

    def mean(total: Any, n: Any, kind: Any, axis: int) -> Any:
        import numpy as np

        parts = []
        for each in range(len(kinds)):
            asked = np.where(kind == each, n, 0.0).sum(axis=axis)
            right = np.where(kind == each, total, 0.0).sum(axis=axis)
            # A kind that is not drawn has no rate, and the mean is over the others.
            parts.append(np.where(asked > 0, right / np.where(asked > 0, asked, 1.0), np.nan))
        return np.nanmean(np.stack(parts), axis=0)

    return interval(mean, sums, counts, of_kind)
