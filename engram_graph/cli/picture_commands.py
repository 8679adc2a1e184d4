"""``graph`` and ``report``: the memory as files to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.files import target, write
from engram_graph.cli.output import counted
from engram_graph.cli.run import Run, command

if TYPE_CHECKING:
    from engram_graph.pictures.view import View

_PANEL = "Read"
_FORMATS = ("html", "svg", "png")
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "graph", panel=_PANEL)(graph)
    command(app, "report", panel=_PANEL)(report)


async def graph(
    run: Run,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to: .html, .svg or .png.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The moment it shows; now by default.")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option(metavar="DATE", help="As the memory knew it then.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only facts about this one.")
    ] = None,
    predicate: Annotated[
        str | None, typer.Option(metavar="RELATION", help="Only this relation.")
    ] = None,
    limit: Annotated[
        int, typer.Option(help="Most facts, 1 to 300; of more, the latest recorded.")
    ] = 150,
    overwrite: _Overwrite = False,
) -> None:
    """Draw entities and facts; what has ended is faded.

    An .html file opens without a network: a slider moves through valid time, and a click on a fact
    tells its story. An .svg or .png shows one moment.
    """
    path, kind = target(out, _FORMATS, overwrite=overwrite)
    from engram_graph.pictures import interactive, parts, plot, view

    parts.need("jinja2", "mpld3.urls") if kind == "html" else parts.need("matplotlib.figure")
    async with run.memory() as memory:
        with run.out.bar("Reading the stories", say=False) as progress:
            seen = await view.look(
                memory,
                as_of=as_of,
                known_at=known_at,
                subject=subject,
                predicate=predicate,
                limit=limit,
                begun=kind != "html",
                stories=kind == "html",
                progress=progress,
            )
    content = (
        interactive.render(seen).encode("utf-8")
        if kind == "html"
        else plot.draw(seen, "svg" if kind == "svg" else "png")
    )
    write(path, content, overwrite)
    _tell(run, path, seen)


async def report(
    run: Run,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to: .html.")],
    overwrite: _Overwrite = False,
) -> None:
    """Write one HTML page: facts, chains, belief over time, decisions, cost."""
    path, _ = target(out, ("html",), overwrite=overwrite)
    from engram_graph.pictures import report as pages

    async with run.memory() as memory:
        told = await pages.collect(memory)
    write(path, pages.render(told).encode("utf-8"), overwrite)
    if run.json:
        run.out.data({"path": str(path), "facts": told.stats.facts})
    else:
        run.out.line(f"{counted(told.stats.facts, 'fact')}, {path}")


def _tell(run: Run, path: Path, seen: View) -> None:
    if run.json:
        run.out.data({"path": str(path), "facts": len(seen.facts), "of": seen.total})
        return
    of = f"the latest {len(seen.facts):,} of " if seen.capped else ""
    run.out.line(f"{of}{counted(seen.total, 'fact')}, {path}")
    if seen.capped:
        run.out.note("draw others with --subject, --predicate or --known-at, more with --limit")
    if not seen.facts:
        run.out.note("no facts")
