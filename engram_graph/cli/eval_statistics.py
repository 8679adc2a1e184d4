"""``eval calibration`` and ``eval compare``: figures of recorded answers and of result files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import one_line
from engram_graph.cli.run import Run
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.evaluation.calibration import Report
    from engram_graph.evaluation.compare import Comparison

_ARM = "ARM[@K]"
_FIGURES = ("accuracy", "confidence", "ece", "brier", "nll")


def calibration(
    run: Run,
    file: Annotated[
        str | None,
        typer.Argument(metavar="PAIRS.jsonl", help="Labelled pairs, one JSON object a line."),
    ] = None,
    escalations: Annotated[
        str | None,
        typer.Option(metavar="ROWS.jsonl", help="Escalated answers with the label they got."),
    ] = None,
    answers: Annotated[
        str, typer.Option(metavar="NAME", help="Which of the pairs' recorded answers.")
    ] = "jev_v2",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Also draw diagrams and curves there.")
    ] = None,
) -> None:
    """How well recorded probabilities agree with labels, and what a threshold costs and leaves.

    Accuracy, ECE, Brier score, NLL and temperature, with 95 % intervals by resampling; then cost
    and error of sending the relations below a threshold to a second decider. No database needed.
    """
    from engram_graph.evaluation import calibration as flow
    from engram_graph.evaluation import calibration_plot, figures

    if out is not None:
        if out.suffix.lower() != ".svg":
            raise InputError(f"not an .svg file: {one_line(str(out))}", field="out")
        figures.need_matplotlib()  # asked before the work, not after it
    found = flow.report(file, escalations, answers)
    if out is not None:
        try:
            out.write_text(calibration_plot.study_picture(found), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot write {one_line(str(out))}: {error.strerror}", field="out"
            ) from None
    if run.json:
        run.out.data(found.as_dict())
    else:
        _tell_calibration(run, found)
        if out is not None:
            run.out.note(f"written: {one_line(str(out))}")


def compare(
    run: Run,
    places: Annotated[list[str], typer.Argument(help="Result files, or folders that hold some.")],
    first: Annotated[
        str | None, typer.Option(metavar=_ARM, help="This arm; else each in turn.")
    ] = None,
    second: Annotated[
        str | None, typer.Option(metavar=_ARM, help="Against this one; else each in turn.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar=_ARM, help="Also the share of the second's gain over it that the first has."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", min=1, help="Lines of the block; else all that both answered at."),
    ] = None,
    match_tokens: Annotated[
        bool,
        typer.Option(
            "--match-tokens",
            help="The first at the k whose tokens are nearest to the second's at --k, else at 3.",
        ),
    ] = False,
    margin: Annotated[
        float, typer.Option(metavar="SHARE", min=0.0, max=1.0, help="Of non-inferiority.")
    ] = 0.05,
) -> None:
    """Compare arms question by question, from their result files.

    McNemar's exact test, the bound of non-inferiority, both with Holm's adjustment over the
    comparisons shown, and bounds by whole conversations. No database and no model needed.
    """
    from engram_graph.evaluation import compare as flow
    from engram_graph.evaluation.study.result import read_results

    if baseline is not None and (first is None or second is None):
        raise InputError(
            "a share of the gain is that of one arm over one other",
            hint="Pass --first and --second with --baseline.",
            field="baseline",
        )
    one, other, under = (
        None if text is None else flow.Side.parse(text) for text in (first, second, baseline)
    )
    results = read_results(places)
    found = flow.compare(results, one, other, k=k, match_tokens=match_tokens, margin=margin)
    gains = [
        None if under is None else flow.gain(results, under, each, k=k, match_tokens=match_tokens)
        for each in found
    ]
    if run.json:
        run.out.data(
            [
                {**each.as_dict(), **({} if gain is None else {"share_of_gain": gain})}
                for each, gain in zip(found, gains, strict=True)
            ]
        )
        return
    _tell_comparisons(run, found, margin)
    for each, gain in zip(found, gains, strict=True):
        if gain is not None:
            run.out.line(
                f"{each.first} at {each.first_k} has {gain:.3f} of the gain of {each.second} at "
                f"{each.second_k} over {one_line(baseline or '')}"
            )


def _tell_calibration(run: Run, found: Report) -> None:
    heads = ("accuracy", "accepted", "mean p", "ECE", "plain", "Brier", "NLL", "T", "cross-fit")
    run.out.table(
        ["question", ">n", *(f">{name}" for name in heads)],
        ([each.question, each.n, *map(_six, _of(each))] for each in found.questions),
    )
    run.out.line()
    run.out.table(
        ["95 % interval", *(f">{name}" for name in ("accuracy", "mean p", "ECE", "Brier", "NLL"))],
        (
            [each.question, *(_range(each.intervals.get(name)) for name in _FIGURES)]
            for each in found.questions
        ),
    )
    if found.curve:
        run.out.line()
        run.out.table(
            [
                ">threshold",
                ">sent on",
                ">error of kept",
                ">C, USD",
                ">E, second 0",
                ">E, second .1",
            ],
            (
                [f"{e.threshold:.2f}", *map(_six, (e.sent, e.error, e.cost, e.lowest, e.highest))]
                for e in found.curve
            ),
        )


def _of(each: Any) -> Iterator[float | None]:
    yield from (each.accuracy, each.accepted, each.confidence, each.ece, each.ece_plain)
    yield from (each.brier, each.nll, each.temperature, each.cross_fitted)


def _tell_comparisons(run: Run, found: list[Comparison], margin: float) -> None:
    sets = dict.fromkeys((each.dataset, each.split) for each in found)
    for place, (dataset, split) in enumerate(sets):
        if place:
            run.out.line()
        run.out.line(f"{one_line(dataset)}, split {one_line(split)}")
        shown = [each for each in found if (each.dataset, each.split) == (dataset, split)]
        run.out.table(
            [
                *("first", ">k", "second", ">k", ">questions", ">only first", ">only second"),
                *(">difference", ">McNemar p", ">Holm", ">tokens", ">tokens"),
            ],
            (
                [
                    *(one_line(each.first), each.first_k, one_line(each.second), each.second_k),
                    *(each.n, each.only_first, each.only_second, _points(each.difference)),
                    *(_p(each.p), _p(each.p_holm)),
                    *(f"{each.first_tokens:.1f}", f"{each.second_tokens:.1f}"),
                ]
                for each in shown
            ),
        )
        run.out.table(
            [
                *("first", ">k", "second", ">k", ">95 % interval", ">lower bound"),
                *(f">p, {100 * margin:g} points worse", ">Holm", f">within {100 * margin:g}"),
                *(">by conversations", ">nested interval"),
            ],
            (
                [
                    *(one_line(each.first), each.first_k, one_line(each.second), each.second_k),
                    *(_both(each.non_inferiority.interval), _points(each.non_inferiority.lower)),
                    *(_p(each.non_inferiority.p), _p(each.non_inferiority_holm)),
                    "yes" if each.non_inferiority.holds else "no",
                    "–" if each.cluster_bound is None else _points(each.cluster_bound),
                    _both(each.nested_interval),
                ]
                for each in shown
            ),
        )
    run.out.note("note: differences, intervals and bounds are in percentage points")
    if unjudged := sum(each.unjudged for each in found):
        run.out.note(f"note: {unjudged} questions without a label are in no comparison")


def _six(value: float | None) -> str:
    return "–" if value is None else f"{value:.6f}"


def _range(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else f"{pair[0]:.6f} – {pair[1]:.6f}"


def _points(share: float) -> str:
    return f"{100 * share:+.2f}"


def _both(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else f"[{100 * pair[0]:+.2f}, {100 * pair[1]:+.2f}]"


def _p(p: float) -> str:
    return f"{p:.3g}"
