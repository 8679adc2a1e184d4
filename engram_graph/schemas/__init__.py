"""What the package gives away and how the graph looks: made from the code, never by hand.

``python -m engram_graph.schemas`` writes, in a checkout, ``schemas/`` (a JSON Schema of each public
record, and the graph), ``docs/schema.md`` and its picture.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from pydantic import BaseModel

from engram_graph.models.decisions import Decision
from engram_graph.models.entities import Merged, MergeSuggestion, Unmerged
from engram_graph.models.export import Exported, ExportLine
from engram_graph.models.facts import Draft, Entity, Fact, Link, Message
from engram_graph.models.feedback import (
    Calibration,
    CloseCalibration,
    Feedback,
    QuestionCalibration,
    ReliabilityBin,
    Threshold,
)
from engram_graph.models.items import Item, ItemHit
from engram_graph.models.moving import LeftOut, Moved
from engram_graph.models.results import (
    Added,
    Diff,
    DiffEntry,
    Explanation,
    FactHit,
    Finding,
    Forgotten,
    Imported,
    NamespaceInfo,
    Page,
    QuestionStats,
    Recall,
    Report,
    Scores,
    Stats,
    Timeline,
    TurnHit,
)
from engram_graph.models.upkeep import Archived, HygieneReport, ReembedReport, SameAs
from engram_graph.models.whatif import FactDiff, LinkDiff, TakenBack, Unanswered, WhatIf
from engram_graph.questions.extraction import ExtractedFacts
from engram_graph.schemas.diagram import svg
from engram_graph.schemas.graph import described
from engram_graph.schemas.page import page

_PUBLIC: tuple[type[BaseModel], ...] = (
    *(Calibration, CloseCalibration, Feedback, QuestionCalibration, ReliabilityBin, Threshold),
    *(Added, Archived, Decision, Diff, DiffEntry, Draft, Entity, Explanation, Exported),
    *(ExportLine, Fact, FactHit, Finding, Forgotten, HygieneReport, Imported, Link, Merged),
    *(MergeSuggestion, Message, NamespaceInfo, Page, Recall, ReembedReport, Report, SameAs),
    *(QuestionStats, Scores, Stats, Timeline, TurnHit, Unmerged),
    *(
        Item,
        ItemHit,
        LeftOut,
        Moved,
        FactDiff,
        LinkDiff,
        TakenBack,
        Unanswered,
        WhatIf,
        ExtractedFacts,
    ),
)
RECORDS = {re.sub("(?<=[a-z])(?=[A-Z])", "_", one.__name__).lower(): one for one in _PUBLIC}
"""Every record that the package gives away, by the name of its file; and a model's answer when it
is asked for facts."""


def render(record: type[BaseModel]) -> str:
    """The schema of ``record`` as it stands in its file."""
    schema = record.model_json_schema(mode="serialization")
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def generated() -> dict[str, str]:
    """Every generated file of a checkout: its path from the root → its text."""
    graph = described()
    return {
        **{f"schemas/{name}.schema.json": render(record) for name, record in RECORDS.items()},
        "schemas/graph.json": graph.model_dump_json(indent=2, exclude_none=True) + "\n",
        "docs/schema.md": page(graph, RECORDS),
        "docs/schema.svg": svg(graph),
    }


def folder() -> Path:
    """``schemas``: beside the package in a checkout, else inside an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "schemas"
    return checkout if checkout.is_dir() else package / "_schemas"


def main() -> None:
    """Write every file anew."""
    for path, text in generated().items():
        (folder().parent / path).write_text(text, encoding="utf-8")
