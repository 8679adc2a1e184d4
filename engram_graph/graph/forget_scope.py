"""What a forgetting touches: everything around it, read in the transaction that removes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from engram_graph.clock import derived_id
from engram_graph.errors import NotFoundError
from engram_graph.graph import records
from engram_graph.graph.driver import Row, Tx
from engram_graph.graph.entities import unknown
from engram_graph.graph.queries import load
from engram_graph.rules.forget import Asked, Forgetting, Neighbour, Source, Trace, leave
from engram_graph.rules.names import entity_key

_SKEW = timedelta(days=1)  # at most: the clocks of two machines do not agree
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for, one of: id of a fact; id or source_id of a message; name of an entity."""

    fact: str | None = None
    message: str | None = None
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """What a forgetting must hold the locks of."""

    conversations: frozenset[str]
    keys: frozenset[str]
    facts: frozenset[str]
    messages: frozenset[str]

    def holds(self, other: Reach) -> bool:
        """Whether nothing of ``other`` is missing here."""
        return (
            other.conversations <= self.conversations
            and other.keys <= self.keys
            and other.facts <= self.facts
            and other.messages <= self.messages
        )

    def and_also(self, other: Reach) -> Reach:
        """Both together."""
        return Reach(
            self.conversations | other.conversations,
            self.keys | other.keys,
            self.facts | other.facts,
            self.messages | other.messages,
        )


NOTHING = Reach(frozenset(), frozenset(), frozenset(), frozenset())


async def gather(tx: Tx, namespace: str, target: Target) -> tuple[Forgetting, Reach]:
    """All that touches what is asked for, and what to lock for it.

    Raises:
        NotFoundError: there is no such record in the namespace.
    """
    query = load("forget")
    asked = await _asked_for(tx, namespace, target)
    scope = {"namespace": namespace, "ids": sorted(asked.facts)}
    facts = await tx.run(query["facts_leaving"], **scope)
    keys = asked.entities | {key for row in facts for key in row["keys"]}
    around = await tx.run(query["entities_around"], keys=sorted(keys), **scope)
    touched = {row["key"]: row["used"] for row in around}
    entities = sorted(asked.entities | {key for key, used in touched.items() if not used})
    links = [records.link(row["link"]) for row in await tx.run(query["links_leaving"], **scope)]
    messages = await tx.run(query["messages_around"], messages=sorted(asked.messages), **scope)
    sources = [source(row) for row in messages]
    decisions = await tx.run(query["decisions_leaving"], drafts=[], entities=[], **scope)
    gone = asked.facts | {row["id"] for row in decisions}
    leaving = leave(sources, asked.messages, gone)
    drafts = sorted(became for each in leaving for became in each.written)
    decisions = await tx.run(query["decisions_leaving"], drafts=drafts, entities=entities, **scope)
    beside = {fact for row in decisions for fact in row["facts"]}
    beside |= {end for link in links for end in (link.source, link.target)}
    beside |= {fact for row in messages for fact in row["stays"]}
    neighbours = await tx.run(
        query["facts_beside"],
        beside=sorted(beside - asked.facts),
        messages=[each.id for each in leaving],
        drafts=drafts,
        **scope,
    )
    requests = await tx.run(
        query["requests_around"],
        requests=sorted({request for row in decisions for request in row["requests"]}),
        decisions=[row["id"] for row in decisions],
        since=min((records.native(row["recorded_at"]) - _SKEW for row in facts), default=_NEVER),
        **scope,
    )
    forgetting = Forgetting(
        facts=asked.facts,
        messages=asked.messages,
        entities=asked.entities,
        decisions=frozenset(row["id"] for row in decisions),
        links=tuple(links),
        neighbours=tuple(_neighbour(row) for row in neighbours),
        sources=tuple(sources),
        requests=tuple(_request(row) for row in requests),
        touched=touched,
    )
    return forgetting, _reach(forgetting, leaving)


def source(row: Row) -> Source:
    """A row of ``messages_around``."""
    drafts = records.drafts(row)
    count = len(drafts.drafts) if drafts else 0
    return Source(
        id=row["id"],
        conversation=row["conversation"],
        states_more=row["states_more"],
        done=row["done"],
        drafts=drafts,
        written=tuple(derived_id(row["id"], str(index)) for index in range(count)),
        before=tuple(row["before"]),
        after=tuple(row["after"]),
    )


async def _asked_for(tx: Tx, namespace: str, target: Target) -> Forgetting:
    """The facts that go, and the message or entity itself."""
    query = load("forget")
    if target.message is not None:
        rows = await tx.run(query["message_named"], namespace=namespace, id=target.message)
        message = _found(rows, "message", target.message, namespace)["id"]
        rows = await tx.run(query["facts_resting_on"], namespace=namespace, id=message)
        return Forgetting(frozenset(row["id"] for row in rows), messages=frozenset({message}))
    if target.entity is not None:
        key = entity_key(target.entity)
        rows = await tx.run(query["facts_around"], namespace=namespace, key=key)
        if not rows:
            raise unknown(target.entity, namespace)
        return Forgetting(frozenset(rows[0]["ids"]), entities=frozenset({rows[0]["key"]}))
    known: set[str] = set()
    found = {str(target.fact)}
    while new := found - known:  # copies of copies
        rows = await tx.run(query["same_facts"], namespace=namespace, ids=sorted(new))
        _found(rows, "fact", target.fact, namespace)
        known |= new
        found = {row["id"] for row in rows}
    return Forgetting(frozenset(known))


def _found(rows: Sequence[Row], kind: str, name: str | None, namespace: str) -> Row:
    if not rows:
        raise NotFoundError(f"no {kind} {name!r} in namespace {namespace!r}", id=name)
    return rows[0]


def _neighbour(row: Row) -> Neighbour:
    return Neighbour(
        id=row["id"],
        subject_key=row["subject_key"],
        disputed=row["disputed"],
        contradicted=row["contradicted"],
        quote_goes=row["quote_goes"],
        traces=tuple(_trace(records.native(trace)) for trace in row["traces"]),
    )


def _trace(row: dict[str, Any]) -> Trace:
    ends = (
        (row["valid_until_before"], row["reason_before"]),
        (row["valid_until_after"], row["reason_after"]),
    )
    return Trace(
        decision=row["decision"],
        decided_at=row["decided_at"],
        position=row["position"],
        belief=row["belief"],
        ends=ends if row["moves_end"] else None,
        disputes=row["disputes"],
    )


def _request(row: Row) -> Asked:
    return Asked(
        id=row["id"],
        candidates=tuple(row["candidates"]),
        answers=json.loads(row["answers"]),
        rested_on=row["rested_on"],
        kept=row["kept"],
    )


def _reach(forgetting: Forgetting, leaving: Sequence[Source]) -> Reach:
    beside = {each.subject_key for each in forgetting.neighbours}
    return Reach(
        conversations=frozenset(each.conversation for each in leaving),
        keys=frozenset(beside | forgetting.touched.keys()),
        facts=forgetting.facts | {each.id for each in forgetting.neighbours},
        messages=frozenset(each.id for each in forgetting.sources),
    )
