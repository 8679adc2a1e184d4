"""What mem0 (2.2) gives with ``get_all`` and ``history`` as foreign facts. Pure.

A memory of mem0 is a sentence, not a triple: it comes in whole, as ``related_to``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engram_graph.errors import InputError
from engram_graph.formats.moving import ROLES, moment, short
from engram_graph.models.moving import Foreign, ForeignFact
from engram_graph.vocabulary import FALLBACK, ClosedReason, Role

OWNERS = ("user_id", "agent_id", "run_id")
Row = Mapping[str, Any]


def owner(memory: Row) -> tuple[str, str] | None:
    """Whose a memory is: the first of user, agent and run that it names; None: nobody's."""
    return next(((name, str(memory[name])) for name in OWNERS if memory.get(name)), None)


def chosen(memories: Sequence[Row], user_id: str | None) -> tuple[str, str]:
    """Whose memories to move.

    Raises:
        InputError: there are several owners, and none is named; or the one named has nothing.
    """
    owners = sorted({found for memory in memories if (found := owner(memory))})
    wanted = [one for one in owners if user_id is None or one == ("user_id", user_id)]
    if len(wanted) != 1:
        known = ", ".join(f"{kind}={name}" for kind, name in owners[:20]) or "nobody"
        raise InputError(
            "the file has memories of several owners" if wanted else "it has none of that user",
            hint=f"Name one with user_id (--user); the file has those of {known}.",
            field="user_id",
        )
    return wanted[0]


def read(memories: Sequence[Row], history: Iterable[Row], whose: tuple[str, str]) -> Foreign:
    """The memories of one owner, each with the versions before it.

    Args:
        memories: the ``results`` of ``get_all``. history: rows of ``history``, of any memories.
    """
    foreign = Foreign("mem0", "=".join(whose))
    others = 0
    rows = defaultdict(list)
    for row in history:
        rows[str(row.get("memory_id"))].append(row)
    current = {str(memory.get("id")) for memory in memories}
    for memory in memories:
        if owner(memory) != whose:
            others += 1
            continue
        try:
            foreign.facts.extend(_versions(memory, rows[str(memory.get("id"))], whose[1]))
        except InputError as error:
            foreign.leave("memory", memory.get("id"), error.message)
    for name in rows:
        if name not in current:
            deleted = any(row.get("event") == "DELETE" for row in rows[name])
            foreign.leave(
                "history", name, "deleted in mem0" if deleted else "its memory is not in the file"
            )
    if others:
        foreign.not_moved["memories of other owners"] = others
    return foreign


def _versions(memory: Row, history: Sequence[Row], name: str) -> list[ForeignFact]:
    """The texts a memory had, oldest first; each ends where the next one begins."""
    if not memory.get("id"):
        raise InputError("it has no id")
    text = memory.get("memory")
    if not isinstance(text, str):
        raise InputError("it has no text")
    created = moment(memory.get("created_at"), "created_at")
    if created is None:
        raise InputError("it has no created_at")
    told = [
        (moment(row.get("updated_at") or row.get("created_at"), "updated_at") or created, new)
        for row in history
        if isinstance(new := row.get("new_memory"), str)
    ]
    told.sort(key=lambda one: one[0])
    if not told or told[-1][1] != text:
        updated = moment(memory.get("updated_at"), "updated_at") or created
        told.append((max([updated if told else created, *(at for at, _ in told)]), text))
    versions = [one for place, one in enumerate(told) if not place or told[place - 1][1] != one[1]]
    identity = str(memory.get("id"))
    ids = [
        identity if n == len(versions) else f"{identity}/{n}" for n in range(1, 1 + len(versions))
    ]
    expires = moment(memory.get("expiration_date"), "expiration_date")
    given = memory.get("metadata") or {}
    if not isinstance(given, dict):
        raise InputError("its metadata is no object")
    whose = {key: str(memory[key]) for key in OWNERS if memory.get(key)}
    role = ROLES.get(str(memory.get("role")), Role.USER)
    found = []
    for place, (at, words) in enumerate(versions):
        last = place == len(versions) - 1
        ends = expires if last else versions[place + 1][0]
        found.append(
            ForeignFact(
                id=ids[place],
                subject=name,
                relation=FALLBACK,
                object=short(words),
                text=words,
                valid_from=at,
                valid_until=ends,
                recorded_at=at,
                closed_at=None if last else ends,
                closed_reason=ClosedReason.STATED if last else ClosedReason.CORRECTED,
                speaker=str(memory.get("actor_id") or (name if role is Role.USER else role.value)),
                role=role,
                supersedes=(ids[place - 1],) if place else (),
                metadata=given | whose | {"mem0": {"id": identity}},
            )
        )
    return found
