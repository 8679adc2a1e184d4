"""A small sound graph, written through the named queries, for the tests of the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.clock import new_id, now
from engram_graph.graph import write
from engram_graph.graph.driver import Graph
from engram_graph.models.decisions import Judgement, RequestLog
from engram_graph.models.facts import Draft, Extracted, Fact, Link, Message
from engram_graph.models.plans import FactChange, WritePlan
from engram_graph.rules.names import entity_key
from engram_graph.vocabulary import ClosedReason, MessageStatus, Outcome, Role

START = datetime(2025, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Sound:
    """Three turns of a conversation; Ann lived in Berlin, then Paris; she likes tea.

    ``berlin`` was closed by ``paris`` (superseded, belief down); ``tea`` is open.
    """

    graph: Graph
    namespace: str
    messages: tuple[str, ...]
    berlin: str
    paris: str
    tea: str

    async def run(self, text: str, **params: Any) -> list[dict[str, Any]]:
        """Run raw Cypher with the namespace and the graph's ids as parameters."""
        known = {
            "namespace": self.namespace,
            "berlin": self.berlin,
            "paris": self.paris,
            "tea": self.tea,
            "messages": list(self.messages),
        }
        return await self.graph.statement("CYPHER 25 " + text, **known | params)


def make_message(namespace: str, text: str, said_at: datetime, **more: Any) -> Message:
    values: dict[str, Any] = {
        "id": new_id(),
        "namespace": namespace,
        "conversation": "talk",
        "speaker": "Ann",
        "role": Role.USER,
        "text": text,
        "said_at": said_at,
        "recorded_at": now(),
        "source_id": new_id(),
    }
    return Message(**values | more)


def make_fact(message: Message, predicate: str, obj: str, text: str, **more: Any) -> Fact:
    values: dict[str, Any] = {
        "id": new_id(),
        "namespace": message.namespace,
        "subject": "Ann",
        "subject_key": entity_key("Ann"),
        "predicate": predicate,
        "object": obj,
        "object_key": entity_key(obj),
        "text": text,
        "extractor": "patterns",
        "valid_from": message.said_at,
        "recorded_at": now(),
    }
    return Fact(**values | more)


def starting(fact: Fact, request: str | None = None) -> Judgement:
    """The decision that stored ``fact``, with its starting belief."""
    return Judgement(
        id=new_id(),
        question="worth_remembering",
        outcome=Outcome.STORED,
        fact_id=fact.id,
        belief={fact.id: (None, fact.belief)},
        request=request,
    )


async def store(graph: Graph, message: Message, facts: list[Fact]) -> None:
    """Store ``message`` as pending, with the drafts of ``facts``."""
    drafts = tuple(
        Draft(subject=f.subject, predicate=f.predicate, object=f.object, text=f.text) for f in facts
    )
    vector = HashEmbedder().vector(message.text)
    kept = Extracted(extractor="patterns", drafts=drafts)
    await write.store_message(graph, message, vector, kept)


async def subject_version(graph: Graph, namespace: str) -> int:
    rows = await graph.statement(
        "CYPHER 25 MATCH (e:Entity {namespace: $n, key: $k}) RETURN e.version AS version",
        n=namespace,
        k=entity_key("Ann"),
    )
    return rows[0]["version"] if rows else 0


async def write_plan(graph: Graph, message: Message, fact: Fact, **more: Any) -> None:
    """Apply a plan that stores ``fact``; the message is done with it."""
    plan = WritePlan(
        namespace=fact.namespace,
        message_id=message.id,
        subject_key=fact.subject_key,
        subject_version=await subject_version(graph, fact.namespace),
        decided_at=now(),
        fact=fact,
        embedding=HashEmbedder().vector(fact.text),
        judgements=(starting(fact),),
    )
    assert await write.apply(graph, replace(plan, **more), finish=True)


async def make_sound(graph: Graph, namespace: str) -> Sound:
    first = make_message(namespace, "I live in Berlin.", START)
    second = make_message(namespace, "I moved to Paris.", START + timedelta(days=30))
    third = make_message(namespace, "I like tea.", START + timedelta(days=10))
    berlin = make_fact(first, "lives_in", "Berlin", "Ann lives in Berlin")
    paris = make_fact(second, "lives_in", "Paris", "Ann lives in Paris")
    tea = make_fact(third, "prefers", "tea", "Ann likes tea", belief=0.9)

    await store(graph, first, [berlin])
    await write_plan(graph, first, berlin)

    await store(graph, second, [paris])
    asked = RequestLog(
        id=new_id(),
        backend="rules",
        model="rules-1",
        question_versions={"relation_to_candidate": 1},
        candidates=(berlin.id,),
        answers={f"relation_to_candidate:{berlin.id}": {"update": 0.9, "new": 0.1}},
        latency_ms=0.5,
        cost_usd=0.0,
        request_id=None,
        error=None,
        sent_at=now(),
    )
    closing = Judgement(
        id=new_id(),
        question="relation_to_candidate",
        outcome=Outcome.APPLIED,
        chosen="update",
        p=0.9,
        fact_id=paris.id,
        candidate_id=berlin.id,
        belief={berlin.id: (0.98, 0.2)},
        request=asked.id,
    )
    closed = Judgement(
        id=new_id(),
        question="belief",
        outcome=Outcome.CLOSED,
        fact_id=berlin.id,
        closing=((None, None), (paris.valid_from, ClosedReason.BELIEF.value)),
    )
    await write_plan(
        graph,
        second,
        paris,
        judgements=(starting(paris), closing, closed),
        requests=(asked,),
        changes=(
            FactChange(
                id=berlin.id,
                version=1,
                belief=0.2,
                against_count=1,
                disputed=False,
                valid_until=paris.valid_from,
                closed_at=now(),
                closed_reason=ClosedReason.BELIEF,
                unsettled=False,
            ),
        ),
        links=(Link(type="SUPERSEDES", source=paris.id, target=berlin.id, reason="update"),),
    )

    await store(graph, third, [tea])
    await write_plan(graph, third, tea)
    await write.set_status(graph, third, MessageStatus.DONE)
    # by said_at the third stands between the first two
    messages = (first.id, third.id, second.id)
    return Sound(graph, namespace, messages, berlin.id, paris.id, tea.id)


@pytest.fixture
async def sound(graph: Graph, namespace: str) -> Sound:
    return await make_sound(graph, namespace)
