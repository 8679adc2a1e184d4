"""Looking at all that a few small namespaces hold, record by record: for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engram_graph.graph import records
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load


@dataclass(frozen=True, slots=True)
class Leaving:
    """A relationship as its start has it; ``to`` is the place of its end."""

    type: str
    to: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """A node as it is stored. ``place``: the database's own name of it, for this look only."""

    place: str
    label: str
    properties: dict[str, Any]
    leaving: tuple[Leaving, ...]


async def everything(graph: Graph, namespaces: Sequence[str]) -> list[Stored]:
    """Every node of the namespaces with the relationships that leave it."""
    rows = await graph.read(load("inspect")["everything"], namespaces=list(namespaces))
    return [
        Stored(
            row["place"],
            ":".join(sorted(row["labels"])),
            records.native(row["properties"]),
            tuple(
                Leaving(each["type"], each["to"], records.native(each["properties"]))
                for each in row["leaving"]
            ),
        )
        for row in rows
    ]
