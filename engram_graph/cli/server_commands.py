"""``up``, ``down``, ``status``, ``logs``: the database itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.run import FAILED, OK, Run, command
from engram_graph.errors import MissingExtraError

if TYPE_CHECKING:
    from engram_graph.server import ServerInfo
    from engram_graph.settings import Settings

PANEL = "Database"
_GIVEN = "NEO4J_URI is set: nothing is started or stopped for it"


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "up", panel=PANEL, scoped=False)(up)
    command(app, "down", panel=PANEL, scoped=False)(down)
    command(app, "status", panel=PANEL, scoped=False)(status)
    command(app, "logs", panel=PANEL, scoped=False)(logs)


async def up(run: Run) -> None:
    """Start the embedded Neo4j, or find it running; with NEO4J_URI, check that server."""
    settings = run.settings()
    if settings.neo4j_uri:
        run.out.note(f"{_GIVEN}.")
        _show(run, await _given(settings))
        return
    from engram_graph.cli.client import start_server
    from engram_graph.server import EmbeddedServer

    info = start_server(EmbeddedServer(), run.out)
    _show(run, _embedded(info, show_started=True))


def down(run: Run) -> None:
    """Stop the embedded Neo4j of this data folder."""
    from engram_graph.server import EmbeddedServer

    given = run.settings().neo4j_uri
    if given:
        run.out.note(f"{_GIVEN}; this is about the embedded server.")
    try:
        stopped = EmbeddedServer().down()
    except (MissingExtraError, ImportError) as error:
        if not given:
            raise
        # Whoever brings a server of their own need not have what the embedded one needs.
        run.out.note(f"Without the extra 'embedded' it cannot be looked for: {error}.")
        stopped = False
    if run.json:
        run.out.data({"running": False, "stopped": stopped})
    else:
        run.out.line("stopped" if stopped else "not running")


async def status(run: Run) -> int:
    """Tell whether the database runs; exit code 1 when it does not."""
    settings = run.settings()
    if settings.neo4j_uri:
        _show(run, await _given(settings))
        return OK
    from engram_graph.server import EmbeddedServer

    info = EmbeddedServer().status()
    if info is not None:
        _show(run, _embedded(info))
        return OK
    if run.json:
        run.out.data({"running": False, "embedded": True})
    else:
        run.out.line("not running; `engram up` starts it")
    return FAILED


def logs(
    run: Run,
    lines: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many lines.")] = 100,
) -> None:
    """Print what the embedded server wrote last."""
    from engram_graph.server import EmbeddedServer

    if run.settings().neo4j_uri:
        run.out.note("NEO4J_URI is set: these are the logs of the embedded server.")
    found = EmbeddedServer().logs(lines)
    if run.json:
        run.out.data(found)
        return
    run.out.lines(found)
    if not found:
        run.out.note("no logs: the embedded server has not run in this data folder")


def browser_url(info: ServerInfo) -> str | None:
    """Where the Browser of the embedded server is."""
    return None if info.http_url is None else f"{info.http_url}/browser/"


def guessed_browser(uri: str) -> str:
    """Where the Browser of a server is, as a rule."""
    scheme, _, rest = safe_uri(uri).partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = re.sub(r":\d*$", "", authority) or "localhost"
    if host.endswith(".databases.neo4j.io"):
        return f"https://{host}/browser/"
    return f"https://{host}:7473/browser/" if "+s" in scheme else f"http://{host}:7474/browser/"


def safe_uri(uri: str) -> str:
    """``uri`` without a user name or password in it."""
    return re.sub(r"//[^/?#]*@", "//", uri)


def _embedded(info: ServerInfo, *, show_started: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"running": True, "embedded": True}
    if show_started:
        found["started"] = info.started
    return found | {
        "version": info.version,
        "bolt_uri": info.bolt_uri,
        "browser_url": browser_url(info),
        "username": info.username,
        "password_in": str(info.home / "password"),
        "home": str(info.home),
        "pid": info.pid,
    }


async def _given(settings: Settings) -> dict[str, Any]:
    from engram_graph.wiring import open_graph

    graph = await open_graph(settings)
    try:
        version = await graph.connect()
    finally:
        await graph.close()
    year, month, *rest = version
    uri = settings.neo4j_uri or ""
    return {
        "running": True,
        "embedded": False,
        "version": ".".join([str(year), f"{month:02d}", *map(str, rest)]),
        "bolt_uri": safe_uri(uri),
        "browser_url": guessed_browser(uri),
        "username": settings.neo4j_username,
        "password_in": "NEO4J_PASSWORD",
    }


_LABELS = {
    "bolt_uri": "Bolt",
    "browser_url": "Browser",
    "guide_url": "Guide",
    "username": "User",
    "password_in": "Password in",
    "password": "Password",
    "home": "Data in",
}


def _show(run: Run, found: dict[str, Any]) -> None:
    if run.json:
        run.out.data(found)
        return
    state = "running" if not found.get("started") else "started"
    run.out.line(f"Neo4j {found['version']} {state}")
    rows(run, found)


def rows(run: Run, found: dict[str, Any]) -> None:
    """What is known of a server, a line each."""
    for name, label in _LABELS.items():
        if found.get(name) is not None:
            run.out.line(f"{label:<12} {found[name]}")
