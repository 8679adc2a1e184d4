"""mem0's methods on this memory, for code that was written for ``mem0.Memory`` (2.2).

Each user has a namespace of its own, ``SPACE/user/ID``; what is kept under an agent or a run alone
has one as well. No call reaches from one into another. The package mem0ai is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from engram_graph.integrations import mem0_forms as forms
from engram_graph.integrations.mem0_async import AsyncMemory
from engram_graph.integrations.mem0_forms import (
    UNSET,
    Mem0InputError,
    MemoryNotFoundError,
    UnsupportedError,
)
from engram_graph.portal import twin_of
from engram_graph.sync.base import BlockingConnection

__all__ = ["AsyncMemory", "Mem0InputError", "Memory", "MemoryNotFoundError", "UnsupportedError"]
Row = dict[str, Any]


class Memory(BlockingConnection):
    """mem0's ``Memory``: the same methods, arguments and results.

    Args:
        config: not taken; settings come from the environment, or are passed as ``parts``.
        space: begins the name of every namespace; two spaces share nothing.
        parts: as of ``engram_graph.Memory``.

    Raises:
        UnsupportedError: a ``config``. Mem0InputError: ``space`` holds a slash.
    """

    def __init__(self, config: None = None, *, space: str = "mem0", **parts: Any) -> None:
        forms.checked_space(space, config)  # before a thread is started
        super().__init__(**parts)
        self._mem0 = AsyncMemory(space=space, memory=self._inner)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> NoReturn:
        """Not to be had: raises UnsupportedError."""
        forms.no_config()

    @twin_of(AsyncMemory.add)
    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, list[Row]]:
        return self._call(
            partial(
                self._mem0.add,
                messages,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                metadata=metadata,
                timestamp=timestamp,
                expiration_date=expiration_date,
                infer=infer,
                memory_type=memory_type,
                prompt=prompt,
            )
        )

    @twin_of(AsyncMemory.search)
    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, list[Row]]:
        return self._call(
            partial(
                self._mem0.search,
                query,
                top_k=top_k,
                filters=filters,
                threshold=threshold,
                rerank=rerank,
                explain=explain,
                reference_date=reference_date,
                show_expired=show_expired,
                **kwargs,
            )
        )

    @twin_of(AsyncMemory.get)
    def get(self, memory_id: str) -> Row | None:
        return self._call(self._mem0.get, memory_id)

    @twin_of(AsyncMemory.get_all)
    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, list[Row]]:
        return self._call(
            partial(
                self._mem0.get_all,
                filters=filters,
                top_k=top_k,
                show_expired=show_expired,
                **kwargs,
            )
        )

    @twin_of(AsyncMemory.update)
    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        return self._call(self._mem0.update, memory_id, text, metadata, expiration_date, data)

    @twin_of(AsyncMemory.delete)
    def delete(self, memory_id: str) -> dict[str, str]:
        return self._call(self._mem0.delete, memory_id)

    @twin_of(AsyncMemory.delete_all)
    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        return self._call(self._mem0.delete_all, user_id, agent_id, run_id)

    @twin_of(AsyncMemory.history)
    def history(self, memory_id: str) -> list[Row]:
        return self._call(self._mem0.history, memory_id)

    @twin_of(AsyncMemory.reset)
    def reset(self) -> None:
        self._call(self._mem0.reset)

    @twin_of(AsyncMemory.chat)
    def chat(self, query: str) -> None:
        self._call(self._mem0.chat, query)
