"""The whole conversation, without a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Task, Written
from engram_graph.rules.render import day, one_line

WHOLE = 1_000_000
"""The k of a block that leaves nothing out."""


@dataclass(slots=True)
class FullContext:
    """Every turn, in the order it was said."""

    name: str = "full_context"
    about: str = "Every turn of the conversation, in the order it was said; nothing is stored."
    ks: tuple[int, ...] = (WHOLE,)
    limit: int = WHOLE
    needs: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=dict)

    def missing(self) -> str | None:
        """Nothing."""
        return None

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Nothing is stored."""
        return Written(turns=len(talk.turns))

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """All turns, in the form in which other arms show them."""
        lines = (
            Line(one_line(f"[{day(turn.said_at)}] {turn.speaker}: {turn.text}"), turn.source_id)
            for turn in talk.turns
        )
        return Read(tuple(lines), tuple(turn.source_id for turn in talk.turns))


def full_context() -> FullContext:
    """The study's."""
    return FullContext()
