"""The server over standard input and output; standard output belongs to the protocol alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, BinaryIO, cast

from mcp.server.stdio import stdio_server

from engram_graph.mcp_server.profile import Profile
from engram_graph.mcp_server.server import build, kept_open
from engram_graph.memory import AsyncMemory


async def serve(memory: AsyncMemory, profile: Profile, stop: asyncio.Event) -> None:
    """Serve one client until its input ends or ``stop`` is set; ``memory`` is closed then."""
    server = build(memory, profile)
    lines = _lines(_own_input(), stop)
    async with (
        kept_open(memory),
        # What prints while it serves goes to standard error: the SDK sees to that.
        stdio_server(stdin=cast("Any", lines)) as (received, sent),
    ):
        await server.run_streams(received, sent)


def _own_input() -> BinaryIO:
    """Standard input, for this server alone: processes that it starts find theirs empty."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(own, "rb")


async def _lines(file: BinaryIO, stop: asyncio.Event) -> AsyncIterator[str]:
    """The lines of ``file`` until its end or ``stop``, read in a thread that nobody waits for.

    The SDK's own reading cannot be broken off: a signal would wait for the next line.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        with suppress(RuntimeError):  # the loop has gone
            with suppress(OSError):
                for line in file:
                    text = _whole(line.decode("utf-8", errors="replace"))
                    loop.call_soon_threadsafe(waiting.put_nowait, text)
            loop.call_soon_threadsafe(waiting.put_nowait, None)

    threading.Thread(target=read, name="engram_graph stdin", daemon=True).start()
    stopping = asyncio.create_task(stop.wait())
    stopping.add_done_callback(lambda _: waiting.put_nowait(None))
    try:
        while (line := await waiting.get()) is not None:
            yield line
    finally:
        stopping.cancel()


def _whole(line: str) -> str:
    """The line without halves of characters, which JSON can escape, as of a text cut in an emoji.

    The SDK drops such a message without an answer, and its sender would wait.
    """
    if "\\ud" not in line.lower():
        return line
    try:
        plain = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line  # the SDK's to refuse
    return re.sub("[\ud800-\udfff]", "\ufffd", plain)
