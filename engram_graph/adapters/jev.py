"""Decider on the Jev (System One) decision API, or any server that speaks it."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx

from engram_graph.adapters import jev_wire as wire
from engram_graph.adapters.http import Endpoint, Timing
from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    DecisionInvalidError,
)
from engram_graph.models.decisions import Answer, Ask, Reply
from engram_graph.questions import build
from engram_graph.questions.build import Worded
from engram_graph.rules.render import estimate_tokens

log = logging.getLogger(__name__)
BASE_URL = "https://api.typesafe.ai"
MODEL = "jev-1.13.0"
MAX_REQUESTS = 16
"""Of one ``ask`` that has to be parted; what is left then gets fallbacks."""
_FULL_VERSION = re.compile(r"(jev-\d+\.\d+)\.\d+")


@dataclass(slots=True)
class _Progress:
    """What one ``ask`` has so far."""

    answers: dict[str, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    model: str = ""
    request_id: str | None = None
    costs: list[float | None] = field(default_factory=list)
    requests: int = 0
    answered: bool = False
    failed: DecisionError | None = None


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
        budget_usd: what this decider may spend in its life; None for no cap. Every try counts, one
            without a usable reply by estimate.
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
        budget_usd: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._key = _checked_key(api_key)
        url, self.model = endpoint(base_url, model)
        for name, value in (("timeout_s", timeout_s), ("rate_per_s", rate_per_s)):
            if not 0 < value < math.inf:
                raise ConfigurationError(f"{name} must be a number above 0")
        if budget_usd is not None and not budget_usd >= 0:
            raise ConfigurationError("budget_usd must be a number of 0 or more")
        self._timing = timing or Timing()
        self._budget_usd = budget_usd
        self.spent_usd = 0.0
        self._warned: set[str] = set()
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
        items = build.worded(ask)
        progress = _Progress()
        if items:
            await self._ask(ask, items, progress)
        if progress.failed is not None and not progress.answered:
            raise progress.failed
        nothing = {q.id: Answer(q.id, {}, self.name, fallback=True) for q in ask.questions}
        unworded = len(ask.questions) - len(items)
        problems = [*progress.problems, *([f"{unworded} without a wording"] if unworded else [])]
        costs = [cost for cost in progress.costs if cost is not None]
        return Reply(
            answers=nothing | progress.answers,
            backend=self.name,
            model=progress.model or self.model,
            latency_ms=(self._timing.now() - began) * 1000,
            cost_usd=math.fsum(costs) if len(costs) == len(progress.costs) else None,
            request_id=progress.request_id,
            error="; ".join(problems) or None,
        )

    async def aclose(self) -> None:
        """Close the connections; a later ``ask`` opens new ones."""
        await self._endpoint.aclose()

    async def _ask(self, ask: Ask, items: Sequence[Worded], progress: _Progress) -> None:
        """Ask ``items``, in parts if need be; a failure ends it and is kept in ``progress``."""
        waiting = [list(items)]
        while waiting:
            part = waiting.pop(0)
            if progress.requests == MAX_REQUESTS:
                progress.problems.append("too large: parted too often")
                return
            try:
                await self._request(ask, part, progress)
            except wire.TooLargeError as error:
                if len(part) > 1:
                    waiting[:0] = build.halves(part)
                else:
                    progress.problems.append(f"{part[0].question.id}: {error}")
            except DecisionError as error:
                progress.failed = error
                progress.problems.append(error.message)
                if not isinstance(error, DecisionInvalidError):
                    return

    async def _request(self, ask: Ask, items: list[Worded], progress: _Progress) -> None:
        body = wire.request_body(self.model, build.state(ask, items), items)
        estimate = estimate_tokens(body.decode()) * wire.USD_PER_TOKEN
        progress.requests += 1
        response = await self._endpoint.post(body, lambda: self._reserve(estimate))
        progress.request_id = response.headers.get("x-typesafe-request-id") or progress.request_id
        if response.status_code != 200:
            raise wire.failure(
                response.status_code,
                response.content,
                request_id=progress.request_id,
                secret=self._key,
            )
        read = wire.read_reply(response.content, items)
        if read.cost_usd is not None:
            self.spent_usd += read.cost_usd - estimate
        else:
            self._warn("the decision API does not tell its usage; costs are unknown")
        if read.extra:
            self._warn("the decision API answers what was not asked; such answers are dropped")
        progress.costs.append(read.cost_usd)
        progress.model = read.model or progress.model
        progress.answers |= read.answers
        progress.problems += [f"{key}: {fault}" for key, fault in read.faults.items()]
        if len(read.faults) == len(items):
            first = next(iter(read.faults.values()))
            raise DecisionInvalidError(
                f"no answer of the decision API can be used: {first}",
                request_id=progress.request_id,
            )
        progress.answered = True

    def _reserve(self, estimate: float) -> None:
        if self._budget_usd is not None and self.spent_usd + estimate > self._budget_usd:
            raise DecisionBudgetError(
                f"the cap of ${self._budget_usd:g} for decisions is reached",
                hint="Facts are stored unsure from here on; raise the cap to go on asking.",
                spent_usd=self.spent_usd,
            )
        self.spent_usd += estimate

    def _warn(self, text: str) -> None:
        """Say it once in the life of this decider."""
        if text not in self._warned:
            self._warned.add(text)
            log.warning(text)


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
