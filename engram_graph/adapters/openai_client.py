"""The openai package's client, made at first use: one home for what all its users share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import anyio.to_thread

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIClient:
    """A client to be, for one server and key.

    Args:
        api_key: never logged, never part of an error. base_url: None for OpenAI's own server; its
            query, such as Azure's ``?api-version=…``, goes with every request.
        timeout_s: of one request, in seconds. max_retries: on top of the first try.

    Attributes:
        host: of ``base_url``, without port, user and path.
    """

    def __init__(
        self, api_key: str, base_url: str | None, timeout_s: float, max_retries: int
    ) -> None:
        self.timeout_s = timeout_s
        self.host = host_of(base_url) if base_url else None
        self._api_key = api_key
        self._base_url = base_url
        self._max_retries = max_retries
        self._made: AsyncOpenAI | None = None

    async def get(self) -> AsyncOpenAI:
        """The client; made by the first call, and anew after ``aclose``."""
        if self._made is None:
            # Importing openai takes half a second: not while an event loop waits.
            kind = await anyio.to_thread.run_sync(_import_openai)
            if self._made is None:
                base, _, query = (self._base_url or "").partition("?")
                # Azure's deployments take the key under a name of their own, its v1 API either.
                azure = bool(self.host) and str(self.host).endswith(".azure.com")
                self._made = kind(
                    api_key=self._api_key,
                    base_url=base or None,
                    timeout=self.timeout_s,
                    max_retries=self._max_retries,
                    default_query=dict(parse_qsl(query)),
                    default_headers={"api-key": self._api_key} if azure else {},
                )
        return self._made

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._made = self._made, None
        if client is not None:
            await client.close()


def said(error: Any) -> str:
    """The words of a refusal in lower case, to look for what they mean; never to be shown."""
    words = error.body if isinstance(error.body, str) else ""  # some send no object
    return f"{error.code} {error.type} {error.message} {words}".lower()


def missing_hint(error: Any, model: str) -> str:
    """What to do about a 404, as far as the reply tells; empty for another status."""
    if error.status_code != 404:
        return ""
    if "pull" in said(error):
        return f"Ollama does not have the model yet: `ollama pull {model}`."
    if not isinstance(error.body, dict):
        return "Nothing is served there: the base URL of most servers ends in /v1."
    return ""


def host_of(url: str) -> str | None:
    """The host in a URL; None when there is none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _import_openai() -> type[AsyncOpenAI]:
    from openai import AsyncOpenAI

    return AsyncOpenAI
