"""A whole export checked before any of it is used: order, names, links, beliefs, counts.

What a file names is kept in a temporary database on disk, not in memory: a file may be large.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

from engram_graph.errors import InputError
from engram_graph.formats.export import Line, read_records, wrong
from engram_graph.models.decisions import Decision
from engram_graph.models.export import (
    KINDS,
    AliasRecord,
    ConversationRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    Header,
    ItemRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.rules.foreign import secrets_in
from engram_graph.rules.paths import folder
from engram_graph.vocabulary import Outcome

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE names (kind TEXT, name TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE facts (id TEXT PRIMARY KEY, line INT, open INT, belief REAL,
  decided INT DEFAULT -1, position INT DEFAULT -1, after REAL) WITHOUT ROWID;
CREATE TABLE chain (newer TEXT, older TEXT, line INT);
CREATE TABLE ids (old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID;
CREATE TABLE marked (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE entities (key TEXT PRIMARY KEY, record TEXT) WITHOUT ROWID;
"""
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_WITHOUT_FACT = frozenset({Outcome.NOT_STORED, Outcome.FORGOTTEN})
_LATEST = """
UPDATE facts SET decided = :at, position = :position, after = :after
WHERE id = :id AND (decided < :at OR (decided = :at AND position < :position)
  OR (decided = :at AND position = :position AND abs(after - belief) > 1e-9))"""
# What nothing newer points at cannot lie on a circle.
_PRUNE = "DELETE FROM chain WHERE newer NOT IN (SELECT older FROM chain)"


class Register:
    """What a file names, and what became of it. Used by one thread at a time."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Gone without a trace."""
        self._db.close()

    # -- while the file is checked ----------------------------------------------------------------

    def add(self, kind: str, name: str) -> bool:
        """Note a name; False when it is there already."""
        found = self._db.execute("INSERT OR IGNORE INTO names VALUES (?, ?)", (kind, name))
        return found.rowcount == 1

    def has(self, kind: str, name: str) -> bool:
        """Whether a name was noted."""
        found = self._db.execute("SELECT 1 FROM names WHERE kind = ? AND name = ?", (kind, name))
        return found.fetchone() is not None

    def ids(self) -> Iterator[list[str]]:
        """All ids of records, by the thousand."""
        found = self._db.execute(
            "SELECT name FROM names WHERE kind IN "
            "('message', 'entity id', 'fact', 'decision', 'request', 'feedback', 'item')"
        )
        while some := found.fetchmany(1000):
            yield [name for (name,) in some]

    def names_record(self, name: str) -> bool:
        """Whether a name is the id of a record."""
        return any(self.has(kind, name) for kind in ("fact", "message", "decision", "request"))

    def fact(self, number: int, record: FactRecord) -> None:
        """Note a fact's state."""
        self._db.execute(
            "INSERT INTO facts (id, line, open, belief) VALUES (?, ?, ?, ?)",
            (record.fact.id, number, record.fact.open, record.fact.belief),
        )

    def is_open(self, fact_id: str) -> bool:
        """Whether a noted fact is open."""
        found = self._db.execute("SELECT open FROM facts WHERE id = ?", (fact_id,)).fetchone()
        return bool(found and found[0])

    def supersedes(self, number: int, newer: str, older: str) -> None:
        """Note one step of a chain."""
        self._db.execute("INSERT INTO chain VALUES (?, ?, ?)", (newer, older, number))

    def moved(self, fact_id: str, after: float, decision: Decision, position: int) -> None:
        """Note the belief a decision left; the latest one counts."""
        at = (decision.decided_at - _EPOCH) // timedelta(microseconds=1)
        self._db.execute(_LATEST, {"id": fact_id, "after": after, "at": at, "position": position})

    def circle(self) -> int | None:
        """The line of a link on a circle of SUPERSEDES, if there is one."""
        self._db.execute("CREATE INDEX older ON chain (older)")
        while self._db.execute(_PRUNE).rowcount:
            pass
        return self._first("SELECT min(line) FROM chain")

    def undecided(self) -> int | None:
        """The line of a fact whose belief is not what its latest decision made it, if any."""
        return self._first(
            "SELECT min(line) FROM facts WHERE after IS NULL OR abs(after - belief) > 1e-9"
        )

    def _first(self, query: str) -> int | None:
        (found,) = self._db.execute(query).fetchone()
        return None if found is None else int(found)

    # -- while it is imported ---------------------------------------------------------------------

    def rename(self, old: str, new: str | None) -> None:
        """What ``old`` is called now; None: it is left out."""
        self._db.execute("INSERT OR REPLACE INTO ids VALUES (?, ?)", (old, new))

    def renamed(self, old: str) -> tuple[bool, str | None]:
        """Whether ``old`` was given a name of its own, and which."""
        found = self._db.execute("SELECT new FROM ids WHERE old = ?", (old,)).fetchone()
        return (True, found[0]) if found else (False, None)

    def keep_entity(self, key: str, record: EntityRecord) -> None:
        """Keep the entity that the file calls ``key`` for the first fact that needs it."""
        self._db.execute(
            "INSERT OR REPLACE INTO entities VALUES (?, ?)", (key, record.model_dump_json())
        )

    def entity(self, key: str) -> EntityRecord:
        """The entity that the file calls ``key``, as it is to be stored."""
        (kept,) = self._db.execute("SELECT record FROM entities WHERE key = ?", (key,)).fetchone()
        return EntityRecord.model_validate_json(kept)

    def mark(self, ids: Iterable[str]) -> None:
        """Note records that carry the mark of an import under way."""
        self._db.executemany("INSERT OR IGNORE INTO marked VALUES (?)", ((one,) for one in ids))

    def marked(self) -> Iterator[list[str]]:
        """All of them, by the thousand."""
        found = self._db.execute("SELECT id FROM marked")
        while some := found.fetchmany(1000):
            yield [one for (one,) in some]


