"""Hands a guide and the style to Neo4j Browser: a small HTTP server on loopback.

Neo4j's own web server serves nothing but Browser, and Browser's page fetches a guide only from a
host that the setting ``browser.remote_content_hostname_whitelist`` names. ``localhost`` is among
them unless somebody changed that, so this works with any Neo4j.
"""

from __future__ import annotations

import hashlib
import socketserver
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

HOST, PORT = "127.0.0.1", 7574
"""Where it listens; on any other port where that one is taken."""


def guide_path(*about: str) -> str:
    """The path of a guide: the same for the same names, and it does not tell them."""
    digest = hashlib.sha256("\n".join(about).encode("utf-8")).hexdigest()
    return f"/guide-{digest[:12]}.html"


class GuideServer(socketserver.ThreadingTCPServer):
    """Serves ``pages`` (path → text) to one origin, that of Browser's page, and to no other.

    Not an ``HTTPServer``: that one asks the name service for the machine's name.
    """

    allow_reuse_address = sys.platform != "win32"  # there it would mean "share the port"
    daemon_threads = True

    def __init__(self, browser_url: str) -> None:
        """Listen, on the usual port or any other. ``browser_url``: where Browser is."""
        try:
            super().__init__((HOST, PORT), _Handler)
        except OSError:
            super().__init__((HOST, 0), _Handler)
        self.port = int(self.server_address[1])
        self.pages: Mapping[str, str] = {}
        self.origins = _origins(browser_url)
        self.hosts = {f"{host}:{self.port}" for host in ("localhost", HOST)}

    def url(self, path: str) -> str:
        """The address of a page, as Browser may ask for it."""
        return f"http://localhost:{self.port}{path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let pass that a client hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: GuideServer
    server_version, sys_version = "engram", ""
    timeout = 10  # seconds; a connection that says nothing would keep its thread

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if self.headers.get("Host") not in self.server.hosts:
            self._answer(HTTPStatus.FORBIDDEN)  # a name that somebody made point to loopback
        elif path not in self.server.pages:
            self._answer(HTTPStatus.NOT_FOUND)
        else:
            self._answer(HTTPStatus.OK, self.server.pages[path])

    def do_OPTIONS(self) -> None:
        # Browser sends headers of its own, so its page has to ask whether it may.
        self._answer(HTTPStatus.OK)

    def _answer(self, status: HTTPStatus, text: str = "") -> None:
        body = text.encode("utf-8")
        self.send_response(status)
        origin = self.headers.get("Origin")
        if origin in self.server.origins:
            self.send_header("Access-Control-Allow-Origin", origin)
            self.send_header("Access-Control-Allow-Headers", "*")
        self.send_header("Vary", "Origin")
        self.send_header("Cache-Control", "no-store")
        # Opened by itself it is a text: nothing in it runs.
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: requests are of no interest to whoever started this."""


def _origins(browser_url: str) -> frozenset[str]:
    """The origin of an address; both spellings where it is on this machine."""
    parts = urlsplit(browser_url)
    names = {parts.hostname}
    if names & {"localhost", HOST}:
        names = {"localhost", HOST}
    port = f":{parts.port}" if parts.port else ""
    return frozenset(f"{parts.scheme}://{name}{port}" for name in names)
