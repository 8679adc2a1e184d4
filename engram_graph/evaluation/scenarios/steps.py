"""What each step of a scenario does, through the public API."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engram_graph.evaluation.scenarios import step_form as form
from engram_graph.evaluation.scenarios.checks import look
from engram_graph.evaluation.scenarios.world import World, reference
from engram_graph.memory import AsyncMemory

Reopen = Callable[[], Awaitable[None]]
_CONTEXT = re.compile(r"\{\{context:(.*?)\}\}", re.DOTALL)
_APART = 0.025  # seconds round a mark


async def perform(world: World, step: form.Step, client: AsyncMemory, reopen: Reopen) -> None:
    """Do one step with ``client``.

    Args:
        reopen: closes and opens the database itself, as far as it is ours.

    Raises:
        EngramError: whatever the product raises; anything else is a fault.
    """
    match step:
        case form.Remember():
            await _remember(world, step, client)
        case form.Add():
            await _add(world, step, client)
        case form.Decider():
            world.decider.script = step.answers
            world.decider.malformed = step.malformed
        case form.DeciderDown():
            world.decider.down = step.only
        case form.DeciderUp():
            world.decider.down = frozenset()
        case form.Extractor():
            world.extractor.script(step.replies)
        case form.Parallel():
            await _parallel(world, step, reopen)
        case form.Resume():
            await client.resume(namespace=world.ns(step.ns))
        case form.ReopenDatabase():
            await world.client.aclose()
            await reopen()
            world.client = world.make()
            await world.client.open()
        case form.Forget():
            await _forget(world, step, client)
        case form.ExportImport():
            await _export_import(world, step, client)
        case form.Search():
            query = step.query * step.repeat if isinstance(step.query, str) else step.query
            await client.search(query, namespace=world.ns(step.ns), mode=step.mode)
        case form.Hygiene():
            await client.hygiene(apply=True, namespace=world.ns(step.ns))
        case form.Mark():
            await asyncio.sleep(_APART)
            world.marks[step.name] = datetime.now(UTC)
            await asyncio.sleep(_APART)
        case form.CheckNow():
            await look(world, step.expect)


async def _remember(world: World, step: form.Remember, client: AsyncMemory) -> None:
    words = f"{step.subject} {str(step.relation).replace('_', ' ')} {step.object}"
    await client.remember(
        step.subject,
        step.relation,
        step.object,
        namespace=world.ns(step.ns),
        text=step.text if "text" in step.model_fields_set else words,
        said_at=step.said_at,
        valid_from=step.valid_from,
        speaker=step.speaker,
        source_id=step.source_id,
        metadata=step.metadata,
    )


async def _add(world: World, step: form.Add, client: AsyncMemory) -> None:
    text: Any = step.text
    if isinstance(text, str):
        for asked in dict.fromkeys(_CONTEXT.findall(text)):
            recall = await client.search(asked, namespace=world.ns(step.ns))
            text = text.replace("{{context:" + asked + "}}", recall.context)
        text *= step.repeat
    await client.add(
        text,
        namespace=world.ns(step.ns),
        role=step.role,
        speaker=step.speaker,
        said_at=step.said_at,
        source_id=step.source_id,
        metadata=step.metadata,
    )


async def _parallel(world: World, step: form.Parallel, reopen: Reopen) -> None:
    clients = [world.make() for _ in step.steps]
    try:
        for client in clients:  # connected already: what is to happen at once starts at once
            await client.open()
        done = await asyncio.gather(
            *(
                perform(world, inner, client, reopen)
                for inner, client in zip(step.steps, clients, strict=True)
            ),
            return_exceptions=True,
        )
    finally:
        for client in clients:
            await client.aclose()
    for result in done:
        if isinstance(result, BaseException):
            raise result


async def _forget(world: World, step: form.Forget, client: AsyncMemory) -> None:
    scope = world.ns(step.ns)
    if step.fact is not None:
        known = (await world.facts(step.ns)).get(reference(step.fact))
        await client.forget(fact=known.id if known else step.fact, namespace=scope)
    elif step.namespace:
        await client.forget(everything=True, namespace=scope)
    elif "message" in step.model_fields_set:
        await client.forget(message=step.message, namespace=scope)
    else:
        await client.forget(entity=step.entity, namespace=scope)
    world.exports.clear()  # what was written before may hold it


async def _export_import(world: World, step: form.ExportImport, client: AsyncMemory) -> None:
    with tempfile.TemporaryDirectory(prefix="engram-scenario-") as folder:
        file = Path(folder) / "export.jsonl"
        await client.export(file, namespace=world.ns(step.ns))
        world.exports.append(file.read_text(encoding="utf-8"))
        for _ in range(step.times):
            await client.import_(file, namespace=world.ns(step.into))
