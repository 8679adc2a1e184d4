"""Arms against each other, question by question, from their result files. Pure.

Needs the extra ``eval``. Questions that count for accuracy are paired by id; formulas:
docs/calibration.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any

from engram_graph.errors import InputError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.statistics import MARGIN, NonInferiority
from engram_graph.evaluation.study.metrics import counted
from engram_graph.evaluation.study.result import Result, Row

BASELINE_K = 3
"""Of the arm whose tokens are matched, unless another is asked for."""


@dataclass(frozen=True, slots=True)
class Side:
    """An arm as it is asked for; without ``k`` that is found out."""

    arm: str
    k: int | None = None

    @classmethod
    def parse(cls, text: str) -> Side:
        """``ARM`` or ``ARM@K``.

        Raises:
            InputError: K is no whole number from 1 on.
        """
        arm, at, k = text.partition("@")
        if not at:
            return cls(arm)
        if not k.isascii() or not k.isdigit() or int(k) < 1:
            raise InputError(f"{text!r} is neither ARM nor ARM@K", hint="As in turns_jev@6.")
        return cls(arm, int(k))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms over the same questions. Differences are the first less the second.

    Attributes:
        n: questions judged for both. unjudged: further ones, without a label of either.
        only_first, only_second: that only this arm answered rightly (b and c).
        first_tokens, second_tokens: mean of the memory block over the ``n`` questions.
        p: McNemar's. p_holm: by Holm over the comparisons made together.
        non_inferiority_holm: likewise, of ``non_inferiority.p``.
        cluster_bound: one-sided bound by whole conversations; nested_interval: of the first
            article. Both None with a single conversation.
    """

    dataset: str
    split: str
    first: str
    first_k: int
    second: str
    second_k: int
    n: int
    unjudged: int
    only_first: int
    only_second: int
    first_accuracy: float
    second_accuracy: float
    first_tokens: float
    second_tokens: float
    p: float
    p_holm: float
    non_inferiority: NonInferiority
    non_inferiority_holm: float
    conversations: int
    cluster_bound: float | None
    nested_interval: tuple[float, float] | None

    @property
    def difference(self) -> float:
        """Of the accuracies."""
        return self.non_inferiority.difference

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "difference": self.difference}


def compare(
    results: Iterable[Result],
    first: Side | None = None,
    second: Side | None = None,
    *,
    k: int | None = None,
    match_tokens: bool = False,
    margin: float = MARGIN,
) -> list[Comparison]:
    """Each pair of arms over the same dataset and split, or the one that is asked for.

    Args:
        first, second: without them every arm takes its turn, in the order of ``results``.
        k: of arms asked for without one; else every k that both were answered at.
        match_tokens: the first arm at the k whose block is nearest in tokens to the second's.
        margin: of non-inferiority, as a share.

    Raises:
        InputError: there is no such pair; an arm comes twice, or was not answered at its k; the
            two were asked different questions.
        MissingExtraError: scipy or statsmodels is not installed.
    """
    found = [
        _compared(one, other, sizes, margin)
        for one, other in _pairs(_groups(results), first, second)
        for sizes in _sizes(
            one, other, first or Side(one.arm), second or Side(other.arm), k, match_tokens
        )
    ]
    if not found:
        raise InputError("no arm was answered at a k at which another was", field="k")
    plain = statistics.holm({str(at): each.p for at, each in enumerate(found)})
    margins = statistics.holm({str(at): each.non_inferiority.p for at, each in enumerate(found)})
    return [
        replace(each, p_holm=plain[str(at)], non_inferiority_holm=margins[str(at)])
        for at, each in enumerate(found)
    ]


def gain(
    results: Iterable[Result],
    baseline: Side,
    compared: Comparison,
    *,
    k: int | None = None,
    match_tokens: bool = False,
) -> float:
    """Which share of what the second arm gains over ``baseline`` the first one gains.

    Args:
        k, match_tokens: as for ``compare``; the baseline's block is matched to the second's.

    Raises:
        InputError: no such arm, other questions, or nothing gained.
    """
    group = next(
        each
        for each in _groups(results)
        if (each[0].dataset, each[0].split) == (compared.dataset, compared.split)
    )
    low, top = _named(group, baseline.arm), _named(group, compared.second)
    other = Side(compared.second, compared.second_k)
    sizes = _sizes(low, top, baseline, other, k or compared.first_k, match_tokens)
    under = _compared(low, top, sizes[0], MARGIN)
    if (under.n, under.second_accuracy) != (compared.n, compared.second_accuracy):
        raise InputError(
            f"{baseline.arm} was not judged on the questions of {compared.first}",
            hint="A share of the gain needs all three arms judged on the same questions.",
        )
    return statistics.share_of_gain(
        compared.first_accuracy, under.first_accuracy, compared.second_accuracy
    )


def _groups(results: Iterable[Result]) -> list[list[Result]]:
    """By dataset and split, in the order they come."""
    found: dict[tuple[str, str], list[Result]] = {}
    for each in results:
        group = found.setdefault((each.dataset, each.split), [])
        if any(each.arm == other.arm for other in group):
            raise InputError(
                f"two results of {each.arm} over {each.dataset}, split {each.split}",
                hint="Name one of the two files, or one folder.",
                field="arm",
            )
        group.append(each)
    return list(found.values())


