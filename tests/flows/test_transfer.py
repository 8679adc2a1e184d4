"""Export and import: a copy that differs in ids only, whatever broke off on the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical, exact
from flow_fakes import ScriptedExtractor, draft
from transfer_files import graph_of, lines_of

from engram_graph.clock import derived_id
from engram_graph.errors import ConflictError
from engram_graph.graph import transfer
from engram_graph.graph import transfer_import as store
from engram_graph.memory import AsyncMemory
from engram_graph.sync import Memory
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Made = Callable[..., AsyncMemory]

MOVE = {
    "relation_to_candidate": [
        {"fact": "Dunmere", "candidate": "works at Saltway", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "Dunmere", "candidate": "drives", "p": {"update": 0.97, "new": 0.03}},
    ]
}


# -- a copy ---------------------------------------------------------------------------------------


async def test_the_copy_is_equal_and_stays_so(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    graph = await graph_of(full)
    kinds = {line["record"] for line in lines_of(exported)[1:]}
    assert kinds == set(lines_of(exported)[0]["counts"])
    copy = namespace + "-copy"
    first = await full.import_(exported, namespace=copy)
    assert (first.messages, first.facts, first.skipped, first.failed) == (11, 9, 0, ())
    original = await exact(graph, namespace)
    assert await exact(graph, copy) == original
    again = await full.import_(exported, namespace=copy)
    assert (again.messages, again.facts, again.skipped, again.failed) == (0, 0, 20, ())
    assert await exact(graph, copy) == original
    assert await exact(graph, namespace) == original
    assert (await full.doctor(namespace=copy)).sound


async def test_the_namespace_itself_is_left_alone(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    before = await exact(await graph_of(full), namespace)
    done = await full.import_(exported)
    assert (done.messages, done.facts, done.skipped) == (0, 0, 20)
    assert await exact(await graph_of(full), namespace) == before


async def test_a_restored_namespace_has_its_ids(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    graph = await graph_of(full)
    before = await exact(graph, namespace)
    ids = [fact.id for fact in (await full.facts()).facts]
    await graph.statement("MATCH (n {namespace: $namespace}) DETACH DELETE n", namespace=namespace)
    await full.import_(exported)
    assert [fact.id for fact in (await full.facts()).facts] == ids
    assert await exact(graph, namespace) == before


async def test_a_copy_of_a_copy(
    full: AsyncMemory, namespace: str, exported: Path, tmp_path: Path
) -> None:
    graph = await graph_of(full)
    await full.import_(exported, namespace=namespace + "-1")
    await full.export(tmp_path / "second.jsonl", namespace=namespace + "-1", vectors=True)
    await full.import_(tmp_path / "second.jsonl", namespace=namespace + "-2")
    assert await exact(graph, namespace + "-2") == await exact(graph, namespace)


async def test_the_copy_lives_on_by_itself(
    full: AsyncMemory, namespace: str, exported: Path, decider: ScriptedDecider
) -> None:
    graph, copy = await graph_of(full), namespace + "-copy"
    await full.import_(exported, namespace=copy)
    before = await exact(graph, namespace)
    decider.script = MOVE
    await full.remember(
        *("Mirelle", "works_at", "Dunmere Bakery"),
        text="Mirelle works at Dunmere Bakery",
        said_at="2025-06-01T09:00:00Z",
        namespace=copy,
    )
    stays = await full.facts(namespace=copy, predicate="works_at", open=True)
    assert [fact.object for fact in stays.facts] == ["Dunmere Bakery"]
    assert await exact(graph, namespace) == before


async def test_a_merge_is_taken_back_in_the_copy(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    graph, copy = await graph_of(full), namespace + "-copy"
    await full.import_(exported, namespace=copy)
    original = await full.unmerge("Berold")
    there = await full.unmerge("Berold", namespace=copy)
    assert (len(there.facts), there.entity.name) == (len(original.facts), "Berold")
    assert await canonical(graph, copy) == await canonical(graph, namespace)
    assert (await full.entity("Mimi", namespace=copy)).name == "Mirelle"


async def test_what_a_merge_made_of_a_mention_is_taken_back_in_the_copy(
    make_memory: Made, namespace: str, tmp_path: Path
) -> None:
    """A fact that mentions an entity which was merged, and one that mentions both of them."""
    memory, path, copy = make_memory(), tmp_path / "a.jsonl", namespace + "-copy"
    for place in ("Hollin Press", "Hollin House"):
        await memory.remember(place, "related_to", "Saltway", said_at="2025-01-01")
    told = ("Bero met Mirelle at Hollin Press", "Bero met Odo at Hollin Press and Hollin House")
    for person, text in zip(("Mirelle", "Odo"), told, strict=True):
        await memory.remember("Bero", "friend_of", person, text=text, said_at="2025-02-01")
    graph = await graph_of(memory)
    before = (await canonical(graph, namespace))["facts"]
    await memory.merge_entities("Hollin House", "Hollin Press")
    await memory.export(path)
    await memory.import_(path, namespace=copy)
    assert await exact(graph, copy) == await exact(graph, namespace)
    await memory.unmerge("Hollin Press")
    await memory.unmerge("Hollin Press", namespace=copy)
    assert (await canonical(graph, namespace))["facts"] == before
    assert await canonical(graph, copy) == await canonical(graph, namespace)


async def test_a_name_that_is_an_alias_there_means_its_entity(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    other = namespace + "-other"
    await full.remember("Mirelle Vane", "owns", "a kiln", namespace=other)
    await full.add_alias("Mirelle Vane", "Mirelle", namespace=other)
    await full.import_(exported, namespace=other)
    found = await full.facts(subject="Mirelle", namespace=other)
    assert {fact.subject for fact in found.facts} == {"Mirelle Vane"}
    assert len(found.facts) == 7
    names = {entity.name for entity in await full.entities(namespace=other)}
    assert "Mirelle" not in names


async def test_every_answer_names_the_facts_of_the_copy(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    await full.import_(exported, namespace=namespace + "-copy")
    rows = await (await graph_of(full)).statement(
        "MATCH (q:Request {namespace: $namespace}) "
        "RETURN q.candidates AS ids, q.answers AS answers",
        namespace=namespace + "-copy",
    )
    here = {fact.id for fact in (await full.facts(namespace=namespace + "-copy")).facts}
    named = {one for row in rows for one in row["ids"]}
    asked = {key.partition(":")[2] for row in rows for key in json.loads(row["answers"])} - {""}
    assert named
    assert asked
    assert named | asked <= here


# -- unfinished messages --------------------------------------------------------------------------


async def test_an_unfinished_message_is_resumed_in_the_copy(
    full: AsyncMemory, namespace: str, exported: Path, extractor: ScriptedExtractor
) -> None:
    copy = namespace + "-copy"
    await full.import_(exported, namespace=copy)
    extractor.replies = [[draft("Mirelle likes tea", "Mirelle|prefers|tea")]]
    (done,) = await full.resume(namespace=copy)
    assert done.message.source_id == "m6"
    assert [fact.text for fact in done.facts] == ["Mirelle likes tea"]
    assert (await full.stats()).unfinished == 1
    again = await full.import_(exported, namespace=copy)
    assert (again.messages, again.facts) == (0, 0)
    assert (await full.stats(namespace=copy)).unfinished == 0


async def test_what_was_applied_is_not_applied_again(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    """A message is reopened in the copy, as after a crash: facts and repeats are found."""
    graph, copy = await graph_of(full), namespace + "-copy"
    await full.import_(exported, namespace=copy)
    before = await canonical(graph, copy)
    await graph.statement(
        "MATCH (m:Message {namespace: $namespace, status: 'done'}) SET m.status = 'pending'",
        namespace=copy,
    )
    results = await full.resume(namespace=copy)
    assert len(results) == 11
    assert await canonical(graph, copy) == before


# -- a namespace that holds something -------------------------------------------------------------


async def test_entities_of_one_name_become_one(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    other = namespace + "-other"
    known = await full.remember(
        *("MIRELLE", "born_in", "Rhyl"), said_at="2025-03-10T12:00:00Z", namespace=other
    )
    done = await full.import_(exported, namespace=other)
    assert (done.messages, done.facts) == (11, 9)
    names = {fact.subject for fact in (await full.facts(namespace=other)).facts}
    assert names == {"MIRELLE", "Bero"}
    (kept,) = (await full.facts(namespace=other, predicate="born_in")).facts
    assert kept == known.facts[0]
    rows = await (await graph_of(full)).statement(
        "MATCH (e:Entity {namespace: $namespace, key: 'mirelle'}) RETURN e.version AS version",
        namespace=other,
    )
    assert rows[0]["version"] == 1 + 6  # plans made before the import are stale
    assert (await full.import_(exported, namespace=other)).skipped == 20


async def test_a_known_source_id_of_something_else_is_reported(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    graph, other = await graph_of(full), namespace + "-other"
    await full.remember(
        *("Zed", "owns", "a boat"), source_id="m4", said_at="2025-01-01", namespace=other
    )
    done = await full.import_(exported, namespace=other)
    lines = lines_of(exported)
    message = next(i for i, one in enumerate(lines, 1) if '"m4"' in json.dumps(one))
    fact = next(
        i
        for i, one in enumerate(lines, 1)
        if one.get("record") == "fact" and one["fact"]["text"] == "Mirelle prefers markets"
    )
    assert [place for place, _ in done.failed] == [message, fact]
    assert (done.messages, done.facts) == (10, 8)
    texts = {fact.text for fact in (await full.facts(namespace=other)).facts}
    assert "Mirelle prefers markets" not in texts
    assert "Zed owns a boat" in texts
    crowds = (await full.facts(namespace=other, predicate="dislikes")).facts[0]
    explained = await full.explain(crowds, namespace=other)
    assert [link.type for link in explained.links] == []
    before = await exact(graph, other)
    assert len((await full.import_(exported, namespace=other)).failed) == 2
    assert await exact(graph, other) == before


async def test_the_same_message_stored_there_by_itself_is_known(
    full: AsyncMemory, namespace: str, exported: Path, decider: ScriptedDecider
) -> None:
    other = namespace + "-other"
    await full.remember(
        *("Mirelle", "prefers", "markets"),
        text="Mirelle prefers markets",
        said_at="2025-03-10T09:00:00Z",
        source_id="m4",
        namespace=other,
    )
    (own,) = (await full.facts(namespace=other)).facts
    done = await full.import_(exported, namespace=other)
    assert (done.messages, done.facts, done.skipped, done.failed) == (10, 8, 2, ())
    (kept,) = (await full.facts(namespace=other, predicate="prefers", open=True)).facts
    assert kept == own
    await full.import_(exported, namespace=other)
    assert (await full.stats(namespace=other)).facts == 9


# -- what breaks off ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step", ["messages", "facts", "mentions", "links", "decisions", "requests", "aliases", "done"]
)
@pytest.mark.parametrize("after", [False, True])
async def test_a_broken_import_is_completed_by_another(
    full: AsyncMemory,
    namespace: str,
    exported: Path,
    step: str,
    after: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, copy = await graph_of(full), namespace + "-copy"
    whole = getattr(store, step)

    async def breaks(*arguments: Any, **options: Any) -> Any:
        if after:
            await whole(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, step, breaks)
        with pytest.raises(KeyboardInterrupt):
            await full.import_(exported, namespace=copy)
    left = {one.invariant for one in (await full.doctor(namespace=copy)).findings}
    assert ("import_left" in left) == ((step, after) not in {("messages", False), ("done", True)})
    await full.import_(exported, namespace=copy)
    assert await exact(graph, copy) == await exact(graph, namespace)


async def test_a_failing_export_leaves_nothing(
    full: AsyncMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()

    async def breaks(*_: Any, **__: Any) -> Any:
        raise asyncio.CancelledError

    monkeypatch.setattr(transfer, "embedding", breaks)
    with pytest.raises(asyncio.CancelledError):
        await full.export(folder / "a.jsonl")
    assert list(folder.iterdir()) == []


async def test_a_namespace_that_keeps_changing_is_not_exported(
    full: AsyncMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = transfer.state
    looks: list[int] = []

    async def after_a_write(*arguments: Any) -> Any:
        looks.append(1)
        await full.remember("Bero", "owns", f"cup {len(looks)}")
        return await whole(*arguments)

    folder = tmp_path / "there"
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(transfer, "state", after_a_write)
        with pytest.raises(ConflictError, match="kept changing"):
            await full.export(folder / "a.jsonl")
    assert len(looks) > 2
    assert list(folder.iterdir()) == []
    await full.export(folder / "a.jsonl")
    await full.import_(folder / "a.jsonl", namespace=full.namespace + "-copy")  # type: ignore[operator]


# -- size, and the blocking twin ------------------------------------------------------------------


async def test_thousands_of_facts(make_memory: Made, namespace: str, tmp_path: Path) -> None:
    memory, path = make_memory(), tmp_path / "big.jsonl"
    await memory.remember_many(
        [
            {"subject": f"Person {n % 300}", "predicate": "owns", "object": f"thing {n}"}
            for n in range(2000)
        ],
        decide=False,
    )
    for n in range(40):
        await memory.add(f"Hello {n}.", said_at=f"2025-01-01T09:{39 - n:02}:00Z")
    told = await memory.export(path)
    assert (told.counts.fact, told.counts.decision) == (2000, 2000)
    seen: list[tuple[int, int]] = []
    done = await memory.import_(
        path, namespace=namespace + "-copy", progress=lambda done, total: seen.append((done, total))
    )
    assert (done.messages, done.facts) == (41, 2000)
    assert seen[-1] == (told.counts.total, told.counts.total)
    graph = await graph_of(memory)
    assert await canonical(graph, namespace + "-copy") == await canonical(graph, namespace)
    report = await memory.doctor(namespace=namespace + "-copy")
    kinds = ("message", "entity", "fact", "decision", "request")
    assert report.checked["secret"] == sum(told.counts.model_dump()[kind] for kind in kinds)


def test_the_blocking_twin(sync_memory: Memory, namespace: str, tmp_path: Path) -> None:
    added = sync_memory.remember("Ann", "lives_in", "Porto")
    sync_memory.export(tmp_path / "a.jsonl")
    done = sync_memory.import_(tmp_path / "a.jsonl", namespace=namespace + "-copy")
    assert (done.messages, done.facts) == (1, 1)
    (fact,) = sync_memory.facts(namespace=namespace + "-copy").facts
    message_id = derived_id(namespace + "-copy", added.message.id)
    assert fact.id == derived_id(message_id, "0")