def check(stream: BinaryIO, header: Header, register: Register) -> tuple[str, ...]:
    """Read a whole file behind its header; the credentials in it, which an import takes out.

    Raises:
        InputError: with the line's number, when any of it cannot be imported.
    """
    found = dict.fromkeys(KINDS, 0)
    secrets: set[str] = set()
    stage = number = 0
    for line in read_records(stream):
        number = line.number
        kind: str = line.record.record
        if KINDS.index(kind) < stage:
            raise wrong(number, f"a {kind} after a {KINDS[stage]}")
        stage = KINDS.index(kind)
        found[kind] += 1
        try:
            _note(line, header, register)
        except InputError as error:
            raise wrong(number, error.message) from None
        secrets.update(secrets_in(line.record))
    wanted = header.counts.model_dump()
    for kind, count in found.items():
        if count != wanted[kind]:
            raise wrong(
                number + 1, f"the file ends with {count} of {wanted[kind]} records of a {kind}"
            )
    if (place := register.circle()) is not None:
        raise wrong(place, "facts supersede each other in a circle")
    if (place := register.undecided()) is not None:
        raise wrong(place, "belief is not what the latest decision on the fact made it")
    return tuple(sorted(secrets))


def _note(line: Line, header: Header, register: Register) -> None:
    def new(kind: str, name: str) -> None:
        if not register.add(kind, name):
            raise InputError(f"the {kind} is there twice")

    def known(kind: str, *names: str | None) -> None:
        for name in names:
            if name is not None and not register.has(kind, name):
                raise InputError(f"names a {kind} that is not in the file before it")

    match line.record:
        case ConversationRecord(name=name):
            new("conversation", name)
        case MessageRecord(message=message, vector=vector):
            new("message", message.id)
            new("source_id", message.source_id)
            known("conversation", message.conversation)
            _length(vector, header)
        case EntityRecord(entity=entity):
            new("entity id", entity.id)
            new("entity", entity.key)
        case FactRecord(fact=fact, sources=sources, vector=vector):
            new("fact", fact.id)
            known("entity", fact.subject_key, fact.object_key)
            known("message", *sources)
            _length(vector, header)
            register.fact(line.number, line.record)
        case MentionRecord(fact=fact_id, entity=key):
            known("fact", fact_id)
            known("entity", key)
        case LinkRecord(link=link):
            known("fact", link.source, link.target)
            if link.type == "SUPERSEDES":
                if register.is_open(link.target):
                    raise InputError("a superseded fact is open")
                register.supersedes(line.number, link.source, link.target)
        case DecisionRecord(decision=decision, position=position):
            new("decision", decision.id)
            known("fact", decision.fact_id, decision.candidate_id)
            nothing = not (decision.fact_id or decision.candidate_id)
            if nothing and decision.outcome not in _WITHOUT_FACT:
                raise InputError("the decision is about no fact")
            for moved, after in (
                (decision.fact_id, decision.belief_after),
                (decision.candidate_id, decision.candidate_belief_after),
            ):
                if moved and after is not None:
                    register.moved(moved, after, decision, position)
        case RequestRecord(request=request, decisions=decisions):
            new("request", request.id)
            known("decision", *decisions)
        case AliasRecord(key=key, entity=entity_key, decisions=decisions):
            new("alias", key)
            known("entity", entity_key)
            known("decision", *decisions)
            if register.has("entity", key):
                raise InputError("the alias is the key of an entity")
        case FeedbackRecord(feedback=label):
            new("feedback", label.id)
            known("fact", label.fact_id)
            known("decision", label.decision_id)
        case ItemRecord(item=item, texts=texts):
            new("item", item.id)
            new("path of an item", folder(item.path) + "/" + item.key)
            for text in texts:
                _length(text.vector, header)


def _length(vector: list[float] | None, header: Header) -> None:
    if vector is None:
        return
    if not header.vectors or header.embedding is None:
        raise InputError("a vector, though the header says that there are none")
    if len(vector) != header.embedding.dimension:
        raise InputError(f"a vector of {len(vector)}, not {header.embedding.dimension} numbers")
