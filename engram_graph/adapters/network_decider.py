"""What deciders over a network share: one ``ask`` in as few requests as it takes, and its price."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    DecisionInvalidError,
)
from engram_graph.models.decisions import Answer, Ask, Reply, total_cost
from engram_graph.questions import build
from engram_graph.questions.build import Worded

log = logging.getLogger(__name__)
MAX_REQUESTS = 16
"""Of one ``ask`` that has to be parted; what is left then gets fallbacks."""


class TooLargeError(Exception):
    """A request, or its answer, has more tokens than the model takes; fewer questions may pass.

    Only between an adapter's parts: nobody else sees it.
    """


class FaultError(Exception):
    """One answer cannot be used; the message says why, in words of ours."""


@dataclass(slots=True)
class Progress:
    """What one ``ask`` has so far.

    Attributes:
        costs: of each request that was answered; None where unknown.
        answered: some answer can be used. failed: the failure that counts if none can.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    model: str = ""
    request_id: str | None = None
    costs: list[float | None] = field(default_factory=list)
    requests: int = 0
    answered: bool = False
    failed: DecisionError | None = None

    @property
    def broke_off(self) -> bool:
        """Whether a failure left questions unasked; a broken reply leaves none."""
        return self.failed is not None and not isinstance(self.failed, DecisionInvalidError)

    def take(self, answers: dict[str, Answer], faults: dict[str, str], asked: str) -> None:
        """Add what one request gave; ``asked``: who, for the error.

        Raises:
            DecisionInvalidError: no answer of it can be used.
        """
        self.answers |= answers
        self.problems += [f"{key}: {fault}" for key, fault in faults.items()]
        if len(faults) == len(answers):
            first = next(iter(faults.values()))
            raise DecisionInvalidError(
                f"no answer of {asked} can be used: {first}", request_id=self.request_id
            )
        self.answered = True


Request = Callable[[list[Worded], Progress], Awaitable[None]]


async def ask_in_parts(ask: Ask, request: Request, *, backend: str, model: str) -> Reply:
    """Every question of ``ask`` answered; one without a wording, or too large, gets a fallback.

    Args:
        request: asks what it is given in one request and writes into the progress; raises
            ``TooLargeError`` where fewer questions may pass.
        model: for the reply, where no request tells the one that answered.

    Returns:
        The reply, without its latency.

    Raises:
        DecisionError: the last failure, when no question was answered.
    """
    items = build.worded(ask)
    progress = Progress()
    if items:
        await _ask(items, request, progress)
    if progress.failed is not None and not progress.answered:
        raise progress.failed
    nothing = {q.id: Answer(q.id, {}, backend, fallback=True) for q in ask.questions}
    unworded = len(ask.questions) - len(items)
    problems = [*progress.problems, *([f"{unworded} without a wording"] if unworded else [])]
    return Reply(
        answers=nothing | progress.answers,
        backend=backend,
        model=progress.model or model,
        cost_usd=total_cost(progress.costs),
        request_id=progress.request_id,
        error="; ".join(problems) or None,
        broke_off=progress.broke_off,
    )


async def _ask(items: Sequence[Worded], request: Request, progress: Progress) -> None:
    """Ask ``items``, in parts if need be; a failure ends it and is kept in ``progress``."""
    waiting = [list(items)]
    while waiting:
        part = waiting.pop(0)
        if progress.requests == MAX_REQUESTS:
            progress.problems.append("too large: parted too often")
            return
        try:
            await request(part, progress)
        except TooLargeError as error:
            if len(part) > 1:
                waiting[:0] = build.halves(part)
            else:
                progress.problems.append(f"{part[0].question.id}: {error}")
        except DecisionError as error:
            progress.failed = error
            progress.problems.append(error.message)
            if progress.broke_off:
                return


class Purse:
    """What decisions may cost; one purse may be shared by several deciders.

    Args:
        cap_usd: None for no cap.

    Attributes:
        spent_usd: so far; a request without a usable reply counts by estimate.

    Raises:
        ConfigurationError: a cap below 0, or no number.
    """

    def __init__(self, cap_usd: float | None = None) -> None:
        if cap_usd is not None and not cap_usd >= 0:
            raise ConfigurationError("budget_usd must be a number of 0 or more")
        self.cap_usd = cap_usd
        self.spent_usd = 0.0

    def reserve(self, estimate_usd: float) -> None:
        """Set aside what a request may cost.

        Raises:
            DecisionBudgetError: it could exceed the cap.
        """
        if self.cap_usd is not None and self.spent_usd + estimate_usd > self.cap_usd:
            raise DecisionBudgetError(
                f"the cap of ${self.cap_usd:g} for decisions is reached",
                hint="Facts are stored unsure from here on; raise the cap to go on asking.",
                spent_usd=self.spent_usd,
            )
        self.spent_usd += estimate_usd

    def settle(self, estimate_usd: float, cost_usd: float) -> None:
        """Put the true cost in the place of what was set aside."""
        self.spent_usd += cost_usd - estimate_usd


def purse(budget_usd: float | Purse | None) -> Purse:
    """The purse given, or a new one with the cap given."""
    return budget_usd if isinstance(budget_usd, Purse) else Purse(budget_usd)


class Once:
    """Says each warning once in its life."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def warn(self, text: str) -> None:
        """Say it, unless it was said."""
        if text not in self._said:
            self._said.add(text)
            log.warning(text)


def unit(value: object, what: str) -> float:
    """A probability as it came.

    Raises:
        FaultError: it is none; NaN, infinities and booleans are none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise FaultError(f"{what} is not a number from 0 to 1")
    return float(value)
