"""A loopback server that speaks the OpenAI API's ``/embeddings``, with scripted failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from engram_graph.adapters.embed_hash import HashEmbedder


@dataclass
class Reply:
    """One scripted reply; ``body`` as JSON, or as it is when text."""

    status: int = 200
    body: Any = None
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


class EmbeddingsServer:
    """Answers with hash embeddings three times too long and in reverse order.

    ``script`` holds replies to give first. ``requests`` holds (headers, body) of every request,
    ``paths`` its path and query. ``refuses`` may give a reply to a body instead of vectors.
    """

    def __init__(self, dimension: int = 48) -> None:
        self.embedder = HashEmbedder(dimension)
        self.script: list[Reply] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.paths: list[str] = []
        self.refuses: Callable[[dict[str, Any]], Reply | None] = lambda _: None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingsServer:
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
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
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

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with self._lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.requests.append((headers, body))
            self.paths.append(handler.path)
            reply = (
                self.script.pop(0)
                if self.script
                else self.refuses(body) or Reply(body=self._vectors(body))
            )
        time.sleep(reply.delay_s)
        payload = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        raw = payload.encode()
        try:
            handler.send_response(reply.status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(raw)))
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(raw)
        except OSError:  # the client gave up waiting
            handler.close_connection = True

    def _vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [
            {
                "object": "embedding",
                "index": index,
                "embedding": [3 * value for value in self.embedder.vector(text)],
            }
            for index, text in enumerate(body["input"])
        ]
        return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": {}}
