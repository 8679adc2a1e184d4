"""A memory with every kind of record, and its export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flow_fakes import ScriptedExtractor, broken

from engram_graph.memory import AsyncMemory
from engram_graph.testing.scripted import ScriptedDecider

Made = Callable[..., AsyncMemory]

SCRIPT = {
    "relation_to_candidate": [
        {"fact": "works at Saltway", "candidate": "Hollin", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "drives", "candidate": "works at Saltway", "p": {"duplicate": 0.9, "new": 0.1}},
        {"fact": "crowds", "candidate": "markets", "p": {"contradiction": 0.9, "new": 0.1}},
        {"fact": "night markets", "candidate": "prefers markets", "p": {"refinement": 0.95}},
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
    labelled = await memory.explain("Mirelle|works_at|Hollin Press")
    await memory.feedback(labelled.fact, "right", by="Bero", why="She told me")
    await memory.feedback(None, "wrong", decision=labelled.decisions[0].id)
    for key in ("tea", "salt"):
        await memory.put_item(("mirelle", "a/b"), key, {"likes": [key, 1]}, texts=[key, "likes"])
    await memory.add("Mirelle waved.", said_at="2025-03-12T09:00:00Z", source_id="m6")
    return memory


@pytest.fixture
async def exported(full: AsyncMemory, tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    await full.export(path)
    return path
