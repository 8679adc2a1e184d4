"""What the store holds around a new fact: what it is compared with, and whom its names mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.models.facts import Vector
from engram_graph.rules.names import entity_key
from engram_graph.rules.situation import Candidate, Place, own_name
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import PREDICATES

_NEAR_SCAN = 50  # nearest by the index, of which the nearest in fact are taken
_RELATED_SCAN = 200  # newest facts of one subject and predicate that are compared by vector
_RARE_SCAN = 125  # facts counted at most: a fifth of them is a hub's degree of 25


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the store holds around a new fact.

    Attributes:
        names: key of an alias → name of the entity it means: of the place's names that are one, and
            of all that the subject has.
    """

    subject_version: int
    mentions: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    names: dict[str, str] = field(default_factory=dict)


async def surroundings(
    graph: Graph,
    place: Place,
    embedding: Vector | None,
    thresholds: Thresholds,
    now: datetime,
    near_ids: Sequence[str] | None = None,
) -> Surroundings:
    """G(f) for a new fact that belongs to ``place``, and the entities its text names.

    Args:
        near_ids: facts that count as nearest, where they are known; None asks the index.
    """
    predicate = PREDICATES[place.predicate]

    async def work(tx: Tx) -> Surroundings:
        at, params = place, _ends(place)
        known = await tx.run(load("write")["known_entities"], keys=list(at.named), **params)
        aliases = known[0]["aliases"]
        if aliases:
            at = at.under({row["alias"]: row["key"] for row in aliases})
            params = _ends(at)
            known = await tx.run(load("write")["known_entities"], keys=list(at.named), **params)
        rows = await tx.run(
            load("write")["candidates"],
            predicate=predicate.name,
            type=predicate.neo4j_type,
            embedding=embedding,
            near=thresholds.near,
            near_scan=max(_NEAR_SCAN, 2 * thresholds.near),
            near_ids=None if near_ids is None else list(near_ids),
            related=thresholds.related,
            related_scan=_RELATED_SCAN,
            rare_keys=list(at.named),
            rare_scan=_RARE_SCAN,
            rare_share=thresholds.rare_entity_share,
            rare_min=thresholds.rare_entity_min,
            single=predicate.single,
            begins=place.valid_from,
            message_id=place.message_id,
            now=now,
            **params,
        )
        names = {row["alias"]: row["name"] for row in aliases}
        names |= {entity_key(alias): known[0]["name"] for alias in known[0]["also"]}
        return Surroundings(
            subject_version=known[0]["version"],
            mentions=tuple(known[0]["mentions"]),
            candidates=tuple(candidate(row, names) for row in rows),
            names=names,
        )

    return await graph.look("surroundings", work)


def _ends(place: Place) -> dict[str, str]:
    return {
        "namespace": place.namespace,
        "subject_key": place.subject_key,
        "object_key": place.object_key,
    }


def candidate(row: dict[str, Any], names: Mapping[str, str] | None = None) -> Candidate:
    """A row with a fact, its speakers (by their own ``names``) and what superseded it."""
    return Candidate(
        fact=records.fact(row["fact"]),
        speakers=frozenset(own_name(speaker, names or {}) for speaker in row["speakers"]),
        how=frozenset(row.get("how") or ()),
        superseded_by=tuple(row["superseded_by"]),
    )
