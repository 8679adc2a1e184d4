"""``eval shortlist`` and ``eval fit-shortlist``: how well turns are found, and by which weights."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.run import Run

if TYPE_CHECKING:
    from engram_graph.formats.locomo import Conversation
    from engram_graph.memory import AsyncMemory

_FILE = "A file in LoCoMo's official format."


@asynccontextmanager
async def _stored(
    run: Run, file: str, conversations: tuple[Conversation, ...]
) -> AsyncIterator[AsyncMemory]:
    """A client that knows the turns of all ``conversations``."""
    from engram_graph.evaluation import shortlist as flow

    # What is measured is the shortlist itself, before any model has judged it.
    settings = run.settings().model_copy(update={"rerank": "none"})
    async with run.memory(extractor=flow.NoFacts(), settings=settings) as memory:
        for each in conversations:
            with run.out.bar(f"Storing {each.id}") as progress:
                await flow.store(memory, file, each, progress)
        yield memory


async def shortlist(
    run: Run,
    file: Annotated[str, typer.Argument(help=_FILE)],
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this one, such as conv-26.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=150, help="Turns a search returns.")] = 30,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Also with each part of the order off in turn.")
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also at 5, 10, 20, 30 and 50 of the same pools.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Also write all tables (shortlist.md) and a plot of them there."
        ),
    ] = None,
) -> None:
    """How many questions have all, or any, of their evidence among the first k turns.

    The file goes into a namespace of its own, which is kept: a second run only asks.
    """
    from engram_graph.evaluation import shortlist as flow
    from engram_graph.evaluation.shortlist_files import Study

    conversations = flow.chosen(file, conversation)
    orders = {**flow.WHOLE, **(flow.ABLATION if ablation or report else {})}
    study = Study(report, conversations, k) if report else None
    found = {}
    fell_back: dict[str, None] = {}
    async with _stored(run, file, conversations) as memory:
        embedder = (await memory.open()).embedder
        for each in conversations:
            look = study.looks_at(each) if study else None
            with run.out.bar(f"Asking {each.id}", say=False) as progress:
                found[each.id], degraded = await flow.measure(
                    memory, each, k, orders, progress, look=look
                )
            fell_back |= dict.fromkeys(degraded)
    run.out.degraded(tuple(fell_back))
    if study:
        with run.out.bar("Fitting") as progress:
            model = embedder.model if embedder else None
            files = study.write(found, model, tuple(fell_back), progress)
        run.out.note(f"written: {', '.join(map(str, files))}")

    def together(name: str = "", at: int = k) -> flow.Row:
        return flow.row(flow.rates(conversations, found, name, at))

    rows: list[flow.Row] = [
        {"conversation": each.id, **flow.row(flow.rates([each], found, "", k))}
        for each in conversations
    ]
    without = [{"without": part, **together(part)} for part in flow.ABLATION if part in orders]
    points = [together(at=at) for at in flow.CURVE] if curve else []
    if run.json:
        data: dict[str, Any] = together()
        data |= {"conversations": rows} if len(rows) > 1 else {}
        data |= {"ablation": without} if ablation else {}
        data |= {"curve": points} if curve else {}
        run.out.data(data)
        return
    shown = rows if len(rows) == 1 else [*rows, {"conversation": "together", **together()}]
    of_k = [f">all of it in {k}", f">any of it in {k}"]
    run.out.table(
        ["conversation", ">questions", *of_k],
        ([r["conversation"], r["questions"], *_percent(r)] for r in shown),
    )
    if ablation:
        run.out.table(["without", *of_k], ([r["without"], *_percent(r)] for r in without))
    if curve:
        run.out.table([">k", ">all of it", ">any of it"], ([r["k"], *_percent(r)] for r in points))


async def fit_shortlist(run: Run, file: Annotated[str, typer.Argument(help=_FILE)]) -> None:
    """Fit the weights of the order of turns again, each conversation ranked by the others' weights.

    Stores the file as ``eval shortlist`` does. Prints weights, and changes none.
    """
    from engram_graph.evaluation import fit_shortlist as flow
    from engram_graph.evaluation.shortlist import chosen, pools

    conversations = flow.several(chosen(file))
    tables = []
    async with _stored(run, file, conversations) as memory:
        for each in conversations:
            with run.out.bar(f"Asking {each.id}", say=False) as progress:
                async for pool in pools(memory, each, flow.K, progress):
                    tables.append(flow.table(each.id, pool))
    with run.out.bar("Fitting") as progress:
        found = flow.cross_validated(tables, progress)
    if run.json:
        run.out.data(found.as_dict())
        return
    run.out.table(
        [">k", ">all, left out", ">any, left out", ">all, fitted on all", ">any, fitted on all"],
        (
            [one["k"], *_percent(one), *_percent(other)]
            for one, other in zip(found.left_out, found.fitted, strict=True)
        ),
    )
    run.out.table(
        ["part", ">weight", ">least", ">most", ">in use"],
        (
            [part, *(f"{row[name]:.2f}" for name in ("weight", "least", "most", "in_use"))]
            for part, row in found.weights.items()
        ),
    )


def _percent(row: dict[str, Any]) -> list[str]:
    return [f"{row[name]:.1%}" for name in ("all", "any")]
