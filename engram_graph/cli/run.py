"""One run of a command: its options, its client, and how a function becomes a command."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import Output
from engram_graph.errors import (
    ConfigurationError,
    EngramError,
    InputError,
    MissingExtraError,
    NotFoundError,
    ScopeError,
)

if TYPE_CHECKING:
    from engram_graph.memory import AsyncMemory
    from engram_graph.settings import Settings

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
Body = Callable[..., "int | Awaitable[int | None] | None"]
_SCOPE_HINT = "Pass -n NAME or set ENGRAM_NAMESPACE; an empty one never means 'all'."


@dataclass(slots=True)
class Common:
    """Options that may stand before the command's name."""

    namespace: str | None = None
    json: bool = False
    debug: bool = False


@dataclass(slots=True)
class Run:
    """What a command is given.

    Attributes:
        namespace: from ``-n``; None leaves it to the settings.
        out: where results and notes go.
    """

    namespace: str | None = None
    out: Output = field(default_factory=Output)

    @property
    def json(self) -> bool:
        """Whether the result is to be JSON."""
        return self.out.json

    def settings(self) -> Settings:
        """The options from the environment."""
        from engram_graph.settings import Settings

        return Settings.load()

    def memory(self, namespace: str | None = None, **parts: Any) -> AsyncMemory:
        """A client, connected at its first call, so that bad input is refused before that."""
        from engram_graph.cli.client import Client

        return Client(namespace or self.namespace, out=self.out, **parts)


def exit_code(error: EngramError) -> int:
    """1 when the work failed, 2 when the call or a setting was wrong."""
    if isinstance(error, MissingExtraError):
        return FAILED
    if isinstance(error, ConfigurationError):
        # Refused by the server itself (a wrong password), rather than unusable as it is written.
        return FAILED if getattr(error.__cause__, "code", None) else USAGE
    return USAGE if isinstance(error, InputError) else FAILED


def fail(error: EngramError, out: Output, debug: bool) -> int:
    """Report an error the package raised on purpose; its exit code."""
    if debug:
        trace(error)
    if isinstance(error, ScopeError) and error.hint == ScopeError.default_hint:
        error.hint = _SCOPE_HINT
    out.error(error)
    return exit_code(error)


@contextmanager
def listing(memory: AsyncMemory) -> Iterator[None]:
    """An id that is not there: the hint says what lists those that are."""
    try:
        yield
    except NotFoundError as error:
        error.hint = f"`engram facts -n {shlex.quote(memory.namespace or '')}` lists ids."
        raise


def trace(error: BaseException) -> None:
    """The trace of ``--debug``, on stderr."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)


def debugging() -> bool:
    """Whether ENGRAM_DEBUG asks for traces as ``--debug`` does."""
    return os.environ.get("ENGRAM_DEBUG", "").strip() not in ("", "0")


NAMESPACE_HELP = "Whose memory; else ENGRAM_NAMESPACE."
_JSON = Annotated[bool, typer.Option("--json", help="Result as JSON on stdout.")]
_DEBUG = Annotated[bool, typer.Option("--debug", help="Show the trace of an error.", hidden=True)]
_NAMESPACE = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help=NAMESPACE_HELP),
]


def command(
    app: typer.Typer, name: str, *, panel: str | None = None, scoped: bool = True
) -> Callable[[Body], Body]:
    """Register a function of (run, …) as a command with the options every command has.

    It returns an exit code, None meaning 0; it may be a coroutine function.
    """

    def register(body: Body) -> Body:
        @functools.wraps(body)
        def call(typer_context: typer.Context, **values: Any) -> None:
            common: Common = typer_context.find_root().obj or Common()
            namespace = values.pop("namespace", None) if scoped else None
            out = Output(values.pop("json") or common.json)
            debug = values.pop("debug") or common.debug or debugging()
            run = Run(common.namespace if namespace is None else namespace, out)
            try:
                done = body(run, **values)
                code = asyncio.run(_awaited(done)) if inspect.isawaitable(done) else done
            except EngramError as error:
                code = fail(error, out, debug)
            if code:
                raise typer.Exit(code)

        given = inspect.signature(body, eval_str=True)
        kind = inspect.Parameter.KEYWORD_ONLY
        own = [each.replace(kind=kind) for each in list(given.parameters.values())[1:]]
        shared: list[tuple[str, Any, object]] = [("json", _JSON, False), ("debug", _DEBUG, False)]
        if scoped:
            shared.insert(0, ("namespace", _NAMESPACE, None))
        extra = [inspect.Parameter(n, kind, default=d, annotation=a) for n, a, d in shared]
        first = inspect.Parameter(
            "typer_context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
        )
        vars(call)["__signature__"] = inspect.Signature([first, *own, *extra])
        call.__annotations__ = {each.name: each.annotation for each in [first, *own, *extra]}
        del vars(call)["__wrapped__"]
        app.command(name, rich_help_panel=panel, help=_paragraphs(body.__doc__ or ""))(call)
        return body

    return register


def _paragraphs(text: str) -> str:
    """A docstring to be wrapped to the terminal's width, rather than to that of its file."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


# Typer carries a click of its own in some versions: the class both have in common.
CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


async def _awaited(work: Awaitable[int | None]) -> int | None:
    return await work
