"""``ingest``: files of messages, facts, or LoCoMo's shape; bad lines; the same file again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical
from flow_fakes import ScriptedExtractor, broken, draft

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.errors import InputError
from engram_graph.graph.driver import Graph
from engram_graph.models.facts import Vector

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]

TALK = [
    {"text": "I live in Bonn.", "speaker": "Ann", "said_at": "2024-01-01T09:00:00Z"},
    {"role": "assistant", "content": "Noted.", "said_at": "2024-01-01T09:01:00Z"},
    {"text": "I moved to Cork.", "speaker": "Ann", "said_at": "2024-06-01", "mood": "glad"},
]


def write_lines(path: Path, lines: list[Any]) -> Path:
    """One line each: text as it is, anything else as JSON."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


async def test_messages_by_line_and_the_same_file_again(
    make_memory: Make, graph: Graph, tmp_path: Path
) -> None:
    memory = make_memory()
    path = write_lines(tmp_path / "talk.jsonl", TALK)
    seen: list[tuple[int, int]] = []
    done = await memory.ingest(path, progress=lambda *at: seen.append(at))
    assert (done.messages, done.facts, done.skipped, done.failed) == (3, 2, 0, ())
    assert seen[-1] == (3, 3)
    line = await memory.history("Ann", "lives_in")
    assert [(f.object, f.open) for f in line.facts] == [("Bonn", False), ("Cork", True)]
    before = await canonical(graph, memory.namespace)
    await memory.aclose()
    memory = make_memory()
    again = await memory.ingest(path)
    assert (again.messages, again.facts, again.skipped) == (0, 0, 3)
    assert await canonical(graph, memory.namespace) == before


async def test_a_bad_line_is_named_and_the_rest_goes_on(memory: Any, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "mixed.jsonl",
        [
            TALK[0],
            "{not json",
            "",
            {"speaker": "Ann"},
            {"text": "  "},
            {"text": "fine", "said_at": "2024-02-30"},
            {"text": "fine", "said_at": "2024-02-03T10:00:00"},
            {"text": "fine", "metadata": [1]},
            '{"text": "half \\ud83d"}',
            {"subject": "Ann", "predicate": "orbits", "object": "the sun"},
            {"subject": "Ann", "predicate": "owns", "object": "a cat", "colour": "grey"},
            {"text": "a\x00b"},
            '["text"]',
            TALK[2],
        ],
    )
    done = await memory.ingest(path)
    assert [position for position, _ in done.failed] == [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert (done.messages, done.facts) == (2, 2)
    assert all(reason for _, reason in done.failed)
    assert (await memory.stats()).messages == 2


async def test_facts_by_line(memory: Any, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "facts.jsonl",
        [
            {"subject": "Ann", "predicate": "lives_in", "object": "Bonn", "said_at": "2020-01-01"},
            {
                "subject": "Ann",
                "relation": "lives in",
                "object": "Cork",
                "valid_from": "2022-01-01",
            },
            {
                "subject": "Ann",
                "predicate": "works_at",
                "object": "Acme",
                "valid_from": "2019-01-01",
                "valid_until": "2022-01-01",
            },
        ],
    )
    for _ in range(2):
        done = await memory.ingest(path)
        assert done.failed == ()
    facts = [f async for f in memory.iter_facts()]
    assert [(f.object, f.open) for f in facts] == [("Bonn", False), ("Cork", True), ("Acme", False)]


async def test_a_failing_extractor_is_named_by_its_line(make_memory: Make, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "talk.jsonl", ["{oops", TALK[0], "", TALK[2]])
    extractor = ScriptedExtractor(
        [draft("Ann lives in Bonn", "Ann|lives_in|Bonn")],
        broken(),
        [draft("Ann lives in Cork", "Ann|lives_in|Cork")],
    )
    memory = make_memory(extractor=extractor)
    done = await memory.ingest(path)
    assert [position for position, _ in done.failed] == [1, 4]
    assert (await memory.stats()).unfinished == 1
    again = await memory.ingest(path)
    assert [position for position, _ in again.failed] == [1]
    assert (again.messages, again.facts, again.skipped) == (0, 1, 1)
    assert (await memory.stats()).unfinished == 0


def locomo(sample: str, *sessions: list[tuple[str, str]]) -> dict[str, Any]:
    """A conversation in LoCoMo's published shape."""
    talk: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Bo"}
    for number, turns in enumerate(sessions, 1):
        talk[f"session_{number}_date_time"] = f"1:0{number} pm on {number} May, 2023"
        talk[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{at}", "text": text}
            for at, (who, text) in enumerate(turns, 1)
        ]
    return {"sample_id": sample, "conversation": talk, "qa": []}


async def test_locomo_keeps_sessions_speakers_and_order(
    memory: Any, graph: Graph, tmp_path: Path
) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(
        json.dumps(
            [
                locomo(
                    "conv-1",
                    [("Ann", "I live in Bonn."), ("Bo", "Nice!")],
                    [("Ann", "I moved to Cork.")],
                ),
                locomo("conv-2", [("Bo", "I own a kayak.")]),
            ]
        )
    )
    first = await memory.ingest(path, conversation="conv-1")
    assert (first.messages, first.facts) == (3, 2)
    whole = await memory.ingest(path)
    assert (whole.messages, whole.skipped) == (1, 3)
    rows = await graph.statement(
        "CYPHER 25 MATCH (a:Message {namespace: $n})-[:NEXT]->(b) "
        "RETURN a.source_id AS a, b.source_id AS b ORDER BY a",
        n=memory.namespace,
    )
    assert [(row["a"], row["b"]) for row in rows] == [
        ("conv-1:D1:1", "conv-1:D1:2"),
        ("conv-1:D1:2", "conv-1:D2:1"),
    ]
    moved = (await memory.history("Ann", "lives_in")).facts
    assert [f.valid_from.date().isoformat() for f in moved] == ["2023-05-01", "2023-05-02"]
    with pytest.raises(InputError, match="conv-9"):
        await memory.ingest(path, conversation="conv-9")


async def test_no_file_is_an_error_of_ours(memory: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.jsonl", tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            await memory.ingest(path)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert (await memory.ingest(empty)).messages == 0


async def test_an_embedder_of_the_callers_own_sees_each_text_once(
    make_memory: Make, tmp_path: Path
) -> None:
    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
            seen.extend(texts)
            return await super().embed(texts, query=query)

    seen: list[str] = []
    await make_memory(embedder=Counting()).ingest(write_lines(tmp_path / "talk.jsonl", TALK))
    assert len(seen) == len(set(seen)) >= len(TALK)
