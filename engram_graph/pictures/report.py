"""What a memory holds and how it came about, on one HTML page without scripts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from engram_graph.clock import now
from engram_graph.models.facts import Fact
from engram_graph.models.results import Stats
from engram_graph.pictures.page import page
from engram_graph.pictures.parts import need
from engram_graph.rules.render import one_line
from engram_graph.rules.thresholds import DEFAULT as NUMBERS

if TYPE_CHECKING:
    from engram_graph.memory import AsyncMemory

FACTS, SUBJECTS, ROWS = 300, 10, 50
_WIDTH, _HEIGHT, _EDGE = 220.0, 44.0, 5.0  # of the plot of one belief, in pixels
_CLOSED = (
    *("fact", "valid_until", "closed_reason", "closed_by", "question", "answer", "p"),
    *("told_by", "quote"),
)
_COST = (
    *("question", "backend", "model", "requests", "failed", "cost_usd", "unpriced"),
    *("latency_ms_p50", "latency_ms_p90"),
)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a query, of which some columns are shown.

    Attributes:
        columns: (name in the row, heading). most: so many rows are shown.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    most: int

    @property
    def shown(self) -> tuple[Row, ...]:
        """The first ``most``."""
        return self.rows[: self.most]


@dataclass(frozen=True, slots=True)
class Belief:
    """How belief in one fact moved.

    Attributes:
        steps: what moved it, in order. path, dots: of the plot.
    """

    fact: str
    steps: tuple[Row, ...]
    path: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page tells; lists are cut where their heading says so."""

    namespace: str
    made_at: datetime
    stats: Stats
    open: tuple[Fact, ...]
    subjects: tuple[str, ...]
    chains: tuple[tuple[Row, ...], ...]
    beliefs: tuple[Belief, ...]
    closed: Table
    near: Table
    disputed: Table
    refused: Table
    failed: Table
    cost: Table
    days: Table


async def collect(memory: AsyncMemory) -> Report:
    """Read what the page tells: counts, facts and the analysts' queries."""
    need("jinja2")  # before the work, not after it
    last: deque[Fact] = deque(maxlen=FACTS)
    weight: Counter[str] = Counter()
    async for fact in memory.iter_facts(limit=10_000):
        weight[fact.subject] += 1
        if fact.open:
            last.append(fact)
    subjects = tuple(name for name, _ in weight.most_common(SUBJECTS))

    async def about(query: str) -> list[Row]:
        return [row for name in subjects for row in await memory.query(query, subject=name)]

    async def first(query: str, columns: Sequence[str], **params: Any) -> Table:
        return _table(columns, await memory.query(query, **params))

    asked: dict[str, Any] = {"limit": ROWS + 1}
    closed = sorted(await about("why_closed"), key=lambda row: row["decided_at"], reverse=True)
    return Report(
        namespace=one_line(memory.namespace or ""),
        made_at=now(),
        stats=await memory.stats(),
        open=tuple(sorted(last, key=lambda f: (f.subject_key, f.predicate, f.valid_from))),
        subjects=subjects,
        chains=_chains(await about("supersession_chain")),
        beliefs=_beliefs(await about("belief_over_time")),
        closed=_table(_CLOSED, closed),
        near=await first(
            "decisions_near_threshold",
            ("distance", "kind", "value", "threshold", "question", "answer", "outcome", "fact"),
            **asked,
        ),
        disputed=await first(
            "disputed_facts", ("fact", "belief", "against", "contradicts", "told_by"), **asked
        ),
        refused=await first(
            "blocked_changes",
            ("decided_at", "outcome", "answer", "p", "fact", "compared_with", "reason"),
            **asked,
        ),
        failed=await first(
            "failed_questions", ("decided_at", "question", "reason", "fact", "unsettled"), **asked
        ),
        cost=await first(
            "cost_by_question",
            _COST,
        ),
        days=await first(
            "facts_per_day",
            ("day", "messages", "learned", "closed", "reopened", "requests", "cost_usd"),
            limit=ROWS + 1,
        ),
    )


def render(report: Report) -> str:
    """The page.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return page(
        "report.html",
        css="report.css",
        scripts={},
        report=report,
        cell=cell,
        moment=moment,
        bounds={
            "closed below": (NUMBERS.close_below, _y(NUMBERS.close_below)),
            "reopened above": (NUMBERS.reopen_above, _y(NUMBERS.reopen_above)),
        },
        size=(_WIDTH, _HEIGHT),
    )


def moment(value: datetime) -> str:
    """A moment for people, in UTC."""
    return f"{value:%Y-%m-%d %H:%M}"


def cell(value: object) -> str:
    """A value as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(cell(each) for each in value)
    return one_line(str(value))


def _table(columns: Sequence[str], rows: Sequence[Row]) -> Table:
    return Table(tuple((name, name.replace("_", " ")) for name in columns), tuple(rows), ROWS)


def _chains(rows: list[Row]) -> tuple[tuple[Row, ...], ...]:
    """Each chain from its newest fact back; what superseded nothing is none.

    Two facts of the same words begin two chains: a chain begins at step 0.
    """
    chains: list[list[Row]] = []
    for row in rows:
        if row["step"] == 0:
            chains.append([])
        chains[-1].append(row)
    found = [tuple(chain) for chain in chains if len(chain) > 1]
    return tuple(sorted(found, key=lambda chain: chain[1]["decided_at"], reverse=True))


def _beliefs(rows: list[Row]) -> tuple[Belief, ...]:
    """The facts whose belief moved after it was set, those that moved last first."""
    found = []
    for _, group in groupby(rows, key=lambda row: row["fact_id"]):
        steps = tuple(group)
        if len(steps) > 1:
            found.append(_belief(steps))
    found.sort(key=lambda each: each.steps[-1]["decided_at"], reverse=True)
    return tuple(found)


def _belief(steps: tuple[Row, ...]) -> Belief:
    """The plot has a level for each decision: they lie seconds or years apart."""
    wide = (_WIDTH - 2 * _EDGE) / len(steps)
    path: list[str] = []
    dots: list[tuple[float, float]] = []
    for number, step in enumerate(steps):
        left, y = _EDGE + number * wide, _y(step["belief_after"])
        path.append(f"{'L' if path else 'M'}{left:.1f},{y:.1f}L{left + wide:.1f},{y:.1f}")
        dots.append((round(left, 1), y))
    return Belief(steps[0]["fact"], steps, "".join(path), tuple(dots))


def _y(belief: float) -> float:
    return round(_EDGE + (1 - belief) * (_HEIGHT - 2 * _EDGE), 1)
