"""A server of JSON on this machine's loopback interface: fakes and proxies answer through it."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class LoopbackServer(ABC):
    """Takes POST requests of JSON on a free port while it is entered, each in a thread."""

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                outer._answer(self, json.loads(raw))

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @abstractmethod
    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answer a request with ``body``, by ``_send``."""

    @staticmethod
    def _send(
        handler: BaseHTTPRequestHandler, status: int, raw: bytes, headers: Mapping[str, str]
    ) -> None:
        try:
            handler.send_response(status)
            own = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
            for name, value in (own | dict(headers)).items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(raw)
        except OSError:  # the client gave up waiting
            handler.close_connection = True
