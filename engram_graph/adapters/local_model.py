"""What models on this machine share: where they are, whose turn it is, and a quiet start."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
from anyio.lowlevel import RunVar

from engram_graph.errors import ConfigurationError

_T = TypeVar("_T")
# One job of any local model at a time per event loop: torch uses all cores by itself, and waiting
# here, not in a thread, keeps the shared worker threads free for others.
_turn: RunVar[anyio.CapacityLimiter] = RunVar("engram_graph.local_model")


async def in_turn(work: Callable[[], _T]) -> _T:
    """What ``work`` gives, in a worker thread, once no other local model works."""
    try:
        limiter = _turn.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(1)
        _turn.set(limiter)
    return await anyio.to_thread.run_sync(work, limiter=limiter)


def installed(module: str) -> bool:
    """Whether a module can be imported; imports nothing."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def folder_of(model: str) -> Path | None:
    """The folder that ``model`` names; None for a name, which the library looks up.

    Raises:
        ConfigurationError: it is a path, and there is no folder.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise ConfigurationError(
            f"no model folder at {model}", hint="Give a folder, or the name of a model."
        )
    return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, no chatter on stderr while a model loads; settings are put back."""
    # Without this, tokenizers print a warning whenever the process forks afterwards.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    chatter: Any = import_module("transformers.utils.logging")

    names = ("transformers", "sentence_transformers", "huggingface_hub")
    before = [(logging.getLogger(name), logging.getLogger(name).level) for name in names]
    bars = chatter.is_progress_bar_enabled()
    for logger, _ in before:
        logger.setLevel(logging.ERROR)
    chatter.disable_progress_bar()
    try:
        yield
    finally:
        if bars:
            chatter.enable_progress_bar()
        for logger, level in before:
            logger.setLevel(level)
