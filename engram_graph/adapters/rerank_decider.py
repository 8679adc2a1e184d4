"""The decider as a reranker: one narrow question about each item, a probability for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from engram_graph.errors import DecisionError, RerankError
from engram_graph.models.decisions import Ask, Turn
from engram_graph.models.facts import Draft, Fact
from engram_graph.models.ranking import Ranking
from engram_graph.ports import Decider
from engram_graph.rules import questions as about
from engram_graph.rules.ranking import judged
from engram_graph.rules.thresholds import DEFAULT, Thresholds
from engram_graph.vocabulary import FALLBACK, Role

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)  # a question has no date: asked again, it is the same


class DeciderReranker:
    """Asks a decider whether each item helps to answer, and which relation is asked about.

    Its numbers are probabilities. The decider stays its owner's, who closes it.
    """

    name = "decider"

    def __init__(self, decider: Decider, numbers: Thresholds = DEFAULT) -> None:
        self.window = numbers.per_request
        self._decider = decider
        self._numbers = numbers

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        """As the port says; an item whose answer cannot be used has no number."""
        questions = [about.relevant(item) for item in items]
        if relation:
            questions.append(about.question(about.QUERY_RELATION))
        if not questions:
            return Ranking()
        ask = Ask(
            draft=Draft(subject="", predicate=FALLBACK, object="", text=query),
            valid_from=_UNDATED,
            speaker="",
            role=Role.USER.value,
            message=query,
            questions=tuple(questions),
        )
        try:
            reply = await self._decider.ask(ask)
        except DecisionError as error:
            raise RerankError(error.code) from error
        return judged(reply, len(items), self._numbers)

    async def aclose(self) -> None:
        """Nothing of its own to release."""
