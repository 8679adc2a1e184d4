"""``eval locomo`` and ``eval longmemeval``: arms over conversations, answered and judged."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from engram_graph.cli.eval_servers import OwnServers
from engram_graph.cli.eval_study_table import shown, study_data
from engram_graph.cli.output import one_line
from engram_graph.cli.run import FAILED, OK, Run
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.evaluation.study.datasets import Dataset
    from engram_graph.evaluation.study.models import StudyModels
    from engram_graph.evaluation.study.records import Arm
    from engram_graph.settings import Settings

EVERY = "all"
_NAME = "NAME"


Arms = Annotated[
    list[str] | None,
    typer.Option("--arm", "--arms", metavar=_NAME, help="An arm, or all; repeatable."),
]
Out = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where all of it is kept.")]
ModelsFrom = Annotated[
    Literal["env", "scripted"],
    typer.Option("--models", help="Those of the settings, or scripted ones, offline."),
]
Budget = Annotated[
    float | None,
    typer.Option(metavar="USD", min=0, help="What new calls may cost; 0 only replays."),
]
RecordingFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Of the calls; else recording.sqlite in the folder."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the commands of a study share; each field is an option of theirs."""

    arm: Arms = None
    k: Annotated[
        list[int] | None,
        typer.Option(
            "--k", metavar="K", min=1, help="Lines to answer from; repeatable. Else each arm's own."
        ),
    ] = None
    questions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the first N (of a conversation).")
    ] = None
    out: Out = None
    models: ModelsFrom = "env"
    answer_model: Annotated[
        str | None,
        typer.Option("--answer-model", metavar=_NAME, help="Answers; else ENGRAM_LLM_MODEL."),
    ] = None
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", metavar=_NAME, help="Judges; else ENGRAM_LLM_MODEL."),
    ] = None
    budget: Budget = None
    cap_openai: Annotated[
        float | None, typer.Option("--cap-openai", metavar="USD", min=0, help="… at OpenAI.")
    ] = None
    cap_jev: Annotated[
        float | None, typer.Option("--cap-jev", metavar="USD", min=0, help="… at Jev.")
    ] = None
    study: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Of other runs, which count towards these caps too."),
    ] = None
    recording: RecordingFile = None
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Right closes and outdated answers, as JSON lines."),
    ] = None
    no_answers: Annotated[
        bool, typer.Option("--no-answers", help="Write, read and measure; answer nothing.")
    ] = False
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only tell what it is expected to cost.")
    ] = False


def with_options(body: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    """A command of a study: the fields of ``Options`` are its options, and reach it as one."""
    hints = get_type_hints(Options, include_extras=True)
    shared = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=hints[each.name],
        )
        for each in fields(Options)
    ]
    own = inspect.signature(body, eval_str=True).parameters.values()

    async def call(run: Run, **values: Any) -> int:
        given = {each.name: values.pop(each.name) for each in fields(Options)}
        return await body(run, options=Options(**given), **values)

    call.__doc__ = body.__doc__
    call.__name__ = body.__name__
    vars(call)["__signature__"] = inspect.Signature(
        [*(each for each in own if each.name != "options"), *shared]
    )
    return call


@with_options
async def locomo(
    run: Run,
    file: Annotated[str, typer.Argument(help="A file in LoCoMo's official format.")],
    split: Annotated[
        str | None,
        typer.Option(
            metavar=_NAME, help="development (if none is named), exploratory, primary or all."
        ),
    ] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this one; repeatable.")
    ] = None,
    *,
    options: Options,
) -> int:
    """Arms over LoCoMo: each conversation is written, each question read, answered and judged.

    Each is written to a server of its own, which is removed; with NEO4J_URI, that server is used.
    Results, recording and ledger go into a folder. A run that was stopped goes on when the same
    command is given again; with --budget 0 and its recording it is replayed without a call.
    """
    from engram_graph.evaluation.study import datasets

    dataset = datasets.locomo(file, split, conversation or (), options.questions)
    return await run_command(run, dataset, options)


@with_options
async def longmemeval(
    run: Run,
    file: Annotated[str, typer.Argument(help="A file in LongMemEval's official format.")],
    split: Annotated[
        str | None,
        typer.Option(
            metavar=_NAME, help="sample (if none is named; 70 questions, the user's turns) or all."
        ),
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this one; repeatable.")
    ] = None,
    *,
    options: Options,
) -> int:
    """Arms over LongMemEval, as over LoCoMo; each question has a conversation of its own.

    The date on which a question is asked is part of it.
    """
    from engram_graph.evaluation.study import datasets

    dataset = datasets.longmemeval(file, split, question or (), options.questions)
    return await run_command(run, dataset, options)


