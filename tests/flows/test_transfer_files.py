"""The file of an export: where it goes, and what of a damaged or foreign one is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import exact
from transfer_files import Lines, assert_nothing, graph_of, lines_of, of, write

from engram_graph.errors import InputError
from engram_graph.memory import AsyncMemory

pytestmark = pytest.mark.anyio


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
        (lambda lines: lines.append(lines[1]), "after a item"),
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
