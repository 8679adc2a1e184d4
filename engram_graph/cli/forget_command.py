"""``forget``: what leaves the memory for good, after a question."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.confirm import confirmed
from engram_graph.cli.output import counted
from engram_graph.cli.run import FAILED, OK, Run, command, listing
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.models.results import Forgotten


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "forget", panel="Write")(forget)


async def forget(
    run: Run,
    fact: Annotated[
        str | None, typer.Option(metavar="ID", help="A fact, with its copies and decisions.")
    ] = None,
    message: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A message (or your own id of it) and what only it says."),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="NAME", help="An entity with all facts about it.")
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole namespace.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> int:
    """Remove something and every trace of it; there is no way back.

    What stays is mended. A message that also states other facts stays with all its words: forget
    the message itself if they must go.
    """
    named = {"fact": fact, "message": message, "entity": entity, "everything": everything or None}
    given = [name for name, value in named.items() if value is not None]
    if len(given) != 1:
        raise InputError(
            f"forget takes exactly one thing, not {' and '.join(given) or 'nothing'}",
            hint="Pass --fact ID, --message ID, --entity NAME or --everything.",
        )
    async with run.memory() as memory:

        async def ask(only_count: bool) -> Forgotten:
            with nullcontext() if entity is not None else listing(memory):
                return await memory.forget(
                    fact=fact,
                    message=message,
                    entity=entity,
                    everything=everything,
                    dry_run=only_count,
                )

        if not (yes or dry_run):
            would = await ask(only_count=True)
            what = f"{_counts(would)} of {memory.namespace!r} would go for good."
            if not confirmed(run, what, "forget it"):
                run.out.note("nothing was forgotten")
                return FAILED
        result = await ask(only_count=dry_run)
    if run.json:
        run.out.data(result)
    else:
        run.out.line(f"{'would forget' if dry_run else 'forgot'} {_counts(result)}")
        if dry_run:
            run.out.note("Nothing was forgotten: without --dry-run it is.")
    return OK


def _counts(result: Forgotten) -> str:
    return ", ".join(
        (
            counted(result.facts, "fact"),
            counted(result.messages, "message"),
            counted(result.entities, "entity", "entities"),
            counted(result.decisions, "decision"),
            counted(result.requests, "request"),
        )
    )
