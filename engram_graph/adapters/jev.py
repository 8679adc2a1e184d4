"""Decider on the Jev (System One) decision API, or any server that speaks it."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import httpx

from engram_graph import telemetry
from engram_graph.adapters import jev_wire as wire
from engram_graph.adapters import usage
from engram_graph.adapters.http import Endpoint, Timing
from engram_graph.adapters.network_decider import Once, Progress, Purse, ask_in_parts, purse
from engram_graph.adapters.openai_client import host_of
from engram_graph.errors import ConfigurationError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.questions import build
from engram_graph.questions.build import Worded
from engram_graph.rules.tokens import estimate_tokens

BASE_URL = "https://api.typesafe.ai"
MODEL = "jev-1.13.0"
_FULL_VERSION = re.compile(r"(jev-\d+\.\d+)\.\d+")


class JevDecider:
    """Puts all questions of an ``Ask`` into one request.

    A request with too many tokens is parted; an answer that breaks the contract becomes a fallback
    and leaves the others standing.

    Args:
        api_key: sent to ``base_url`` and nowhere else; never logged, never part of an error.
        base_url: without ``/v1``. OpenRouter's two forms: ``https://openrouter.ai/api`` and
            ``https://openrouter.ai/api/alpha``; a model's name is then put into their form.
        model: a full version. Thresholds are tuned for one, and aliases move.
        timeout_s: of each step of a request. rate_per_s: requests begun per second.
        budget_usd: what this decider may spend in its life, or a purse it shares; None for no cap.
            Every try counts, one without a usable reply by estimate.
        transport, timing: for tests.

    Raises:
        ConfigurationError: no key, or a value that cannot be used.
    """

    name = wire.BACKEND

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = BASE_URL,
        model: str = MODEL,
        timeout_s: float = 10,
        rate_per_s: float = 15,
        budget_usd: float | Purse | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._key = _checked_key(api_key)
        url, self.model = endpoint(base_url, model)
        for name, value in (("timeout_s", timeout_s), ("rate_per_s", rate_per_s)):
            if not 0 < value < math.inf:
                raise ConfigurationError(f"{name} must be a number above 0")
        self._host = host_of(url)
        self._timing = timing or Timing()
        self._purse = purse(budget_usd)
        self._once = Once()
        self._endpoint = Endpoint(
            url,
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/json",
                "Accept": "application/json",
                "User-Agent": "engram-graph",
            },
            timeout_s=timeout_s,
            rate_per_s=rate_per_s,
            transport=transport,
            timing=self._timing,
        )

    async def ask(self, ask: Ask) -> Reply:
        """Answer every question of ``ask``; one without a wording, or too large, gets a fallback.

        Raises:
            DecisionUnavailableError: not reached, kept failing, or key or credit was refused.
            DecisionInvalidError: no answer of the reply can be used.
            DecisionBudgetError: the request could exceed the cap.
            DecisionError: the request was refused, with the server's words.
        """
        began = self._timing.now()

        async def request(items: list[Worded], progress: Progress) -> None:
            await self._request(ask, items, progress)

        reply = await ask_in_parts(ask, request, backend=self.name, model=self.model)
        return replace(reply, latency_ms=(self._timing.now() - began) * 1000)

    @property
    def spent_usd(self) -> float:
        """What was spent so far."""
        return self._purse.spent_usd

    async def aclose(self) -> None:
        """Close the connections; a later ``ask`` opens new ones."""
        await self._endpoint.aclose()

    async def _request(self, ask: Ask, items: list[Worded], progress: Progress) -> None:
        body = wire.request_body(self.model, build.state(ask, items), items)
        estimate = estimate_tokens(body.decode()) * wire.USD_PER_TOKEN
        progress.requests += 1
        with telemetry.request("decide", self.model, "typesafe", self._host) as request:
            response = await self._endpoint.post(body, lambda: self._purse.reserve(estimate))
            request_id = response.headers.get("x-typesafe-request-id")
            progress.request_id = request_id or progress.request_id
            if response.status_code != 200:
                raise wire.failure(
                    response.status_code,
                    response.content,
                    request_id=progress.request_id,
                    secret=self._key,
                )
            read = wire.read_reply(response.content, items)
            request.answered(read.model or "", read.tokens)
        usage.tokens(read.tokens)
        usage.cost(read.cost_usd)
        if read.cost_usd is not None:
            self._purse.settle(estimate, read.cost_usd)
        else:
            self._once.warn("the decision API does not tell its usage; costs are unknown")
        if read.extra:
            self._once.warn("the decision API answers what was not asked; such answers are dropped")
        progress.costs.append(read.cost_usd)
        progress.model = read.model or progress.model
        progress.take(read.answers, read.faults, "the decision API")


def endpoint(base_url: str, model: str) -> tuple[str, str]:
    """Where to POST, and the model's name as it is known there.

    Raises:
        ConfigurationError: no usable URL, or no model.
    """
    base, model = base_url.strip().rstrip("/"), model.strip()
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query:
        raise ConfigurationError(
            "the decision API's base URL is not an http(s) address",
            hint=f"Such as {BASE_URL}; without a user, a query or /v1.",
        )
    if not model:
        raise ConfigurationError("the decision API needs a model's name")
    base = base.removesuffix("/systemone").removesuffix("/v1")
    if url.host != "openrouter.ai" and not url.host.endswith(".openrouter.ai"):
        return f"{base}/v1/systemone", model
    if full := _FULL_VERSION.fullmatch(model):
        model = full[1]
    base = base.removesuffix("/decisions")
    if not base.endswith("/alpha"):
        return f"{base.removesuffix('/api')}/api/v1/systemone", model
    if "/" not in model:
        alias = model in ("jev-latest", "jev-preview")
        model = f"{'~' if alias else ''}typesafe/{model}"
    return f"{base}/decisions", model


def _checked_key(api_key: str) -> str:
    key = api_key.strip()
    if not key:
        raise ConfigurationError("the decision API needs an API key", hint="Set TYPESAFE_API_KEY.")
    if not all("!" <= character <= "~" for character in key):
        raise ConfigurationError("the decision API's key has characters that no key has")
    return key
