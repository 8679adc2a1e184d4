"""Another memory's messages and facts come into a namespace, by way of an export."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from engram_graph import clock
from engram_graph.errors import InputError
from engram_graph.flows import transfer_import
from engram_graph.flows.runtime import Runtime
from engram_graph.formats import moving_agent_memory, moving_graphiti, moving_mem0
from engram_graph.formats.export import render
from engram_graph.formats.moving import Records, fallbacks, refuse_unusable
from engram_graph.graph import moving as store
from engram_graph.graph import transfer_import as known
from engram_graph.graph.driver import Graph
from engram_graph.models.export import KINDS, Counts, Header
from engram_graph.models.moving import Foreign, LeftOut, Moved
from engram_graph.rules.validate import clean_text

Progress = Callable[[int, int], None]
_BATCH = 1000


async def graphiti(graph: Graph, group: str) -> Foreign:
    """A group of graphiti's graph.

    Raises:
        InputError: there is no such group.
    """
    found = moving_graphiti.read(
        group,
        await store.pages(graph, "graphiti_episodes", group, "episode", "uuid"),
        await store.pages(graph, "graphiti_facts", group, "fact", "uuid"),
        await store.rest(graph, "graphiti_rest", group),
    )
    await _need_something(graph, found, "group", "graphiti_groups")
    return found


async def agent_memory(graph: Graph, user: str | None) -> Foreign:
    """What neo4j-agent-memory holds of a user, or all of it.

    Raises:
        InputError: there is nothing.
    """
    found = moving_agent_memory.read(
        user,
        await store.pages(graph, "agent_memory_messages", user, "message", "id"),
        await store.pages(graph, "agent_memory_relations", user, "relation", "id"),
        await store.pages(graph, "agent_memory_facts", user, "fact", "id"),
        await store.pages(graph, "agent_memory_preferences", user, "preference", "id"),
        await store.rest(graph, "agent_memory_rest", user),
    )
    await _need_something(graph, found, "user", "agent_memory_users")
    return found


async def _need_something(graph: Graph, found: Foreign, field: str, name: str) -> None:
    if found.messages or found.facts or found.left_out:
        return
    there = await store.parts(graph, name)
    raise InputError(
        f"{found.source} has nothing of {found.scope!r} there"
        if found.scope
        else f"there is nothing of {found.source} in that database",
        hint=f"It has these: {', '.join(there)}." if there else "Is it the right database?",
        field=field,
    )


async def mem0(path: Path, history: Path | None, user_id: str | None) -> Foreign:
    """A file of mem0's ``get_all``, and one of its ``history``.

    Raises:
        InputError: a file cannot be read, or is of another form.
    """
    memories = await anyio.to_thread.run_sync(_listed, path, ("results", "memories"))
    rows = [] if history is None else await anyio.to_thread.run_sync(_listed, history, ("history",))
    return moving_mem0.read(memories, rows, moving_mem0.chosen(memories, user_id))


def _listed(path: Path, names: tuple[str, ...]) -> list[dict[str, Any]]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or type(error).__name__}", field="path"
        ) from None
    except ValueError:
        raise InputError(f"{path} is not JSON", field="path") from None
    if isinstance(value, dict):
        value = next((value[name] for name in names if name in value), None)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise InputError(
            f"{path} holds no list of objects",
            hint="json.dump(memory.get_all(filters={...}), file) writes one.",
            field="path",
        )
    return value


async def move(
    runtime: Runtime,
    namespace: str,
    foreign: Foreign,
    *,
    dry_run: bool,
    progress: Progress | None,
) -> Moved:
    """Bring what was read into a namespace, or only count it."""
    refuse_unusable(foreign)
    scope = clean_text(f"{foreign.source} {foreign.scope}".strip())
    # The ids of a group or user follow from its name: two of them never share one.
    header = f"moved/{clock.derived_id(scope)}"
    records = Records(foreign, header, runtime.method.thresholds)
    told = Moved(
        source=foreign.source,
        namespace=namespace,
        not_moved=foreign.not_moved,
        fallback=fallbacks(foreign),
        dry_run=dry_run,
    )
    here = {clock.derived_id(namespace, each): fact for each, fact in records.fact_ids().items()}
    facts = await _in_batches(here, lambda ids: known.known_facts(runtime.graph, namespace, ids))
    still_open = await _in_batches(here, lambda ids: store.open_here(runtime.graph, namespace, ids))
    for fact_id in still_open:
        if here[fact_id].valid_until is not None:
            foreign.leave("end", here[fact_id].id, "it ended there since it was moved: open here")
    if dry_run:
        messages = [clock.derived_id(namespace, each) for each in records.message_ids()]
        there = await _in_batches(
            messages, lambda ids: store.messages_here(runtime.graph, namespace, ids)
        )
        return told.model_copy(
            update={
                "messages": len(messages) - len(there),
                "facts": len(here) - len(facts),
                "skipped": len(there) + len(facts),
                "left_out": tuple(foreign.left_out),
            }
        )
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:
        path = Path(folder) / "moved.jsonl"
        lines = await anyio.to_thread.run_sync(_write, path, header, records)
        done = await transfer_import.import_(runtime, namespace, path, progress)
    refused = [
        LeftOut(kind="line", id=lines[place - 2][:200], reason=reason)
        for place, reason in done.failed
    ]
    return told.model_copy(
        update={
            "messages": done.messages,
            "facts": done.facts,
            "skipped": done.skipped,
            "left_out": (*foreign.left_out, *refused),
            "degraded": done.degraded,
        }
    )


async def _in_batches(ids: Any, ask: Callable[[list[str]], Any]) -> list[str]:
    every = list(ids)
    found: list[str] = []
    for begin in range(0, len(every), _BATCH):
        found += await ask(every[begin : begin + _BATCH])
    return found


def _write(path: Path, header: str, records: Records) -> list[str]:
    """Write the export; what each record is called, by its place."""
    every = list(records.all())
    counts = Counter(str(record.record) for record in every)
    with path.open("wb") as stream:
        stream.write(
            render(
                Header(
                    namespace=header,
                    counts=Counts(**{kind: counts[kind] for kind in KINDS}),
                    exported_at=clock.now(),
                )
            )
        )
        for record in every:
            stream.write(render(record))
    return [
        str(getattr(getattr(record, "message", None), "source_id", record.record))
        for record in every
    ]
