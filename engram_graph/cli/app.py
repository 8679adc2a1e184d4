"""The command ``engram``: global options, every group of commands, and exit codes.

Exit codes: 0 fine, 1 the work failed, 2 wrong usage, 130 interrupted. Nothing heavy is imported
before a command runs.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from engram_graph import __version__
from engram_graph.cli import (
    browser_command,
    entity_commands,
    eval_commands,
    feedback_commands,
    forget_command,
    hygiene_command,
    mcp_command,
    move_commands,
    picture_commands,
    query_command,
    read_commands,
    recording_commands,
    reembed_command,
    server_commands,
    tool_commands,
    transfer_commands,
    whatif_command,
    write_commands,
)
from engram_graph.cli.output import Output
from engram_graph.cli.run import (
    CLICK_ERROR,
    FAILED,
    INTERRUPTED,
    NAMESPACE_HELP,
    OK,
    USAGE,
    Common,
    debugging,
    trace,
)
from engram_graph.errors import EngramError

app = typer.Typer(
    name="engram",
    help="Long-term memory for AI agents in Neo4j that people can look into.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", metavar="NAME", help=NAMESPACE_HELP),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Result as JSON on stdout.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    context.obj = Common(namespace, json, debug)
    if not (debug or debugging()):
        # What the driver tries again is no news; what fails in the end is told as an error.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    if version:
        if json:
            Output(True).data({"version": __version__})
        else:
            Output().line(f"engram_graph {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("no command given")


server_commands.register(app)
browser_command.register(app)
write_commands.register(app)
transfer_commands.register(app)
move_commands.register(app)
forget_command.register(app)
read_commands.register(app)
query_command.register(app)
picture_commands.register(app)
feedback_commands.register(app)
hygiene_command.register(app)
reembed_command.register(app)
entity_commands.register(app)
tool_commands.register(app)
eval_commands.register(app)
recording_commands.register(app)
whatif_command.register(app)
mcp_command.register(app)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``engram`` with ``arguments`` (those of the process by default) and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has gone; nothing may be flushed to them at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run ``engram`` with ``arguments``; its exit code."""
    own = list(arguments)
    options = own[: own.index("--")] if "--" in own else own
    out = Output("--json" in options)
    debug = "--debug" in options or debugging()
    try:
        code: int | None = typer.main.get_command(app).main(
            args=own, prog_name="engram", standalone_mode=False
        )
        if code == INTERRUPTED:  # typer has taken the exception
            out.note("interrupted")
        return code or OK
    except CLICK_ERROR as error:
        return _wrong_usage(error, out)
    except (KeyboardInterrupt, typer.Abort):
        out.note("interrupted")
        return INTERRUPTED
    except EngramError as error:  # pragma: no cover - commands report their own
        out.error(error)
        return FAILED
    except BrokenPipeError:
        raise
    except Exception as error:
        if debug:
            trace(error)
        out.error(_unexpected(error))
        return FAILED


def _wrong_usage(error: Exception, out: Output) -> int:
    message = getattr(error, "format_message", error.__str__)()
    if out.json:
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "engram"
        out.data({"error": {"code": "usage", "message": message, "hint": f"See `{where} --help`."}})
    else:
        error.show()  # type: ignore[attr-defined]
    return USAGE


def _unexpected(error: Exception) -> EngramError:
    """A fault of ours, without the values that may be in its text."""
    return EngramError(
        f"unexpected {type(error).__name__}", hint="Run it again with --debug to see where."
    )
