"""``engram eval fit-shortlist``: the weights of the order of turns, fitted on LoCoMo.

For each piece of evidence, the chance to be picked among the turns of its pool that are none (a
conditional logit): only the order within a question counts, so nothing is learned about questions.
Convex: a few of Newton's steps. Parts that are held keep the weight they have.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from operator import mul
from typing import Any

from engram_graph.errors import InputError
from engram_graph.evaluation.recall import EvidenceRecall, evidence_recall
from engram_graph.evaluation.shortlist import CURVE, Pool
from engram_graph.formats.locomo import Conversation, Question
from engram_graph.rules.turns import HELD, WEIGHTS

K = 30
"""Turns that the searches return whose pools are fitted on."""
RIDGE = 1.0
"""Pull of each weight towards 0, against about a thousand pieces of evidence."""
PARTS = tuple(name for name in WEIGHTS if name not in HELD)
_STEPS = 30
_FAR = -500.0  # as good as never, and no sum becomes 0

Vector = list[float]


@dataclass(frozen=True, slots=True)
class Table:
    """A question with its pool.

    Attributes:
        ids: source ids, in the order in which ties are broken.
        columns: one of ``PARTS`` each. held: the sum of the parts that are held.
        evidence: places of evidence; what the pool does not hold is missing.
    """

    conversation: str
    question: Question
    ids: tuple[str, ...]
    columns: tuple[array[float], ...]
    held: array[float]
    evidence: tuple[int, ...]

    def sums(self, weights: Sequence[float]) -> Vector:
        """The score of each turn."""
        made = list(self.held)
        for weight, column in zip(weights, self.columns, strict=True):
            made = [one + weight * other for one, other in zip(made, column, strict=True)]
        return made

    def order(self, weights: Sequence[float]) -> list[str]:
        """Source ids, best first."""
        sums = self.sums(weights)
        return [self.ids[at] for at in sorted(range(len(sums)), key=lambda at: -sums[at])]


@dataclass(frozen=True, slots=True)
class Fit:
    """What came of it.

    Attributes:
        left_out: recall along the curve, each conversation ranked by weights fitted on the others.
        fitted: the same by one set of weights fitted on all, which flatters it.
        weights: part → weight fitted on all; least and most of those fitted with one conversation
            left out; and the one in use.
    """

    left_out: list[dict[str, float | int]]
    fitted: list[dict[str, float | int]]
    weights: dict[str, dict[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """For reports."""
        return {"left_out": self.left_out, "fitted": self.fitted, "weights": self.weights}


def several(conversations: tuple[Conversation, ...]) -> tuple[Conversation, ...]:
    """As given.

    Raises:
        InputError: fewer than two with questions that count; none could be left out.
    """
    if sum(bool(each.scored) for each in conversations) < 2:
        raise InputError(
            "the file has fewer than two conversations with scored questions",
            hint="Give the whole file: one conversation at a time is left out of the fit.",
            field="file",
        )
    return conversations


def table(conversation: str, pool: Pool) -> Table:
    """A question's pool as columns."""
    ids = sorted(pool.rows)
    sources = tuple(pool.sources[each] for each in ids)
    held = (math.fsum(WEIGHTS[name] * pool.rows[each][name] for name in HELD) for each in ids)
    wanted = frozenset(pool.question.evidence)
    return Table(
        conversation,
        pool.question,
        sources,
        tuple(array("d", (pool.rows[each][name] for each in ids)) for name in PARTS),
        array("d", held),
        tuple(at for at, source in enumerate(sources) if source in wanted),
    )


def cross_validated(
    tables: Sequence[Table], progress: Callable[[int, int], None] | None = None
) -> Fit:
    """Fit on all, and on all but each conversation in turn."""
    everything = fit(tables)
    folds = left_out(tables, everything, progress)
    return Fit(
        _curve(tables, orders(tables, folds)),
        _curve(tables, orders(tables, dict.fromkeys(folds, everything))),
        {part: _told(part, everything, list(folds.values())) for part in WEIGHTS},
    )