def _pairs(
    groups: Sequence[Sequence[Result]], first: Side | None, second: Side | None
) -> Iterator[tuple[Result, Result]]:
    known = dict.fromkeys(each.arm for group in groups for each in group)
    for side in (first, second):
        if side is not None and side.arm not in known:
            raise InputError(
                f"no result of the arm {side.arm!r}",
                hint=f"There are: {', '.join(known) or 'none'}",
                field="arm",
            )
    made = False
    for group in groups:
        for left, right in _of_group(group, first, second):
            made = True
            yield left, right
    if not made:
        raise InputError(
            "nothing to compare: it takes two arms over one dataset and split",
            hint=f"Arms there: {', '.join(known) or 'none'}",
            field="arm",
        )


def _of_group(
    group: Sequence[Result], first: Side | None, second: Side | None
) -> Iterable[tuple[Result, Result]]:
    if first is None and second is None:
        return combinations(group, 2)
    itself = first is not None and second is not None and first.k != second.k
    return [
        (left, right)
        for left in group
        for right in group
        if first is None or left.arm == first.arm
        if second is None or right.arm == second.arm
        if left is not right or itself  # an arm at two sizes
    ]


def _named(group: Sequence[Result], arm: str) -> Result:
    for each in group:
        if each.arm == arm:
            return each
    raise InputError(
        f"no result of the arm {arm!r}",
        hint=f"There are: {', '.join(each.arm for each in group)}",
        field="arm",
    )


def _sizes(
    first: Result, second: Result, one: Side, other: Side, k: int | None, match_tokens: bool
) -> list[tuple[int, int]]:
    """(k of the first, k of the second), for each comparison of the two."""
    of_first, of_second = _ks(first, one, k), _ks(second, other, k)
    if match_tokens:
        of_second = of_second if len(of_second) == 1 else (BASELINE_K,)
        return [(one.k or _matched(first, second, of_second[0]), of_second[0])]
    if shared := [each for each in of_first if each in of_second]:
        return [(each, each) for each in shared]
    if min(len(of_first), len(of_second)) == 1:
        return [(each, every) for each in of_first for every in of_second]
    return []


def _ks(result: Result, side: Side, k: int | None) -> tuple[int, ...]:
    """Sizes of an arm that may be compared; ``k`` means nothing to an arm that has just one."""
    if side.k is not None:
        return (side.k,)
    return (k,) if k is not None and len(result.ks) != 1 else result.ks


def _matched(first: Result, second: Result, of_second: int) -> int:
    """The first's k whose block is nearest in tokens to the second's at ``of_second``."""
    measured = second.tokens_at
    target = (
        measured[of_second - 1]
        if of_second <= len(measured)
        else fmean(row.tokens for row in second.at(of_second))
    )
    found = statistics.matched_k(first.tokens_at, target)
    if found not in first.ks:
        raise InputError(
            f"{first.arm} has the tokens of {second.arm} ({target:.0f} at k = {of_second}) at "
            f"k = {found}, and was not answered there",
            hint=f"A run with --k {found} --k {of_second} answers both.",
            field="k",
        )
    return found


def _compared(first: Result, second: Result, sizes: tuple[int, int], margin: float) -> Comparison:
    pairs = paired(first, second, sizes)
    judged = [pair for pair in pairs if all(row.label is not None for row in pair)]
    if len(judged) < 2:
        raise InputError(
            f"{first.arm} and {second.arm} share {len(judged)} judged "
            f"question{'' if len(judged) == 1 else 's'} that count for accuracy",
            hint="Comparing needs two at least, in result files of runs that answered and judged.",
        )
    clusters: dict[str, list[int]] = {}
    for row, other in judged:
        difference = (row.label == "CORRECT") - (other.label == "CORRECT")
        clusters.setdefault(row.conversation, []).append(difference)
    differences = [each for conversation in clusters.values() for each in conversation]
    b, c = differences.count(1), differences.count(-1)
    p = statistics.mcnemar(b, c)
    bounded = statistics.non_inferiority(b, c, len(judged), margin)
    several = len(clusters) > 1
    return Comparison(
        dataset=first.dataset,
        split=first.split,
        first=first.arm,
        first_k=sizes[0],
        second=second.arm,
        second_k=sizes[1],
        n=len(judged),
        unjudged=len(pairs) - len(judged),
        only_first=b,
        only_second=c,
        first_accuracy=fmean(row.label == "CORRECT" for row, _ in judged),
        second_accuracy=fmean(row.label == "CORRECT" for _, row in judged),
        first_tokens=fmean(row.tokens for row, _ in judged),
        second_tokens=fmean(row.tokens for _, row in judged),
        p=p,
        p_holm=p,
        non_inferiority=bounded,
        non_inferiority_holm=bounded.p,
        conversations=len(clusters),
        cluster_bound=statistics.cluster_bound(clusters) if several else None,
        nested_interval=statistics.nested_interval(clusters) if several else None,
    )


def paired(first: Result, second: Result, sizes: tuple[int, int]) -> list[tuple[Row, Row]]:
    """The questions that count for accuracy, each with both arms' rows at their k.

    Raises:
        InputError: the two were asked different questions, or not at that k.
    """
    if first.digest != second.digest:
        raise InputError(
            f"{first.arm} and {second.arm} were run over different conversations or questions "
            f"({first.digest[:12]}, {second.digest[:12]})",
            hint="Run both over the same file with the same split.",
            field="digest",
        )
    one = {row.task: row for row in counted(first.at(sizes[0]))}
    other = {row.task: row for row in counted(second.at(sizes[1]))}
    if lone := sorted({*one} ^ {*other}):
        raise InputError(
            f"{first.arm} and {second.arm} were asked different questions: "
            f"{len(lone)} of one only, such as {lone[0]}",
            hint="One run is unfinished: run it again in its folder and it goes on.",
            field="task",
        )
    return [(row, other[name]) for name, row in one.items()]
