"""Extractor on a chat model behind the OpenAI API, or any server that speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from engram_graph.adapters.openai_client import OpenAIClient
from engram_graph.errors import ConfigurationError, ExtractionError, InputError
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

_FORMATS = ("json_schema", "json_object", "plain")
_MAX_NAME = 1_000
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]{0,10}[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_STARTS = 200  # places in a reply where an answer may begin, at most
_HINTS = {
    400: "Is the model name right?",
    401: "Check the API key.",
    403: "Check the API key.",
    404: "Check the model name and the base URL.",
    429: "The rate limit or quota is used up; `engram resume` tries again later.",
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

    Raises:
        ConfigurationError: no key, or no model.
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
    ) -> None:
        if not api_key.strip():
            raise ConfigurationError("extraction by a language model needs an API key")
        if not model.strip():
            raise ConfigurationError("extraction by a language model needs the model's name")
        self.name = f"llm:{model}"
        self._model = model
        self._client = OpenAIClient(api_key, base_url, timeout_s, max_retries)
        self._temperature = temperature
        self._format = 0

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """Drafts of what ``message`` states, as the model reads it.

        Raises:
            ExtractionError: no reply, or one that cannot be read whole; neither the key nor the
                message is part of it.
        """
        reply = await self._ask(message, recent)
        return read_reply(reply)

    async def aclose(self) -> None:
        """Close the connections; a later ``extract`` opens new ones."""
        await self._client.aclose()

    async def _ask(self, message: Message, recent: Sequence[Message]) -> str:
        client = await self._client.get()
        import openai

        last = len(_FORMATS) - 1
        for form in range(self._format, len(_FORMATS)):
            try:
                reply = await client.chat.completions.create(
                    **self._request(_FORMATS[form], message, recent)
                )
                content = _content(reply)
            # ``from None`` throughout: the library's errors carry the request with key and text.
            except openai.APITimeoutError:
                raise ExtractionError(
                    f"the language model did not answer within {self._client.timeout_s:g} s"
                ) from None
            except openai.APIConnectionError:
                raise ExtractionError(
                    "the language model cannot be reached",
                    hint="Check its base URL; `engram resume` tries again.",
                ) from None
            except openai.APIStatusError as error:
                if error.status_code in (400, 422) and form < last:
                    continue
                raise ExtractionError(
                    f"the language model refused: HTTP {error.status_code}",
                    hint=_HINTS.get(error.status_code, ""),
                    status=error.status_code,
                    request_id=error.request_id,
                ) from None
            except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
                raise ExtractionError(
                    f"the language model's reply is unusable: {type(error).__name__}"
                ) from None
            self._format = form
            return content
        raise ExtractionError("the language model took no form of the request")

    def _request(self, form: str, message: Message, recent: Sequence[Message]) -> dict[str, Any]:
        system = extraction.SYSTEM
        extra: dict[str, Any] = {}
        if form == "json_schema":
            schema = {"name": "facts", "strict": True, "schema": extraction.answer_schema()}
            extra["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            system = f"{system}\n{extraction.PLAIN_FORM}"
            if form == "json_object":
                extra["response_format"] = {"type": "json_object"}
        if self._temperature is not None:
            extra["temperature"] = self._temperature
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": extraction.document(message, recent)},
            ],
            **extra,
        }


def _content(reply: Any) -> str:
    """The text of a completion that ended by itself."""
    if not reply.choices:
        raise ExtractionError("the language model gave an empty reply")
    choice = reply.choices[0]
    if choice.finish_reason == "length":
        raise ExtractionError("the language model's reply was cut off")
    if choice.finish_reason == "content_filter" or getattr(choice.message, "refusal", None):
        raise ExtractionError("the language model declined to read the message")
    if not isinstance(choice.message.content, str):
        raise ExtractionError("the language model gave a reply without text")
    return choice.message.content


def read_reply(reply: str) -> list[Draft]:
    """The drafts in a model's reply; fences, prose and thoughts round the JSON are skipped.

    Raises:
        ExtractionError: there is no whole answer in it, or half a character.
    """
    answer = _answer(_THOUGHT.sub("", reply).replace("\ufeff", ""))
    try:
        json.dumps(answer, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ExtractionError("the reply contains half a character (a lone surrogate)") from None
    return [draft for item in answer if (draft := _draft(item)) is not None]


def _answer(text: str) -> list[Any]:
    decoder = json.JSONDecoder()
    for candidate in (text, *(found[1] for found in _FENCE.finditer(text))):
        try:
            facts = _facts(decoder.decode(candidate.strip()))
        except (ValueError, RecursionError):
            continue
        if facts is not None:
            return facts
    for start in _starts(text):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if re.match(r'\{\s*"facts"', text[start : start + 200]):
                break  # our answer begins here and does not end: parts of it are no answer
            continue
        facts = _facts(value)
        if facts is not None and value != []:  # "[]" in prose is no answer
            return facts
    raise ExtractionError("the language model's reply holds no complete list of facts")


def _starts(text: str) -> Iterator[int]:
    for count, found in enumerate(re.finditer(r"[{\[]", text)):
        if count >= _STARTS:
            return
        if found[0] == "[" and "{" in text[: found.start()]:
            continue  # perhaps the inside of an answer that is broken elsewhere
        yield found.start()


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
