"""``move``: what other memories hold, brought into a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.output import counted
from engram_graph.cli.run import FAILED, OK, Run, command

if TYPE_CHECKING:
    from engram_graph.models.moving import Moved

_SHOWN = 20
_URI = Annotated[
    str | None,
    typer.Option(metavar="URI", help="The Neo4j to read from; else the one in use here."),
]
_USERNAME = Annotated[str, typer.Option(metavar="NAME", help="Of the Neo4j at --uri.")]
_PASSWORD = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        envvar="ENGRAM_MOVE_PASSWORD",
        help="Of the Neo4j at --uri; better in the variable, where no process list shows it.",
    ),
]
_DATABASE = Annotated[
    str | None, typer.Option(metavar="NAME", help="In the Neo4j at --uri; else its default.")
]
_DRY = Annotated[bool, typer.Option("--dry-run", help="Only say what would come in.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    moves = typer.Typer(no_args_is_help=True, help="Bring in what another memory holds.")
    command(moves, "graphiti")(graphiti)
    command(moves, "agent-memory")(agent_memory)
    command(moves, "mem0")(mem0)
    app.add_typer(moves, name="move", rich_help_panel="Write")


async def graphiti(
    run: Run,
    group: Annotated[str, typer.Option(metavar="ID", help="The group_id to move.")],
    uri: _URI = None,
    username: _USERNAME = "neo4j",
    password: _PASSWORD = "",
    database: _DATABASE = None,
    dry_run: _DRY = False,
) -> int:
    """Bring in a group of graphiti: episodes, and facts with both clocks.

    What was moved before stays as it is. The graph read from is not changed.
    """
    async with run.memory() as memory:
        with run.out.bar("Moving") as progress:
            told = await memory.move_graphiti(
                group,
                uri=uri,
                username=username,
                password=password,
                database=database,
                dry_run=dry_run,
                progress=progress,
            )
    return _told(run, told)


async def agent_memory(
    run: Run,
    user: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what is known to be this user's.")
    ] = None,
    uri: _URI = None,
    username: _USERNAME = "neo4j",
    password: _PASSWORD = "",
    database: _DATABASE = None,
    dry_run: _DRY = False,
) -> int:
    """Bring in what neo4j-agent-memory holds: messages, facts, preferences, relationships.

    What was moved before stays as it is. The graph read from is not changed.
    """
    async with run.memory() as memory:
        with run.out.bar("Moving") as progress:
            told = await memory.move_agent_memory(
                user,
                uri=uri,
                username=username,
                password=password,
                database=database,
                dry_run=dry_run,
                progress=progress,
            )
    return _told(run, told)


async def mem0(
    run: Run,
    file: Annotated[str, typer.Argument(help="What mem0's get_all gives, as JSON.")],
    history: Annotated[
        str | None, typer.Option(metavar="FILE", help="Rows of mem0's history, as a JSON list.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose, if the file has several.")
    ] = None,
    dry_run: _DRY = False,
) -> int:
    """Bring in memories of mem0, each as one fact.

    With --history the versions before it come in, too, as facts that ended.
    """
    async with run.memory() as memory:
        with run.out.bar("Moving") as progress:
            told = await memory.move_mem0(
                file, history, user_id=user, dry_run=dry_run, progress=progress
            )
    return _told(run, told)


def _told(run: Run, told: Moved) -> int:
    run.out.degraded(told.degraded)
    if run.json:
        run.out.data(told)
        return FAILED if told.left_out else OK
    for one in told.left_out[:_SHOWN]:
        run.out.note(f"left out: {one.kind} {one.id}: {one.reason}")
    if more := len(told.left_out[_SHOWN:]):
        run.out.note(f"… and {more} more; --json lists all")
    for name, count in told.not_moved.items():
        run.out.note(f"not moved: {count} {name}")
    for name, count in told.fallback.items():
        run.out.note(f"relation {name}: {counted(count, 'fact')} as related_to")
    run.out.line(
        f"{'would move ' if told.dry_run else ''}{counted(told.messages, 'message')}, "
        f"{counted(told.facts, 'fact')}, {told.skipped} known already, "
        f"{len(told.left_out)} left out"
    )
    return FAILED if told.left_out else OK
