"""``eval report``: result files as one page, and as Markdown with plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engram_graph.cli.run import Run


def report(
    run: Run,
    places: Annotated[
        list[str], typer.Argument(metavar="PLACE...", help="Result files, or folders with some.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ARM[@K]",
            help="The arm that others are paired with; else turns_cosine, where it was run.",
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labelled pairs: calibration of their recorded answers."),
    ] = None,
    escalations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Escalated answers with their labels: too.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Right closes and outdated answers, as JSON lines."),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Of the page.")] = "Memory study",
) -> None:
    """Tables and plots of result files: report.html, and report.md with its plots beside it.

    The page needs no network and runs no script. The same files give the same bytes.
    """
    from engram_graph.evaluation import calibration
    from engram_graph.evaluation.figures import need_matplotlib
    from engram_graph.evaluation.report import build
    from engram_graph.evaluation.study.labels import load_labels
    from engram_graph.evaluation.study.result import read_results

    need_matplotlib()  # asked before the work, not after it
    results = read_results(places)
    with run.out.bar("Writing the report"):
        labelled = calibration.report(pairs, escalations) if pairs or escalations else None
        made = build.report(
            results,
            title=title,
            baseline=baseline,
            labelled=labelled,
            labels=load_labels(labels) if labels else None,
        )
        files = build.write(made, out)
    if run.json:
        run.out.data({"results": len(results), "files": [str(each) for each in files]})
    else:
        run.out.line(f"{len(results)} result files: {files[0]}, {files[1]}")
