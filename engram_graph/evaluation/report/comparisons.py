"""Paired statistics of all arms against one, and calibration: computed elsewhere, told here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engram_graph.errors import InputError
from engram_graph.evaluation import calibration, compare
from engram_graph.evaluation.calibration import Figures
from engram_graph.evaluation.compare import Comparison, Side
from engram_graph.evaluation.report import plots
from engram_graph.evaluation.report.parts import (
    NONE,
    Section,
    Table,
    chance,
    number,
    percent,
    points,
    size,
    usd,
)
from engram_graph.evaluation.report.tables import Group
from engram_graph.evaluation.statistics import MARGIN
from engram_graph.evaluation.study import metrics
from engram_graph.evaluation.study.result import Result

BASELINE = "turns_cosine"
_CAPTION = "Paired with {}"


def against(group: Group, baseline: Side) -> Table:
    """Every other arm of the group against the baseline, over the questions judged for both."""
    caption = _CAPTION.format(baseline.arm)
    base = next((each for each in group.results if each.arm == baseline.arm), None)
    if base is None:
        return Table(caption, (), (), empty=f"{baseline.arm} was not run on these questions.")
    others = [each for each in group.results if each is not base]
    if not others:
        return Table(caption, (), (), empty="No other arm was run on these questions.")
    if not _judged(base):
        return Table(caption, (), (), empty=f"No answer of {baseline.arm} was judged.")
    reasons = {each.arm: why for each in others if (why := _why_not(each, base))}
    comparable = [each for each in others if each.arm not in reasons]
    made: list[Comparison] = []
    try:
        made = compare.compare([*comparable, base], second=baseline) if comparable else []
    except InputError as error:
        reasons["all"] = error.message
    left_out = "; ".join(f"{arm}: {why}" for arm, why in reasons.items())
    return Table(
        caption,
        (
            *("arm", ">k", ">of baseline", ">questions", ">only arm right", ">only baseline"),
            *(
                ">difference",
                ">95 % interval",
                ">McNemar p",
                ">Holm",
                f">bound for −{100 * MARGIN:.0f}",
            ),
            *(">p", ">Holm", ">by conversation"),
        ),
        tuple(map(_row, made)),
        note="Difference: accuracy of the arm less that of the baseline, in points, with a 95 % "
        "interval. McNemar: exact, two-sided, that both are right equally often. The bound (one-"
        f"sided 95 %) must lie above −{100 * MARGIN:.0f} for “at most {100 * MARGIN:.0f} points "
        "worse”; its p stands beside it. Holm adjusts over the rows of this table. By "
        "conversation: the bound when whole conversations are drawn again."
        + (f" Left out: {left_out}." if left_out else ""),
        empty=f"No arm can be paired with it. {left_out}.",
    )


def known(results: Sequence[Result], baseline: Side) -> None:
    """Refuse a baseline that nobody ran.

    Raises:
        InputError: no result of it, or none at its k.
    """
    found = [each for each in results if each.arm == baseline.arm]
    if not found:
        arms = dict.fromkeys(each.arm for each in results)
        raise InputError(
            f"no result of the arm {baseline.arm!r}",
            hint=f"There are: {', '.join(arms) or 'none'}",
            field="baseline",
        )
    if baseline.k is not None and not any(baseline.k in each.ks for each in found):
        found[0].at(baseline.k)


def _judged(result: Result) -> bool:
    return any(row.label is not None for row in metrics.counted(result.rows))


def _why_not(arm: Result, base: Result) -> str:
    """Why two cannot be compared; empty if they can."""
    if not _judged(arm):
        return "no answer was judged"
    asked, others = ({row.task for row in metrics.counted(each.rows)} for each in (arm, base))
    return "" if asked == others else "other questions were put"


def _row(each: Comparison) -> tuple[str, ...]:
    bound = each.non_inferiority
    low, high = bound.interval
    return (
        each.first,
        size(each.first_k),
        size(each.second_k),
        number(each.n),
        number(each.only_first),
        number(each.only_second),
        points(each.difference),
        f"[{points(low)}, {points(high)}]",
        chance(each.p),
        chance(each.p_holm),
        points(bound.lower),
        chance(bound.p),
        chance(each.non_inferiority_holm),
        NONE if each.cluster_bound is None else points(each.cluster_bound),
    )


def _interval(figures: Figures, name: str, told: Callable[[float], str]) -> str:
    if name not in figures.intervals:
        return ""
    low, high = figures.intervals[name]
    return f" [{told(low)}, {told(high)}]"


def calibrated(report: calibration.Report) -> Section:
    """Labelled answers: figures, reliability diagrams, and C(θ), E(θ)."""
    table = Table(
        "Recorded probabilities against labels",
        (
            *("question", ">answers", ">accuracy", ">accepted", ">confidence", ">ECE"),
            *(">ECE, plain", ">Brier", ">NLL", ">temperature", ">ECE, cross-fitted"),
        ),
        tuple(
            (
                each.question,
                number(each.n),
                f"{percent(each.accuracy)}{_interval(each, 'accuracy', percent)}",
                percent(each.accepted),
                percent(each.confidence),
                f"{each.ece:.6f}{_interval(each, 'ece', '{:.3f}'.format)}",
                *(f"{value:.6f}" for value in (each.ece_plain, each.brier, each.nll)),
                f"{each.temperature:.4f}",
                f"{each.cross_fitted:.6f}",
            )
            for each in report.questions
        ),
        note="No arm's own answers. ECE with each "
        "probability at least .0001, as the study records it, and plain. Accepted: any of the "
        "answers that would do. In brackets 95 % intervals of resampled answers.",
        empty="No labelled answers.",
    )
    thresholds = Table(
        "Cost and error of a threshold",
        (
            "θ",
            ">sent on, %",
            ">wrong of the kept, %",
            ">C, USD",
            ">E, none wrong, %",
            ">E, a tenth",
        ),
        tuple(
            (
                f"{each.threshold:.2f}",
                percent(each.sent),
                percent(each.error),
                usd(each.cost),
                percent(each.lowest),
                percent(each.highest),
            )
            for each in report.curve
        ),
        note=f"Answers below θ go to a second decider. Unit costs are the study's: "
        f"{usd(calibration.COST_FIRST)} USD a decision, {usd(calibration.COST_SECOND)} an "
        "escalation. E: all answers, if the second is never wrong, or once in ten.",
        empty="No labelled pairs.",
    )
    drawn = [
        plots.reliability_diagram(f"reliability-{place}", each)
        for place, each in enumerate(report.questions, 1)
    ]
    return Section(
        "calibration",
        "Calibration",
        (),
        (table, thresholds, *drawn, plots.cost_and_error("cost-error", report.curve)),
    )
