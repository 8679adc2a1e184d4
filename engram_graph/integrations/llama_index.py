"""A LlamaIndex memory block in engram_graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio.to_thread
from pydantic import Field

from engram_graph.errors import MissingExtraError
from engram_graph.models.results import Mode
from engram_graph.rules.tokens import estimate_tokens
from engram_graph.sync import Memory

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise MissingExtraError(
        "EngramMemoryBlock needs the package llama-index-core", extra="llama-index"
    ) from error


class EngramMemoryBlock(BaseMemoryBlock[str]):
    """Remembers messages that leave the short-term memory; gives what bears on the last question.

    Attributes:
        memory: the client, with its namespace; the block does not close it.
        mode: what to search: ``facts``, ``turns`` or ``both``.
        context_tokens: the budget of what it gives; None for the client's own.
        speaker: who says what the user says.
    """

    name: str = "engram"
    description: str | None = "What is known from earlier conversations."
    memory: Memory = Field(exclude=True)
    mode: Mode = "both"
    context_tokens: int | None = None
    speaker: str = "user"

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [each for each in messages or () if each.role == "user" and each.content]
        if not asked:
            return ""
        recall = await anyio.to_thread.run_sync(
            partial(
                self.memory.search,
                str(asked[-1].content),
                mode=self.mode,
                context_tokens=self.context_tokens,
            )
        )
        return recall.context if recall.facts or recall.turns else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for each in messages:
            if each.role not in ("user", "assistant") or not (each.content or "").strip():
                continue
            session = each.additional_kwargs.get("session_id")
            await anyio.to_thread.run_sync(
                partial(
                    self.memory.add,
                    str(each.content),
                    role=each.role.value,
                    speaker=self.speaker if each.role == "user" else None,
                    conversation=str(session) if session else None,
                )
            )

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """``content`` without as many of its last lines as that takes; None if none is left."""
        lines = content.split("\n")
        wanted = estimate_tokens(content) - tokens_to_truncate
        while lines and estimate_tokens("\n".join(lines)) > wanted:
            lines.pop()
        return "\n".join(lines) or None
