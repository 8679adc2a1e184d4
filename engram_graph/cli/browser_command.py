"""``browser``: Neo4j Browser with guide and style at hand, and its saved queries as a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

import typer

from engram_graph.cli.interrupt import interruptible
from engram_graph.cli.output import counted
from engram_graph.cli.run import Run, command
from engram_graph.cli.server_commands import PANEL, browser_url, guessed_browser, rows, safe_uri
from engram_graph.errors import InputError, ServerError

if TYPE_CHECKING:
    from engram_graph.browser.tour import Tour

_STYLE = "/style.grass"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "browser", panel=PANEL)(browser)


def browser(
    run: Run,
    about: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whom the guide is about; else who most facts are."),
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print where it is and the login; open nothing.")
    ] = False,
    show_password: Annotated[
        bool, typer.Option("--show-password", help="Print the password as well.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where Browser is, if not where such a server has it."),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Instead: write the saved queries for its favourites, a .zip."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Open Neo4j Browser with a guide through a namespace, and say what to log in with.

    Without a namespace the guide is about the demo. It is served until Ctrl-C; what Browser has
    opened stays. The password is typed in by you: it is in no address, no argument and no log.
    """
    if queries is not None:
        _write_queries(run, Path(queries), about, overwrite)
        return
    found, password = _place(run, at)
    if show_password:
        found["password"] = password
    tour = None if only_print else asyncio.run(_tour(run, about))
    if tour is None:
        if not only_print:
            run.out.note(f"The namespace {_namespace(run)!r} holds no fact yet: there is no guide.")
        _show(run, found, only_print=only_print)
        return
    _serve(run, found, tour)


def _serve(run: Run, found: dict[str, Any], tour: Tour) -> None:
    """Open Browser with the guide, and serve guide and style until Ctrl-C."""
    from engram_graph.browser import style_path
    from engram_graph.browser.guide import render
    from engram_graph.browser.serve import GuideServer, guide_path

    with GuideServer(found["browser_url"]) as server:
        path = guide_path(tour.namespace, tour.subject)
        page = render(
            tour,
            style_url=server.url(_STYLE),
            username=found["username"],
            password_in=found["password_in"],
        )
        server.pages = {path: page, _STYLE: style_path().read_text(encoding="utf-8")}
        found |= {"guide_url": server.url(path), "style_url": server.url(_STYLE)}
        _show(run, found)
        run.out.note("Guide and style are served until Ctrl-C; what is open in Browser stays.")
        try:
            with interruptible():
                server.serve_forever()
        except KeyboardInterrupt:
            return


def _write_queries(run: Run, path: Path, about: str | None, overwrite: bool) -> None:
    from engram_graph.browser.saved import archive, files
    from engram_graph.formats.whole_file import refuse, whole_file

    if path.suffix.lower() != ".zip":
        raise InputError(f"cannot write {path.name!r}", hint="Name a .zip file.", field="queries")
    refuse(path, overwrite)
    tour = asyncio.run(_tour(run, about))
    with whole_file(path, overwrite=overwrite) as stream:
        stream.write(archive(tour))
    number = len(files(tour))
    if run.json:
        run.out.data({"path": str(path), "queries": number})
    else:
        run.out.line(f"{counted(number, 'query', 'queries')}, {path}")


def _namespace(run: Run) -> str:
    from engram_graph import demo

    if run.namespace is not None:
        return run.namespace
    return run.settings().namespace or demo.NAMESPACE


async def _tour(run: Run, about: str | None) -> Tour | None:
    from engram_graph.browser.tour import plan

    async with run.memory(_namespace(run)) as memory:
        return await plan(memory, about)


def _place(run: Run, at: str | None) -> tuple[dict[str, Any], str]:
    """Where Browser is and what to log in with; the password apart."""
    settings = run.settings()
    if settings.neo4j_uri:
        if at is None:
            run.out.note(
                "The address is the usual one of such a server; --at URL names another one."
            )
        return {
            "browser_url": at or guessed_browser(settings.neo4j_uri),
            "bolt_uri": safe_uri(settings.neo4j_uri),
            "username": settings.neo4j_username,
            "password_in": "NEO4J_PASSWORD",
        }, settings.neo4j_password.get_secret_value()
    from engram_graph.server import EmbeddedServer

    info = EmbeddedServer().status()
    if info is None:
        raise ServerError("the embedded Neo4j is not running", hint="`engram up` starts it.")
    if info.http_url is None:
        raise ServerError(
            "the embedded Neo4j runs without its Browser",
            hint="`engram down`, then `engram up` starts it with one.",
        )
    return {
        "browser_url": at or browser_url(info),
        "bolt_uri": info.bolt_uri,
        "username": info.username,
        "password_in": str(info.home / "password"),
    }, info.password


def _address(run: Run, found: dict[str, Any]) -> str:
    """Browser's address with all it takes in it: server, user, database, guide; no password."""
    scheme, _, rest = found["bolt_uri"].partition("://")
    wanted = {"dbms": f"{scheme}://{quote(found['username'], safe='')}@{rest}"}
    database = run.settings().neo4j_database
    if database:
        wanted["db"] = database
    if "guide_url" in found:
        wanted |= {"cmd": "guide", "arg": found["guide_url"]}
    return f"{found['browser_url']}?{urlencode(wanted)}"


def _show(run: Run, found: dict[str, Any], *, only_print: bool = False) -> None:
    """Tell what there is, and open Browser unless it is to be told only."""
    address = _address(run, found)
    if run.json:
        run.out.data(found | {"address": address})
    else:
        rows(run, found)
    if only_print:
        return
    import webbrowser

    if not webbrowser.open(address):
        run.out.note(f"No browser could be opened here; open the address yourself: {address}")
