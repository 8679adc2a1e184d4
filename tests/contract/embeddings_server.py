"""A loopback server that speaks the OpenAI API's ``/embeddings``, with scripted failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.loopback import LoopbackServer


@dataclass
class Reply:
    """One scripted reply; ``body`` as JSON, or as it is when text."""

    status: int = 200
    body: Any = None
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


class EmbeddingsServer(LoopbackServer):
    """Answers with hash embeddings three times too long and in reverse order.

    ``script`` holds replies to give first. ``requests`` holds (headers, body) of every request,
    ``paths`` its path and query. ``refuses`` may give a reply to a body instead of vectors;
    ``usage`` is told with those.
    """

    def __init__(self, dimension: int = 48) -> None:
        self.embedder = HashEmbedder(dimension)
        self.script: list[Reply] = []
        self.usage: dict[str, int] = {}
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.paths: list[str] = []
        self.refuses: Callable[[dict[str, Any]], Reply | None] = lambda _: None
        self._lock = threading.Lock()

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
        self._send(handler, reply.status, payload.encode(), reply.headers)

    def _vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = [
            {
                "object": "embedding",
                "index": index,
                "embedding": [3 * value for value in self.embedder.vector(text)],
            }
            for index, text in enumerate(body["input"])
        ]
        return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": self.usage}
