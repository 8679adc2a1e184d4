"""What a result file says in numbers: accuracy, tokens, costs, latency, recall, closes. Pure.

Questions that count for accuracy are scored and no abstentions; a question without a label is in
no rate and counted apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from engram_graph.evaluation.study.result import Result, Row, Store
from engram_graph.models.decisions import total_cost
from engram_graph.rules.text import words


@dataclass(frozen=True, slots=True)
class Share:
    """``right`` of ``of``."""

    right: int
    of: int

    @property
    def rate(self) -> float | None:
        """In [0, 1]; None of nothing."""
        return self.right / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Recall:
    """How much of the evidence was found, over the questions that have some.

    Attributes:
        all, any: questions with all, or a piece, of their evidence in what was found.
        lost: questions with a piece in what was found, and none in the lines. Each None where the
            arm does not tell.
    """

    questions: int
    all: int | None
    any: int | None
    lost: int | None


@dataclass(frozen=True, slots=True)
class Costs:
    """Nominal USD; None where it is unknown.

    Attributes:
        read, answer, judge: mean of the questions where it is known; one that could not be
            answered is in neither of the last two.
        write: part → of 1,000 turns.
        turns_per_question: r_w, turns written for each question that counts for accuracy.
        total: of a question: its share of writing, reading and answering; the judge is not part
            of a memory.
    """

    read: float | None
    answer: float | None
    judge: float | None
    write: Mapping[str, float | None]
    turns_per_question: float | None
    total: float | None


@dataclass(frozen=True, slots=True)
class Latency:
    """Recorded milliseconds: sorted values at floor(.5 (n − 1)) and floor(.9 (n − 1))."""

    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class CloseAudit:
    """Closes against labelled (earlier, later) messages.

    Attributes:
        closes: all. right: of a labelled pair. wrong: of another pair.
        unknown: whose messages are not known. labelled: pairs. missed: those that no close is of.
    """

    closes: int
    right: int
    wrong: int
    unknown: int
    labelled: int
    missed: int


def counted(rows: Iterable[Row]) -> list[Row]:
    """Those that count for accuracy."""
    return [row for row in rows if row.scored and not row.abstention]


def accuracy(rows: Iterable[Row]) -> Share:
    """Right answers of those judged, abstentions left out."""
    return _judged(counted(rows))


def by_category(rows: Iterable[Row]) -> dict[str, Share]:
    """Accuracy for each category, in the order of their names."""
    groups: dict[str, list[Row]] = {}
    for row in counted(rows):
        groups.setdefault(row.category, []).append(row)
    return {name: _judged(groups[name]) for name in sorted(groups)}


def abstention(rows: Iterable[Row]) -> Share:
    """Abstentions that were right to abstain, of those judged."""
    return _judged([row for row in rows if row.scored and row.abstention])


def unanswered(rows: Iterable[Row]) -> int:
    """Questions without a label."""
    return sum(row.label is None for row in rows)


def percentile(values: Iterable[float], share: float) -> float | None:
    """The value at floor(share · (n − 1)) of the sorted values; None of nothing.

    Args:
        share: in [0, 1].
    """
    found = sorted(values)
    return found[math.floor(share * (len(found) - 1))] if found else None


def latency(milliseconds: Iterable[float]) -> Latency | None:
    """Median and 90th percentile; None of nothing."""
    found = list(milliseconds)
    p50, p90 = percentile(found, 0.5), percentile(found, 0.9)
    return None if p50 is None or p90 is None else Latency(p50, p90)


def recall(rows: Iterable[Row]) -> Recall:
    """Of the rows of one k, over those that count for accuracy."""
    asked = [row for row in counted(rows) if row.evidence]
    found = [row for row in asked if row.shortlisted is not None]
    cut = [row for row in found if row.kept is not None]
    return Recall(
        questions=len(asked),
        all=sum(row.shortlisted == len(row.evidence) for row in found) if found else None,
        any=sum(bool(row.shortlisted) for row in found) if found else None,
        lost=sum(bool(row.shortlisted) and not row.kept for row in cut) if cut else None,
    )


def costs(rows: Sequence[Row], conversations: Mapping[str, Store]) -> Costs:
    """Of the rows of one k."""
    stores = conversations.values()
    turns = sum(store.turns for store in stores)
    parts = sorted({part for store in stores for part in store.cost_usd})
    write = {
        part: _per(total_cost(each.cost_usd.get(part, 0.0) for each in stores), turns)
        for part in parts
    }
    read = _mean(row.read_usd for row in rows)
    answered = [row for row in rows if row.answer is not None] or rows
    answer = _mean(row.answer_usd for row in answered)
    judge = _mean(row.judge_usd for row in answered)
    questions = len(counted(rows))
    ratio = turns / questions if questions else None
    whole = total_cost(write.values())
    total = None
    if ratio is not None and whole is not None and read is not None and answer is not None:
        total = ratio * whole + read + answer
    thousand = {part: None if cost is None else 1000 * cost for part, cost in write.items()}
    return Costs(read, answer, judge, thousand, ratio, total)


def counters(conversations: Mapping[str, Store]) -> dict[str, int]:
    """Sums of what the conversations counted, in the order of their names."""
    total: Counter[str] = Counter()
    for store in conversations.values():
        total.update(store.counters)
    return dict(sorted(total.items()))


def stale(rows: Iterable[Row], outdated: Mapping[str, Collection[str]]) -> Share:
    """Wrong answers that say what was true before, of the questions where that is known.

    Args:
        outdated: question → answers that were right once. Words are compared, not meaning.
    """
    known = [row for row in rows if row.task in outdated and row.label is not None]
    return Share(
        sum(
            row.label == "WRONG"
            and any(_says(row.answer or "", each) for each in outdated[row.task])
            for row in known
        ),
        len(known),
    )


def close_audit(
    conversations: Mapping[str, Store], labelled: Collection[tuple[str, str]]
) -> CloseAudit:
    """Which closes are of labelled pairs.

    Args:
        labelled: source ids of (the turn that told it, the turn that ended it).
    """
    pairs = set(labelled)
    right = wrong = unknown = 0
    hit: set[tuple[str, str]] = set()
    for store in conversations.values():
        for close in store.closes:
            made = {(a, b) for a in close["old_sources"] for b in close["new_sources"]}
            hit |= made & pairs
            if not made:
                unknown += 1
            elif made & pairs:
                right += 1
            else:
                wrong += 1
    return CloseAudit(right + wrong + unknown, right, wrong, unknown, len(pairs), len(pairs - hit))


def summary(result: Result, k: int) -> dict[str, Any]:
    """All of it for one k, for reports; rates and means are not rounded.

    Raises:
        InputError: nothing was answered at ``k``.
    """
    rows = result.at(k)
    main = counted(rows) or list(rows)
    stores = result.conversations.values()
    waits = latency(row.read_ms for row in rows)
    writes = latency(each for store in stores for each in store.latency_ms)
    return {
        "arm": result.arm,
        "k": k,
        "questions": len(counted(rows)),
        "accuracy": accuracy(rows).rate,
        "by_category": {name: each.rate for name, each in by_category(rows).items()},
        "abstention": abstention(rows).rate,
        "unanswered": unanswered(rows),
        "degraded": sum(bool(row.degraded) for row in rows),
        "tokens": {
            "mean": fmean(row.tokens for row in main),
            "median": median(row.tokens for row in main),
        },
        "cost_usd": asdict(costs(rows, result.conversations)),
        "read_ms": asdict(waits) if waits else None,
        "write_ms": asdict(writes) if writes else None,
        "recall": asdict(recall(rows)),
        "ended_lines": sum(row.ended for row in rows),
        "failed_turns": sum(len(store.failed) for store in stores),
        "store": {
            name: sum(getattr(store, name) for store in stores)
            for name in ("turns", "facts", "active", "tentative", "disputed", "same_as")
        },
        "closes": sum(len(store.closes) for store in stores),
        "counters": counters(result.conversations),
    }


def _judged(rows: Iterable[Row]) -> Share:
    labels = [row.label for row in rows if row.label is not None]
    return Share(labels.count("CORRECT"), len(labels))


def _per(total: float | None, number: int) -> float | None:
    return None if total is None or not number else total / number


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _says(answer: str, claim: str) -> bool:
    """Whether the words of ``claim`` stand in ``answer`` one after the other."""
    said, wanted = words(answer), words(claim)
    starts = range(len(said) - len(wanted) + 1)
    return bool(wanted) and any(said[at : at + len(wanted)] == wanted for at in starts)
