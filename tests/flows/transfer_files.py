"""Files of exports as tests read, change and write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonical import exact

from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory

Lines = list[dict[str, Any]]


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
