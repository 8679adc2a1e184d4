"""Every model a study needs, on this machine's loopback interface and without any model.

One server speaks the decision API (``/systemone``) and the OpenAI API (``/chat/completions``,
``/embeddings``). Its replies follow from the words of a request alone, so that a whole study can be
run, stopped, replayed and compared offline. They are no model's: accuracies, costs and latencies of
such a run show that the machinery works, and say nothing about quality.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from pydantic import SecretStr

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.loopback import LoopbackServer
from engram_graph.rules.tokens import estimate_tokens
from engram_graph.settings import Settings
from engram_graph.testing import scripted_peers
from engram_graph.testing import scripted_replies as replies
from engram_graph.testing.fake_llm import asked, items

NAME: Final = "scripted"
_HTTP_NOT_FOUND = 404


class ScriptedModels(LoopbackServer):
    """Answers every request of this package from its content alone. A context manager.

    It extracts what the pattern extractor finds and one simple fact for each other first-person
    sentence; decides as the rules decider would, less surely; ranks and answers by shared words;
    judges by the words of the right answer. Token counts are estimates of the texts. A chat
    request that is none of this package's gets what ``scripted_peers`` says.

    Attributes:
        requests: how many came, by purpose (``facts``, ``systemone``, ``embeddings``, …).
    """

    def __init__(self) -> None:
        self.requests: dict[str, int] = {}
        self._hashed = HashEmbedder()
        self._lock = threading.Lock()

    def settings(self, base: Settings | None = None, **values: Any) -> Settings:
        """``base``, or the environment's settings, with every model of it served from here.

        Vectors are hashed without a request; with ``embedder="openai"`` they are asked for here.
        The prices are made up: they let a ledger be complete.

        Args:
            values: other settings, by their names in ``Settings``.

        Raises:
            ConfigurationError: no such setting, or a value that does not fit.
        """
        key = SecretStr(NAME)
        ours: dict[str, Any] = {
            "openai_api_key": key,
            "openai_base_url": self.url,
            "typesafe_api_key": key,
            "typesafe_base_url": self.url,
            "typesafe_default_model": NAME,
            "jev_rate": 10_000.0,
            "decider": "jev",
            "decider_model": None,
            "escalation": "llm",
            "extractor": "llm",
            "llm_model": NAME,
            "llm_usd_per_million_input": 1.0,
            "llm_usd_per_million_output": 2.0,
            "rerank": "auto",
            "rerank_model": None,
            "embedder": "hash",
            "embedding_model": NAME,
            "embedding_base_url": self.url,
            "embedding_api_key": key,
            "embedding_dimension": None,
            "embedding_usd_per_million": 0.1,
            "embedding_query_prefix": None,
            "embedding_passage_prefix": None,
        }
        known = base or Settings.load()
        given = {name: getattr(known, name) for name in Settings.model_fields}
        return Settings.load(**given | ours | values)

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        place = handler.path.partition("?")[0].rstrip("/").rpartition("/")[2]
        made = {
            "systemone": self._decisions,
            "completions": self._completion,
            "embeddings": self._vectors,
        }.get(place)
        if made is None:
            self._send(handler, _HTTP_NOT_FOUND, b'{"detail":"Not Found"}', {})
            return
        reply = json.dumps(made(body), ensure_ascii=False).encode()
        self._send(handler, 200, reply, {"x-typesafe-request-id": NAME})

    def _decisions(self, body: dict[str, Any]) -> dict[str, Any]:
        self._count("systemone")
        answers = {
            key: _answered(body["state"], question) for key, question in body["questions"].items()
        }
        tokens = {
            "input_tokens": estimate_tokens(json.dumps(body, ensure_ascii=False)),
            "output_tokens": estimate_tokens(json.dumps(answers)),
        }
        return {"model": body["model"], "answers": answers, "usage": tokens}

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        form = body.get("response_format", {}).get("json_schema", {}).get("name", "other")
        purpose = form.partition("_v")[0]
        self._count(purpose)
        text = _written(purpose, body)
        read = estimate_tokens("\n".join(str(each["content"]) for each in body["messages"]))
        written = estimate_tokens(text)
        message = {"role": "assistant", "content": text, "refusal": None}
        return {
            "id": NAME,
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            },
        }

    def _vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        self._count("embeddings")
        given = body["input"]
        texts = [given] if isinstance(given, str) else given
        tokens = sum(map(estimate_tokens, texts))
        rows = [
            {"object": "embedding", "index": place, "embedding": self._hashed.vector(text)}
            for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": body["model"], "data": rows, "usage": usage}

    def _count(self, purpose: str) -> None:
        with self._lock:
            self.requests[purpose] = self.requests.get(purpose, 0) + 1


def _answered(state: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
    """One answer in the decision API's form: two decimals, the likeliest option chosen."""
    choice = question["type"] == "choice"
    options = tuple(question["criteria"]) if choice else ()
    try:
        hundredths = replies.decided(state, question["instructions"], options)
    except ValueError:  # another memory's question
        hundredths = scripted_peers.decided(options or ("true", "false"))
    if not choice:
        return {"type": "noul", "noul": hundredths["true"] / 100}
    chosen = max(hundredths, key=lambda option: hundredths[option])
    even = 1 / len(hundredths)  # what each has where nothing is known
    return {
        "type": "choice",
        "choice": chosen,
        "probabilities": {option: count / 100 for option, count in hundredths.items()},
        "confidence": round((hundredths[chosen] / 100 - even) / (1 - even), 2),
    }


def _written(purpose: str, body: dict[str, Any]) -> str:
    """What the chat model writes."""
    if purpose not in ("facts", "decisions", "ranking", "answer", "verdict"):
        return scripted_peers.reply(body)
    system, user = (message["content"] for message in body["messages"][:2])
    if purpose == "facts":
        return replies.extraction(user)
    if purpose == "ranking":
        query = json.loads(user.split("\n")[1])["query"]
        return replies.ranking(query, items(body))
    if purpose == "answer":
        return replies.answer(user)
    if purpose == "verdict":
        return replies.verdict(system, user)
    state = json.loads(user.split("\n")[1])
    return json.dumps({"answers": {put["id"]: _told(state, put) for put in asked(body)}})


def _told(state: Mapping[str, Any], put: Mapping[str, Any]) -> float | dict[str, float]:
    hundredths = replies.decided(state, put["question"], tuple(put.get("options", ())))
    if put["type"] == "probability":
        return hundredths["true"] / 100
    return {option: count / 100 for option, count in hundredths.items()}
