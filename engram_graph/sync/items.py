"""The blocking twins: put_item, get_item, find_items, delete_item, item_paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engram_graph.memory import AsyncMemory
from engram_graph.models.items import Item, ItemHit
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection


class BlockingItems(BlockingConnection):
    """``put_item``, ``get_item``, ``find_items``, ``delete_item``, ``item_paths``."""

    @twin_of(AsyncMemory.put_item)
    def put_item(
        self,
        path: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        namespace: str | None = None,
        texts: Sequence[str] = (),
        said: str | None = None,
        speaker: str | None = None,
        role: str = "user",
        conversation: str | None = None,
    ) -> Item:
        return self._call(
            lambda: self._inner.put_item(
                path,
                key,
                value,
                namespace=namespace,
                texts=texts,
                said=said,
                speaker=speaker,
                role=role,
                conversation=conversation,
            )
        )

    @twin_of(AsyncMemory.get_item)
    def get_item(
        self, path: Sequence[str], key: str, *, namespace: str | None = None
    ) -> Item | None:
        return self._call(lambda: self._inner.get_item(path, key, namespace=namespace))

    @twin_of(AsyncMemory.find_items)
    def find_items(
        self,
        prefix: Sequence[str] = (),
        *,
        namespace: str | None = None,
        query: str | None = None,
        where: Callable[[Mapping[str, Any]], bool] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[ItemHit]:
        return self._call(
            lambda: self._inner.find_items(
                prefix,
                namespace=namespace,
                query=query,
                where=where,
                limit=limit,
                offset=offset,
            )
        )

    @twin_of(AsyncMemory.delete_item)
    def delete_item(self, path: Sequence[str], key: str, *, namespace: str | None = None) -> bool:
        return self._call(lambda: self._inner.delete_item(path, key, namespace=namespace))

    @twin_of(AsyncMemory.item_paths)
    def item_paths(self, *, namespace: str | None = None) -> list[tuple[str, ...]]:
        return self._call(lambda: self._inner.item_paths(namespace=namespace))
