"""A LangGraph store (``BaseStore``) in engram_graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anyio.to_thread

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.models.items import Item, ItemHit
from engram_graph.rules.paths import clean_place
from engram_graph.rules.validate import clean_metadata
from engram_graph.sync import Memory

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
    from langgraph.store.base import Item as StoreItem
except ImportError as error:
    raise MissingExtraError(
        "EngramStore needs the package langgraph-checkpoint", extra="langgraph"
    ) from error

SAID = ("text", "content", "content.content", "data", "memory")
"""Fields of a value that are taken for what it says, as far as they are text."""


class EngramStore(BaseStore):
    """Keeps a graph's long-term memory as items, and what they say as messages with facts.

    Args:
        memory: the client, with its namespace; the store does not close it.
        fields: paths whose texts an item is found by, unless its put names others.
        said: fields, dots between names, whose text is also remembered as a message, so that
            facts, their history and ``as_of`` exist for it; empty for none. Not for an item put
            with ``index=False``.
        speaker: who says it; by default the item's namespace, such as ``users/ann``, so that the
            facts of two users are never one person's.

    A time to live is not supported (``supports_ttl`` is False).
    """

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] = ("$",),
        said: Sequence[str] = SAID,
        speaker: str | None = None,
    ) -> None:
        self.memory = memory
        self._fields = list(fields)
        self._said = tuple(said)
        self._speaker = speaker

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Read first, then write; of several puts at one place the last counts.

        Raises:
            InvalidNamespaceError, InputError: an operation is not usable; nothing was written.
        """
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                clean_place(op.namespace, op.key)
                clean_metadata(None if op.value is None else dict(op.value), "value")
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        paths: list[tuple[str, ...]] | None = None
        for op in given:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                item = self.memory.get_item(op.namespace, op.key)
                results.append(StoreItem(**_plain(item)) if item else None)
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                if paths is None:
                    paths = self.memory.item_paths()
                results.append(_listed(op, paths))
            else:
                raise InputError(f"unknown operation {type(op).__name__}")
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """``batch`` in a thread: the event loop goes on meanwhile."""
        return await anyio.to_thread.run_sync(self.batch, list(ops))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.filter or {}
        hits: list[ItemHit] = self.memory.find_items(
            op.namespace_prefix,
            query=op.query,
            where=(lambda value: _matches(value, wanted)) if wanted else None,
            limit=op.limit,
            offset=op.offset,
        )
        return [SearchItem(**_plain(hit.item), score=hit.score) for hit in hits]

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            self.memory.delete_item(op.namespace, op.key)
            return
        indexed = op.index is not False
        fields = op.index if isinstance(op.index, list) else self._fields
        texts = [text for each in fields for text in get_text_at_path(op.value, each)]
        place = "/".join(op.namespace)
        self.memory.put_item(
            op.namespace,
            op.key,
            op.value,
            texts=list(dict.fromkeys(filter(str.strip, texts))) if indexed else (),
            said=self._words(op.value) if indexed else None,
            speaker=self._speaker or place,
            conversation=place,
        )

    def _words(self, value: Mapping[str, Any]) -> str | None:
        found = (_text(value, field) for field in self._said)
        return "\n".join(text for text in found if text) or None


def _plain(item: Item) -> dict[str, Any]:
    return {
        "namespace": item.path,
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _text(value: Any, field: str) -> str | None:
    for name in field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and value.strip() else None


def _listed(op: ListNamespacesOp, paths: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    conditions = op.match_conditions or ()
    kept = {path[: op.max_depth] for path in paths if all(_lies(path, each) for each in conditions)}
    return sorted(kept)[op.offset : op.offset + op.limit]


def _lies(path: tuple[str, ...], condition: MatchCondition) -> bool:
    wanted = tuple(condition.path)
    if len(path) < len(wanted):
        return False
    ends = path[len(path) - len(wanted) :] if condition.match_type == "suffix" else path
    return all(want in ("*", label) for want, label in zip(wanted, ends, strict=False))


def _matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_fits(value.get(name), each) for name, each in wanted.items())


def _fits(found: Any, wanted: Any) -> bool:
    """Whether a part of a value is as a filter wants it; lists and objects part by part."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(found, operator, each) for operator, each in wanted.items())
        return isinstance(found, Mapping) and _matches(found, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(map(_fits, found, wanted))
        )
    return bool(found == wanted)


def _compares(found: Any, operator: str, wanted: Any) -> bool:
    if operator == "$eq":
        return bool(found == wanted)
    if operator == "$ne":
        return bool(found != wanted)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise InputError(f"unknown operator {operator!r}", hint="$eq, $ne, $gt, $gte, $lt, $lte.")
    try:
        here, there = float(found), float(wanted)
    except (TypeError, ValueError):  # what is no number is neither more nor less
        return False
    if operator in ("$gt", "$gte"):
        return here > there or (operator == "$gte" and here == there)
    return here < there or (operator == "$lte" and here == there)
