"""``mcp``: the memory as an MCP server."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Annotated

import typer

from engram_graph.cli.run import OK, Run, command
from engram_graph.errors import InputError, MissingExtraError


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "mcp", panel="Agents")(mcp)


async def mcp(
    run: Run,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, with the token of ENGRAM_MCP_TOKEN.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Where to listen; else 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="And on which port; else 8765. 0: any."
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(metavar="read|write", help="read: no tool that changes the memory.")
    ] = "write",
    allow_namespace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Let each call choose its namespace, this one as well; repeatable.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="Web pages of this origin may use it over HTTP; repeatable."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", help="A name it is reached by over HTTP, besides localhost; repeatable."
        ),
    ] = None,
) -> int:
    """Serve the memory to MCP clients, on standard input and output or over HTTP.

    The namespace is that of -n or ENGRAM_NAMESPACE; no call reaches another one, unless
    --allow-namespace names it. docs/mcp.md has configurations for clients.
    """
    try:
        from engram_graph.mcp_server import http as web
        from engram_graph.mcp_server import stdio
        from engram_graph.mcp_server.profile import Profile
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "engram_graph":
            raise
        raise MissingExtraError(
            f"the MCP server needs the package {error.name}", extra="mcp"
        ) from None
    from engram_graph.memory import AsyncMemory

    if profile not in ("read", "write"):
        raise InputError(f"unknown profile: {profile!r}", hint="One of: read, write")
    if not http and any((host, port is not None, allow_origin, allow_host)):
        raise InputError("this needs --http: --host, --port, --allow-origin, --allow-host")
    settings = run.settings()
    given = Profile.of(
        run.namespace if run.namespace is not None else settings.namespace,
        allow_namespace or (),
        "read" if profile == "read" else "write",
    )
    door = None
    if http:
        door = web.Door(
            settings.mcp_token.get_secret_value(),
            host or web.HOST,
            web.PORT if port is None else port,
            tuple(allow_origin or ()),
            tuple(allow_host or ()),
        )
    # Standard output is the protocol's; of two set-ups of logging the first one counts.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Wordless("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    memory = AsyncMemory(given.namespace, settings=settings)
    with _stopping() as stop:
        if door is None:
            await stdio.serve(memory, given, stop)
        else:
            await web.serve(memory, given, door, stop, listening=_say(run))
    return OK


_Raised = tuple[type[BaseException], BaseException, TracebackType | None]


class _Wordless(logging.Formatter):
    """Writes where a fault arose and its kind; its words may hold what somebody said."""

    def formatException(self, ei: _Raised | tuple[None, None, None]) -> str:  # noqa: N802
        return "".join(traceback.format_tb(ei[2])) + (ei[0].__name__ if ei[0] else "")


def _say(run: Run) -> Callable[[str], None]:
    return lambda address: run.out.note(f"MCP is served at {address}")


@contextmanager
def _stopping() -> Iterator[asyncio.Event]:
    """Set by Ctrl-C and by SIGTERM, instead of ending the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask(number: int, _: object) -> None:
        loop.call_soon_threadsafe(stop.set)

    before = {each: signal.signal(each, ask) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
