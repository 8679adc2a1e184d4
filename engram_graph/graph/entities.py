"""Entities: finding them by any of their names, and giving them other names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from engram_graph.errors import InputError, NotFoundError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Tx
from engram_graph.graph.queries import load
from engram_graph.graph.retry import until_done
from engram_graph.models.decisions import RequestLog
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Entity
from engram_graph.rules.names import entity_key

Resolved = dict[str, tuple[str, str]]
"""Key of an alias → key and name of the entity it means."""


async def entities(
    graph: Graph, namespace: str, *, like: str | None = None, limit: int = 100
) -> list[Entity]:
    """Entities by key, those whose key or alias holds ``like`` (lower case)."""
    rows = await graph.read(
        load("entities")["list_entities"], namespace=namespace, like=like, limit=limit, after=""
    )
    return [Entity.model_validate(row["entity"]) for row in rows]


async def entity(graph: Graph, namespace: str, name: str) -> Entity:
    """The entity of that name or alias.

    Raises:
        NotFoundError: there is none.
    """
    while True:
        rows = await graph.read(
            load("entities")["get_entity"], namespace=namespace, key=entity_key(name)
        )
        if not rows:
            raise unknown(name, namespace)
        if rows[0]["entity"]["id"] is not None:  # else it went while it was read: look again
            return Entity.model_validate(rows[0]["entity"])


def unknown(name: str, namespace: str) -> NotFoundError:
    """That nothing has this name or alias."""
    return NotFoundError(
        f"no entity {name!r} in namespace {namespace!r}",
        hint="`entities` lists those that are there; each has at least one fact.",
    )


async def resolve(graph: Graph, namespace: str, keys: Iterable[str]) -> Resolved:
    """The entities behind those of ``keys`` that are aliases; other keys are left out."""
    rows = await graph.read(
        load("entities")["resolve_keys"], namespace=namespace, keys=list(dict.fromkeys(keys))
    )
    return {row["key"]: (row["entity_key"], row["name"]) for row in rows}


async def profiles(
    graph: Graph, namespace: str, found: Sequence[Entity], limit: int
) -> dict[str, Profile]:
    """Key → profile with up to ``limit`` facts; an entity that has gone meanwhile is left out."""
    rows = await graph.read(
        load("entities")["profiles"],
        namespace=namespace,
        keys=[each.key for each in found],
        limit=limit,
    )
    by_key = {each.key: each for each in found}
    return {
        row["key"]: Profile(
            entity=by_key[row["key"]],
            facts=tuple(records.fact(fact) for fact in row["facts"]),
            apart=frozenset(row["apart"]),
        )
        for row in rows
    }


async def record_request(graph: Graph, namespace: str, request: RequestLog) -> None:
    """Keep a call to the decider, whether or not anything follows from it."""
    await graph.write(
        load("write")["record_requests"],
        requests=[records.request_properties(request, namespace)],
    )


async def add_alias(graph: Graph, namespace: str, name: str, alias: str, now: datetime) -> Entity:
    """Give the entity called ``name`` another name; it as it stands then.

    Raises:
        NotFoundError: no such entity. InputError: another entity has that name.
    """
    alias_key = entity_key(alias)

    async def work(tx: Tx) -> Entity:
        own = await _locked(tx, namespace, name)
        if alias_key == own.key:
            raise InputError(f"{alias!r} is the name of the entity itself", field="alias")
        scope = {"namespace": namespace, "key": own.key}
        claimed = await tx.run(load("entities")["claim_key"], namespace=namespace, key=alias_key)
        if not claimed[0]["free"]:
            raise _taken(alias, own.name)
        rows = await tx.run(
            load("entities")["put_alias"],
            alias_key=alias_key,
            name=alias.strip(),
            now=now,
            **scope,
        )
        if not rows[0]["made"] and rows[0]["names"] != [own.name]:
            raise _taken(alias, own.name, f", as an alias of {rows[0]['names'][0]!r}")
        return await show_aliases(tx, namespace, own.key)

    return await until_done(graph, "add_alias", work, repr(name))


async def remove_alias(graph: Graph, namespace: str, name: str, alias: str) -> Entity:
    """Take an alias from the entity called ``name``; it as it stands then.

    Raises:
        NotFoundError: no such entity, or it has no such alias. InputError: a merge left it.
    """

    async def work(tx: Tx) -> Entity:
        own = await _locked(tx, namespace, name)
        rows = await tx.run(
            load("entities")["drop_alias"],
            namespace=namespace,
            key=own.key,
            alias_key=entity_key(alias),
        )
        if not rows:
            raise NotFoundError(
                f"{own.name!r} has no alias {alias!r}",
                hint=f"Its aliases: {', '.join(own.aliases) or 'none'}.",
            )
        if rows[0]["merged"]:
            raise InputError(
                f"{alias!r} was merged into {own.name!r}",
                hint="`unmerge` takes the merge back, and the name with it.",
                field="alias",
            )
        return await show_aliases(tx, namespace, own.key)

    return await until_done(graph, "remove_alias", work, repr(name))


async def show_aliases(tx: Tx, namespace: str, key: str) -> Entity:
    """Bring ``Entity.aliases`` in line with the Alias nodes; the entity as it stands."""
    rows = await tx.run(load("entities")["show_aliases"], namespace=namespace, keys=[key])
    return Entity.model_validate(rows[0]["entity"])


async def _locked(tx: Tx, namespace: str, name: str) -> Entity:
    rows = await tx.run(load("entities")["get_entity"], namespace=namespace, key=entity_key(name))
    if rows:
        key = rows[0]["entity"]["key"]
        rows = await tx.run(load("merge")["lock_known_entities"], namespace=namespace, keys=[key])
    if not rows:
        raise unknown(name, namespace)
    return Entity.model_validate(rows[0]["entity"])


def _taken(alias: str, name: str, whose: str = "") -> InputError:
    return InputError(
        f"{alias!r} is taken{whose or ': an entity has that name'}",
        hint=f"If the two are the same, merge_entities({name!r}, {alias!r}).",
        field="alias",
    )
