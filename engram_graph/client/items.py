"""The client's methods: items, for adapters of frameworks that keep values under keys."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engram_graph import intake
from engram_graph.client.forgetting import Forgetting
from engram_graph.client.writing import Writing
from engram_graph.errors import InputError, NotFoundError
from engram_graph.flows import items
from engram_graph.graph import items as store
from engram_graph.graph.transfer_import import known_messages
from engram_graph.models.items import Item, ItemHit
from engram_graph.rules.paths import clean_path, clean_place
from engram_graph.rules.validate import clean_metadata, clean_query, clean_text


class Items(Writing, Forgetting):
    """``put_item``, ``get_item``, ``find_items``, ``delete_item``, ``item_paths``."""

    async def put_item(
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
        """Keep a JSON object under a path and a key, in the place of the one that is there.

        Args:
            path: labels, outermost first; at least one.
            texts: what ``find_items`` finds it by; none leaves it without a vector.
            said: what it says in words. It is also stored as a message, unless the last message
                of this item says the same, so facts and their history follow from it. Deleting
                the item forgets all its messages.
            speaker, role, conversation: of that message.

        Raises:
            InputError, ScopeError: nothing was stored.
        """
        scope = self._scope(namespace)
        labels, name = clean_place(path, key)
        if not isinstance(value, Mapping):
            raise InputError("value must be a JSON object", field="value")
        plain = clean_metadata(dict(value), "value")
        for text in texts:
            clean_text(text, "texts")
        given = {"speaker": speaker, "role": role, "conversation": conversation}
        told = said and intake.message(scope, {"content": said}, given).text
        runtime = await self.open()
        item = await items.put(runtime, scope, labels, name, plain, texts)
        if said is None or told == await self._told(scope, item):
            return item
        number = await store.count_said(runtime.graph, scope, labels, name)
        if number is None:  # deleted meanwhile
            return item
        item = item.model_copy(update={"said": number})
        await self.add(
            said,
            namespace=scope,
            speaker=speaker,
            role=role,
            conversation=conversation,
            source_id=item.sources()[-1],
        )
        now = await store.get(runtime.graph, scope, labels, name)
        if now is None or now.source != item.source:  # deleted before the message came
            await self._forget_said(scope, item.sources()[-1:])
        return item

    async def get_item(
        self, path: Sequence[str], key: str, *, namespace: str | None = None
    ) -> Item | None:
        """The item under a path and a key; None when there is none."""
        scope = self._scope(namespace)
        labels, name = clean_place(path, key)
        return await store.get((await self.open()).graph, scope, labels, name)

    async def find_items(
        self,
        prefix: Sequence[str] = (),
        *,
        namespace: str | None = None,
        query: str | None = None,
        where: Callable[[Mapping[str, Any]], bool] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[ItemHit]:
        """Items at a path or below it: by nearness to a query, then the rest, oldest first.

        Args:
            prefix: whole labels; empty for all items of the namespace.
            query: compared with the items' texts; not used while there is no embedder.
            where: told an item's value; False leaves the item out.
            limit, offset: how many, after leaving out how many.
        """
        scope = self._scope(namespace)
        labels = clean_path(prefix)
        for number, field in ((limit, "limit"), (offset, "offset")):
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise InputError(f"{field} must be a number from 0", field=field)
        words = clean_query(query) if query and query.strip() else None
        return await items.find(await self.open(), scope, labels, words, where, limit, offset)

    async def delete_item(
        self, path: Sequence[str], key: str, *, namespace: str | None = None
    ) -> bool:
        """Delete an item and forget its messages; whether there was one."""
        scope = self._scope(namespace)
        labels, name = clean_place(path, key)
        graph = (await self.open()).graph
        item = await store.get(graph, scope, labels, name)
        known = item.sources() if item else []
        await self._forget_said(scope, known)
        gone = await store.delete(graph, scope, labels, name)
        if gone is not None:  # what was said meanwhile
            await self._forget_said(scope, [each for each in gone.sources() if each not in known])
        return gone is not None

    async def item_paths(self, *, namespace: str | None = None) -> list[tuple[str, ...]]:
        """Every path that has an item, sorted."""
        scope = self._scope(namespace)
        return await store.paths((await self.open()).graph, scope)

    async def _forget_said(self, scope: str, sources: Sequence[str]) -> None:
        for source in sources:
            with contextlib.suppress(NotFoundError):  # forgotten by itself
                await self.forget(message=source, namespace=scope)

    async def _told(self, scope: str, item: Item) -> str | None:
        """The text of an item's last message."""
        if not item.said:
            return None
        last = item.sources()[-1]
        known = await known_messages((await self.open()).graph, scope, [last])
        return known[last].message.text if last in known else None
