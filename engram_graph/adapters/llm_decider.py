"""Decider on a chat model behind the OpenAI API, or any server that speaks it."""

from __future__ import annotations

import time
from dataclasses import replace

from engram_graph.adapters import llm_wire as wire
from engram_graph.adapters.chat import ChatError, ChatModel, Flaw
from engram_graph.adapters.llm_meter import Meter
from engram_graph.adapters.network_decider import (
    Once,
    Progress,
    Purse,
    TooLargeError,
    ask_in_parts,
)
from engram_graph.errors import (
    ConfigurationError,
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
)
from engram_graph.models.decisions import Ask, Reply
from engram_graph.questions import build
from engram_graph.questions.build import Worded
from engram_graph.rules.tokens import estimate_tokens

_HINTS = {
    401: "Check the API key (OPENAI_API_KEY).",
    403: "Check the API key (OPENAI_API_KEY).",
    404: "Check the model's name and the base URL (OPENAI_BASE_URL).",
    429: "The rate limit or quota is used up; the next write asks it again.",
}
_FLAWS: dict[Flaw, str] = {
    "empty": "the language model gave an empty reply",
    "declined": "the language model declined to answer",
    "without text": "the language model gave a reply without text",
}


class LLMDecider:
    """Puts all questions of an ``Ask`` into one prompt, answered as JSON after a schema of ours.

    A request with too many tokens, or whose answer was cut off, is parted; an answer that cannot be
    used becomes a fallback and leaves the others standing (the rules: ``llm_wire``). The numbers
    are what the model says of itself: nothing calibrates them.

    Args:
        model: as the server names it.
        api_key: sent to ``base_url`` and nowhere else; never logged, never part of an error.
        base_url: of another server; None for OpenAI's own.
        timeout_s: of one request, in seconds. max_retries: on top of the first try.
        temperature: None leaves it to the model; one that takes none is asked without.
        max_input_tokens: estimated, of one request; more is parted. One question is always asked.
        usd_per_million_input, usd_per_million_output: the model's prices; None: costs unknown.
        budget_usd: what this decider may spend in its life, or a purse it shares; None for no cap.
            A request without a usable reply counts by estimate.

    Raises:
        ConfigurationError: no key or model, a value that cannot be used, or a cap without prices.
    """

    name = wire.BACKEND

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 2,
        temperature: float | None = 0.0,
        max_input_tokens: int = 16_000,
        usd_per_million_input: float | None = None,
        usd_per_million_output: float | None = None,
        budget_usd: float | Purse | None = None,
    ) -> None:
        self.model = model
        self._chat = ChatModel(
            model,
            api_key=api_key,
            base_url=base_url,
            timeout_s=timeout_s,
            max_retries=max_retries,
            temperature=temperature,
            purpose="deciding",
        )
        if max_input_tokens < 1:
            raise ConfigurationError("max_input_tokens must be 1 or more")
        self._max_input_tokens = max_input_tokens
        self._meter = Meter(usd_per_million_input, usd_per_million_output, budget_usd)
        self._once = Once()

    @property
    def spent_usd(self) -> float:
        """What was spent so far; 0 without prices."""
        return self._meter.spent_usd

    async def ask(self, ask: Ask) -> Reply:
        """Answer every question of ``ask``; one without a wording, or too large, gets a fallback.

        Raises:
            DecisionUnavailableError: not reached, kept failing, or key or credit was refused.
            DecisionInvalidError: the reply cannot be read, or no answer in it can be used.
            DecisionBudgetError: the request could exceed the cap.
            DecisionError: the request was refused.
        """
        began = time.perf_counter()

        async def request(items: list[Worded], progress: Progress) -> None:
            await self._request(ask, items, progress)

        reply = await ask_in_parts(ask, request, backend=self.name, model=self.model)
        return replace(reply, latency_ms=(time.perf_counter() - began) * 1000)

    async def aclose(self) -> None:
        """Close the connections; a later ``ask`` opens new ones."""
        await self._chat.aclose()

    async def _request(self, ask: Ask, items: list[Worded], progress: Progress) -> None:
        prompt = wire.prompt(build.state(ask, items), items)
        tokens = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
        if tokens > self._max_input_tokens and len(items) > 1:
            raise TooLargeError("too large for the language model")
        estimate = self._meter.reserve(tokens, wire.answer_tokens(items))
        progress.requests += 1
        try:
            completion = await self._chat.complete(prompt)
        except ChatError as error:
            raise _failure(error) from None
        progress.request_id = completion.request_id or progress.request_id
        progress.model = completion.model
        progress.costs.append(self._meter.settle(estimate, completion))
        if completion.flaw == "cut off":
            raise TooLargeError("the language model's reply was cut off")
        if completion.flaw:
            raise DecisionInvalidError(_FLAWS[completion.flaw], request_id=completion.request_id)
        read = wire.read_reply(completion.text, items)
        if read.extra:
            self._once.warn("the language model answers what was not asked; it is dropped")
        progress.take(read.answers, read.faults, "the language model")


def _failure(error: ChatError) -> Exception:
    """What the failure of a request means to who asked; neither key nor text is part of it."""
    if error.kind == "too_large":
        return TooLargeError(error.message)
    if error.kind == "unusable":
        return DecisionInvalidError(error.message, **error.details)
    if error.kind == "refused":
        return DecisionError(
            error.message,
            hint="Is the model's name right, and known to this server?",
            **error.details,
        )
    hint = error.hint or _HINTS.get(
        error.status or 0, "Check the network and the base URL (OPENAI_BASE_URL)."
    )
    if error.status is not None and (error.status >= 500 or error.status == 408):
        hint = "It is overloaded or down; the next write asks it again."
    return DecisionUnavailableError(error.message, hint=hint, **error.details)