async def run_command(run: Run, dataset: Dataset, options: Options) -> int:
    """Run a study as asked, or say what it would cost; 1 if something is missing in the end."""
    from engram_graph.adapters.token_count import ESTIMATE, token_counter
    from engram_graph.evaluation.arms import ARMS, chosen
    from engram_graph.evaluation.study.folder import Folder
    from engram_graph.evaluation.study.labels import load_labels
    from engram_graph.evaluation.study.runner import Study, asked_for, run_study

    every = EVERY in (options.arm or ())
    arms = chosen(ARMS if every else options.arm or ())
    ks = tuple(options.k or ())
    labels = load_labels(options.labels) if options.labels else None
    count, counted_by = token_counter()
    if dataset.held_out:
        run.out.note(
            "note: HELD-OUT conversations. Nothing may be tuned by what comes out; settle arms, k "
            "and tests before you look."
        )
    if counted_by == ESTIMATE:
        run.out.note("note: tokens are estimated; the extra tokens counts them as GPT-4o does")
    if options.estimate:
        return _estimate(run, dataset, arms, ks, count)
    if options.out is None:
        raise InputError("--out is missing", hint="Pass a folder for the results.", field="out")
    with OwnServers(run.out) as servers:
        async with study_models(run, options, options.out, servers) as models:
            study = Study(
                dataset=dataset,
                models=models,
                folder=Folder(options.out),
                count=count,
                counted_by=counted_by,
                ks=ks,
                answers=not options.no_answers,
                bar=run.out.bar,
                database=servers.fresh,
            )
            with study.folder.alone():
                study.folder.claim(asked_for(study, models_from=options.models))
                outcomes = await run_study(study, arms)
    timings = study.folder.timings()
    if run.json:
        run.out.data(study_data(dataset, outcomes, timings, labels))
    else:
        shown(run.out, outcomes, timings, labels)
        run.out.note(f"written: {options.out}")
    lost = any(each.state == "failed" or each.unfinished for each in outcomes)
    named = not every and any(each.result is None for each in outcomes)
    none = all(each.result is None for each in outcomes)
    return FAILED if lost or named or none else OK


@asynccontextmanager
async def study_models(
    run: Run, options: Options, folder: Path, servers: OwnServers
) -> AsyncIterator[StudyModels]:
    """The models of a study, and its databases."""
    from engram_graph.evaluation.study.ledger import Caps
    from engram_graph.evaluation.study.models import StudyModels

    caps = {"openai": options.cap_openai, "jev": options.cap_jev}
    given = {name: cap for name, cap in caps.items() if cap is not None}
    with _settings(run, options.models) as settings:
        if options.recording:
            settings = settings.model_copy(update={"recording": str(options.recording)})
        async with StudyModels(
            settings,
            folder,
            budget_usd=options.budget,
            caps=Caps(study=given) if options.study else Caps(run=given),
            study=options.study,
            answer_model=options.answer_model,
            judge_model=options.judge_model,
            database=servers.settings,
        ) as models:
            if settings.neo4j_uri:
                run.out.note(
                    "note: what else is on this server has a part in what full text finds; "
                    "replays are exact without NEO4J_URI, on servers of their own"
                )
            yield models


@contextmanager
def _settings(run: Run, models: str) -> Iterator[Settings]:
    if models == "env":
        yield run.settings()
        return
    from engram_graph.testing.scripted_models import ScriptedModels

    with ScriptedModels() as scripted:
        yield scripted.settings(run.settings())


def _estimate(
    run: Run, dataset: Dataset, arms: Sequence[Arm], ks: Sequence[int], count: Callable[[str], int]
) -> int:
    from engram_graph.evaluation.study.expected import expected
    from engram_graph.evaluation.study.runner import ks_of

    found = [expected(dataset, arm.name, ks_of(arm, ks), count) for arm in arms]
    if run.json:
        run.out.data([asdict(each) | {"total": each.total} for each in found])
        return OK

    def usd(value: float | None) -> str:
        return "not recorded" if value is None else f"{value:.2f}"

    run.out.table(
        ["arm", ">write USD", ">read", ">answer", ">judge", ">total"],
        (
            [
                one_line(each.arm),
                *map(usd, (each.write, each.read, each.answer, each.judge, each.total)),
            ]
            for each in found
        ),
    )
    run.out.note("note: by the reference study's unit costs (gpt-4o-mini answers and judges)")
    return OK
