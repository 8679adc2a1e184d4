"""A thread with an event loop of its own, for blocking callers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from engram_graph.errors import ConfigurationError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def twin_of(method: Callable[..., Any]) -> Callable[[F], F]:
    """Give a blocking method the words of its asynchronous twin."""

    def decorate(function: F) -> F:
        function.__doc__ = method.__doc__
        return function

    return decorate


class LoopThread:
    """Runs coroutines for threads that wait for them; also while those run a loop themselves."""

    def __init__(self) -> None:
        self._starting: AbstractContextManager[BlockingPortal] = start_blocking_portal(
            name="engram_graph"
        )
        self._portal: BlockingPortal | None = self._starting.__enter__()
        self._process = os.getpid()

    @property
    def stopped(self) -> bool:
        """Whether ``stop`` was called."""
        return self._portal is None

    def call(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        """What ``function(*args)`` gives when awaited in the thread.

        Raises:
            ConfigurationError: stopped, or made before this process was forked.
        """
        if self._portal is None:
            raise ConfigurationError("this Memory is closed", hint="Make a new one.")
        if self._process != os.getpid():  # its thread has stayed behind: it would wait for ever
            raise ConfigurationError(
                "this Memory was made before the process was forked",
                hint="Make a Memory in each process, after the fork.",
            )
        return self._portal.call(function, *args)

    def stop(self, error: BaseException | None = None) -> None:
        """End the thread: with an ``error`` what runs is cancelled, else waited for."""
        if self._portal is not None:
            self._portal = None
            self._starting.__exit__(type(error) if error else None, error, None)
