"""A session of the OpenAI Agents SDK in engram_graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import anyio.to_thread

from engram_graph import clock
from engram_graph.errors import MissingExtraError
from engram_graph.models.items import Item
from engram_graph.rules.validate import clean_text
from engram_graph.sync import Memory

try:
    from agents.items import TResponseInputItem
    from agents.memory import SessionABC, SessionSettings
    from agents.memory.session_settings import resolve_session_limit
except ImportError as error:
    raise MissingExtraError(
        "EngramSession needs the package openai-agents", extra="openai-agents"
    ) from error

ROOT = "openai-agents"
"""The first label of the path that a session's items stand under; the second is its id."""
_ALL = 2**31


class EngramSession(SessionABC):
    """Keeps the items of a conversation in their order, and what people say as messages with facts.

    Taking an item back, or clearing the session, forgets its messages too: with the facts that no
    other message states.

    Args:
        session_id: names the conversation within the memory's namespace.
        memory: the client, with its namespace; the session does not close it.
        speaker: who says what the user says; the assistant speaks as ``assistant``.
        session_settings: of the SDK; its limit holds where a call gives none.

    Raises:
        InputError: session_id or speaker is no name.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        speaker: str = "user",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = clean_text(session_id, "session_id")
        self.memory = memory
        self.session_settings = session_settings or SessionSettings()
        self._speaker = clean_text(speaker, "speaker")

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The conversation, oldest first; with a limit its latest items."""
        wanted = resolve_session_limit(limit, self.session_settings)
        found = await anyio.to_thread.run_sync(self._items)
        if wanted is not None:
            found = found[-wanted:] if wanted > 0 else []
        return [cast(TResponseInputItem, item.value) for item in found]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items; those of the user and the assistant are also remembered.

        Raises:
            InputError: an item is no JSON object; those before it are kept.
        """
        await anyio.to_thread.run_sync(self._add, [dict(cast(Any, item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back; None when there is none."""
        return cast("TResponseInputItem | None", await anyio.to_thread.run_sync(self._pop))

    async def clear_session(self) -> None:
        """Take every item back."""
        await anyio.to_thread.run_sync(self._clear)

    @property
    def _path(self) -> tuple[str, str]:
        return ROOT, self.session_id

    def _items(self) -> list[Item]:
        return [hit.item for hit in self.memory.find_items(self._path, limit=_ALL)]

    def _add(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            role = item.get("role")
            speaks = role in ("user", "assistant")
            self.memory.put_item(
                self._path,
                clock.new_id(),
                item,
                said=_text(item.get("content")) if speaks else None,
                speaker=self._speaker if role == "user" else "assistant",
                role=str(role) if speaks else "user",
                conversation=self.session_id,
            )

    def _pop(self) -> dict[str, Any] | None:
        for item in reversed(self._items()):
            if self.memory.delete_item(item.path, item.key):  # else another one took it
                return item.value
        return None

    def _clear(self) -> None:
        for item in self._items():
            self.memory.delete_item(item.path, item.key)


def _text(content: object) -> str | None:
    """What an item's content says: itself, or its parts that are text."""
    parts = [content] if isinstance(content, str) else content
    texts = []
    for part in parts if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str) and text.strip():
            texts.append(text)
    return "\n".join(texts) or None
