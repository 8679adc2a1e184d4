"""The tables of a report, each from results over the same questions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engram_graph.errors import InputError
from engram_graph.evaluation.report.parts import (
    NONE,
    Table,
    number,
    percent,
    points,
    short,
    size,
    usd,
)
from engram_graph.evaluation.report.recorded import CATEGORIES, RECALL, recorded
from engram_graph.evaluation.study import metrics
from engram_graph.evaluation.study.metrics import Share
from engram_graph.evaluation.study.result import Result, Row
from engram_graph.rules.calibration import wilson

_STUDY_RECALL = (
    " The study's recorded values, of 30 turns by likeness with its own embedder: all {}, any {}, "
    "lost to Jev's cut {}."
)
_DIGITS = 12  # of a digest


@dataclass(frozen=True, slots=True)
class Group:
    """Results over the same questions; only these are compared."""

    dataset: str
    split: str
    digest: str
    results: tuple[Result, ...]

    @property
    def name(self) -> str:
        """For headings."""
        return f"{self.dataset}, split {self.split}"


def groups(results: Iterable[Result]) -> list[Group]:
    """Results by dataset, split and digest, in the order they come.

    Raises:
        InputError: an arm comes twice over the same questions.
    """
    found: dict[tuple[str, str, str], list[Result]] = {}
    for each in results:
        group = found.setdefault((each.dataset, each.split, each.digest), [])
        if any(each.arm == other.arm for other in group):
            raise InputError(
                f"two results of {each.arm} over {each.dataset}, split {each.split}",
                hint="Name one of the two files, or one folder.",
                field="arm",
            )
        group.append(each)
    return [Group(*key, tuple(each)) for key, each in found.items()]


def arms_at(group: Group) -> Iterator[tuple[Result, int, tuple[Row, ...]]]:
    """Each result at each k it was answered at."""
    for result in group.results:
        for k in result.ks:
            yield result, k, result.at(k)


def what_ran(all_groups: Sequence[Group]) -> Table:
    """Datasets, splits and counts."""
    rows = []
    for group in all_groups:
        tasks = {row.task: row for each in group.results for row in each.rows}
        told = {row.task for row in metrics.counted(tasks.values())}
        stores = {name: s for each in group.results for name, s in each.conversations.items()}
        rows.append(
            (
                short(group.dataset),
                short(group.split),
                group.digest[:_DIGITS] or NONE,
                ", ".join(short(each.arm) for each in group.results),
                number(len(stores)),
                number(sum(each.turns for each in stores.values())),
                number(len(told)),
                number(sum(row.abstention and row.scored for row in tasks.values())),
                ", ".join(sorted({each.counted_by for each in group.results})),
            )
        )
    return Table(
        "Datasets",
        (
            *("dataset", "split", "digest", "arms", ">conversations", ">turns"),
            *(">questions", ">abstentions", "tokens counted by"),
        ),
        tuple(rows),
        note="The digest is of the conversations and questions that were put: arms are compared "
        "with each other only where it is the same.",
    )


def arms(results: Sequence[Result]) -> Table:
    """What each arm does, with its switches."""
    rows = {(each.arm, each.about, _told(each.flags)): None for each in results}
    return Table(
        "Arms",
        ("arm", "what it does", "switches"),
        tuple(tuple(short(cell, 400) for cell in row) for row in rows),
    )


def models(results: Sequence[Result]) -> Table:
    """Who was asked, by which prompts; arms that have both in common share a row."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for each in results:
        found.setdefault((_told(each.models), _told(each.prompts)), {})[each.arm] = None
    return Table(
        "Models",
        ("arms", "models", "prompt versions"),
        tuple(
            tuple(short(cell, 400) for cell in (", ".join(names), *key))
            for key, names in found.items()
        ),
        note="Those that were at hand; an arm asks the ones it needs.",
    )


def accuracy(group: Group) -> Table:
    """Accuracy with Wilson's interval, by category, and what was given to read."""
    kinds = sorted({r.category for each in group.results for r in metrics.counted(each.rows)})
    body = []
    missing = 0
    for result, k, rows in arms_at(group):
        missing += metrics.unanswered(row for row in rows if row.scored)
        by = metrics.by_category(rows)
        body.append(
            (
                result.arm,
                size(k),
                *_with_interval(metrics.accuracy(rows)),
                *(percent(by[kind].rate) if kind in by else NONE for kind in kinds),
                *_of(metrics.abstention(rows)),
                number(mean_tokens(rows), 1),
            )
        )
    note = "Percent of the questions that were judged; in brackets Wilson's 95 % interval. "
    note += "Abstention: of the questions about what was never told; no part of accuracy. "
    note += "Tokens: mean of the memory block."
    if missing:
        note += f" Without a label, and in no rate: {missing:,} questions at their k."
    return Table(
        "Accuracy",
        (
            *("arm", ">k", ">accuracy", ">judged", *(f">{short(kind)}" for kind in kinds)),
            *(">abstention", ">of", ">tokens"),
        ),
        tuple(body),
        note=note,
        empty="Nothing was answered.",
    )


