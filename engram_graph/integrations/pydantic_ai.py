"""Tools and instructions for PydanticAI agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.models.facts import Fact
from engram_graph.sync import Memory
from engram_graph.vocabulary import PREDICATES

try:
    from pydantic_ai import FunctionToolset, ModelRetry, RunContext
except ImportError as error:
    raise MissingExtraError(
        "memory_toolset needs the package pydantic-ai-slim", extra="pydantic-ai"
    ) from error

T = TypeVar("T")


def memory_toolset(memory: Memory, *, speaker: str = "user") -> FunctionToolset[Any]:
    """The tools ``remember``, ``search_memory`` and ``fact_history`` on a memory.

    A value that the memory does not take is told to the model, which may try again.

    Args:
        memory: the client, with its namespace; nothing closes it.
        speaker: who says what is remembered.
    """

    async def remember(subject: str, predicate: str, object: str) -> str:  # noqa: A002
        """Remember one fact for later conversations."""
        added = await _run(partial(memory.remember, subject, predicate, object, speaker=speaker))
        return "; ".join(_told(fact) for fact in added.facts) or "nothing new"

    async def search_memory(question: str) -> str:
        """Find what is known from earlier conversations that bears on a question."""
        return (await _run(partial(memory.search, question, mode="both"))).context

    async def fact_history(subject: str, predicate: str | None = None) -> list[str]:
        """All that was ever true of somebody, with its dates, oldest first."""
        timeline = await _run(partial(memory.history, subject, predicate))
        return [_told(fact) for fact in timeline.facts]

    return FunctionToolset(
        [remember, search_memory, fact_history],
        id="engram_graph",
        instructions=f"The predicates of the memory are: {', '.join(PREDICATES)}.",
    )


def memory_instructions(
    memory: Memory, *, context_tokens: int | None = None
) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Instructions for an agent: what is known that bears on the prompt, marked as data.

    Args:
        context_tokens: their budget; None for the client's own.
    """

    async def known(ctx: RunContext[Any]) -> str:
        prompt = ctx.prompt
        parts = [prompt] if isinstance(prompt, str) else prompt or ()
        question = "\n".join(part for part in parts if isinstance(part, str))
        if not question.strip():
            return ""
        recall = await _run(
            partial(memory.search, question, mode="both", context_tokens=context_tokens)
        )
        return recall.context if recall.facts or recall.turns else ""

    return known


async def _run(call: Callable[[], T]) -> T:
    """A call of the blocking client in a thread."""
    try:
        return await anyio.to_thread.run_sync(call)
    except InputError as error:
        raise ModelRetry(f"{error.message} {error.hint}".strip()) from error


def _told(fact: Fact) -> str:
    until = f" until {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    return f"{fact.text} (since {fact.valid_from:%Y-%m-%d}{until})"
