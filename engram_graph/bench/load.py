"""Many facts and many turns put into a namespace, vectors made before the clock starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from engram_graph import clock, intake
from engram_graph.bench.timing import Times
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.flows import bulk
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import records
from engram_graph.graph.queries import load
from engram_graph.models.facts import Extracted
from engram_graph.rules.text import turn_text
from engram_graph.vocabulary import MessageStatus, Role

BATCH = 1000
"""Facts in one import, turns in one conversation."""
_SPEAKERS = ("Ana", "Bruno")
_BEGAN = datetime(2025, 1, 6, 9, tzinfo=UTC)

Row = dict[str, Any]
Arrived = Callable[[int], None]


def texts(item: Row) -> tuple[str, str]:
    """What the product embeds of a fact: as it is, and as the turn that states it."""
    return item["text"], turn_text(Role.USER.value, item["text"])


class Loader:
    """Fills ``namespace``; ``facts_taken`` and ``turns_taken`` are how long that took."""

    def __init__(self, runtime: Runtime, vectors: ReadyVectors, namespace: str) -> None:
        self.namespace = namespace
        self.facts_taken, self.turns_taken = Times(), Times()
        self._runtime = runtime
        self._vectors = vectors
        self._conversations = count(1)

    async def facts(self, items: Sequence[Row], arrived: Arrived | None = None) -> None:
        """Import facts in batches, as the product does."""
        for batch in _batches(items):
            self._vectors.prepare(text for item in batch for text in texts(item))
            await self.facts_taken.take(partial(self.import_facts, batch))
            if arrived:
                arrived(len(batch))

    async def import_facts(self, items: Sequence[Row]) -> None:
        """One import."""
        given = intake.many(self.namespace, items)
        await bulk.import_facts(self._runtime, self.namespace, given, None)

    async def turns(
        self, items: Sequence[Row], *, batch: int = BATCH, arrived: Arrived | None = None
    ) -> None:
        """Store the texts of facts as conversations of ``batch`` turns by two people."""
        for part in _batches(items, batch):
            conversation = f"talk {next(self._conversations)}"
            await self.turns_taken.take(
                partial(
                    self._runtime.graph.write,
                    load("bench")["load_turns"],
                    namespace=self.namespace,
                    conversation=conversation,
                    rows=[self._turn(conversation, at, item) for at, item in enumerate(part)],
                )
            )
            if arrived:
                arrived(len(part))

    def _turn(self, conversation: str, at: int, item: Row) -> Row:
        message = intake.message(
            self.namespace,
            {
                "content": item["text"],
                "speaker": _SPEAKERS[at % 2],
                "conversation": conversation,
                "said_at": _BEGAN + timedelta(minutes=at),
                "source_id": clock.new_id(),
            },
            {},
        ).model_copy(update={"status": MessageStatus.DONE})
        return records.message_properties(
            message,
            self._vectors.vector(turn_text(message.speaker, message.text)),
            records.drafts_json(Extracted(extractor="none")),
        ) | {"source_id": message.source_id}


def _batches(items: Sequence[Row], size: int = BATCH) -> Iterator[Sequence[Row]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
