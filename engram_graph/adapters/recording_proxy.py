"""A proxy on the loopback interface that records a chat API for programs with clients of their own.

What another package asks through it is kept, counted and capped as our own calls are, and it never
sees the key.
"""

from __future__ import annotations

import json
import threading
import time
from contextvars import Context, copy_context
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

import httpx

from engram_graph import clock
from engram_graph.adapters.loopback import LoopbackServer
from engram_graph.adapters.recording import Asked, Recorded, Recording, Tokens
from engram_graph.errors import EngramError

PEER: Final = "peer"
KEY: Final = "recorded"
"""What clients give in place of a key."""
OPENAI: Final = "https://api.openai.com/v1"
_TIMEOUT_S = 120.0


class RecordingProxy(LoopbackServer):
    """Answers from a recording, else from the server behind it. A context manager.

    A reply of HTTP 200 is kept; any other is passed on as it is. A call that may not be made gets
    HTTP 402, which no client repeats; whoever watches the recording knows why.

    Args:
        base_url: of the server; None for OpenAI's own.
        usd_per_million_input, usd_per_million_output: the model's prices; None: costs unknown.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        base_url: str | None,
        api_key: str,
        usd_per_million_input: float | None,
        usd_per_million_output: float | None,
    ) -> None:
        base, _, query = (base_url or OPENAI).partition("?")
        self._base, self._query = base.rstrip("/"), f"?{query}" if query else ""
        self._key = api_key
        self._recording = recording
        self._prices = usd_per_million_input, usd_per_million_output
        self._context = copy_context()
        self._lock = threading.Lock()

    def counts_here(self) -> None:
        """Count what is asked from now on where the caller counts: in its context."""
        self._context = copy_context()

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        status, reply = self._reply(handler.path.partition("?")[0].removeprefix("/v1"), body)
        self._send(handler, status, json.dumps(reply, ensure_ascii=False).encode(), {})

    def _reply(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if body.get("stream"):
            return 400, _error("streams are not recorded")
        context = self._context.copy()
        asked = Asked(PEER, "llm", str(body.get("model", "")), {"path": path, "body": body})
        try:
            known = self._recording.get_now(asked)
            if known is None:
                with self._lock:
                    self._before(context, asked)
                return self._made(context, asked, path, body)
            with self._lock:
                self._after(context, asked, known, None)
        except EngramError as error:
            return 402, _error(error.message)
        return 200, known.answer

    def _made(
        self, context: Context, asked: Asked, path: str, body: dict[str, Any]
    ) -> tuple[int, Any]:
        began = time.perf_counter()
        try:
            reply = httpx.post(
                f"{self._base}{path}{self._query}",
                json=body,
                headers={"Authorization": f"Bearer {self._key}", "api-key": self._key},
                timeout=_TIMEOUT_S,
            )
            told = reply.json()
        except (httpx.HTTPError, ValueError) as error:
            return 502, _error(f"the language model cannot be reached: {type(error).__name__}")
        if reply.status_code != 200:
            return reply.status_code, told
        took = (time.perf_counter() - began) * 1000
        tokens = _tokens(told)
        call = Recorded(told, took, self._cost(tokens), clock.now())
        self._recording.put_now(asked, call)
        with self._lock:
            self._recording.charge(call.cost_usd or 0.0)
            self._after(context, asked, call, tokens)
        return 200, told

    def _before(self, context: Context, asked: Asked) -> None:
        if (watcher := self._recording.watcher) is not None:
            context.run(watcher.before, asked)

    def _after(self, context: Context, asked: Asked, call: Recorded, tokens: Tokens | None) -> None:
        if (watcher := self._recording.watcher) is not None:
            context.run(watcher.after, asked, call, tokens)

    def _cost(self, tokens: Tokens) -> float | None:
        read, written = tokens
        price_in, price_out = self._prices
        if read is None or written is None or price_in is None or price_out is None:
            return None
        return (read * price_in + written * price_out) / 1e6


def _tokens(told: Any) -> Tokens:
    usage = told.get("usage") if isinstance(told, dict) else None
    found = usage if isinstance(usage, dict) else {}
    return _count(found.get("prompt_tokens")), _count(found.get("completion_tokens"))


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "recording", "code": None, "param": None}}
