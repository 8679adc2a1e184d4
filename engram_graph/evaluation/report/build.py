"""Puts a report together, and writes its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from engram_graph.errors import InputError
from engram_graph.evaluation import calibration
from engram_graph.evaluation.compare import Side
from engram_graph.evaluation.report import comparisons, listings, markdown, plots, svg, tables
from engram_graph.evaluation.report import page as html
from engram_graph.evaluation.report.parts import Report, Section
from engram_graph.evaluation.report.tables import Group
from engram_graph.evaluation.study.labels import Labels
from engram_graph.evaluation.study.result import Result

HTML, MARKDOWN = "report.html", "report.md"
TITLE = "Memory study"
_SCRIPTED = "scripted"
_BY_RULE = (
    "No model answered or judged: a block of memory lines is right or wrong by rule, and accuracy "
    "is the share of right blocks."
)


def report(
    results: Sequence[Result],
    *,
    title: str = TITLE,
    baseline: str | None = None,
    labelled: calibration.Report | None = None,
    labels: Labels | None = None,
) -> Report:
    """All that result files tell.

    Args:
        baseline: ``ARM`` or ``ARM@K`` that the others are paired with; else ``BASELINE``, where it
            was run.
        labelled: calibration of recorded answers. labels: of closes and outdated answers.

    Raises:
        InputError: an arm comes twice over the same questions; nobody ran the baseline.
        MissingExtraError: a package of the extra ``eval`` is not installed.
    """
    side = Side.parse(baseline or comparisons.BASELINE)
    if baseline:
        comparisons.known(results, side)
    known = tables.groups(results)
    lead = [
        "Made from result files alone. Costs are nominal and latencies are those recorded with "
        "each call to a model, so a replay gives this very report.",
    ]
    if any(name.endswith(_SCRIPTED) for each in results for name in each.models.values()):
        lead.append(
            "Models were scripted: what they said shows that all of it works, and nothing about "
            "quality, costs or waits."
        )
    sections = [
        _what(known, results),
        *(each for n, g in enumerate(known, 1) for each in _of(g, n, side, labels)),
    ]
    if labelled:
        sections.append(comparisons.calibrated(labelled))
    return Report(title, tuple(lead), tuple(sections))


def write(made: Report, folder: Path) -> list[Path]:
    """``report.html``, ``report.md`` and its plots in ``folder``; their paths.

    Raises:
        InputError: the folder or a file cannot be written.
        MissingExtraError: jinja2 is not installed.
    """
    texts = {HTML: html.page(made), MARKDOWN: markdown.page(made)}
    texts |= {f"{plot.name}.svg": svg.alone(plot.svg) for plot in made.plots}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder.name}: {error.strerror}", field="out") from None
    return [folder / name for name in texts]


def _what(known: Sequence[Group], results: Sequence[Result]) -> Section:
    return Section(
        "what",
        "What was run",
        (),
        (tables.what_ran(known), tables.arms(results), tables.models(results)),
    )


def _of(group: Group, number: int, baseline: Side, labels: Labels | None) -> Iterator[Section]:
    """The sections of a group; ``number`` keeps their ids and files apart."""

    def name(kind: str) -> str:
        return f"{kind}-{number}"

    yield Section(
        name("results"),
        group.name,
        (_BY_RULE,) if any(each.scores for each in group.results) else (),
        (
            *listings.benchmark(group),
            tables.accuracy(group),
            comparisons.against(group, baseline),
            tables.against_recorded(group),
            plots.against_tokens(group, name("accuracy-tokens")),
            plots.against_cost(group, name("accuracy-cost")),
        ),
    )
    yield Section(
        name("cost"),
        "Cost and latency",
        (),
        (
            tables.costs(group),
            tables.latency(group),
            plots.latency(group, name("latency")),
            plots.tokens_at_k(group, name("tokens")),
        ),
        level=3,
    )
    yield Section(
        name("evidence"),
        "Evidence",
        (),
        (tables.evidence(group), plots.recall_at_k(group, name("recall"))),
        level=3,
    )
    yield Section(
        name("store"),
        "Stores",
        (),
        (
            listings.stores(group),
            listings.counters(group),
            *([listings.audit(group, labels)] if labels else []),
            listings.closes(group),
        ),
        level=3,
    )
    yield Section(
        name("rows"),
        "Single questions",
        (),
        (listings.divided(group), listings.trouble(group)),
        level=3,
    )
