"""Extractor on a chat model behind the OpenAI API, or any server that speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from engram_graph.adapters.chat import ChatError, ChatModel, Flaw, Prompt
from engram_graph.adapters.json_reply import find_json
from engram_graph.adapters.llm_meter import Meter
from engram_graph.errors import ExtractionError, InputError
from engram_graph.models.facts import Draft, Message
from engram_graph.questions import extraction
from engram_graph.vocabulary import (
    FALLBACK,
    Durability,
    FactKind,
    Sensitivity,
    TemporalStatus,
    predicate,
)

_MAX_NAME = 1_000
_OPENING = re.compile(r'\{\s*"facts"')
_HINTS = {
    400: "Is the model name right?",
    401: "Check the API key.",
    403: "Check the API key.",
    404: "Check the model name and the base URL.",
    429: "The rate limit or quota is used up; `engram resume` tries again later.",
}
_FLAWS: dict[Flaw, str] = {
    "empty": "the language model gave an empty reply",
    "cut off": "the language model's reply was cut off",
    "declined": "the language model declined to read the message",
    "without text": "the language model gave a reply without text",
}
_Label = TypeVar("_Label", TemporalStatus, FactKind, Durability, Sensitivity)


class LLMExtractor:
    """Drafts written by a chat model, as JSON after our own schema.

    A server that refuses the schema is asked for a JSON object, then for plain text; what it took
    is remembered for the life of the extractor.

    Args:
        model: as the server names it.
        api_key: never logged, never part of an error.
        base_url: of another server; None for OpenAI's own.
        timeout_s: of one request, in seconds. max_retries: on top of the first try.
        temperature: None leaves it to the model; some take no other.
        usd_per_million_input, usd_per_million_output: the model's prices; None: costs unknown.

    Raises:
        ConfigurationError: no key, no model, or a price that cannot be used.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        temperature: float | None = None,
        usd_per_million_input: float | None = None,
        usd_per_million_output: float | None = None,
    ) -> None:
        self.name = f"llm:{model}"
        self._chat = ChatModel(
            model,
            api_key=api_key,
            base_url=base_url,
            timeout_s=timeout_s,
            max_retries=max_retries,
            temperature=temperature,
            purpose="extraction",
        )
        self._meter = Meter(usd_per_million_input, usd_per_million_output, None)

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """Drafts of what ``message`` states, as the model reads it.

        Raises:
            ExtractionError: no reply, or one that cannot be read whole; neither the key nor the
                message is part of it.
        """
        prompt = Prompt(
            system=extraction.SYSTEM,
            user=extraction.document(message, recent),
            name="facts",
            schema=extraction.answer_schema(),
            plain=extraction.PLAIN_FORM,
        )
        try:
            completion = await self._chat.complete(prompt)
        except ChatError as error:
            hint = error.hint or _HINTS.get(error.status or 0, "")
            if error.kind == "away" and error.status is None:
                hint = "Check its base URL; `engram resume` tries again."
            raise ExtractionError(error.message, hint=hint, **error.details) from None
        self._meter.settle(None, completion)
        if completion.flaw:
            raise ExtractionError(_FLAWS[completion.flaw])
        return read_reply(completion.text)

    async def aclose(self) -> None:
        """Close the connections; a later ``extract`` opens new ones."""
        await self._chat.aclose()


def read_reply(reply: str) -> list[Draft]:
    """The drafts in a model's reply; fences, prose and thoughts round the JSON are skipped.

    Raises:
        ExtractionError: there is no whole answer in it, or half a character.
    """
    answer = find_json(reply, _facts, _OPENING)
    if answer is None:
        raise ExtractionError("the language model's reply holds no complete list of facts")
    try:
        json.dumps(answer, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ExtractionError("the reply contains half a character (a lone surrogate)") from None
    return [draft for item in answer if (draft := _draft(item)) is not None]


def _facts(value: Any) -> list[Any] | None:
    """The list of facts in a decoded value, if that is what it is."""
    if isinstance(value, dict) and isinstance(value.get("facts"), list):
        return list(value["facts"])
    if isinstance(value, list) and all(isinstance(i, dict) and "subject" in i for i in value):
        return value
    return None


def _draft(item: Any) -> Draft | None:
    """One fact as a draft; None without a subject or an object."""
    if not isinstance(item, dict):
        return None
    subject, target = _text(item.get("subject")), _text(item.get("object"))
    if not subject or not target or max(len(subject), len(target)) > _MAX_NAME:
        return None
    try:
        name = predicate(item.get("predicate")).name
    except InputError:
        name = FALLBACK
    text = _text(item.get("text")) or f"{subject} {name.replace('_', ' ')} {target}"
    return Draft(
        subject=subject,
        predicate=name,
        object=target,
        text=text,
        when=_text(item.get("when")),
        quote=_text(item.get("quote")),
        negated=item.get("negated") is True,
        temporal_status=_label(TemporalStatus, item.get("temporal_status"), TemporalStatus.CURRENT),
        kind=_label(FactKind, item.get("kind"), FactKind.BIO),
        durability=_label(Durability, item.get("durability"), Durability.LONG_TERM),
        sensitivity=_label(Sensitivity, item.get("sensitivity"), Sensitivity.NONE),
    )


def _text(value: object) -> str | None:
    """Text with something in it; a NUL, which no database holds, becomes a space."""
    if not isinstance(value, str):
        return None
    return value.replace("\x00", " ").strip() or None


def _label(kind: type[_Label], value: object, default: _Label) -> _Label:
    try:
        return kind(str(value).strip().lower())
    except ValueError:
        return default
