"""The forms of mem0's calls: ids, scopes, filters, results. Nothing here reads or writes."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NoReturn

from engram_graph.clock import instant, now
from engram_graph.errors import InputError, NotFoundError
from engram_graph.formats.moving import short
from engram_graph.formats.moving_mem0 import OWNERS
from engram_graph.models.facts import Fact, Message
from engram_graph.vocabulary import FALLBACK, ClosedReason, Role

KEPT = "engram_graph"
"""Key of a message's metadata under which an update keeps the id and the moment of the first."""
_KINDS = {owner: owner.removesuffix("_id") for owner in OWNERS}
_LOGIC = ("AND", "OR", "NOT")
UNSET: Any = object()
"""Default of an argument whose None means something."""


class Mem0InputError(InputError, ValueError):
    """A value in a call is not usable; where mem0 raises ValueError, ``except`` still finds it."""


class UnsupportedError(Mem0InputError):
    """Something that mem0 does and this memory does not; the hint says what to do instead."""

    code = "unsupported"


class MemoryNotFoundError(NotFoundError, ValueError):
    """The id names no memory."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories, and which of them.

    Attributes:
        namespace: where they are; one for each user, or agent, or run.
        owner: ``user_id``, ``agent_id`` or ``run_id``: what the namespace is of. name: its value.
        others: what else the metadata of a memory has to hold.
    """

    namespace: str
    owner: str
    name: str
    others: Mapping[str, Any]

    def named(self, fact_id: str) -> str:
        """The id of a memory, from which its namespace follows."""
        return f"{_KINDS[self.owner]}/{self.name}/{fact_id}"

    @property
    def identity(self) -> dict[str, Any]:
        """The ids that a memory is stored with."""
        return {self.owner: self.name, **{k: v for k, v in self.others.items() if k in OWNERS}}


def checked_space(space: str, config: object) -> str:
    """``space``, if it can begin the names of namespaces.

    Raises:
        UnsupportedError: there is a ``config``. Mem0InputError: the space holds a slash.
    """
    if config is not None:
        no_config()
    if not space.strip() or "/" in space:
        raise Mem0InputError("space must be a word without a slash", field="space")
    return space


def no_config() -> NoReturn:
    """Refuse a configuration of mem0."""
    raise UnsupportedError(
        "a configuration of mem0 is not taken",
        hint="docs/settings.md lists the variables that choose database, models and embedder.",
        field="config",
    )


def refuse(**given: object) -> None:
    """Raise UnsupportedError for the first argument that is not None."""
    for name, value in given.items():
        if value is not None:
            raise UnsupportedError(
                f"{name} is not taken",
                hint="docs/moving.md says what of mem0 has no place here.",
                field=name,
            )


