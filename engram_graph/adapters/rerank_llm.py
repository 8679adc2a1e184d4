"""Reranker on a chat model behind the OpenAI API: it lists what helps, best first."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_graph.adapters.chat import ChatError, ChatModel, Completion, Flaw, Prompt
from engram_graph.adapters.json_reply import find_json
from engram_graph.adapters.llm_meter import Meter
from engram_graph.adapters.network_decider import Purse
from engram_graph.errors import DecisionBudgetError, RerankError
from engram_graph.models.decisions import Turn
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
from engram_graph.questions import decision_prompt, listwise
from engram_graph.rules.ranking import id_of, merged, places
from engram_graph.rules.thresholds import DEFAULT
from engram_graph.rules.tokens import estimate_tokens

NAME = "llm"
WINDOW = DEFAULT.per_request
_OPENING = re.compile(r'\{\s*"ranking"')
_TOKENS = 4  # of one number in the answer, with its comma
_FLAWS: dict[Flaw, str] = {
    "empty": "the language model gave an empty reply",
    "cut off": "the language model's reply was cut off",
    "declined": "the language model declined to answer",
    "without text": "the language model gave a reply without text",
}


class LLMReranker:
    """Puts all items of a request into one prompt; the answer names those that help, best first.

    Its numbers are places, not probabilities. What is taken as an answer:

    - One list of whole numbers under ``ranking``; an empty one means that nothing helps.
    - A number that no item has, or what is no whole number: the numbering was not understood, and
      no part of the list counts.
    - A number again: its first place counts.
    - A missing number: the model sees no use in that item.

    A request that is too large for the model is parted in halves, put together by places. It asks
    for no relation.

    Args:
        model: as the server names it.
        api_key: sent to ``base_url`` and nowhere else; never logged, never part of an error.
        base_url: of another server; None for OpenAI's own.
        timeout_s: of one request, in seconds. max_retries: on top of the first try.
        temperature: None leaves it to the model; one that takes none is asked without.
        usd_per_million_input, usd_per_million_output: the model's prices; None: costs unknown.
        budget_usd: what may be spent, or a purse shared with deciders; None for no cap.

    Raises:
        ConfigurationError: no key or model, a value that cannot be used, or a cap without prices.
    """

    name = NAME
    window = WINDOW

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        timeout_s: float = 20.0,
        max_retries: int = 1,
        temperature: float | None = 0.0,
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
            purpose="reranking",
        )
        self._meter = Meter(usd_per_million_input, usd_per_million_output, budget_usd)

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        """As the port says; ``relation`` is left open.

        Raises:
            RerankError: not reached, refused, too costly, or a reply that is no answer.
        """
        if not items:
            return Ranking(scale="place")
        began = time.perf_counter()
        ranking = await self._ranked(query, items)
        return replace(ranking, latency_ms=(time.perf_counter() - began) * 1000)

    async def aclose(self) -> None:
        """Close the connections; a later ``rerank`` opens new ones."""
        await self._chat.aclose()

    async def _ranked(self, query: str, items: Sequence[Fact | Turn]) -> Ranking:
        prompt = _prompt(query, items)
        tokens = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
        try:
            estimate = self._meter.reserve(tokens, _TOKENS * (len(items) + 2))
            completion = await self._chat.complete(prompt)
        except DecisionBudgetError as error:
            raise RerankError(error.message, hint=error.hint) from None
        except ChatError as error:
            if error.kind == "too_large" and len(items) > 1:
                middle = (len(items) + 1) // 2
                halves = items[:middle], items[middle:]
                return merged([await self._ranked(query, half) for half in halves])
            raise RerankError(error.message, hint=error.hint, **error.details) from None
        cost_usd = self._meter.settle(estimate, completion)
        order = _order(completion, len(items))
        numbers = places([id_of(item) for item in items], order)
        return Ranking("place", numbers, asked=len(items), cost_usd=cost_usd)


def _prompt(query: str, items: Sequence[Fact | Turn]) -> Prompt:
    return Prompt(
        system=listwise.SYSTEM,
        user=decision_prompt.material(listwise.document(query, items)),
        name=listwise.SCHEMA_NAME,
        schema=listwise.answer_schema(),
        plain=listwise.PLAIN_FORM,
    )


def _order(completion: Completion, count: int) -> list[int]:
    """Indexes of the items named, best first.

    Raises:
        RerankError: there is no answer, or not about these items.
    """
    if completion.flaw:
        raise RerankError(_FLAWS[completion.flaw], request_id=completion.request_id)
    given = find_json(completion.text, _ranking, _OPENING)
    if given is None:
        raise RerankError("the language model's reply holds no complete ranking")
    if not all(type(number) is int and 1 <= number <= count for number in given):
        raise RerankError("the language model ranked what it was not given")
    return [number - 1 for number in dict.fromkeys(given)]


def _ranking(value: Any) -> list[Any] | None:
    """The list in a decoded value, if that is what it is."""
    given = value.get("ranking") if isinstance(value, dict) else None
    return given if isinstance(given, list) else None
