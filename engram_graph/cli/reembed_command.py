"""``reembed``: all vectors anew after a change of the embedding model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.run import Run, command

if TYPE_CHECKING:
    from engram_graph.models.upkeep import ReembedReport


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "reembed", panel="Keep in order", scoped=False)(reembed)


async def reembed(
    run: Run,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count, and estimate from a sample.")
    ] = False,
) -> None:
    """Make the vectors of all namespaces anew with the embedder that is set.

    Clients go on meanwhile with the old vectors, and change over when all new ones are there. Run
    it again after a failure: it goes on where it stopped.
    """
    with run.out.bar("Embedding") as progress:
        async with run.memory() as memory:
            report = await memory.reembed(dry_run=dry_run, progress=progress)
    if run.json:
        run.out.data(report)
    else:
        _show(run, report)


def _show(run: Run, report: ReembedReport) -> None:
    now = f"{report.embedder} ({report.dimension} dimensions)"
    before = f"{report.before or 'no embedder'} ({report.dimension_before} dimensions)"
    run.out.line(f"{report.facts} facts, {report.messages} messages in all namespaces")
    if now == before:
        run.out.line(f"in use: {now}")
    elif report.applied:
        run.out.line(f"in use: {now}; before: {before}")
    else:
        run.out.line(f"in use: {before}; wanted: {now}")
    if report.applied:
        run.out.line(f"{report.missing} vectors made")
        return
    run.out.line(
        f"{report.missing} vectors to be made: about {report.tokens} tokens, "
        f"{_duration(report.seconds or 0)}"
    )
    run.out.note("Nothing was changed: without --dry-run it is done.")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