def scope(space: str, given: Mapping[str, Any]) -> Scope:
    """The scope that ids and other values name; the first of user, agent and run is the owner.

    Raises:
        Mem0InputError: none of the three, or one that is no id. UnsupportedError: an operator.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key in _LOGIC or isinstance(value, Mapping | list | tuple | set) or value == "*":
            raise UnsupportedError(
                f"filter {key!r} is no plain value",
                hint="Filters compare with one value each; do the rest on the results.",
                field="filters",
            )
        if key in OWNERS:
            value = _identity(key, value)
        if value is not None:
            found[key] = value
    owner = next((key for key in OWNERS if key in found), None)
    if owner is None:
        raise Mem0InputError(
            "at least one of user_id, agent_id and run_id must be given",
            hint="Such as add(…, user_id='maya') and search(…, filters={'user_id': 'maya'}).",
            field="user_id",
        )
    name = found.pop(owner)
    return Scope(f"{space}/{_KINDS[owner]}/{name}", owner, name, found)


def _identity(key: str, value: object) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    if not text or any(c.isspace() for c in text):
        raise Mem0InputError(
            f"{key} must be an id without white space, not {value!r}", hint="", field=key
        )
    return text


def scope_of_id(space: str, memory_id: object) -> tuple[Scope, str]:
    """The scope and the fact that an id names.

    Raises:
        MemoryNotFoundError: it is no id of a memory.
    """
    kind, _, rest = str(memory_id).partition("/")
    name, _, fact_id = rest.rpartition("/")
    owner = next((key for key, word in _KINDS.items() if word == kind), None)
    try:
        uuid.UUID(fact_id)
        if owner is None or not name:
            raise ValueError
        return scope(space, {owner: name}), fact_id
    except ValueError:
        raise MemoryNotFoundError(
            f"{str(memory_id)[:200]!r} is no id of a memory",
            hint="Ids are those that add, search and get_all give.",
        ) from None


def filters(given: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Filters with the ids that were given beside them, which are taken out of ``more``.

    Raises:
        Mem0InputError: anything else is left in ``more``.
    """
    found = dict(given or {})
    found.update({key: more.pop(key) for key in OWNERS if key in more})
    if more:
        raise Mem0InputError(
            f"unknown argument: {', '.join(sorted(more))}",
            hint="Known besides the named ones: user_id, agent_id, run_id, limit.",
            field=sorted(more)[0],
        )
    return found


def count(top_k: object, most: int) -> int:
    """``top_k``, checked.

    Raises:
        Mem0InputError: no whole number from 0 to ``most``.
    """
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 0 <= top_k <= most:
        raise Mem0InputError(f"top_k must be a whole number from 0 to {most}", field="top_k")
    return top_k


def own_metadata(given: Mapping[str, Any] | None, whose: Scope) -> dict[str, Any]:
    """What a memory is stored with.

    Raises:
        Mem0InputError: it names an id of its own, which would not be what the call says.
    """
    plain = dict(given or {})
    if taken := sorted(({*OWNERS, KEPT} & plain.keys()) - whose.identity.keys()):
        raise Mem0InputError(
            f"metadata must not hold {taken[0]!r}",
            hint="Pass user_id, agent_id and run_id as arguments.",
            field="metadata",
        )
    return plain | whose.identity


def raw(
    message: Mapping[str, Any], person: str, *, ends: datetime | None, **shared: Any
) -> dict[str, Any]:
    """A message as one given fact with its words."""
    text = message.get("content", message.get("text"))
    role = message.get("role", Role.USER.value)
    return {
        "subject": person,
        "predicate": FALLBACK,
        "object": short(text) if isinstance(text, str) else text,
        "text": text,
        "speaker": message.get("name") or role,
        "role": role,
        "valid_until": ends,
        **shared,
    }


