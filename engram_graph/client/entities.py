"""The client's methods: entities, aliases, merge_entities and taking a merge back."""

from __future__ import annotations

from engram_graph import intake
from engram_graph.client.base import Connection
from engram_graph.flows import entities as flow
from engram_graph.graph import entities as store
from engram_graph.models.decisions import Decision
from engram_graph.models.entities import Merged, MergeSuggestion, Unmerged
from engram_graph.models.facts import Entity
from engram_graph.rules.names import normal_text
from engram_graph.rules.validate import clean_name, clean_text


class Entities(Connection):
    """``entities``, aliases, ``merge_entities`` and taking a merge back."""

    async def entities(
        self, *, namespace: str | None = None, like: str | None = None, limit: int = 100
    ) -> list[Entity]:
        """Entities in alphabetical order of their keys.

        Args:
            like: only those with this in their name or an alias, in any case.
            limit: most of them, 1 to 10,000.
        """
        scope = self._scope(namespace)
        limit = intake.whole_number(limit, 100, "limit", 1, 10_000)
        part = normal_text(clean_text(like, "like")) if like is not None else None
        return await store.entities((await self.open()).graph, scope, like=part, limit=limit)

    async def entity(self, name: str, *, namespace: str | None = None) -> Entity:
        """The entity of this name or alias.

        Raises:
            NotFoundError: there is none.
        """
        scope = self._scope(namespace)
        clean_name(name, "name")
        return await store.entity((await self.open()).graph, scope, name)

    async def add_alias(
        self, entity: Entity | str, alias: str, *, namespace: str | None = None
    ) -> Entity:
        """Give an entity another name: from now on facts about ``alias`` are about the entity.

        What was said of the alias before stays as it is; if it is an entity, merge the two. The
        entity ``user`` may get a name, too, and an entity the alias ``user``.

        Raises:
            NotFoundError: no such entity. InputError: the name is another entity's, or its alias.
        """
        scope = self._scope(namespace)
        return await flow.add_alias(await self.open(), scope, _name(entity), alias)

    async def remove_alias(
        self, entity: Entity | str, alias: str, *, namespace: str | None = None
    ) -> Entity:
        """Take an alias away: facts about it will be about an entity of that name again.

        Raises:
            NotFoundError: no such entity or alias. InputError: a merge left it; take that back.
        """
        scope = self._scope(namespace)
        clean_name(_name(entity), "entity")
        clean_name(alias, "alias")
        graph = (await self.open()).graph
        return await store.remove_alias(graph, scope, _name(entity), alias)

    async def merge_entities(
        self,
        keep: Entity | str,
        other: Entity | str,
        *,
        reason: str = "",
        namespace: str | None = None,
    ) -> Merged:
        """Make two entities one: facts of ``other`` become facts of ``keep``, its names aliases.

        Facts that say the same since then are linked; two open values of a one-valued relation are
        reported, and neither is closed. Logged with ``reason``; ``unmerge`` takes it back.

        Raises:
            NotFoundError: no such entity. InputError: the two are one already.
            ConflictError: other writers kept changing them.
        """
        scope = self._scope(namespace)
        return await flow.merge(await self.open(), scope, _name(keep), _name(other), reason)

    async def unmerge(
        self,
        merge: Merged | Decision | Entity | str,
        *,
        reason: str = "",
        namespace: str | None = None,
    ) -> Unmerged:
        """Take a merge back: the entity returns with its id, names, and the facts that moved.

        Facts written since then stay where they are.

        Args:
            merge: what ``merge_entities`` gave, one of its decisions (or the id), or a name: the
                merged entity's, or that of the entity it went into (its latest merge).

        Raises:
            NotFoundError: there is no such merge, or it was taken back before.
        """
        scope = self._scope(namespace)
        what = merge.id if isinstance(merge, Merged | Decision) else _name(merge)
        clean_name(what, "merge")
        return await flow.unmerge(await self.open(), scope, what, reason)

    async def suggest_merges(
        self, *, namespace: str | None = None, apply: bool = False
    ) -> list[MergeSuggestion]:
        """Entities that may be the same, by their names, with the decider's probability.

        At most 50 pairs, the likest names first. What was taken apart is not suggested again.

        Args:
            apply: merge those with .85 or more; logged with probability and request.
        """
        scope = self._scope(namespace)
        return await flow.suggest(await self.open(), scope, apply=apply)


def _name(entity: Entity | str) -> str:
    return entity.name if isinstance(entity, Entity) else entity
