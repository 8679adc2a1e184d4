"""Statements that a memory is given as they are: a triple, and the same in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from engram_graph.evaluation.study.records import Arm, Models


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody said at a moment, as a triple and as a sentence.

    Attributes:
        predicate: one of the 25 names.
        text: the sentence, for a memory that keeps no triples.
        said_at: when it was said (aware). valid_from, valid_until: when it is true, half-open; None
            where nobody said: then from ``said_at`` on, and without an end.
        source_id: of the turn that says it. speaker: who said it; None for the user.
        negated: it says that the relation does not hold, or no longer.
    """

    subject: str
    predicate: str
    object: str
    text: str
    said_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source_id: str | None = None
    speaker: str | None = None
    negated: bool = False


@runtime_checkable
class Teller(Arm, Protocol):
    """An arm that takes statements as well; ``read`` then reads what it was told last.

    Attributes:
        tell_needs: models that are asked about statements.
    """

    tell_needs: tuple[str, ...]

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Take statements in, in order; what is in ``namespace`` is replaced.

        Raises:
            EngramError: they cannot be stored.
        """
        ...
