"""The blocking twins: entities, aliases, merge_entities and taking a merge back."""

from __future__ import annotations

from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Decision
from engram_graph.models.entities import Merged, MergeSuggestion, Unmerged
from engram_graph.models.facts import Entity
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingEntities(BlockingConnection):
    """``entities``, aliases, ``merge_entities`` and taking a merge back."""

    @twin_of(AsyncMemory.entities)
    def entities(
        self, *, namespace: str | None = None, like: str | None = None, limit: int = 100
    ) -> list[Entity]:
        return self._call(lambda: self._inner.entities(namespace=namespace, like=like, limit=limit))

    @twin_of(AsyncMemory.entity)
    def entity(self, name: str, *, namespace: str | None = None) -> Entity:
        return self._call(lambda: self._inner.entity(name, namespace=namespace))

    @twin_of(AsyncMemory.add_alias)
    def add_alias(
        self, entity: Entity | str, alias: str, *, namespace: str | None = None
    ) -> Entity:
        return self._call(lambda: self._inner.add_alias(entity, alias, namespace=namespace))

    @twin_of(AsyncMemory.remove_alias)
    def remove_alias(
        self, entity: Entity | str, alias: str, *, namespace: str | None = None
    ) -> Entity:
        return self._call(lambda: self._inner.remove_alias(entity, alias, namespace=namespace))

    @twin_of(AsyncMemory.merge_entities)
    def merge_entities(
        self,
        keep: Entity | str,
        other: Entity | str,
        *,
        reason: str = "",
        namespace: str | None = None,
    ) -> Merged:
        return self._call(
            lambda: self._inner.merge_entities(keep, other, reason=reason, namespace=namespace)
        )

    @twin_of(AsyncMemory.unmerge)
    def unmerge(
        self,
        merge: Merged | Decision | Entity | str,
        *,
        reason: str = "",
        namespace: str | None = None,
    ) -> Unmerged:
        return self._call(lambda: self._inner.unmerge(merge, reason=reason, namespace=namespace))

    @twin_of(AsyncMemory.suggest_merges)
    def suggest_merges(
        self, *, namespace: str | None = None, apply: bool = False
    ) -> list[MergeSuggestion]:
        return self._call(lambda: self._inner.suggest_merges(namespace=namespace, apply=apply))
