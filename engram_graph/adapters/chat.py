"""One question to a chat model behind the OpenAI API, or any server that speaks it.

Shared by all that ask one. Its failures carry neither the key nor what was asked, nor the server's
words, which may repeat either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import anyio

from engram_graph import telemetry
from engram_graph.adapters import usage
from engram_graph.adapters.openai_client import OpenAIClient, missing_hint, said
from engram_graph.errors import ConfigurationError

FORMS = ("json_schema", "json_object", "plain")
"""Forms of a request, from the one that binds a model most."""
Failure = Literal["away", "refused", "too_large", "unusable"]
Flaw = Literal["", "empty", "cut off", "declined", "without text"]
_AWAY = frozenset({401, 402, 403, 404, 405, 407, 408, 409, 425, 429})
TOO_LONG = ("context length", "context_length", "context size", "context_size", "context window")
"""In which words servers say that a text has more tokens than their model reads."""


class ChatError(Exception):
    """No completion came. Only between this module and its callers, who raise errors of their own.

    Attributes:
        kind: ``away`` (not reached, kept failing, key or credit refused), ``refused`` (the request
            itself), ``too_large`` (more tokens than the model reads), ``unusable`` (no completion
            in the reply).
        hint: what to do, where the reply told; empty if it did not.
        details: ``status`` and ``request_id``, where a server answered.
    """

    def __init__(self, kind: Failure, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(message)
        self.kind: Failure = kind
        self.message = message
        self.hint = hint
        self.details = details

    @property
    def status(self) -> int | None:
        """The HTTP status, if a server answered."""
        status = self.details.get("status")
        return status if isinstance(status, int) else None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked.

    Attributes:
        system: the instructions; nothing a stranger wrote. user: the material.
        name, schema: of the answer, in the strict form of JSON Schema.
        plain: said after ``system`` where a server knows no schema.
    """

    system: str
    user: str
    name: str
    schema: dict[str, Any]
    plain: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote.

    Attributes:
        flaw: why ``text`` is not the whole answer; empty when it is.
        input_tokens, output_tokens: None when the server does not tell.
    """

    text: str
    flaw: Flaw
    model: str
    request_id: str | None
    input_tokens: int | None
    output_tokens: int | None


class ChatModel:
    """A chat model that is asked for JSON.

    A server that refuses the schema is asked for a JSON object, then for plain text; one that takes
    no ``temperature`` is asked without. What it took is remembered for the life of this object.

    Args:
        model: as the server names it.
        api_key: never logged, never part of an error.
        base_url: of another server; None for OpenAI's own.
        timeout_s: of one request, in seconds. max_retries: on top of the first try. All tries and
            the waits between them together take no longer than the tries alone may.
        temperature: None leaves it to the model.
        purpose: for messages, such as ``extraction``.

    Raises:
        ConfigurationError: no key, no model, or a number that cannot be used.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None,
        timeout_s: float,
        max_retries: int,
        temperature: float | None,
        purpose: str,
    ) -> None:
        if not api_key.strip():
            raise ConfigurationError(f"{purpose} by a language model needs an API key")
        if not model.strip():
            raise ConfigurationError(f"{purpose} by a language model needs the model's name")
        if not 0 < timeout_s < float("inf") or max_retries < 0:
            raise ConfigurationError("timeout_s must be a number above 0, max_retries 0 or more")
        self.model = model
        self._client = OpenAIClient(api_key, base_url, timeout_s, max_retries)
        self._longest_s = timeout_s * (max_retries + 1)
        self._temperature = temperature
        self._form = 0

    async def complete(self, prompt: Prompt) -> Completion:
        """What the model writes, whole or with the flaw it has.

        Raises:
            ChatError: no completion came.
        """
        form = self._form
        while True:
            temperature = self._temperature
            try:
                completion = await self._once(prompt, FORMS[form], temperature)
            except _FormError as error:
                if error.temperature and temperature is not None:
                    self._temperature = None
                elif form < len(FORMS) - 1:
                    form += 1
                else:
                    raise error.final from None
                continue
            self._form = form
            return completion

    async def aclose(self) -> None:
        """Close the connections; a later ``complete`` opens new ones."""
        await self._client.aclose()

    async def _once(self, prompt: Prompt, form: str, temperature: float | None) -> Completion:
        """``from None`` throughout: the library's errors carry the request with key and text."""
        client = await self._client.get()
        import openai

        try:
            with (
                telemetry.request("chat", self.model, "openai", self._client.host) as request,
                anyio.fail_after(self._longest_s),
            ):
                reply = await client.chat.completions.create(
                    **_request(self.model, prompt, form, temperature)
                )
                completion = _completion(reply, self.model)
                request.answered(
                    completion.model, completion.input_tokens, completion.output_tokens
                )
                usage.tokens(completion.input_tokens, completion.output_tokens)
                return completion
        except (openai.APITimeoutError, TimeoutError):
            raise ChatError(
                "away", f"the language model did not answer within {self._client.timeout_s:g} s"
            ) from None
        except openai.APIConnectionError:
            raise ChatError("away", "the language model cannot be reached") from None
        except openai.APIStatusError as error:
            raise _refusal(error, self.model) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise ChatError(
                "unusable", f"the language model's reply is unusable: {type(error).__name__}"
            ) from None


class _FormError(Exception):
    """The server may take another form of the request; ``final`` if there is none left."""

    def __init__(self, final: ChatError, temperature: bool) -> None:
        super().__init__()
        self.final = final
        self.temperature = temperature


def _refusal(error: Any, model: str) -> Exception:
    status = error.status_code
    details = {"status": status, "request_id": error.request_id}
    if status == 413 or (status in (400, 422) and is_too_long(error)):
        return ChatError("too_large", "too large for the language model", **details)
    away = status in _AWAY or status >= 500 or status < 400
    final = ChatError(
        "away" if away else "refused",
        f"the language model refused: HTTP {status}",
        hint=missing_hint(error, model),
        **details,
    )
    if status in (400, 422):  # many servers name no parameter, but for their words
        return _FormError(final, error.param == "temperature" or "temperature" in said(error))
    return final


def is_too_long(error: Any) -> bool:
    """By the code where there is one; most other servers only say it in words."""
    return any(words in said(error) for words in TOO_LONG)


def _request(model: str, prompt: Prompt, form: str, temperature: float | None) -> dict[str, Any]:
    system = prompt.system
    extra: dict[str, Any] = {}
    if form == "json_schema":
        schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
        extra["response_format"] = {"type": "json_schema", "json_schema": schema}
    else:
        system = f"{system}\n{prompt.plain}"
        if form == "json_object":
            extra["response_format"] = {"type": "json_object"}
    if temperature is not None:
        extra["temperature"] = temperature
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": prompt.user},
        ],
        **extra,
    }


def _completion(reply: Any, model: str) -> Completion:
    choice = reply.choices[0] if reply.choices else None
    content = choice.message.content if choice else None
    usage = getattr(reply, "usage", None)
    named = getattr(reply, "model", None)
    return Completion(
        text=content if isinstance(content, str) else "",
        flaw=_flaw(choice),
        model=named if isinstance(named, str) and named else model,
        request_id=getattr(reply, "_request_id", None) or getattr(reply, "id", None),
        input_tokens=_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


def _flaw(choice: Any) -> Flaw:
    if choice is None:
        return "empty"
    if choice.finish_reason == "length":
        return "cut off"
    if choice.finish_reason == "content_filter" or getattr(choice.message, "refusal", None):
        return "declined"
    return "" if isinstance(choice.message.content, str) else "without text"


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
