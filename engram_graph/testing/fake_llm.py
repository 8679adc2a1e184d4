"""A loopback server that speaks the OpenAI API's ``/chat/completions``, with scripted replies.

The helpers read what this package asks a model, and write what it expects for an answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from engram_graph.adapters.loopback import LoopbackServer

NO_FACTS = '{"facts": []}'


@dataclass
class Reply:
    """One scripted reply: the model's text, or a raw body with its status.

    Attributes:
        content: None for none. body: sent as it is instead of a completion. delay_s: seconds
            before it is sent. refusal: the model's words in place of an answer.
    """

    content: str | None = NO_FACTS
    finish_reason: str = "stop"
    status: int = 200
    body: str | None = None
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    refusal: str | None = None


def asked(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions in a decider's request, as the model reads them."""
    system = body["messages"][0]["content"]
    found, _ = json.JSONDecoder().raw_decode(system, system.index("[\n{"))
    return list(found)


def decisions(body: dict[str, Any], given: Mapping[str, Any] | None = None) -> str:
    """An answer to each question of a decider's request: yes .9, the first option .97.

    Args:
        given: id → another answer; None leaves the question out.
    """
    answers: dict[str, Any] = {}
    for question in asked(body):
        if question["type"] == "probability":
            answers[question["id"]] = 0.9
        else:
            first, second, *others = question["options"]
            answers[question["id"]] = {first: 0.97, second: 0.03} | dict.fromkeys(others, 0.0)
    answers |= given or {}
    return json.dumps({"answers": {k: v for k, v in answers.items() if v is not None}})


def items(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The items in a reranker's request, as the model reads them."""
    return list(json.loads(body["messages"][1]["content"].split("\n")[1])["items"])


def ranking(body: dict[str, Any], *words: str) -> str:
    """An answer to a reranker's request: the items with one of ``words``, the first word first."""
    shown = items(body)
    found = [item["number"] for word in words for item in shown if word in item["text"]]
    return json.dumps({"ranking": list(dict.fromkeys(found))})


def answer(drafts: Iterable[dict[str, Any]]) -> str:
    """Drafts as JSON in the product's answer schema; ``relation`` is taken for ``predicate``."""
    return json.dumps({"facts": [_fact(draft) for draft in drafts]})


def _fact(draft: dict[str, Any]) -> dict[str, Any]:
    fact = {
        "text": "", "subject": "", "predicate": draft.get("relation", "related_to"), "object": "",
        "when": None, "quote": None, "negated": False, "temporal_status": "current", "kind": "bio",
        "durability": "long_term", "sensitivity": "none",
    }  # fmt: skip
    return fact | {key: value for key, value in draft.items() if key != "relation"}


class FakeLLM(LoopbackServer):
    """Gives one scripted reply per call; when they are used up, ``otherwise``. A context manager.

    Attributes:
        requests: the body of every request; headers: its headers, names in lower case; paths: path
            and query.
        refuse: response formats (``json_schema``, ``json_object``) answered with 400.
        otherwise: the reply once the script is empty. last_repeats: it is then the last one given.
        answers: makes the reply's text from the request instead, once the script is empty.
        usage: told with every completion; None leaves it out.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.refuse: set[str] = set()
        self.otherwise = Reply()
        self.last_repeats = False
        self.answers: Callable[[dict[str, Any]], str | Reply] | None = None
        self.usage: dict[str, Any] | None = {
            "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2,
        }  # fmt: skip
        self._queue: list[Reply] = []
        self._failures: list[int] = []
        self._lock = threading.Lock()

    def script(self, *replies: str | Reply, last_repeats: bool = False) -> None:
        """Replace the replies that are still to come."""
        with self._lock:
            self._queue = [Reply(r) if isinstance(r, str) else r for r in replies]
            self.last_repeats = last_repeats
            if not replies:
                self.otherwise = Reply()

    def fail(self, times: int, status: int = 503) -> None:
        """Answer the next ``times`` requests with ``status``, before any scripted reply."""
        with self._lock:
            self._failures = [status] * times

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with self._lock:
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.requests.append(body)
            self.paths.append(handler.path)
            reply = self._next(body)
        time.sleep(reply.delay_s)
        raw = (
            reply.body if reply.body is not None else _completion(body, reply, self.usage)
        ).encode()
        self._send(handler, reply.status, raw, reply.headers)

    def _next(self, body: dict[str, Any]) -> Reply:
        asked = body.get("response_format", {}).get("type")
        if asked in self.refuse:
            return _failure(400, f"response_format {asked} is not supported")
        if self._failures:
            return _failure(self._failures.pop(0), "scripted failure")
        if not self._queue:
            made = self.answers(body) if self.answers else self.otherwise
            return Reply(made) if isinstance(made, str) else made
        reply = self._queue.pop(0)
        if self.last_repeats and not self._queue:
            self.otherwise = reply
        return reply


def _failure(status: int, text: str) -> Reply:
    # The client reads this header before it waits; tests need no waiting.
    headers = {"retry-after-ms": "1"}
    return Reply(status=status, body=json.dumps({"error": {"message": text}}), headers=headers)


def _completion(body: dict[str, Any], reply: Reply, usage: dict[str, Any] | None) -> str:
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    whole = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
    }
    return json.dumps(whole if usage is None else whole | {"usage": usage})
