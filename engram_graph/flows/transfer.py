"""A namespace goes into a file: read page by page, seen at one moment, written whole or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import anyio.to_thread

from engram_graph import clock
from engram_graph.errors import ConflictError
from engram_graph.flows.runtime import Runtime
from engram_graph.formats.export import render
from engram_graph.formats.whole_file import whole_file
from engram_graph.graph import transfer
from engram_graph.models.export import Counts, Exported, Header

Progress = Callable[[int, int], None]
_ATTEMPTS = 5


async def export(
    runtime: Runtime,
    namespace: str,
    path: Path,
    *,
    vectors: bool,
    overwrite: bool,
    progress: Progress | None,
) -> Exported:
    """See ``AsyncMemory.export``.

    Raises:
        ConflictError: the namespace kept changing; no file was written.
    """
    with whole_file(path, overwrite=overwrite) as stream:
        for _ in range(_ATTEMPTS):
            counts, before = await transfer.state(runtime.graph, namespace)
            written = await _write(
                runtime, namespace, stream, counts, vectors=vectors, progress=progress
            )
            _, after = await transfer.state(runtime.graph, namespace)
            if written and before == after:
                return Exported(path=str(path), namespace=namespace, counts=counts)
            stream.seek(0)
            stream.truncate()
        raise ConflictError(
            f"namespace {namespace!r} kept changing while it was exported",
            hint="Export it while nobody writes to it; `engram doctor` tells if it is sound.",
        )


async def _write(
    runtime: Runtime,
    namespace: str,
    stream: BinaryIO,
    counts: Counts,
    *,
    vectors: bool,
    progress: Progress | None,
) -> bool:
    """Whether as many records were written as there were to write."""
    header = Header(
        namespace=namespace,
        counts=counts,
        embedding=await transfer.embedding(runtime.graph),
        vectors=vectors,
        exported_at=clock.now(),
    )
    stream.write(render(header))
    found = dict.fromkeys(Counts.model_fields, 0)
    done = 0
    async for page in transfer.pages(runtime.graph, namespace, vectors):
        for record in page:
            found[record.record] += 1
        await anyio.to_thread.run_sync(stream.write, b"".join(map(render, page)))
        done += len(page)
        if progress and page:
            progress(min(done, counts.total), counts.total)
    return found == counts.model_dump()
