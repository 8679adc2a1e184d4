"""What requests to a language model cost, and the purse that they are paid from."""

from __future__ import annotations

import math

from engram_graph.adapters import usage
from engram_graph.adapters.chat import Completion
from engram_graph.adapters.network_decider import Once, Purse, purse
from engram_graph.errors import ConfigurationError


class Meter:
    """Counts the cost of requests by the tokens that the server tells.

    Args:
        usd_per_million_input, usd_per_million_output: the model's prices; None: costs unknown.
        budget_usd: what may be spent, or a purse that is shared; None for no cap.

    Raises:
        ConfigurationError: a value that cannot be used, or a cap without prices.
    """

    def __init__(
        self,
        usd_per_million_input: float | None,
        usd_per_million_output: float | None,
        budget_usd: float | Purse | None,
    ) -> None:
        self._prices = _prices(usd_per_million_input, usd_per_million_output)
        self._purse = purse(budget_usd)
        if self._purse.cap_usd is not None and self._prices is None:
            raise ConfigurationError(
                "a cap on what a language model may cost needs its prices",
                hint="Give the price of a million tokens, in and out; docs/settings.md names them.",
            )
        self._once = Once()

    @property
    def spent_usd(self) -> float:
        """What was spent so far; 0 without prices."""
        return self._purse.spent_usd

    def reserve(self, tokens_in: int, tokens_out: int) -> float | None:
        """Set aside what a request may cost: the estimate, None when it is unknown.

        Raises:
            DecisionBudgetError: it could exceed the cap.
        """
        estimate = self._price(tokens_in, tokens_out)
        self._purse.reserve(estimate or 0.0)
        return estimate

    def settle(self, estimate: float | None, completion: Completion) -> float | None:
        """The cost of a request that was answered; None when it is unknown."""
        if completion.input_tokens is None or completion.output_tokens is None:
            self._once.warn("the language model does not tell its usage; costs are unknown")
            usage.cost(None)
            return None
        cost = self._price(completion.input_tokens, completion.output_tokens)
        usage.cost(cost)
        if estimate is not None and cost is not None:
            self._purse.settle(estimate, cost)
        return cost

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        if self._prices is None:
            return None
        return tokens_in * self._prices[0] + tokens_out * self._prices[1]


def _prices(
    per_million_in: float | None, per_million_out: float | None
) -> tuple[float, float] | None:
    """USD for a token in and out; None unless both are known."""
    if per_million_in is None or per_million_out is None:
        return None
    for price in (per_million_in, per_million_out):
        if not 0 <= price < math.inf:
            raise ConfigurationError("a price must be a number of 0 or more")
    return per_million_in / 1e6, per_million_out / 1e6
