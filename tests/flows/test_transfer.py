"""Export and import: a copy that differs in ids only, whatever broke off on the way."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical, exact
from flow_fakes import ScriptedDecider, ScriptedExtractor, broken, draft

from engram_graph.clock import derived_id
from engram_graph.errors import ConflictError, InputError
from engram_graph.graph import transfer
from engram_graph.graph import transfer_import as store
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.sync import Memory

pytestmark = pytest.mark.anyio
Made = Callable[..., AsyncMemory]
Lines = list[dict[str, Any]]

SCRIPT = {
    "relation_to_candidate": [
        {"fact": "works at Saltway", "candidate": "Hollin", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "drives", "candidate": "works at Saltway", "p": {"duplicate": 0.9, "new": 0.1}},
        {"fact": "crowds", "candidate": "markets", "p": {"contradiction": 0.9, "new": 0.1}},
        {"fact": "night markets", "candidate": "prefers markets", "p": {"refinement": 0.95}},
    ]
}
MOVE = {
    "relation_to_candidate": [
        {"fact": "Dunmere", "candidate": "works at Saltway", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "Dunmere", "candidate": "drives", "p": {"update": 0.97, "new": 0.03}},
    ]
}


@pytest.fixture
def decider() -> ScriptedDecider:
    return ScriptedDecider(SCRIPT)


@pytest.fixture
def extractor() -> ScriptedExtractor:
    return ScriptedExtractor(broken())


@pytest.fixture
async def full(make_memory: Made, decider: Any, extractor: Any) -> AsyncMemory:
    """A memory with every kind of record: links, closings, a dispute, unfinished messages."""
    memory = make_memory(decider=decider, extractor=extractor)
    work: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("Mirelle", "works_at", "Hollin Press", {"said_at": "2025-01-01T09:00:00Z"}),
        ("Mirelle", "works_at", "Saltway Freight", {"said_at": "2025-03-01T09:00:00Z"}),
        (
            *("Mirelle", "works_at", "Saltway Freight"),
            {
                "said_at": "2025-03-09T09:00:00Z",
                "speaker": "Bero",
                "text": "Mirelle drives for Saltway Freight",
            },
        ),
        (
            *("Mirelle", "prefers", "markets"),
            {
                "said_at": "2025-03-10T09:00:00Z",
                "metadata": {"a": {"b": [1, None, 2.5]}, "ü": "é"},
                "source_id": "m4",
            },
        ),
        ("Mirelle", "dislikes", "crowds", {"said_at": "2025-03-11T09:00:00Z"}),
        (
            *("Bero", "friend_of", "Mirelle"),
            {
                "said_at": "2025-02-01T09:00:00Z",
                "text": "Bero met Mirelle at Hollin Press.",
                "conversation": "letters",
            },
        ),
        (
            *("Mirelle", "prefers", "night markets"),
            {"said_at": "2025-03-12T09:00:00Z", "valid_until": "2025-04-01"},
        ),
    )
    for subject, predicate, obj, more in work:
        text = {"text": f"{subject} {predicate.replace('_', ' ')} {obj}"}
        await memory.remember(subject, predicate, obj, **text | more)
    # The same words of somebody else: no fact of its own, a source and a decision.
    await memory.remember(
        *("Mirelle", "works_at", "Saltway Freight"),
        text="Mirelle works at Saltway Freight",
        said_at="2025-03-13T09:00:00Z",
        speaker="Bero",
    )
    # A name that means another, and two entities that became one.
    await memory.remember("Berold", "speaks", "Welsh", said_at="2025-01-05")
    await memory.remember("Bero", "speaks", "Welsh", said_at="2025-01-06")
    await memory.add_alias("Mirelle", "Mimi")
    await memory.merge_entities("Bero", "Berold")
    await memory.add("Mirelle waved.", said_at="2025-03-12T09:00:00Z", source_id="m6")
    return memory


@pytest.fixture
async def exported(full: AsyncMemory, tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    await full.export(path)
    return path


def lines_of(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, lines: Lines) -> Path:
    """The lines as a file, with their counts put right."""
    for kind in lines[0]["counts"]:
        lines[0]["counts"][kind] = sum(line.get("record") == kind for line in lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def of(lines: Lines, kind: str) -> Iterator[dict[str, Any]]:
    return (line for line in lines if line.get("record") == kind)


async def graph_of(memory: AsyncMemory) -> Graph:
    return (await memory.open()).graph


async def assert_nothing(memory: AsyncMemory, namespace: str) -> None:
    assert await exact(await graph_of(memory), namespace) == []


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


# -- the file -------------------------------------------------------------------------------------


async def test_an_existing_file_is_kept(full: AsyncMemory, exported: Path) -> None:
    before = exported.read_bytes()
    with pytest.raises(InputError, match="exists"):
        await full.export(exported)
    assert exported.read_bytes() == before
    await full.remember("Bero", "owns", "a mug", said_at="2025-04-01")
    told = await full.export(exported, overwrite=True)
    assert told.counts.fact == 10
    assert sum(1 for _ in of(lines_of(exported), "fact")) == 10
    assert exported.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["no/such/folder/a.jsonl", "."])
async def test_a_file_that_cannot_be_written(full: AsyncMemory, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        await full.export(tmp_path / name)


async def test_without_a_path_the_file_is_named_after_the_namespace(
    full: AsyncMemory, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = await full.export()
    assert re.fullmatch(rf"engram-{namespace}-\d{{8}}T\d{{6}}Z\.jsonl", told.path)
    assert [path.name for path in tmp_path.iterdir()] == [told.path]
    odd = await full.export(namespace=f"{namespace}/../ö")
    assert re.fullmatch(rf"engram-{namespace}-\.\.-\d{{8}}T\d{{6}}Z\.jsonl", odd.path)


async def test_vectors_are_taken_when_they_fit(
    full: AsyncMemory, namespace: str, tmp_path: Path
) -> None:
    path = tmp_path / "vectors.jsonl"
    await full.export(path, vectors=True)
    lines = lines_of(path)
    for line in of(lines, "fact"):
        line["vector"] = [1.0] + [0.0] * 383
    write(path, lines)
    found = "MATCH (f:Fact {namespace: $namespace}) RETURN DISTINCT f.embedding[0] = 1.0 AS taken"
    graph = await graph_of(full)
    await full.import_(path, namespace=namespace + "-taken")
    assert await graph.statement(found, namespace=namespace + "-taken") == [{"taken": True}]
    lines[0]["embedding"]["model"] = "another"
    write(path, lines)
    await full.import_(path, namespace=namespace + "-made")
    assert await exact(graph, namespace + "-made") == await exact(graph, namespace)


def first_of(kind: str, path: str, value: Any) -> Callable[[Lines], None]:
    """Sets a member of the first record of a kind."""

    def change(lines: Lines) -> None:
        target = next(of(lines, kind))
        *inner, last = path.split(".")
        for name in inner:
            target = target[name]
        target[last] = value

    return change


NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (first_of("fact", "fact.belief", 1.5), "belief is not in"),
        (first_of("fact", "fact.belief", 0.5), "not what the latest decision"),
        (first_of("fact", "fact.predicate", "zooms_to"), "unknown predicate"),
        (first_of("fact", "fact.open", "perhaps"), "fact.fact.open"),
        (first_of("fact", "fact.subject_key", "nobody"), "names a entity"),
        (first_of("fact", "sources", [NOBODY]), "names a message"),
        (first_of("fact", "sources", []), "no message states"),
        (first_of("fact", "fact.id", "f1"), "no UUID"),
        (first_of("fact", "fact.valid_from", "2025-01-01T00:00:00"), "time zone"),
        (first_of("fact", "fact.colour", "red"), "fact.fact.colour"),
        (first_of("fact", "vector", [1.0]), "a vector"),
        (first_of("message", "message.text", "a\x00b"), "NUL"),
        (first_of("message", "message.text", " "), "blank"),
        (first_of("message", "message.status", "lost"), "message.message.status"),
        (first_of("link", "link.target", NOBODY), "names a fact"),
        (first_of("decision", "decision.fact_id", NOBODY), "names a fact"),
        (first_of("request", "decisions", [NOBODY]), "names a decision"),
        (lambda lines: lines.insert(3, lines[3]), "twice"),
        (lambda lines: lines.append(lines[1]), "after a alias"),
        (lambda lines: lines.insert(3, {"record": "planet"}), "planet"),
        (lambda lines: lines[0].update(version=9), "version 9"),
        (lambda lines: lines[0].update(format="other"), "no header"),
    ],
)
async def test_a_damaged_file_is_refused_whole(
    full: AsyncMemory,
    namespace: str,
    exported: Path,
    damage: Callable[[Lines], Any],
    message: str,
) -> None:
    lines = lines_of(exported)
    damage(lines)
    with pytest.raises(InputError, match=message) as caught:
        await full.import_(write(exported, lines), namespace=namespace + "-copy")
    assert isinstance(caught.value.details["position"], int)
    assert caught.value.hint
    await assert_nothing(full, namespace + "-copy")


async def test_a_circle_of_facts_is_refused(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    lines = lines_of(exported)
    closed = [one["fact"]["id"] for one in of(lines, "fact") if not one["fact"]["open"]]
    first = next(i for i, one in enumerate(lines) if one.get("record") == "link")
    for a, b in ((0, 1), (1, 0)):
        link = {"type": "SUPERSEDES", "source": closed[a], "target": closed[b]}
        lines.insert(first, {"record": "link", "link": link})
    with pytest.raises(InputError, match="circle"):
        await full.import_(write(exported, lines), namespace=namespace + "-copy")
    await assert_nothing(full, namespace + "-copy")


async def test_a_file_cut_short_is_refused(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    whole = exported.read_bytes()
    for end in (len(whole) - 2, whole[:-1].rindex(b"\n") + 1, len(whole) // 2, 10, 0):
        exported.write_bytes(whole[:end])
        with pytest.raises(InputError):
            await full.import_(exported, namespace=namespace + "-copy")
    await assert_nothing(full, namespace + "-copy")


async def test_a_file_that_is_not_there(full: AsyncMemory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        await full.import_(tmp_path / "none.jsonl")


async def test_a_file_with_ids_of_another_namespace_is_refused(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    """Nobody gets at another tenant's facts by writing their own name into a header."""
    graph = await graph_of(full)
    before = await exact(graph, namespace)
    lines = lines_of(exported)
    lines[0]["namespace"] = namespace + "-thief"
    with pytest.raises(InputError, match="another namespace"):
        await full.import_(write(exported, lines), namespace=namespace + "-thief")
    await assert_nothing(full, namespace + "-thief")
    assert await exact(graph, namespace) == before


