"""The decision API's language: bodies sent, replies checked, failures read. Nothing is sent here.

Source: jev-api §2-§5. A reply is taken as it came or refused: never clamped, never renormalised.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from engram_graph.adapters.network_decider import FaultError, TooLargeError, unit
from engram_graph.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from engram_graph.models.decisions import Answer
from engram_graph.questions.build import State, Worded

USD_PER_TOKEN = 0.042 / 1e6
"""Price of an input token; output is free."""
BACKEND = "jev"
_EXCERPT = 200  # characters of a server's own words in an error
_ROUNDED = 1e-7  # how near a number lies to two decimals to count as rounded to them
_SLACK = 1e-9
_UPSTREAM = re.compile(r"HTTP (\d{3}): (\{.*\})", re.DOTALL)
_HINTS = {
    401: "Check the API key (TYPESAFE_API_KEY).",
    402: "The prepaid credit is used up; facts are stored unsure until it is topped up.",
    403: "Check the API key (TYPESAFE_API_KEY).",
    404: "Check the base URL and the model's name.",
    405: "Check the base URL (TYPESAFE_BASE_URL).",
}


@dataclass(frozen=True, slots=True)
class Read:
    """A reply whose envelope is sound.

    Attributes:
        answers: question id → answer, one for each question sent.
        faults: question id → why its answer is a fallback.
        extra: how many answers nobody had asked for; they are dropped.
        tokens: input tokens; cost_usd: as told, else by price. None when unknown.
    """

    model: str
    answers: dict[str, Answer]
    faults: dict[str, str] = field(default_factory=dict)
    extra: int = 0
    tokens: int | None = None
    cost_usd: float | None = None


def request_body(model: str, state: State, items: Sequence[Worded]) -> bytes:
    """The body of one request: the three fields every server takes, and no other."""
    questions = {
        item.id: {
            "type": item.question.type,
            "instructions": item.instructions,
            "criteria": item.criteria,
        }
        for item in items
    }
    body = {"model": model, "state": state, "questions": questions}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def read_reply(raw: bytes, items: Sequence[Worded]) -> Read:
    """The answers in the body of a 200.

    A fault inside one answer, or an answer missing, makes that one a fallback.

    Raises:
        DecisionInvalidError: it is not JSON, holds NaN, or has no answers.
    """
    body = _json(raw)
    given = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(given, dict):
        raise DecisionInvalidError("the decision API's reply has no answers")
    answers: dict[str, Answer] = {}
    faults: dict[str, str] = {}
    for item in items:
        key = item.question.id
        try:
            answers[key] = Answer(key, _probabilities(given, item), BACKEND)
        except FaultError as fault:
            answers[key] = fallback(item)
            faults[key] = str(fault)
    extra = len(given.keys() - {item.id for item in items})
    tokens, cost = _usage(body.get("usage"))
    named = body.get("model")
    model = named if isinstance(named, str) else ""
    return Read(model, answers, faults, extra, tokens, cost)


def fallback(item: Worded) -> Answer:
    """What stands for an answer that cannot be used."""
    return Answer(item.question.id, {}, BACKEND, fallback=True)


def failure(status: int, raw: bytes, *, request_id: str | None, secret: str = "") -> DecisionError:
    """The error for a reply that is not a 200; the server's own words are part of it.

    Args:
        secret: taken out of those words, should a server repeat it.

    Raises:
        TooLargeError: the request has too many tokens.
    """
    text, kind = _told(raw)
    if secret:
        text = text.replace(secret, "***")
        kind = kind.replace(secret, "***")
    details: dict[str, Any] = {"status": status, "request_id": request_id}
    if kind:
        details["error_type"] = kind[:_EXCERPT]
    said = f": {text[:_EXCERPT]}" if text else ""
    if status == 413 or kind == "max_tokens_exceeded":
        raise TooLargeError(f"too large for the decision API{said}")
    message = f"the decision API refused: HTTP {status}{said}"
    if 300 <= status < 400:
        return DecisionUnavailableError(
            f"the decision API redirects (HTTP {status}), which is not followed",
            hint="Set the base URL to where the API itself is.",
            **details,
        )
    if status in _HINTS:
        return DecisionUnavailableError(message, hint=_HINTS[status], **details)
    if status in (408, 429) or status >= 500:
        return DecisionUnavailableError(
            f"the decision API failed: HTTP {status}{said}",
            hint="It is overloaded or down; the next write asks it again.",
            **details,
        )
    if status < 300:
        return DecisionInvalidError(f"the decision API gave HTTP {status}, not 200", **details)
    return DecisionError(
        message, hint="Is the model's name right, and known to this server?", **details
    )


def _probabilities(given: dict[str, Any], item: Worded) -> dict[str, float]:
    if item.id not in given:
        raise FaultError("no answer")
    answer = given[item.id]
    kind = item.question.type
    if not isinstance(answer, dict):
        raise FaultError("not an object")
    if answer.get("type") != kind:
        raise FaultError(f"not of the type {kind}")
    if kind == "noul":
        p = unit(answer.get("noul"), "noul")
        return {"yes": p, "no": 1.0 - p}
    return _choice(answer, tuple(item.criteria))


def _choice(answer: dict[str, Any], options: tuple[str, ...]) -> dict[str, float]:
    """The distribution of a choice, in the options' own order.

    ``confidence`` may be missing (some servers leave it out, and nothing here rests on it); one
    that is there has to be a probability.
    """
    told = answer.get("probabilities")
    if not isinstance(told, dict) or told.keys() != set(options):
        raise FaultError("probabilities are not those of the options")
    found = {option: unit(told[option], "a probability") for option in options}
    rounded = all(abs(p - round(p, 2)) <= _ROUNDED for p in found.values())
    allowed = max(0.05, len(options) * 0.005 if rounded else 0.0)
    if abs(total := math.fsum(found.values()) - 1.0) > allowed + _SLACK:
        raise FaultError(f"probabilities sum to {total + 1.0:.3f}")
    chosen = answer.get("choice")
    if not isinstance(chosen, str) or chosen not in found:
        raise FaultError("the choice is no option")
    if found[chosen] < max(found.values()) - 0.005 - _SLACK:
        raise FaultError("the choice is not the likeliest option")
    if "confidence" in answer:
        unit(answer["confidence"], "confidence")
    return found


def _usage(usage: object) -> tuple[int | None, float | None]:
    """Input tokens and what they cost."""
    if not isinstance(usage, dict):
        return None, None
    told = _amount(usage.get("input_tokens"))
    tokens = int(told) if told is not None and told == int(told) else None
    cost = _amount(usage.get("cost"))
    if cost is None and tokens is not None:
        cost = tokens * USD_PER_TOKEN
    return tokens, cost


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e15:
        return None
    return float(value)


def _json(raw: bytes) -> Any:
    """``raw`` as strict JSON.

    Raises:
        DecisionInvalidError: it is none.
    """
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise DecisionInvalidError("the decision API's reply is not JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _told(raw: bytes) -> tuple[str, str]:
    """What a failure's body says, and its ``error_type``; either may be empty."""
    plain = _one_line(raw.decode("utf-8", "replace"))
    try:
        body = _json(raw)
    except DecisionInvalidError:
        return plain, ""
    if not isinstance(body, dict):
        return plain, ""
    detail, error = body.get("detail"), body.get("error")
    kind = _field(detail, "error_type") or _field(error, "error_type")
    said = _words(error) or _words(body.get("message")) or _words(detail) or kind or plain
    if not kind and (upstream := _UPSTREAM.match(said)):  # a router repeats what it was told
        return _one_line(said), _told(upstream[2].encode())[1]
    return _one_line(said), kind


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        found = [item for item in value if isinstance(item, dict) and "msg" in item]
        return "; ".join(f"{_place(item.get('loc'))}{item['msg']}" for item in found)
    return _field(value, "message")


def _place(loc: object) -> str:
    return ".".join(str(step) for step in loc) + ": " if isinstance(loc, list) and loc else ""


def _field(value: object, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
