"""``feedback`` and ``calibrate``: labels from people, and how probabilities agree with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.output import counted, one_line
from engram_graph.cli.run import Run, command, listing
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.models.feedback import (
        Calibration,
        CloseCalibration,
        QuestionCalibration,
        Threshold,
    )

_BAR = 20  # characters of a bar of the diagram


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "feedback", panel="Write")(feedback)
    command(app, "calibrate", panel="Read")(calibrate)


async def feedback(
    run: Run,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FACT] right|wrong",
            help="Id of a fact, its start, or 'subject|predicate|object'; then the verdict.",
        ),
    ],
    decision: Annotated[
        str | None, typer.Option(metavar="ID", help="Label this decision instead of a fact.")
    ] = None,
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="In words.")] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who says so.")] = None,
) -> None:
    """Say that a fact stands rightly or wrongly, open or ended as it is now.

    With --decision ID: that the answer of a decision was right or wrong. Nothing is changed by it
    (`correct` does that); `calibrate` counts with it.
    """
    fact, verdict = _parts(words, decision)
    async with run.memory() as memory:
        with listing(memory):
            given = await memory.feedback(fact, verdict, decision=decision, why=why, by=by)
    if run.json:
        run.out.data(given)
        return
    stood = "" if given.open is None else f" ({'open' if given.open else 'ended'})"
    what = f"decision {given.decision_id}" if given.decision_id else f"fact {given.fact_id}"
    run.out.line(f"{what}{stood}: {given.verdict}")


async def calibrate(
    run: Run,
    bound: Annotated[
        float, typer.Option(metavar="SHARE", help="Of closes that may be wrong.")
    ] = 0.05,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Also draw the diagrams there.")
    ] = None,
) -> None:
    """How often answers of each probability were right, by the labels that people gave.

    For each question accuracy, calibration error (ECE), Brier score and a reliability diagram; and
    which thresholds would have kept the share of wrong closes at the bound or below.
    """
    from engram_graph.evaluation import calibration_plot, figures

    if out is not None:
        if out.suffix.lower() != ".svg":
            raise InputError(f"not an .svg file: {one_line(str(out))}", field="out")
        figures.need_matplotlib()  # asked before the work, not after it
    async with run.memory() as memory:
        found = await memory.calibrate(bound=bound)
    if out is not None:
        try:
            out.write_text(calibration_plot.picture(found), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot write {one_line(str(out))}: {error.strerror}", field="out"
            ) from None
    if run.json:
        run.out.data(found)
        return
    _tell(run, found)


def _parts(words: list[str], decision: str | None) -> tuple[str | None, str]:
    wanted = 1 if decision is not None else 2
    if len(words) != wanted:
        raise InputError(
            "give the verdict alone with --decision"
            if decision is not None
            else "give a fact and a verdict",
            hint="`engram feedback FACT right`, or `engram feedback wrong --decision ID`.",
        )
    return (None if decision is not None else words[0]), words[-1]


def _tell(run: Run, found: Calibration) -> None:
    run.out.line(f"{counted(found.labels, 'label')}, {found.used} of use for calibration")
    known = [each for each in found.questions if each.labelled]
    for each in known:
        run.out.line()
        run.out.lines(_question(each, found))
    run.out.line()
    run.out.lines(_closes(found.closes, found))
    silent = [each for each in found.questions if not each.labelled]
    if silent:
        names = ", ".join(f"{each.question} ({each.answers})" for each in silent)
        run.out.note(f"no labels for the answers to: {names}")
    if not known:
        run.out.note(
            "`engram feedback FACT right|wrong` gives labels; docs/calibration.md says how"
        )


def _question(each: QuestionCalibration, found: Calibration) -> Iterator[str]:
    few = "" if each.enough else f"  (fewer than {found.minimum}: a first hint only)"
    yield f"{each.question}: {each.labelled} of {counted(each.answers, 'answer')} labelled{few}"
    yield (
        f"  right {each.accuracy:.3f} [{each.accuracy_low:.3f}, {each.accuracy_high:.3f}], "
        f"mean probability {each.confidence:.3f}, ECE {each.ece:.4f}, Brier {each.brier:.4f}"
    )
    yield "  probability      n  said   right"
    for row in each.bins:
        if row.n:
            bar = "#" * round(_BAR * row.accuracy)
            close = "]" if row.high == 1 else ")"
            yield (
                f"  [{row.low:.1f}, {row.high:.1f}{close} {row.n:>8}  {row.confidence:.3f}  "
                f"{row.accuracy:.3f}  {bar}"
            )
    yield f"  wrong at most {found.bound:g}: {_threshold(each.meets, 'from')}"
    yield f"  shown with 95 %: {_threshold(each.shown, 'from')}"


def _closes(closes: CloseCalibration, found: Calibration) -> Iterator[str]:
    if not closes.labelled:
        yield "closes: none labelled"
        yield f"  {found.needed} labels, all right, would show a rate of at most {found.bound:g}"
        return
    yield (
        f"closes: {closes.labelled} labelled, {closes.wrong} wrong: {closes.rate:.3f} "
        f"[{closes.low:.3f}, {closes.high:.3f}], at most {closes.upper:.3f} with 95 %"
    )
    for name, meets, shown, word in (
        ("probability", closes.by_probability, closes.by_probability_shown, "from"),
        ("belief", closes.by_belief, closes.by_belief_shown, "up to"),
    ):
        yield f"  by {name}, wrong at most {found.bound:g}: {_threshold(meets, word)}"
        yield f"  by {name}, shown with 95 %: {_threshold(shown, word)}"
    if closes.upper > found.bound:
        yield (
            f"  {found.needed} labels, all right, would show {found.bound:g} "
            "for all closes without a new threshold"
        )


def _threshold(found: Threshold | None, word: str) -> str:
    if found is None:
        return "no threshold"
    return (
        f"{word} {found.value:.4g}, which keeps {found.kept} with {found.wrong} wrong "
        f"(at most {found.upper:.3f} with 95 %)"
    )
