"""The same work without the product: parameters made before the clock starts, one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from engram_graph import clock, intake
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.graph import records
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.rules.names import entity_key
from engram_graph.rules.text import lucene_query, namespace_key, turn_text
from engram_graph.vocabulary import MessageStatus

Row = dict[str, Any]
_EDGE = (
    "namespace",
    "text",
    "belief",
    "tentative",
    "disputed",
    "negated",
    "temporal_status",
    "valid_from",
    "valid_until",
    "open",
    "recorded_at",
    "closed_at",
    "closed_reason",
)


class Bare:
    """Bare statements on ``graph`` with the vectors of ``embedder``, in ``namespace``."""

    def __init__(self, graph: Graph, embedder: ReadyVectors, namespace: str) -> None:
        self._graph = graph.unchecked()
        self._embedder = embedder
        self.namespace = namespace

    def fact(self, item: Row) -> Row:
        """Parameters of ``bare_fact``: every property and vector that the product stores too."""
        message, extracted = intake.given(self.namespace, item)
        (draft,) = extracted.drafts
        done = message.model_copy(update={"status": MessageStatus.DONE})
        vector = self._embedder.vector(turn_text(message.speaker, message.text))
        kept = records.message_properties(done, vector, records.drafts_json(extracted))
        return self._row(message, draft) | {
            "namespace": self.namespace,
            "message": kept | {"namespace": self.namespace, "source_id": message.source_id},
        }

    async def write(self, parameters: Row) -> None:
        """One transaction."""
        await self._graph.write(load("bench")["bare_fact"], **parameters)

    def question(self, namespace: str, query: str, limit: int) -> Row:
        """Parameters of ``search`` over the records of ``namespace``."""
        return {
            "namespace": namespace,
            "embedding": self._embedder.vector(query),
            "lucene": lucene_query(query, namespace_key(namespace)),
            "limit": limit,
        }

    async def search(self, sort: Literal["facts", "turns"], parameters: Row) -> None:
        """One reading statement."""
        name = "bare_hybrid" if sort == "facts" else "bare_turns"
        await self._graph.read(load("bench")[name], **parameters)

    async def message(self, text: str) -> str:
        """One message for a bulk; its id."""
        message, _ = intake.given(
            self.namespace, {"subject": "bench", "predicate": "related_to", "object": text}
        )
        kept = records.message_properties(message, self._embedder.vector(text), None)
        kept |= {"namespace": self.namespace, "source_id": message.source_id}
        await self._graph.write(load("bench")["bare_message"], message=kept)
        return message.id

    def rows(self, items: Sequence[Row]) -> list[Row]:
        """Rows of ``bare_bulk``."""
        return [
            self._row(message, extracted.drafts[0])
            for message, extracted in intake.many(self.namespace, items)
        ]

    async def bulk(self, message_id: str, rows: list[Row]) -> None:
        """One transaction for all ``rows``."""
        await self._graph.write(
            load("bench")["bare_bulk"],
            namespace=self.namespace,
            message_id=message_id,
            rows=rows,
        )

    def _row(self, message: Message, draft: Draft) -> Row:
        fact = Fact(
            id=clock.new_id(),
            namespace=self.namespace,
            subject=draft.subject,
            subject_key=entity_key(draft.subject),
            predicate=draft.predicate,
            object=draft.object,
            object_key=entity_key(draft.object),
            text=draft.text,
            valid_from=message.said_at,
            recorded_at=message.recorded_at,
        )
        kept = records.fact_properties(fact, self._embedder.vector(fact.text))
        return {
            "subject": self._entity(fact.subject, fact.subject_key, message),
            "object": self._entity(fact.object, fact.object_key, message),
            "fact": kept,
            "type": records.edge_type(fact),
            "edge": {"fact_id": fact.id} | {name: kept[name] for name in _EDGE},
            "decision": {
                "id": clock.new_id(),
                "namespace": self.namespace,
                "question": "belief_start",
                "outcome": "stored",
                "chosen": "sure",
                "p": 1.0,
                "reason": "worth 1.00, relation new 1.00",
                "backend": "rule",
                "decided_at": message.recorded_at,
                "position": 0,
                "moves_end": False,
            },
        }

    def _entity(self, name: str, key: str, message: Message) -> Row:
        return {
            "id": clock.new_id(),
            "namespace": self.namespace,
            "key": key,
            "name": name,
            "aliases": [],
            "version": 0,
            "created_at": message.recorded_at,
        }