def against_recorded(group: Group) -> Table:
    """Ours beside the study's, where dataset, split, number of questions and k are the same."""
    body = []
    found = [r for _, _, rows in arms_at(group) for r in metrics.by_category(rows)]
    kinds = [kind for kind in CATEGORIES if kind in found]
    for result, k, rows in arms_at(group):
        judged, by = metrics.accuracy(rows), metrics.by_category(rows)
        theirs = recorded(group.dataset, group.split, result.arm, k, len(metrics.counted(rows)))
        if theirs is None:
            continue
        pairs = [
            (percent(judged.rate), number(theirs.accuracy, 1)),
            *(
                (
                    percent(by[kind].rate) if kind in by else NONE,
                    number(theirs.categories.get(kind), 1),
                )
                for kind in kinds
            ),
            (percent(metrics.abstention(rows).rate), number(theirs.abstention, 1)),
            (number(mean_tokens(rows)), number(theirs.tokens)),
            (usd(metrics.costs(rows, {}).read), usd(theirs.read_usd)),
        ]
        body.append(
            (
                result.arm,
                size(k),
                NONE if judged.rate is None else points(judged.rate - theirs.accuracy / 100),
                *map(" / ".join, pairs),
                " / ".join(map(number, theirs.read_ms)) if theirs.read_ms else NONE,
            )
        )
    return Table(
        "Ours / the study's recorded values",
        (
            *("arm", ">k", ">difference", ">accuracy", *(f">{kind}" for kind in kinds)),
            *(">abstention", ">tokens", ">read USD", ">study's read p50 / p90 ms"),
        ),
        tuple(body),
        note="Second in each cell: what the reference study recorded with its own code, prompts, "
        "models and stores. They were not measured here, and the difference is no test. Its waits "
        "are by the clock, those below of the models alone.",
        empty="The study recorded no values for these questions, arms and sizes.",
    )


def costs(group: Group) -> Table:
    """USD: of writing by 1,000 turns, and of a question."""
    body = []
    for result, k, rows in arms_at(group):
        cost = metrics.costs(rows, result.conversations)
        whole = [value for value in cost.write.values() if value is not None]
        known = len(whole) == len(cost.write)
        parts = ", ".join(f"{short(name)} {usd(value)}" for name, value in cost.write.items())
        body.append(
            (
                result.arm,
                size(k),
                usd(sum(whole)) if known else NONE,
                parts or NONE,
                number(cost.turns_per_question, 3),
                *map(usd, (cost.read, cost.answer, cost.total, cost.judge)),
            )
        )
    return Table(
        "Cost in USD",
        (
            *("arm", ">k", ">write, 1,000 turns", "of that", ">turns per question"),
            *(">read", ">answer", ">total per question", ">judge"),
        ),
        tuple(body),
        note="Nominal prices, also of calls that were replayed. Total = turns per question × write "
        "of one turn + read + answer; the judge is no part of a memory. A dash: not known.",
        empty="Nothing was answered.",
    )


def latency(group: Group) -> Table:
    """Recorded waits for models."""
    body = []
    for result, k, rows in arms_at(group):
        writes = [ms for store in result.conversations.values() for ms in store.latency_ms]
        cells: list[str] = []
        for waits in (writes, [r.read_ms for r in rows], [r.answer_ms for r in rows if r.answer]):
            found = metrics.latency(waits)
            cells += [number(found.p50), number(found.p90)] if found else [NONE, NONE]
        body.append((result.arm, size(k), *cells))
    return Table(
        "Latency of the models in ms",
        (*("arm", ">k", ">write p50", ">p90", ">read p50", ">p90", ">answer p50", ">p90"),),
        tuple(body),
        note="Recorded with each call and the same in a replay: time of the models alone, for a "
        "turn, a question, an answer. p50 and p90 are the sorted values at ⌊share · (n − 1)⌋.",
        empty="Nothing was answered.",
    )


def evidence(group: Group) -> Table:
    """Recall of the shortlist, what a cut lost, and what reached the block."""
    body = []
    theirs: tuple[float, ...] = ()
    for result, k, rows in arms_at(group):
        found = metrics.recall(rows)
        asked = len(metrics.counted(rows))
        theirs = theirs or RECALL.get((group.dataset, group.split, asked), ())
        body.append(
            (
                result.arm,
                size(k),
                number(found.questions),
                *(
                    percent(Share(count, found.questions).rate) if count is not None else NONE
                    for count in (found.all, found.any, found.lost)
                ),
                percent(kept_share(rows)),
            )
        )
    return Table(
        "Evidence found",
        (
            *("arm", ">k", ">questions with evidence", ">all in the shortlist", ">any in it"),
            *(">lost to the cut", ">recall at k"),
        ),
        tuple(body),
        note="Percent of questions. Lost: a piece was in the shortlist and none in the block. "
        "Recall at k: mean share of the evidence in the block. A dash: the arm does not tell."
        + (_STUDY_RECALL.format(*theirs) if theirs else ""),
        empty="Nothing was answered.",
    )


def kept_share(rows: Iterable[Row]) -> float | None:
    """Mean share of the evidence in the block; None where no arm tells."""
    shares = [
        row.kept / len(row.evidence)
        for row in metrics.counted(rows)
        if row.kept is not None and row.evidence
    ]
    return fmean(shares) if shares else None


def _told(pairs: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(pairs.items())) or NONE


def mean_tokens(rows: Sequence[Row]) -> float:
    """Of the questions that count for accuracy; of all where none does."""
    return fmean(row.tokens for row in metrics.counted(rows) or rows)


def _with_interval(share: Share) -> tuple[str, str]:
    if share.rate is None:
        return "not judged", "0"
    low, high = wilson(share.right, share.of)
    return f"{percent(share.rate)} [{percent(low)}, {percent(high)}]", number(share.of)


def _of(share: Share) -> tuple[str, str]:
    return percent(share.rate), number(share.of)
