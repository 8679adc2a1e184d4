"""``export`` and ``import``: a namespace as one file."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from engram_graph.cli.run import OK, Run, command
from engram_graph.cli.write_commands import imported

_PANEL = "Write"
_STANDARD = "-"


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "export", panel=_PANEL)(export)
    command(app, "import", panel=_PANEL)(import_)


async def export(
    run: Run,
    file: Annotated[str, typer.Argument(help="Where to; - is standard output.")],
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With the embeddings; else an import makes them.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> int:
    """Write all that a namespace holds into one JSON-lines file."""
    with (
        tempfile.TemporaryDirectory(prefix="engram-") as folder,
        run.out.bar("Exporting") as progress,
    ):
        standard = file == _STANDARD
        target = Path(folder) / "export.jsonl" if standard else Path(file)
        async with run.memory() as memory:
            told = await memory.export(
                target, vectors=vectors, overwrite=overwrite, progress=progress
            )
        if standard:  # only a whole export is handed on, and nothing but it
            with target.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return OK
    if run.json:
        run.out.data(told)
    else:
        counts = told.counts
        run.out.line(f"{counts.message} messages, {counts.fact} facts in {told.path}")
    return OK


async def import_(
    run: Run,
    file: Annotated[str, typer.Argument(help="A file of `engram export`; - is standard input.")],
) -> int:
    """Read a file of `engram export` into a namespace; again if need be.

    What is known stays as it is. The whole file is checked before anything is stored.
    """
    with (
        tempfile.TemporaryDirectory(prefix="engram-") as folder,
        run.out.bar("Importing") as progress,
    ):
        source = Path(file)
        if file == _STANDARD:  # it is read twice
            source = Path(folder) / "standard input"
            with source.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
        async with run.memory() as memory:
            done = await memory.import_(source, progress=progress)
    return imported(run, done)