def left_out(
    tables: Sequence[Table],
    start: Sequence[float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Vector]:
    """Conversation → the weights of ``PARTS`` fitted on all the others."""
    names = list(dict.fromkeys(each.conversation for each in tables))
    folds: dict[str, Vector] = {}
    for number, name in enumerate(names, 1):
        folds[name] = fit([each for each in tables if each.conversation != name], start)
        if progress:
            progress(number, len(names))
    return folds


def orders(tables: Sequence[Table], weights: Mapping[str, Vector]) -> dict[str, list[str]]:
    """Question → source ids, best first by the weights of its conversation."""
    return {each.question.id: each.order(weights[each.conversation]) for each in tables}


def fit(tables: Sequence[Table], start: Sequence[float] | None = None) -> Vector:
    """The weights of ``PARTS``, by Newton's method with step halving."""
    weights = list(start or [0.0] * len(PARTS))
    value, slope, bend = _loss(tables, weights)
    for _ in range(_STEPS):
        step, part = solve(bend, slope), 1.0
        while True:
            trial = [one - part * other for one, other in zip(weights, step, strict=True)]
            found = _loss(tables, trial)
            if found[0] <= value or part < 1e-4:
                break
            part /= 2
        done = value - found[0] < 1e-6 * abs(value)
        weights, (value, slope, bend) = trial, found
        if done:
            break
    return weights


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> Vector:
    """x of matrix · x = right; the matrix is symmetric and positive definite."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(size):
        for below in range(at + 1, size):
            share = rows[below][at] / rows[at][at]
            rows[below] = [
                one - share * other for one, other in zip(rows[below], rows[at], strict=True)
            ]
    found = [0.0] * size
    for at in reversed(range(size)):
        rest = math.fsum(rows[at][right_of] * found[right_of] for right_of in range(at + 1, size))
        found[at] = (rows[at][size] - rest) / rows[at][at]
    return found


def _loss(tables: Sequence[Table], weights: Sequence[float]) -> tuple[float, Vector, list[Vector]]:
    """What is to be small, its slope and its second derivatives."""
    size = len(weights)
    value = RIDGE / 2 * math.fsum(weight * weight for weight in weights)
    slope = [RIDGE * weight for weight in weights]
    bend = [[RIDGE * (one == other) for other in range(size)] for one in range(size)]
    pairs = list(combinations_with_replacement(range(size), 2))
    for each in tables:
        if not each.evidence:
            continue
        sums = each.sums(weights)
        top = max(sums)
        grown = [math.exp(max(one - top, _FAR)) for one in sums]
        others = list(grown)
        for at in each.evidence:
            others[at] = 0.0
        total = sum(others)
        heavy = [list(map(mul, others, column)) for column in each.columns]
        first = [sum(column) for column in heavy]
        second = [sum(map(mul, heavy[one], each.columns[other])) for one, other in pairs]
        for at in each.evidence:
            own, e = [column[at] for column in each.columns], grown[at]
            whole = total + e
            mean = [(rest + e * x) / whole for rest, x in zip(first, own, strict=True)]
            value += math.log(whole) - max(sums[at] - top, _FAR)
            for one in range(size):
                slope[one] += mean[one] - own[one]
            for both, (one, other) in zip(second, pairs, strict=True):
                more = (both + e * own[one] * own[other]) / whole - mean[one] * mean[other]
                bend[one][other] += more
                if one != other:
                    bend[other][one] += more
    return value, slope, bend


def _curve(
    tables: Sequence[Table], found: Mapping[str, Sequence[str]]
) -> list[dict[str, float | int]]:
    questions = [each.question for each in tables]
    return [_rates(evidence_recall(questions, found, k)) for k in CURVE]


def _rates(found: EvidenceRecall) -> dict[str, float | int]:
    numbers = found.as_dict()
    return {name: numbers[name] for name in ("k", "all", "any")}


def _told(part: str, weights: Vector, folds: Sequence[Vector]) -> dict[str, float]:
    in_use = WEIGHTS[part]
    if part in HELD:
        return {"weight": in_use, "least": in_use, "most": in_use, "in_use": in_use}
    at = PARTS.index(part)
    between = [fold[at] for fold in folds]
    return {
        "weight": round(weights[at], 4),
        "least": round(min(between), 4),
        "most": round(max(between), 4),
        "in_use": in_use,
    }