def updated_metadata(
    fact: Fact, messages: Sequence[Message], whose: Scope, more: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What an updated memory is stored with: what it had, ``more``, and where it came from."""
    kept: dict[str, Any] = {}
    for message in reversed(messages):
        kept |= message.metadata
    identity = {key: kept[key] for key in OWNERS if key in kept}
    first = {"first": first_id(fact, messages), "created_at": created_at(fact, messages)}
    return kept | own_metadata(more, whose) | identity | {KEPT: first}


def holds(fact: Fact) -> bool:
    """Whether a memory has not ended yet."""
    return fact.valid_until is None or fact.valid_until > now()


def expiry(given: object) -> datetime | None:
    """The moment at which a memory ends that holds through the day ``given``."""
    if given is None:
        return None
    day = given if isinstance(given, date) and not isinstance(given, datetime) else None
    moment = instant(given, "expiration_date")  # type: ignore[arg-type]
    if day is None:
        day = moment.date()
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def said_at(timestamp: object) -> datetime | None:
    """When it was said: a Unix time in seconds, or a moment in any form this package takes."""
    if timestamp is None:
        return None
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        try:
            return datetime.fromtimestamp(timestamp, UTC)
        except (OverflowError, OSError, ValueError):
            raise Mem0InputError("timestamp is out of range", field="timestamp") from None
    return instant(timestamp, "timestamp")  # type: ignore[arg-type]


def first_id(fact: Fact, messages: Sequence[Message]) -> str:
    """The fact under whose id a memory goes: the one it was before all updates."""
    kept = _kept(messages)
    return str(kept.get("first") or fact.id)


def created_at(fact: Fact, messages: Sequence[Message]) -> str:
    """When the memory was first recorded, as ISO text."""
    return str(_kept(messages).get("created_at") or fact.recorded_at.isoformat())


def _kept(messages: Sequence[Message]) -> Mapping[str, Any]:
    return next((m.metadata[KEPT] for m in messages if KEPT in m.metadata), {})


def matches(whose: Scope, messages: Sequence[Message]) -> bool:
    """Whether a memory is one of those that the filters ask for."""

    def value(message: Message, key: str) -> object:
        if key == "actor_id":
            return message.speaker
        return message.role.value if key == "role" else message.metadata.get(key)

    return any(
        all(value(message, key) == wanted for key, wanted in whose.others.items())
        for message in messages
    )


def item(fact: Fact, messages: Sequence[Message], whose: Scope, **more: Any) -> dict[str, Any]:
    """A memory as mem0 gives it."""
    told = messages[0] if messages else None
    kept = dict(told.metadata) if told else {}
    identity = {key: kept.pop(key) for key in OWNERS if key in kept}
    kept.pop(KEPT, None)
    found: dict[str, Any] = {
        "id": whose.named(first_id(fact, messages)),
        "memory": fact.text,
        "hash": hashlib.md5(fact.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": kept or None,
        "created_at": created_at(fact, messages),
        "updated_at": fact.recorded_at.isoformat(),
        **({whose.owner: whose.name} | identity),
    }
    if told is not None:
        found |= {"actor_id": told.speaker, "role": told.role.value}
    if fact.valid_until is not None:
        last = fact.valid_until - timedelta(microseconds=1)
        found["expiration_date"] = last.date().isoformat()
    return found | more


def event(fact: Fact, messages: Sequence[Message], whose: Scope, name: str) -> dict[str, Any]:
    """One result of ``add``."""
    told = messages[0] if messages else None
    return {
        "id": whose.named(first_id(fact, messages)),
        "memory": fact.text,
        "event": name,
        "actor_id": told.speaker if told else None,
        "role": told.role.value if told else None,
    }


def current(fact: Fact, newer: Sequence[Fact]) -> Fact:
    """What a memory is after all updates: the end of the corrections from ``fact`` on."""
    for one in newer:
        if fact.closed_reason is not ClosedReason.CORRECTED:
            break
        fact = one
    return fact


def history_rows(
    chain: Sequence[Fact], sources: Mapping[str, Sequence[Message]], memory_id: str
) -> list[dict[str, Any]]:
    """The rows of ``history``, oldest first; the last says so if what is left has ended."""
    rows: list[dict[str, Any]] = []
    before: str | None = None

    def row(fact: Fact, name: str, new: str | None, at: datetime) -> None:
        told = next(iter(sources.get(fact.id, ())), None)
        rows.append(
            {
                "id": fact.id if new is not None else f"{fact.id}/end",
                "memory_id": memory_id,
                "old_memory": before,
                "new_memory": new,
                "event": name,
                "created_at": chain[0].recorded_at.isoformat(),
                "updated_at": at.isoformat(),
                "is_deleted": new is None,
                "actor_id": told.speaker if told else None,
                "role": told.role.value if told else None,
            }
        )

    for fact in chain:
        row(fact, "ADD" if before is None else "UPDATE", fact.text, fact.recorded_at)
        before = fact.text
    last = chain[-1]
    if last.closed_at is not None and last.closed_reason is not ClosedReason.STATED:
        row(last, "DELETE", None, last.closed_at)
    return rows
