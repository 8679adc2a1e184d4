"""A file of messages or facts goes in, line by line; the same file again changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import anyio.to_thread

from engram_graph import intake
from engram_graph.errors import InputError
from engram_graph.flows import write
from engram_graph.flows.runtime import Runtime
from engram_graph.formats.lines import FactItem, Item, MessageItem, read_items
from engram_graph.models.facts import Extracted, Message
from engram_graph.models.results import Imported
from engram_graph.rules.text import turn_text
from engram_graph.vocabulary import MessageStatus

Progress = Callable[[int, int], None]
_BATCH = 64  # texts embedded at once; the embedder's cache then serves them one by one


async def ingest(
    runtime: Runtime,
    namespace: str,
    path: Path,
    *,
    conversation: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """See ``AsyncMemory.ingest``.

    Raises:
        InputError: no such file, no known format, or no such conversation in it.
    """
    total = await anyio.to_thread.run_sync(lambda: sum(1 for _ in _read(path, conversation)))
    if conversation is not None and not total:
        raise InputError(
            f"no conversation {conversation!r} in {path.name}",
            hint="Leave out --conversation to ingest all of it.",
        )
    messages = facts = skipped = done = 0
    failed: list[tuple[int, str]] = []
    items = _read(path, conversation)
    while batch := await anyio.to_thread.run_sync(lambda: list(islice(items, _BATCH))):
        ready: list[tuple[int, Message, Extracted | None]] = []
        for position, item in batch:
            try:
                if isinstance(item, InputError):
                    raise item
                ready.append((position, *_checked(namespace, item)))
            except InputError as error:
                failed.append((position, error.message))
        texts = [turn_text(message.speaker, message.text) for _, message, _ in ready]
        texts += [draft.text for *_, given in ready if given for draft in given.drafts]
        if texts:
            await runtime.embed(texts)
        for position, message, given in ready:
            stored, vectors, degraded = await write.store(runtime, message, given)
            known = not stored.created and stored.message.status is MessageStatus.DONE
            added = await write.process(runtime, stored, vectors, degraded)
            if added.message.status is MessageStatus.FAILED:
                failed.append((position, added.message.error or "extraction failed"))
            messages += stored.created
            skipped += known
            facts += 0 if known else len(added.facts)
            done += 1
            if progress:
                progress(min(done + len(failed), total), total)
    return Imported(messages=messages, facts=facts, skipped=skipped, failed=tuple(failed))


def _read(path: Path, conversation: str | None) -> Iterator[tuple[int, Item | InputError]]:
    for position, item in read_items(path):
        if conversation is None or getattr(item, "conversation", None) == conversation:
            yield position, item


def _checked(namespace: str, item: Item) -> tuple[Message, Extracted | None]:
    if isinstance(item, FactItem):
        return intake.given(
            namespace,
            {
                "subject": item.subject,
                "predicate": item.predicate,
                "object": item.object,
                "text": item.text,
                "valid_from": item.valid_from,
                "valid_until": item.valid_until,
                "said_at": item.said_at,
                "speaker": item.speaker,
                "source_id": item.source_id,
            },
        )
    assert isinstance(item, MessageItem)
    message = intake.message(
        namespace,
        {
            "content": item.text,
            "speaker": item.speaker,
            "role": item.role,
            "said_at": item.said_at,
            "source_id": item.source_id,
            "conversation": item.conversation,
            "metadata": item.metadata or None,
        },
        {},
    )
    return message, None
