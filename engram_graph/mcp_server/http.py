"""The server over streamable HTTP: a token for everything but ``/health``, Host and Origin checked.

Each request stands alone: no session is kept here, so that it may restart, or be one of several.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from engram_graph.errors import ConfigurationError, EngramError, InputError
from engram_graph.mcp_server.profile import Profile
from engram_graph.mcp_server.server import build, kept_open
from engram_graph.memory import AsyncMemory

PATH = "/mcp"
HEALTH = "/health"
HOST = "127.0.0.1"
PORT = 8765
MIN_TOKEN = 16
MAX_BODY = 4 * 1024 * 1024
HEALTH_SECONDS = 5.0
_GRACE_SECONDS = 5
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s*]+", re.IGNORECASE)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s/@:*]+)(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens, and who is let in.

    Attributes:
        token: what a client sends as its bearer token; at least 16 characters of ASCII.
        port: 0 takes a free one.
        origins: web pages that may use it, such as ``https://app.example``; by default none.
        hosts: names it is reached by, besides the loopback ones and ``host`` itself.

    Raises:
        ConfigurationError: no token, or too short a one. InputError: an origin or a host that is
            none.
    """

    token: str = field(repr=False)
    host: str = HOST
    port: int = PORT
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.token) < MIN_TOKEN or not self.token.isascii() or not self.token.isprintable():
            raise ConfigurationError(
                f"ENGRAM_MCP_TOKEN {'is too short or not ASCII' if self.token else 'is not set'}",
                hint=f"Over HTTP a token of {MIN_TOKEN} characters or more is needed, such as one "
                "of `python -c 'import secrets; print(secrets.token_urlsafe(32))'`.",
            )
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise InputError(
                    f"no origin: {origin!r}", hint="Such as https://app.example or http://host:80"
                )
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                raise InputError(f"no host: {host!r}", hint="Such as memory.example or name:8765")

    def security(self) -> TransportSecuritySettings:
        """Host and Origin headers that are let in; a name without a port means any port."""
        names = [*_LOOPBACK, *self.hosts]
        if not _everywhere(self.host):
            names.append(f"[{self.host}]" if ":" in self.host else self.host)
        hosts = [form for name in names for form in _forms(name)]
        return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=list(self.origins))


def _everywhere(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _forms(name: str) -> tuple[str, ...]:
    has_port = re.search(r":\d+$", name) is not None
    return (name,) if has_port else (name, f"{name}:*")


class Guard:
    """Lets in who has the token; ``/health`` is open to all."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != HEALTH and not self._may(scope):
            refusal = JSONResponse(
                {"error": "unauthorized", "hint": "Send Authorization: Bearer <token>."},
                status_code=401,
                headers={"WWW-Authenticate": 'Bearer realm="engram_graph"'},
            )
            await refusal(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:  # by the end of the server, which nobody needs to read of
            if scope["type"] != "http":
                raise
            gone = JSONResponse({"error": "the server stops"}, status_code=503)
            with suppress(RuntimeError):  # an answer had begun
                await gone(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        given = f"{kind.capitalize()} {token.strip()}".encode()
        return hmac.compare_digest(given, self._expected)


class Health:
    """Whether the database answers; any number of questions ask it once at a time."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self._asking: asyncio.Task[bool] | None = None

    async def answer(self, _: Request) -> Response:
        """200 while it does, else 503; within five seconds."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask(), name="engram_graph health")
        done, _pending = await asyncio.wait({self._asking}, timeout=HEALTH_SECONDS)
        well = bool(done) and self._asking.result()
        return JSONResponse(
            {"status": "ok" if well else "unavailable"}, status_code=200 if well else 503
        )

    async def _ask(self) -> bool:
        try:
            await (await self._memory.open()).graph.connect()
        except EngramError:
            return False
        return True

    async def end(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)


def application(memory: AsyncMemory, profile: Profile, door: Door, health: Health) -> Starlette:
    """The web application; it neither opens nor closes ``memory``."""
    server = build(memory, profile)
    server.custom_route(HEALTH, methods=["GET"])(health.answer)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=door.security(),
    )
    app.add_middleware(Guard, token=door.token)
    if door.origins:  # pages in a browser ask first whether they may
        app.add_middleware(
            CORSMiddleware,
            allow_origins=door.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id"],
        )
    return app


class _Server(uvicorn.Server):
    """Leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    memory: AsyncMemory,
    profile: Profile,
    door: Door,
    stop: asyncio.Event,
    *,
    listening: Callable[[str], None],
) -> None:
    """Serve until ``stop`` is set; ``memory`` is closed then.

    Args:
        listening: told the address once it answers there.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    health = Health(memory)
    app = application(memory, profile, door, health)
    with _listener(door) as bound:
        server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="on",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                ws="none",
            )
        )
        async with kept_open(memory):
            serving = asyncio.create_task(server.serve(sockets=[bound]), name="engram_graph http")
            stopping = asyncio.create_task(stop.wait())
            listening(_address(door, bound))
            try:
                await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
            finally:
                server.should_exit = True
                stopping.cancel()
                await asyncio.gather(serving, stopping, return_exceptions=True)
                await health.end()
            serving.result()


def _listener(door: Door) -> socket.socket:
    kind = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    try:
        return socket.create_server((door.host, door.port), family=kind)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {door.host}:{door.port}: {error.strerror or error}",
            hint="Choose another one with --host and --port.",
        ) from None


def _address(door: Door, bound: socket.socket) -> str:
    host = f"[{door.host}]" if ":" in door.host else door.host
    return f"http://{host}:{bound.getsockname()[1]}{PATH}"
