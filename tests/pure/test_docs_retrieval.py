"""docs/retrieval.md quotes what ``engram eval shortlist --report docs`` wrote."""

from __future__ import annotations

from pathlib import Path

from engram_graph.evaluation.shortlist import ABLATION
from engram_graph.evaluation.shortlist_report import METHODS
from engram_graph.rules.turns import WEIGHTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "retrieval.md").read_text(encoding="utf-8")
PAGE = (DOCS / "shortlist.md").read_text(encoding="utf-8")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")]


def test_quoted_tables_are_those_of_the_report() -> None:
    measured = TEXT.split("\n## Measured\n")[1].split("\n## ")[0]
    quoted = rows(measured)
    assert len(quoted) >= 8
    assert set(quoted) <= set(rows(PAGE))
    assert [row.split(" | ")[0][2:] for row in quoted if row[2:].startswith(METHODS)] == [*METHODS]


def test_the_report_is_of_the_parts_there_are() -> None:
    for name in ABLATION:
        assert f"| {name if ' ' in name else f'`{name}`'} |" in PAGE


def test_every_part_is_explained() -> None:
    parts = TEXT.split("\n## The parts\n")[1].split("\n## ")[0]
    assert [row.split("`")[1] for row in rows(parts) if "`" in row] == [*WEIGHTS]


def test_the_plot_is_shown_in_both() -> None:
    picture = (DOCS / "shortlist.svg").read_text(encoding="utf-8")
    for name in METHODS:
        assert name in picture
    assert "](shortlist.svg)" in TEXT
    assert "](shortlist.svg)" in PAGE
    assert "<dc:date>" not in picture