async def test_secrets_of_a_foreign_file_stay_out(
    full: AsyncMemory, namespace: str, exported: Path
) -> None:
    secret = "Quill9!Moth-Ferry"
    lines = lines_of(exported)
    fact = next(of(lines, "fact"))
    for line in of(lines, "entity"):
        if line["entity"]["key"] == fact["fact"]["object_key"]:
            line["entity"] |= {"key": secret.lower(), "name": secret, "aliases": [secret]}
    for line in (*of(lines, "fact"), *of(lines, "mention")):
        if line["record"] == "mention":
            if line["entity"] == "hollin press":
                line["entity"] = secret.lower()
        elif line["fact"]["object_key"] == fact["fact"]["object_key"]:
            line["fact"] |= {"object_key": secret.lower(), "object": secret}
    fact["fact"]["text"] = f"The password of the mill ledger is {secret}"
    fact["fact"]["source_quote"] = f"it is {secret}"
    message = next(of(lines, "message"))
    message["message"]["text"] = f"Well, {secret} then"
    message["message"]["metadata"] = {"raw": [secret], secret: 1}
    message["drafts"]["drafts"][0]["object"] = secret
    next(of(lines, "decision"))["decision"]["reason"] = f"heard {secret}"
    next(of(lines, "request"))["request"]["error"] = f"said {secret}"
    copy = namespace + "-copy"
    done = await full.import_(write(exported, lines), namespace=copy)
    assert (done.messages, done.facts, done.failed) == (11, 9, ())
    stored = json.dumps(await exact(await graph_of(full), copy), default=str).lower()
    assert secret.lower() not in stored
    assert "the password of the mill ledger is (redacted)" in stored


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
