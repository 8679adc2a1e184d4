"""A stand-in for the decision API without sockets: scripted answers, failures, broken bodies."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

AnswerOf = Callable[[str, dict[str, Any]], dict[str, Any]]


@dataclass
class Scripted:
    """One reply as it is; ``fault`` is raised instead, as the network would."""

    status: int = 200
    body: str | bytes | dict[str, Any] = ""
    headers: dict[str, str] = field(default_factory=dict)
    fault: Callable[[str], httpx.RequestError] | None = None


def two_decimals(question: dict[str, Any], chosen: str | None = None) -> dict[str, Any]:
    """A valid answer as the hosted API gives one; the first option is chosen unless told."""
    if question["type"] == "noul":
        return {"type": "noul", "noul": 0.93}
    options = list(question["criteria"])
    chosen = chosen or options[0]
    rest = round(0.09 / (len(options) - 1), 2)
    probabilities = {option: 0.91 if option == chosen else rest for option in options}
    return {
        "type": "choice",
        "choice": chosen,
        "probabilities": dict(reversed(probabilities.items())),
        "confidence": 0.88,
    }


class JevServer:
    """Answers every valid request; scripted replies and a token limit come first.

    Attributes:
        requests: the body of every request; headers, urls: the same for those.
        answers: wire id → its answer, instead of the usual one (None: left out).
        limit: characters of a body above which it is too large; None for no limit.
        usage: of each reply. extra: fields added to each reply.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.urls: list[str] = []
        self.answers: dict[str, dict[str, Any] | None] = {}
        self.limit: int | None = None
        self.usage: Any = {"input_tokens": 1000, "output_tokens": 20}
        self.extra: dict[str, Any] = {}
        self._script: list[Scripted] = []

    @property
    def transport(self) -> httpx.MockTransport:
        """For a client."""
        return httpx.MockTransport(self._handle)

    @contextmanager
    def listening(self) -> Iterator[str]:
        """The base URL of the same over real connections, for a client made from settings."""
        handle = self._handle

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                reply = handle(httpx.Request("POST", f"http://jev{self.path}", content=raw))
                self.send_response(reply.status_code)
                self.send_header("Content-Length", str(len(reply.content)))
                self.end_headers()
                self.wfile.write(reply.content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}"
            finally:
                server.shutdown()
                thread.join()

    def script(self, *replies: Scripted) -> None:
        """Give these first, one a request."""
        self._script += replies

    def _handle(self, request: httpx.Request) -> httpx.Response:
        raw = request.read()
        body = json.loads(raw)
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.urls.append(str(request.url))
        reply = self._script.pop(0) if self._script else self._usual(body, raw)
        if reply.fault is not None:
            raise reply.fault("scripted")
        content = json.dumps(reply.body) if isinstance(reply.body, dict) else reply.body
        headers = {"x-typesafe-request-id": f"req_{len(self.requests)}"} | reply.headers
        return httpx.Response(reply.status, content=content, headers=headers)

    def _usual(self, body: dict[str, Any], raw: bytes) -> Scripted:
        assert set(body) == {"model", "state", "questions"}
        if self.limit is not None and len(raw) > self.limit:
            return Scripted(400, {"detail": {"error_type": "max_tokens_exceeded"}})
        answers = {
            key: self.answers.get(key, two_decimals(question))
            for key, question in body["questions"].items()
        }
        found = {key: answer for key, answer in answers.items() if answer is not None}
        reply = {"model": "jev-1.13.0", "answers": found} | self.extra
        return Scripted(body=reply if self.usage is None else reply | {"usage": self.usage})
