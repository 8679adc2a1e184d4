"""``eval updates``: how well a memory keeps track of what changes, scored without a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from engram_graph.cli.eval_servers import OwnServers
from engram_graph.cli.eval_study import (
    EVERY,
    Arms,
    Budget,
    ModelsFrom,
    Options,
    Out,
    RecordingFile,
    study_models,
)
from engram_graph.cli.output import counted, one_line
from engram_graph.cli.run import FAILED, OK, Run
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.evaluation.study.runner import Outcome
    from engram_graph.evaluation.validity.form import Conversation


async def updates(
    run: Run,
    arm: Arms = None,
    given: Annotated[
        Literal["facts", "turns"],
        typer.Option(help="What is written: the gold statements one by one, or the turns."),
    ] = "facts",
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only this kind; repeatable.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Conversations of your own.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only check this file against the rules of the data."),
    ] = None,
    out: Out = None,
    budget: Budget = None,
    models: ModelsFrom = "env",
    recording: RecordingFile = None,
) -> int:
    """Arms over short conversations in which things change; no model answers or judges.

    Without --arm, those that need no model. A run that was stopped goes on when the same command
    is given again. See docs/benchmark.md.
    """
    from engram_graph.adapters.token_count import token_counter
    from engram_graph.evaluation.study.folder import Folder
    from engram_graph.evaluation.study.runner import NAMESPACE, Study, asked_for
    from engram_graph.evaluation.validity import form, telling
    from engram_graph.evaluation.validity.run import OFFLINE, chosen, run_benchmark

    if check is not None:
        return _checked(run, form.load(check))
    conversations = _of_kinds(form.usable(form.load(file)) if file else form.shipped(), kind or ())
    arms = chosen([*OFFLINE, *_all()] if EVERY in (arm or ()) else arm or OFFLINE)
    if out is None:
        raise InputError("--out is missing", hint="Pass a folder for the results.", field="out")
    count, counted_by = token_counter()
    options = Options(out=out, budget=budget, models=models, recording=recording)
    with OwnServers(run.out) as servers:
        async with study_models(run, options, out, servers) as asked:
            study = Study(
                dataset=telling.dataset(conversations, given),
                models=asked,
                folder=Folder(out),
                count=count,
                counted_by=counted_by,
                answers=False,
                namespace=f"{NAMESPACE}updates:{given}:",
                bar=run.out.bar,
            )
            with study.folder.alone():
                study.folder.claim(asked_for(study, models_from=models))
                outcomes = await run_benchmark(study, arms, given, conversations)
    _show(run, outcomes)
    lost = any(each.state == "failed" or each.unfinished for each in outcomes)
    named = EVERY not in (arm or ()) and any(each.result is None for each in outcomes)
    return FAILED if lost or named else OK


def _all() -> Sequence[str]:
    from engram_graph.evaluation.arms import ARMS

    return tuple(ARMS)


def _of_kinds(
    conversations: Sequence[Conversation], kinds: Sequence[str]
) -> tuple[Conversation, ...]:
    known = dict.fromkeys(each.kind for each in conversations)
    if unknown := [kind for kind in kinds if kind not in known]:
        raise InputError(
            f"no conversation is of the kind {unknown[0]!r}",
            hint="There are " + ", ".join(known),
            field="kind",
        )
    return tuple(each for each in conversations if not kinds or each.kind in kinds)


def _checked(run: Run, conversations: Sequence[Conversation]) -> int:
    from engram_graph.evaluation.validity.check import check, variety

    wrong = check(conversations)
    seen = variety(conversations)
    if run.json:
        run.out.data(
            {
                "conversations": len(conversations),
                "sentences": seen.sentences,
                "distinct": round(seen.distinct, 4),
                "wrong": wrong,
            }
        )
    else:
        run.out.lines(one_line(each) for each in wrong)
        run.out.line(
            f"{counted(len(conversations), 'conversation')}, {seen.sentences} sentences, "
            f"{seen.distinct:.1%} of them said once; {counted(len(wrong), 'mistake')}"
        )
    return FAILED if wrong else OK


def _show(run: Run, outcomes: Sequence[Outcome]) -> None:
    from engram_graph.evaluation.validity.table import MAIN_K, by_budget, by_kind, of_stores

    if run.json:
        run.out.data(
            [
                {
                    "arm": each.arm,
                    "state": each.state,
                    "why": each.why,
                    "unfinished": list(each.unfinished),
                    "scores": each.result.scores if each.result else None,
                }
                for each in outcomes
            ]
        )
        return
    results = [each.result for each in outcomes if each.result]
    if results:
        for columns, rows in (by_kind(results), by_budget(results), of_stores(results)):
            if rows:
                run.out.table(columns, rows)
                run.out.line()
        run.out.note(
            f"note: in %; kinds: right blocks of {MAIN_K} lines. What the columns mean: "
            "docs/benchmark.md"
        )
    for each in outcomes:
        if each.why:
            run.out.line(f"{one_line(each.arm)}: {each.state}: {one_line(each.why)}")
        run.out.lines(f"    {one_line(lost)}" for lost in each.unfinished[:5])
