"""Reading: hybrid shortlists in one statement each, chains, single records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from engram_graph.errors import NotFoundError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.graph.surroundings import candidate
from engram_graph.models.facts import Fact, Message, Vector
from engram_graph.rules.situation import Candidate
from engram_graph.rules.timeline import Span
from engram_graph.rules.turns import PoolTurn

_TEXT_WITHIN = 10  # full text cannot filter by date: ask for more, most were true at other times
_PREDICATE_SCAN = 500  # of the nearest facts, and of those of a predicate, that are compared
_MORE = 20  # asked of an index beyond what is kept: equal scores are then cut by text
_MOST = 2000  # places asked for, however many of them facts take that are not shown
_SPEAKER_SCAN = 10_000  # messages that are looked at for their speakers
_SPEAKERS = 500
# The values of a turn in the order in which shortlist_turns lists them.
_TURN = (
    *("id", "speaker", "text", "search_text", "said_at", "vector", "content", "score", "previous"),
    *("conversation", "role", "source_id", "metadata", "status", "error", "recorded_at"),
)


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact on the shortlist.

    Attributes:
        vector: cosine in [-1, 1]. text: BM25. None where that part did not find it.
        chained: it superseded something. successor: id of what superseded it.
    """

    fact: Fact
    vector: float | None
    text: float | None
    chained: bool
    successor: str | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A message of the pool.

    Attributes:
        turn: what its place is decided by. text: BM25; None where full text did not find it.
    """

    turn: PoolTurn
    text: float | None
    namespace: str
    values: list[Any]

    @property
    def message(self) -> Message:
        """Made when asked for: few of a pool are shown."""
        named = dict(zip(_TURN, self.values, strict=True))
        return records.message(named | {"namespace": self.namespace})

    @property
    def source_id(self) -> str:
        """The message's name outside."""
        return str(self.values[_TURN.index("source_id")])


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A fact behind another in the supersedes chain; ``depth`` counts from 1."""

    of: str
    depth: int
    successor: str
    fact: Fact


async def shortlist_facts(
    graph: Graph,
    namespace: str,
    embedding: Vector | None,
    lucene: str | None,
    limit: int,
    within: Span | None = None,
) -> list[FactRow]:
    """``limit`` facts by vector and as many by full text, each once, as far as there are so many.

    Archived facts, and those that never held, are not among them, and take nobody's place: while
    they do in the indexes, more are asked for. With ``within`` only facts true at one of its
    moments.
    """
    wanted = limit
    while True:
        rows = await _shortlist(graph, namespace, embedding, lucene, wanted, within)
        found = [row for row in rows if row["fact"] is not None]
        hidden = len(rows) - len(found)
        # Fewer rows than one part may give: both parts have given all they have.
        if hidden <= wanted - limit or len(rows) < wanted or wanted >= _MOST:
            break
        wanted = min(limit + 2 * hidden, _MOST)
    return [_fact_row(row) for row in found]


def _fact_row(row: dict[str, Any]) -> FactRow:
    return FactRow(
        records.fact(row["fact"]), row["vector"], row["text"], row["chained"], row["successor"]
    )


async def _shortlist(
    graph: Graph,
    namespace: str,
    embedding: Vector | None,
    lucene: str | None,
    limit: int,
    within: Span | None,
) -> list[dict[str, Any]]:
    params = {
        "namespace": namespace,
        "embedding": embedding,
        "lucene": lucene,
        "limit": limit,
        "scan": limit + _MORE,
    }
    if within is None:
        return await graph.read(load("read")["shortlist_facts"], **params)
    return await graph.read(
        load("read")["shortlist_facts_within"],
        text_limit=_TEXT_WITHIN * limit,
        **ends(within),
        **params,
    )


def ends(within: Span | None) -> dict[str, datetime | None]:
    """A stretch of time as parameters."""
    return {
        "first": within.first if within else None,
        "last": within.last if within else None,
    }


async def shortlist_turns(
    graph: Graph,
    namespace: str,
    embedding: Vector | None,
    content: Vector | None,
    lucene: str | None,
    limit: int,
    said: Span | None = None,
) -> list[TurnRow]:
    """Up to ``limit`` messages by vector, as many by full text, and the turns next to those.

    Args:
        said: of these only what was said then.
        embedding: of the question as asked. content: of the question without speakers' names.
    """
    same = content == embedding
    rows = await graph.read(
        load("read")["shortlist_turns"],
        namespace=namespace,
        embedding=embedding,
        content=None if same else content,  # the same vector is read once
        lucene=lucene,
        limit=limit,
        text_limit=limit if said is None else _TEXT_WITHIN * limit,
        said_from=said.first if said else None,
        said_by=said.last if said else None,
    )
    return [_turn_row(values, namespace, same) for values in rows[0]["turns"]]


def _turn_row(values: list[Any], namespace: str, same: bool) -> TurnRow:
    each, speaker, text, indexed, said_at, cosine, content, score, previous, *_ = values
    turn = PoolTurn(
        id=each,
        speaker=speaker,
        text=text,
        indexed=indexed,
        said_on=date.fromisoformat(said_at[:10]),
        cosine=cosine,
        content=cosine if same else content,
        previous=previous,
    )
    return TurnRow(turn, score, namespace, values)


async def speakers(graph: Graph, namespace: str) -> frozenset[str]:
    """Who speaks in a namespace; of a very large one, in a part of it."""
    rows = await graph.read(
        load("read")["speakers"], namespace=namespace, scan=_SPEAKER_SCAN, limit=_SPEAKERS
    )
    return frozenset(row["speaker"] for row in rows)


async def names_meant(graph: Graph, namespace: str, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Those of ``keys`` that are another name of an entity, each with its name; by name."""
    if not keys:
        return []
    rows = await graph.read(load("read")["names_meant"], namespace=namespace, keys=list(keys))
    return [(row["key"], row["name"]) for row in rows]


