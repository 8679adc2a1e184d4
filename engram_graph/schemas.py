"""JSON Schema of the public records: made from the models, never by hand.

``python -m engram_graph.schemas`` writes the ``schemas/`` folder of a checkout.
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
    Recall,
    Report,
    Scores,
    Stats,
    Timeline,
    TurnHit,
)
from engram_graph.models.upkeep import Archived, HygieneReport, ReembedReport, SameAs
from engram_graph.models.whatif import FactDiff, LinkDiff, Unanswered, WhatIf

_PUBLIC: tuple[type[BaseModel], ...] = (
    *(Calibration, CloseCalibration, Feedback, QuestionCalibration, ReliabilityBin, Threshold),
    *(Added, Archived, Decision, Diff, DiffEntry, Draft, Entity, Explanation, Exported),
    *(ExportLine, Fact, FactHit, Finding, Forgotten, HygieneReport, Imported, Link, Merged),
    *(MergeSuggestion, Message, NamespaceInfo, Page, Recall, ReembedReport, Report, SameAs),
    *(Scores, Stats, Timeline, TurnHit, Unmerged),
    *(FactDiff, LinkDiff, Unanswered, WhatIf),
)
RECORDS = {re.sub("(?<=[a-z])(?=[A-Z])", "_", one.__name__).lower(): one for one in _PUBLIC}
"""Every record that the package gives away, by the name of its file."""


def render(record: type[BaseModel]) -> str:
    """The schema of ``record`` as it stands in its file."""
    schema = record.model_json_schema(mode="serialization")
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def folder() -> Path:
    """``schemas``: beside the package in a checkout, else inside an installed wheel."""
    package = Path(__file__).resolve().parent
    checkout = package.parent / "schemas"
    return checkout if checkout.is_dir() else package / "_schemas"


def main() -> None:
    """Write every file anew."""
    for name, record in RECORDS.items():
        (folder() / f"{name}.schema.json").write_text(render(record), encoding="utf-8")


if __name__ == "__main__":
    main()
