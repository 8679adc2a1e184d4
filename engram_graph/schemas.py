"""JSON Schema of the public records: made from the models, never by hand.

``python -m engram_graph.schemas`` writes the ``schemas/`` folder of a checkout.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from engram_graph.models.decisions import Decision
from engram_graph.models.entities import Merged, MergeSuggestion, Unmerged
from engram_graph.models.export import ExportLine
from engram_graph.models.facts import Draft, Entity, Fact, Message
from engram_graph.models.results import Added, Explanation, Recall, Report, Timeline
from engram_graph.models.upkeep import HygieneReport, ReembedReport

RECORDS: dict[str, type[BaseModel]] = {
    "added": Added,
    "decision": Decision,
    "draft": Draft,
    "entity": Entity,
    "explanation": Explanation,
    "export_line": ExportLine,
    "fact": Fact,
    "hygiene_report": HygieneReport,
    "merge_suggestion": MergeSuggestion,
    "merged": Merged,
    "message": Message,
    "recall": Recall,
    "reembed_report": ReembedReport,
    "report": Report,
    "timeline": Timeline,
    "unmerged": Unmerged,
}


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
