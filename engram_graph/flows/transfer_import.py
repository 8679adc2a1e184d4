"""A file of an export goes into a namespace: checked whole, then written in repeatable batches.

A second import finds what the first one wrote by its ids, and nothing that is known is changed.
What a batch adds is told apart from what was there by a mark that facts and messages carry until
the end: links and decisions are added to marked facts only, so a broken import is completed by
another one, and a whole one is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, TypeVar

import anyio.to_thread

from engram_graph.errors import ConflictError, InputError
from engram_graph.flows.runtime import Runtime
from engram_graph.flows.transfer_names import Names
from engram_graph.formats.export import Line, read_header, read_records
from engram_graph.formats.export_check import Register, check
from engram_graph.graph import transfer
from engram_graph.graph import transfer_import as store
from engram_graph.graph.write import Stored
from engram_graph.models.export import (
    AliasRecord,
    AnyRecord,
    ConversationRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    Header,
    ItemRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Fact, Vector
from engram_graph.models.results import Imported
from engram_graph.rules.foreign import without
from engram_graph.rules.text import turn_text

Progress = Callable[[int, int], None]
R = TypeVar("R")
_BATCH = 1000  # records of one kind in a transaction,
_BATCH_BYTES = 4_000_000  # unless they are long


async def import_(
    runtime: Runtime, namespace: str, path: Path, progress: Progress | None
) -> Imported:
    """See ``AsyncMemory.import_``."""
    try:
        stream = await anyio.to_thread.run_sync(path.open, "rb")
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or type(error).__name__}", field="path"
        ) from None
    with stream, closing(Register()) as register:
        header = read_header(stream)
        begin = stream.tell()
        secrets = await anyio.to_thread.run_sync(check, stream, header, register)
        stream.seek(begin)
        transport = _Transport(runtime, namespace, header, register)
        await transport.refuse_ids_of_others()
        done = 0
        batches = _batches(stream, secrets)
        while batch := await anyio.to_thread.run_sync(next, batches, None):
            await transport.write(batch)
            done += len(batch)
            if progress:
                progress(done, header.counts.total)
        await transport.finish()
        return transport.result()


Batch = list[tuple[Line, AnyRecord]]


def _batches(stream: BinaryIO, secrets: Sequence[str]) -> Iterator[Batch]:
    """Records of one kind that follow each other: as the file has them, and without credentials."""
    batch: Batch = []
    size = 0
    for line in read_records(stream):
        full = len(batch) >= _BATCH or size >= _BATCH_BYTES
        if batch and (full or batch[0][1].record != line.record.record):
            yield batch
            batch, size = [], 0
        batch.append((line, without(line.record, secrets)))
        size += line.size
    if batch:
        yield batch


class _Transport:
    """One import, batch by batch, and what came of it."""

    def __init__(
        self, runtime: Runtime, namespace: str, header: Header, register: Register
    ) -> None:
        self._runtime = runtime
        self._graph = runtime.graph
        self._namespace = namespace
        self._header = header
        self._register = register
        self._names = Names(namespace, header.namespace, register)
        self._messages = self._facts = self._skipped = 0
        self._failed: list[tuple[int, str]] = []
        self._degraded: dict[str, None] = {}
        self._takes_vectors: bool | None = None

    def result(self) -> Imported:
        """What came of it."""
        return Imported(
            messages=self._messages,
            facts=self._facts,
            skipped=self._skipped,
            failed=tuple(self._failed),
            degraded=tuple(self._degraded),
        )

    async def refuse_ids_of_others(self) -> None:
        """A file made by hand may name ids of another namespace; nothing there is touched.

        Raises:
            InputError: it does; nothing was imported.
        """
        for ids in self._register.ids() if self._names.kept else ():
            if await store.elsewhere(self._graph, self._namespace, ids):
                raise InputError(
                    "the file has ids of records in another namespace",
                    hint="Import it into a namespace of another name: ids are then made anew.",
                )

    async def write(self, batch: Batch) -> None:
        """One batch of records of one kind."""
        match batch[0][1]:
            case ConversationRecord():
                names = {record.name for record in _only(batch, ConversationRecord)}
                await store.conversations(self._graph, self._namespace, sorted(names))
            case MessageRecord():
                await self._write_messages(batch)
            case EntityRecord():
                await self._keep_entities(batch)
            case FactRecord():
                await self._write_facts(batch)
            case MentionRecord():
                await self._write_mentions(_only(batch, MentionRecord))
            case LinkRecord():
                links = [self._names.link(record) for record in _only(batch, LinkRecord)]
                await store.links(self._graph, self._namespace, _there(links))
            case DecisionRecord():
                found = [self._names.decision(record) for record in _only(batch, DecisionRecord)]
                await store.decisions(self._graph, self._namespace, _there(found))
            case RequestRecord():
                requests = [
                    (*self._names.request(record), not record.decisions)
                    for record in _only(batch, RequestRecord)
                ]
                await store.requests(self._graph, self._namespace, requests)
            case AliasRecord():
                aliases = [self._names.alias(record) for record in _only(batch, AliasRecord)]
                await store.aliases(self._graph, self._namespace, aliases)
            case FeedbackRecord():
                labels = [self._names.feedback(record) for record in _only(batch, FeedbackRecord)]
                await store.feedback(self._graph, self._namespace, _there(labels))
            case ItemRecord():
                await self._write_items(_only(batch, ItemRecord))

    async def finish(self) -> None:
        """All is there: take the marks away."""
        for ids in self._register.marked():
            await store.done(self._graph, self._namespace, ids)

    async def _write_messages(self, batch: Batch) -> None:
        known = await store.known_messages(
            self._graph,
            self._namespace,
            [record.message.source_id for record in _only(batch, MessageRecord)],
        )
        new: list[MessageRecord] = []
        for line, record in batch:
            assert isinstance(record, MessageRecord)
            message = record.message.model_copy(
                update={
                    "id": self._names.derived(record.message.id),
                    "namespace": self._namespace,
                }
            )
            here = record.model_copy(update={"message": message})
            there = known.get(message.source_id)
            if there is None:
                self._names.message(record, message.id)
                new.append(here)
                known[message.source_id] = Stored(message, True, record.drafts)
            elif _is_same(there, here):
                self._names.message(record, there.message.id)
                self._register.mark([there.message.id])
                self._skipped += 1
            else:
                self._names.message(record, None)
                self._failed.append(
                    (line.number, "another message has this source_id: it is left out")
                )
        if not new:
            return
        vectors = await self._vectors(
            [turn_text(r.message.speaker, r.message.text) for r in new], [r.vector for r in new]
        )
        made = await store.messages(
            self._graph,
            self._namespace,
            [
                record.model_copy(update={"vector": vector})
                for record, vector in zip(new, vectors, strict=True)
            ],
        )
        if made != len(new):
            raise ConflictError(
                "messages with the same source_id were stored while the file was imported",
                hint="Import the file again: what is there is skipped.",
            )
        self._messages += made
        self._register.mark(record.message.id for record in new)

    async def _keep_entities(self, batch: Batch) -> None:
        """An entity is stored with its first fact; a name that is an alias here means another."""
        keys = [record.entity.key for record in _only(batch, EntityRecord)]
        meant = await store.resolved(self._graph, self._namespace, keys)
        for line, record in batch:
            assert isinstance(line.record, EntityRecord)
            assert isinstance(record, EntityRecord)
            key = meant.get(record.entity.key, record.entity.key)
            entity = record.entity.model_copy(update={"key": key})
            self._names.entity(line.record.entity.key, record.model_copy(update={"entity": entity}))

    async def _write_facts(self, batch: Batch) -> None:
        kept: list[tuple[FactRecord, list[str]]] = []
        entities: dict[str, EntityRecord] = {}
        for line, record in batch:
            assert isinstance(record, FactRecord)
            old = record.fact
            new_id = self._names.of(old.id)
            sources = _there([self._names.of(source) for source in record.sources])
            if new_id is None or not sources:
                self._names.leave_out(old.id)
                self._failed.append((line.number, "its message is left out, and so is the fact"))
                continue
            subject, obj = (self._register.entity(k) for k in (old.subject_key, old.object_key))
            entities |= {each.entity.key: each for each in (subject, obj)}
            here = {
                "id": new_id,
                "namespace": self._namespace,
                "subject_key": subject.entity.key,
                "object_key": obj.entity.key,
            }
            fact = old.model_copy(update=here)
            kept.append((record.model_copy(update={"fact": fact}), sources))
        known = await store.known_facts(
            self._graph, self._namespace, [record.fact.id for record, _ in kept]
        )
        new = [record for record, _ in kept if record.fact.id not in known]
        vectors = await self._vectors([r.fact.text for r in new], [r.vector for r in new])
        needed = {key for r in new for key in (r.fact.subject_key, r.fact.object_key)}
        rows: list[tuple[Fact, Vector | None, str]] = [
            (record.fact, vector, entities[record.fact.subject_key].entity.id)
            for record, vector in zip(new, vectors, strict=True)
        ]
        await store.facts(
            self._graph,
            self._namespace,
            [entities[key] for key in sorted(needed)],
            rows,
            [(record.fact.id, sources) for record, sources in kept],
        )
        self._facts += len(new)
        self._skipped += len(known)
        self._register.mark(record.fact.id for record in new)
        self._register.mark(fact_id for fact_id, importing in known.items() if importing)

    async def _write_mentions(self, records: Sequence[MentionRecord]) -> None:
        ids = {r.fact: new for r in records if (new := self._names.of(r.fact)) is not None}
        known = await store.known_facts(self._graph, self._namespace, list(ids.values()))
        entities: dict[str, EntityRecord] = {}
        kept: list[MentionRecord] = []
        for record in records:
            fact_id = ids.get(record.fact)
            if fact_id is not None and known.get(fact_id):
                entity = self._register.entity(record.entity)
                entities[entity.entity.key] = entity
                here = {
                    "fact": fact_id,
                    "entity": entity.entity.key,
                    "of": tuple(map(self._names.derived, record.of)),
                }
                kept.append(record.model_copy(update=here))
        await store.mentions(self._graph, self._namespace, list(entities.values()), kept)

    async def _write_items(self, records: Sequence[ItemRecord]) -> None:
        texts = [text for record in records for text in record.texts]
        vectors = iter(await self._vectors([t.text for t in texts], [t.vector for t in texts]))
        here = [
            record.model_copy(
                update={
                    "item": self._names.item(record.item),
                    "texts": tuple(
                        text.model_copy(update={"vector": next(vectors)}) for text in record.texts
                    ),
                }
            )
            for record in records
        ]
        await store.items(self._graph, self._namespace, here)

    async def _vectors(
        self, texts: Sequence[str], given: Sequence[Vector | None]
    ) -> list[Vector | None]:
        """The file's vectors when what made them is in use here; else new ones."""
        found: list[Vector | None] = list(given)
        if not await self._may_take_vectors():
            found = [None] * len(texts)
        missing = [place for place, vector in enumerate(found) if vector is None]
        if missing:
            made, reason = await self._runtime.embed([texts[place] for place in missing])
            if reason:
                self._degraded[reason] = None
            for place, vector in zip(missing, made, strict=True):
                found[place] = vector
        return found

    async def _may_take_vectors(self) -> bool:
        if self._takes_vectors is None:
            wanted = self._header.embedding
            if not self._header.vectors or wanted is None:
                self._takes_vectors = False
            else:
                await self._runtime.embed(["dimension"])  # settles what the indexes are made for
                self._takes_vectors = await transfer.embedding(self._graph) == wanted
        return self._takes_vectors


def _only(batch: Batch, kind: type[R]) -> list[R]:
    return [record for _, record in batch if isinstance(record, kind)]


def _there(items: Sequence[R | None]) -> list[R]:
    return [item for item in items if item is not None]


def _is_same(there: Stored, here: MessageRecord) -> bool:
    """Whether a known message is this one: imported before, or the same words stored by itself."""
    if there.message.id == here.message.id:
        return True
    names = ("conversation", "speaker", "role", "text", "said_at")
    return there.drafts == here.drafts and all(
        getattr(there.message, name) == getattr(here.message, name) for name in names
    )
