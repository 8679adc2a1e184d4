"""What a reranker says of the items that a search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["probability", "place", "score"]
"""What a reranker's numbers are.

``probability``: that the item helps, calibrated. ``place``: 1 / place in its order of those that
help, 0 for those that do not. ``score``: the more the better, and no more than that: the numbers of
two questions cannot be compared, and none says that an item helps.
"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What came of putting items to a reranker.

    Attributes:
        scale: what ``numbers`` are.
        numbers: item id → number in [0, 1], the more the better; without those that got no answer.
        relation: the predicate that the question asks about, if it is sure of one.
        asked: how many items were put to it.
        problems: why some got no answer, in words.
        cost_usd: None when unknown. latency_ms: of the slowest request.
    """

    scale: Scale = "probability"
    numbers: Mapping[str, float] = field(default_factory=dict)
    relation: str | None = None
    asked: int = 0
    problems: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    latency_ms: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether there is something to select by: not all that was put to it was lost."""
        return bool(self.numbers) or not self.asked

    @property
    def missing(self) -> int:
        """How many items got no answer."""
        return self.asked - len(self.numbers)
