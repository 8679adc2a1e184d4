"""Two entities made one, and one made two again: each in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram_graph.clock import new_id
from engram_graph.errors import InputError, NotFoundError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Row, Tx
from engram_graph.graph.entities import show_aliases, unknown
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.models.decisions import Judgement
from engram_graph.models.entities import Merged, Unmerged
from engram_graph.models.facts import Entity, Fact, Link
from engram_graph.rules.merge import OBJECT, Around, Step, back, conflicts, forth, twice
from engram_graph.rules.names import entity_key
from engram_graph.rules.questions import SAME_ENTITY
from engram_graph.vocabulary import PREDICATES, Outcome

_MERGE = "merge "  # so begins the reason of a SAME_AS link that a merge made
_ONE_VALUED = [p.name for p in PREDICATES.values() if p.single]


@dataclass(frozen=True, slots=True)
class Ground:
    """Why two entities are one.

    Attributes:
        reason: in words. p, backend, request: of the decider, when one was asked.
    """

    reason: str = ""
    p: float = 1.0
    backend: str = "caller"
    request: str | None = None


async def merge(
    graph: Graph, namespace: str, keep: str, other: str, ground: Ground, now: datetime
) -> Merged:
    """Make every fact of ``other`` a fact of ``keep``, and its names aliases.

    Raises:
        NotFoundError: no such entity. InputError: the two are one already.
        ConflictError: others kept removing or renaming them.
    """
    kept_key = gone_key = ""

    async def work(tx: Tx) -> Merged:
        async def wanted() -> set[str]:
            nonlocal kept_key, gone_key
            kept_key, gone_key, subjects = await _pair(tx, namespace, keep, other)
            return {kept_key, gone_key, *subjects}

        entities = await _hold(tx, namespace, wanted)
        kept, gone = entities[kept_key], entities[gone_key]
        steps = forth(await _around(tx, namespace, gone_key), kept_key, gone_key)
        await _take(tx, namespace, steps)
        await tx.run(
            load("merge")["move_mentions"], namespace=namespace, kept=kept_key, gone=gone_key
        )
        why = f"{gone.name} is {kept.name}" + (f": {ground.reason}" if ground.reason else "")
        ids = await _log(tx, namespace, steps, Outcome.MERGED, (kept, gone), why, ground, now)
        await tx.run(
            load("merge")["leave_alias"],
            namespace=namespace,
            kept=kept_key,
            gone=gone_key,
            now=now,
        )
        await tx.run(load("merge")["log_leaving"], namespace=namespace, key=gone_key, ids=ids)
        moved = frozenset(step.id for step in steps if step.ends)
        facts = await _beside(tx, namespace, moved)
        same = await _link(tx, namespace, twice(facts, moved), ids[0], now)
        return Merged(
            id=ids[0],
            entity=await show_aliases(tx, namespace, kept_key),
            merged=gone,
            facts=tuple(sorted(moved)),
            same=same,
            conflicts=conflicts(facts, moved),
            loops=tuple(
                fact for fact in facts if fact.id in moved and fact.subject_key == fact.object_key
            ),
        )

    return await until_done(graph, "merge_entities", work, f"{keep!r} and {other!r}")


async def unmerge(graph: Graph, namespace: str, what: str, reason: str, now: datetime) -> Unmerged:
    """Take back the latest merge that ``what`` means: a decision's id, or a name.

    Raises:
        NotFoundError: there is none. ConflictError: others kept removing its entities.
    """
    found: Row = {}
    log: list[Row] = []

    async def work(tx: Tx) -> Unmerged:
        async def wanted() -> set[str]:
            nonlocal found, log
            found = await _latest(tx, namespace, what)
            log = await tx.run(load("merge")["merge_log"], namespace=namespace, key=found["gone"])
            return {found["holder"], *(row["subject"] for row in log if OBJECT in row["ends"])}

        entities = await _hold(tx, namespace, wanted)
        gone_key, holder_key = found["gone"], found["holder"]
        holder = entities[holder_key]
        noted = {row["id"]: row["ends"] for row in log}
        steps = back(await _around(tx, namespace, holder_key), noted, holder_key, gone_key)
        await tx.run(load("merge")["restore_entity"], namespace=namespace, key=gone_key)
        await _take(tx, namespace, steps)
        mentions = await tx.run(
            load("merge")["return_mentions"], namespace=namespace, gone=gone_key, holder=holder_key
        )
        if not mentions[0]["moved"] and not any(step.ends for step in steps):
            raise InputError(
                f"nothing of {found['name']!r} is left in {holder.name!r}", field="entity"
            )
        gone = await show_aliases(tx, namespace, gone_key)
        why = f"{gone.name} is not {holder.name}" + (f": {reason}" if reason else "")
        await _log(tx, namespace, steps, Outcome.UNMERGED, (holder, gone), why, Ground(), now)
        moved = sorted(step.id for step in steps if step.ends)
        await tx.run(
            load("merge")["drop_same_as"],
            namespace=namespace,
            ids=moved,
            reason=_MERGE,
        )
        dropped = await tx.run(
            load("merge")["drop_empty_entity"], namespace=namespace, key=holder_key
        )
        kept = None if dropped[0]["dropped"] else await show_aliases(tx, namespace, holder_key)
        return Unmerged(entity=gone, kept=kept, facts=tuple(moved))

    return await until_done(graph, "unmerge", work, repr(what))


async def _pair(tx: Tx, namespace: str, keep: str, other: str) -> tuple[str, str, list[str]]:
    """Keys of the two entities, and of the subjects of facts about the second."""
    given = [entity_key(keep), entity_key(other)]
    rows = await tx.run(load("merge")["merge_pair"], namespace=namespace, keys=given)
    found = {row["given"]: row for row in rows}
    for key, name in zip(given, (keep, other), strict=True):
        if key not in found:
            raise unknown(name, namespace)
    kept, gone = (found[key]["key"] for key in given)
    if kept == gone:
        raise InputError(f"{keep!r} and {other!r} are one entity already", field="other")
    return kept, gone, found[given[1]]["subjects"]


async def _latest(tx: Tx, namespace: str, what: str) -> Row:
    """The merge to take back: keys of the entity that went and of the one that holds it."""
    rows = await tx.run(
        load("merge")["find_merge"], namespace=namespace, id=what, key=entity_key(what)
    )
    if not rows:
        raise NotFoundError(
            f"no merge to take back: {what!r}",
            hint="Name an entity that was merged, or a decision with the outcome 'merged'.",
        )
    return rows[0]


async def _hold(
    tx: Tx, namespace: str, wanted: Callable[[], Awaitable[set[str]]]
) -> dict[str, Entity]:
    """Lock the entities that ``wanted`` reads, and those it reads more under the locks.

    Under them nobody writes about the two in question: soon there are no more.
    """
    held: dict[str, Entity] = {}
    while more := await wanted() - held.keys():
        held |= await _lock(tx, namespace, more)
    return held


async def _lock(tx: Tx, namespace: str, keys: Iterable[str]) -> dict[str, Entity]:
    """Take the write locks of the entities that are there, in sorted order; each as it stands."""
    rows = await tx.run(
        load("merge")["lock_known_entities"], namespace=namespace, keys=sorted(keys)
    )
    return {row["key"]: Entity.model_validate(row["entity"]) for row in rows}


async def _around(tx: Tx, namespace: str, key: str) -> list[Around]:
    rows = await tx.run(load("merge")["facts_of_merged"], namespace=namespace, key=key)
    return [Around(row["id"], row["subject"], row["object"]) for row in rows]


async def _take(tx: Tx, namespace: str, steps: Sequence[Step]) -> None:
    """Carry out ``steps``, the facts locked in sorted order."""
    ids = sorted(step.id for step in steps)
    await tx.run(load("write")["lock_facts"], namespace=namespace, ids=ids)
    moving = [step for step in steps if step.ends]
    await tx.run(
        load("merge")["move_facts"],
        namespace=namespace,
        steps=[{"id": s.id, "subject": s.subject, "object": s.object} for s in moving],
    )


async def _log(
    tx: Tx,
    namespace: str,
    steps: Sequence[Step],
    outcome: Outcome,
    pair: tuple[Entity, Entity],
    why: str,
    ground: Ground,
    now: datetime,
) -> list[str]:
    """One decision for each fact, so that what is forgotten takes its part of the log along."""
    ids = [new_id() for _ in steps]
    rows: list[dict[str, Any]] = []
    for position, (id_, step) in enumerate(zip(ids, steps, strict=True)):
        judgement = Judgement(
            id=id_,
            question=SAME_ENTITY,
            outcome=outcome,
            chosen="yes" if outcome is Outcome.MERGED else "no",
            p=ground.p,
            reason=why if step.ends else "",  # no name outlives the facts it stands in
            fact_id=step.id,
            backend=ground.backend,
            request=ground.request,
        )
        row = records.judgement_parameters(judgement, namespace, now, position)
        row["properties"] |= {
            "merge_id": ids[0],
            "kept_id": pair[0].id,
            "gone_id": pair[1].id,
            "moved": list(step.ends),
        }
        rows.append(row)
    await tx.run(load("write")["record_decisions"], decisions=rows)
    return ids


async def _beside(tx: Tx, namespace: str, moved: Iterable[str]) -> list[Fact]:
    rows = await tx.run(
        load("merge")["facts_that_meet"],
        namespace=namespace,
        ids=sorted(moved),
        one_valued=_ONE_VALUED,
    )
    return [records.fact(row["fact"]) for row in rows]


async def _link(
    tx: Tx, namespace: str, pairs: Sequence[tuple[str, str]], merge_id: str, now: datetime
) -> tuple[Link, ...]:
    links = tuple(
        Link(
            type="SAME_AS",
            source=newer,
            target=older,
            p=1.0,
            reason=_MERGE + merge_id,
            decided_at=now,
        )
        for newer, older in pairs
    )
    await tx.run(
        load("write")["link_facts"],
        namespace=namespace,
        links=[records.link_parameters(link) for link in links],
    )
    return links
