"""Ctrl-C ends what blocks; being terminated ends what was started."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


def interruptible() -> AbstractContextManager[None]:
    """Let Ctrl-C end blocking work at once, also below ``asyncio.run``."""
    return _handled(signal.SIGINT, signal.default_int_handler)


def terminable() -> AbstractContextManager[None]:
    """Take SIGTERM for Ctrl-C, so that what is released on the way out is released."""
    return _handled(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def _handled(number: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    try:
        before = signal.signal(number, handler)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(number, before)