async def chains(graph: Graph, namespace: str, ids: Sequence[str]) -> list[ChainRow]:
    """What each of ``ids`` superseded, nearest first, five deep."""
    if not ids:
        return []
    rows = await graph.read(load("read")["chains"], namespace=namespace, ids=list(ids))
    return [
        ChainRow(row["id"], row["depth"], row["successor"], records.fact(row["fact"]))
        for row in rows
    ]


async def facts_of_predicate(
    graph: Graph,
    namespace: str,
    predicate: str,
    embedding: Vector | None,
    limit: int,
    within: Span | None = None,
) -> list[FactRow]:
    """Up to ``limit`` open facts of a predicate (or those true ``within``), the nearest first."""
    rows = await graph.read(
        load("read")["facts_of_predicate"],
        namespace=namespace,
        predicate=predicate,
        embedding=embedding,
        scan=_PREDICATE_SCAN,
        limit=limit,
        **ends(within),
    )
    return [_fact_row(row) for row in rows]


async def neighbours(
    graph: Graph,
    namespace: str,
    ids: Sequence[str],
    *,
    known: Sequence[str],
    hub: int,
    limit: int,
    within: Span | None = None,
) -> list[FactRow]:
    """Facts one hop from the objects of ``ids``, without those ``known``; ended ones too.

    An entity on more than ``hub`` facts leads nowhere.
    """
    if not ids:
        return []
    rows = await graph.read(
        load("read")["neighbours"],
        namespace=namespace,
        ids=list(ids),
        known=list(known),
        hub=hub,
        limit=limit,
        **ends(within),
    )
    return [_fact_row(row) for row in rows]


async def same_among(graph: Graph, namespace: str, ids: Sequence[str]) -> list[tuple[str, str]]:
    """The SAME_AS links between any two of ``ids``."""
    if len(ids) < 2:
        return []
    rows = await graph.read(load("read")["same_among"], namespace=namespace, ids=list(ids))
    return [(row["one"], row["other"]) for row in rows]


async def sources_of(graph: Graph, namespace: str, ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """Id of each message that states any of the facts ``ids`` → those of them that it states."""
    if not ids:
        return {}
    rows = await graph.read(load("read")["sources_of"], namespace=namespace, ids=list(ids))
    return {row["id"]: frozenset(row["facts"]) for row in rows}


async def turns_before(graph: Graph, namespace: str, ids: Sequence[str]) -> dict[str, Message]:
    """Id of a message → the one before it in its conversation, where there is one."""
    if not ids:
        return {}
    rows = await graph.read(load("read")["turns_before"], namespace=namespace, ids=list(ids))
    return {row["id"]: records.message(row["message"]) for row in rows}


async def get_fact(graph: Graph, namespace: str, fact_id: str) -> Candidate:
    """One fact with its speakers and what superseded it.

    Raises:
        NotFoundError: not in this namespace.
    """
    rows = await graph.read(load("read")["get_fact"], namespace=namespace, id=fact_id)
    if not rows:
        raise NotFoundError(f"no fact {fact_id!r} in namespace {namespace!r}", id=fact_id)
    return candidate(rows[0])


async def get_message(graph: Graph, namespace: str, message_id: str) -> Message:
    """One message.

    Raises:
        NotFoundError: not in this namespace.
    """
    rows = await graph.read(load("read")["get_message"], namespace=namespace, id=message_id)
    if not rows:
        raise NotFoundError(f"no message {message_id!r} in namespace {namespace!r}", id=message_id)
    return records.message(rows[0]["message"])
