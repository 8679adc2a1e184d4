"""A report as one HTML page that holds all it needs and runs nothing."""

from __future__ import annotations

from engram_graph.evaluation.report import svg
from engram_graph.evaluation.report.parts import Report
from engram_graph.formats import pages


def page(report: Report) -> str:
    """The page.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return pages.filled(
        __package__,
        "report.html",
        css=pages.source(__package__, "report.css") + svg.style(),
        scripts={},
        extra="eval",
        report=report,
    )
