"""Embeddings by the OpenAI API, or by any server that speaks it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from engram_graph import telemetry
from engram_graph.adapters import usage
from engram_graph.adapters.chat import is_too_long
from engram_graph.adapters.embed_prefix import name_with_prefixes
from engram_graph.adapters.openai_client import OpenAIClient, missing_hint, said
from engram_graph.errors import ConfigurationError, EmbeddingError
from engram_graph.models.facts import Vector
from engram_graph.rules.text import encodable
from engram_graph.rules.tokens import estimate_tokens

MAX_TOKENS = 8_000
"""Estimated tokens of one text that are sent; the API itself takes 8,192."""
_BATCH_TEXTS = 256
_BATCH_TOKENS = 100_000  # estimated; the API takes 300,000 in one request
_BLANK = "(blank)"  # the API refuses empty text; a stored blank still needs a vector


class OpenAIEmbedder:
    """Embedder on ``/embeddings`` of the OpenAI API or a compatible server.

    Args:
        model: as the server names it.
        api_key: never logged, never part of an error.
        base_url: of another server; None for OpenAI's own.
        dimension: expected length of a vector. Asked for with models that can shorten
            (text-embedding-3-…), else only checked. None: learned from the first reply, and
            ``dimension`` is 0 until then.
        timeout_s: of one request, in seconds. max_retries: on top of the first try.
        query_prefix, text_prefix: put before questions and statements, for models that want them;
            then part of the name that is stored with vectors.
        usd_per_million: the model's price; None: costs unknown.

    Raises:
        ConfigurationError: no key.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        api_key: str,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 2,
        query_prefix: str = "",
        text_prefix: str = "",
        usd_per_million: float | None = None,
    ) -> None:
        if not api_key.strip():
            raise ConfigurationError("OpenAI embeddings need an API key")
        self.model = name_with_prefixes(model, query_prefix, text_prefix)
        self._served = model
        self.dimension = dimension or 0
        self._shorten = bool(dimension) and model.startswith("text-embedding-3")
        self._batch_texts = _BATCH_TEXTS
        self._prefixes = {True: query_prefix, False: text_prefix}
        self._usd_per_million = usd_per_million
        self._client = OpenAIClient(api_key, base_url, timeout_s, max_retries)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One unit vector per text, in order.

        Long texts are cut at about 8,000 tokens, or where the model reads fewer at what it takes;
        how many texts a server takes in one request is found out and remembered.

        Raises:
            EmbeddingError: no usable reply; neither key nor text is part of it.
        """
        prefix = self._prefixes[query]
        inputs = [cut(prefix + encodable(text)) if text.strip() else _BLANK for text in texts]
        vectors: list[Vector] = []
        for batch in _batches(inputs, self._batch_texts):
            vectors += await self._fitting(batch)
        return vectors

    async def aclose(self) -> None:
        """Close the connections; a later ``embed`` opens new ones."""
        await self._client.aclose()

    async def _fitting(self, batch: list[str]) -> list[Vector]:
        """The vectors of ``batch``, in as many requests as the server's limits ask for.

        Servers and models differ in how many texts, and how long ones, they take; a text that is
        too long is cut in half until it fits.
        """
        try:
            return await self._request(batch)
        except _LimitError as error:
            if len(batch) > 1:
                middle = (len(batch) + 1) // 2
                if error.texts:
                    self._batch_texts = min(self._batch_texts, middle)
                return await self._fitting(batch[:middle]) + await self._fitting(batch[middle:])
            shorter = cut(batch[0], estimate_tokens(batch[0]) // 2)
            if error.texts or estimate_tokens(shorter) < _LEAST_TOKENS:
                raise error.final from None
            return await self._fitting([shorter])

    async def _request(self, batch: list[str]) -> list[Vector]:
        client = await self._client.get()
        import openai

        extra: dict[str, Any] = {"dimensions": self.dimension} if self._shorten else {}
        try:
            with telemetry.request(
                "embeddings", self._served, "openai", self._client.host
            ) as request:
                reply = await client.embeddings.create(
                    model=self._served, input=batch, encoding_format="float", **extra
                )
                tokens = getattr(reply.usage, "prompt_tokens", None)
                request.answered(reply.model, tokens)
                self._tell(tokens)
            rows = sorted((row.index, tuple(row.embedding)) for row in reply.data)
        # ``from None`` throughout: the library's errors carry the request with key and texts.
        except openai.APITimeoutError:
            raise EmbeddingError(
                f"the embedding server did not answer within {self._client.timeout_s:g} s"
            ) from None
        except openai.APIConnectionError:
            raise EmbeddingError(
                "the embedding server cannot be reached", hint="Check its base URL."
            ) from None
        except openai.APIStatusError as error:
            raise _refusal(error, self._served) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise EmbeddingError(
                f"the embedding server's reply is unusable: {type(error).__name__}"
            ) from None
        if [index for index, _ in rows] != list(range(len(batch))):
            raise EmbeddingError(
                f"the embedding server gave {len(rows)} vectors for {len(batch)} texts"
            )
        return [self._unit(row) for _, row in rows]

    def _tell(self, tokens: int | None) -> None:
        usage.tokens(tokens)
        price = self._usd_per_million
        usage.cost(None if tokens is None or price is None else tokens * price / 1e6)

    def _unit(self, row: Sequence[float]) -> Vector:
        if not self.dimension and row:
            self.dimension = len(row)
        if len(row) != self.dimension:
            raise EmbeddingError(
                f"the model {self.model} gave {len(row)} dimensions, not {self.dimension}",
                hint="Set the embedding dimension to what the model gives.",
            )
        try:
            norm = math.hypot(*row)
        except TypeError:
            norm = math.nan
        if not 0 < norm < math.inf:
            raise EmbeddingError(f"the model {self.model} gave a vector without a direction")
        return [value / norm for value in row]


class _LimitError(Exception):
    """Fewer (``texts``) or shorter texts may pass; ``final`` if they cannot be fewer or shorter."""

    def __init__(self, final: EmbeddingError, texts: bool) -> None:
        super().__init__()
        self.final = final
        self.texts = texts


def _refusal(error: Any, model: str) -> Exception:
    status = error.status_code
    final = EmbeddingError(
        f"the embedding server refused: HTTP {status}",
        hint=missing_hint(error, model) or _HINTS.get(status, ""),
        status=status,
        request_id=error.request_id,
    )
    words = said(error)
    if status in (400, 413, 422):
        if is_too_long(error):
            return _LimitError(final, texts=False)
        if status == 413 or any(each in words for each in _TOO_MANY):
            return _LimitError(final, texts=True)
    return final


_TOO_MANY = ("batch", "too many", "array")
_LEAST_TOKENS = 16
_HINTS = {
    400: "Is the model name right, and does it take the dimension that is set?",
    401: "Check the API key.",
    403: "Check the API key.",
    404: "Check the model name and the base URL.",
    429: "The rate limit or quota is used up; try later.",
}


def cut(text: str, max_tokens: int = MAX_TOKENS) -> str:
    """The beginning of ``text`` that has about ``max_tokens`` tokens."""
    while text and (estimate := estimate_tokens(text)) > max_tokens:
        text = text[: min(int(len(text) * max_tokens / estimate), len(text) - 1)]
    return text


def _batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Consecutive texts, by count and by estimated size."""
    batch: list[str] = []
    size = 0
    for text in texts:
        tokens = estimate_tokens(text)
        if batch and (len(batch) >= most or size + tokens > _BATCH_TOKENS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += tokens
    if batch:
        yield batch
