"""How the end of a study is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engram_graph.cli.output import Output, counted, one_line

if TYPE_CHECKING:
    from engram_graph.evaluation.study.datasets import Dataset
    from engram_graph.evaluation.study.labels import Labels
    from engram_graph.evaluation.study.result import Result
    from engram_graph.evaluation.study.runner import Outcome

Timings = Sequence[Mapping[str, Any]]
_SHOWN = 5  # of what was not finished


def study_data(
    dataset: Dataset, outcomes: Sequence[Outcome], timings: Timings, labels: Labels | None
) -> dict[str, Any]:
    """All of it, for ``--json``."""
    from engram_graph.evaluation.study.metrics import summary

    return {
        "dataset": dataset.name,
        "split": dataset.split,
        "digest": dataset.digest,
        "arms": [
            {
                "arm": each.arm,
                "state": each.state,
                "why": each.why,
                "unfinished": list(each.unfinished),
                "read_wall_ms": _walls(each.arm, timings),
                "at": [summary(each.result, k) for k in each.result.ks] if each.result else [],
            }
            | (_audit(each.result, labels) if labels and each.result else {})
            for each in outcomes
        ],
    }


def shown(
    out: Output, outcomes: Sequence[Outcome], timings: Timings, labels: Labels | None
) -> None:
    """The table, and what did not run."""
    from engram_graph.evaluation.arms.full_context import WHOLE
    from engram_graph.evaluation.study.metrics import summary

    done = [each for each in outcomes if each.result]
    rows = [
        (summary(each.result, k), _walls(each.arm, timings))
        for each in done
        if each.result
        for k in each.result.ks
    ]
    categories = sorted({name for row, _ in rows for name in row["by_category"]})
    if rows:
        out.table(
            [
                *("arm", ">k", ">questions", ">accuracy"),
                *(f">{one_line(name)}" for name in categories),
                *(">abstention", ">tokens", ">read USD", ">models p50 ms", ">measured p50 ms"),
            ],
            (
                [
                    one_line(row["arm"]),
                    "all" if row["k"] >= WHOLE else row["k"],
                    row["questions"],
                    _percent(row["accuracy"]),
                    *(_percent(row["by_category"].get(name)) for name in categories),
                    _percent(row["abstention"]),
                    f"{row['tokens']['mean']:.0f}",
                    _usd(row["cost_usd"]["read"]),
                    f"{row['read_ms']['p50']:.0f}",
                    f"{walls['p50']:.0f}" if walls else "",
                ]
                for row, walls in rows
            ),
        )
    if labels:
        for each in done:
            if each.result:
                out.line(f"{one_line(each.arm)}: {_told(_audit(each.result, labels))}")
    for each in outcomes:
        if each.why:
            out.line(f"{one_line(each.arm)}: {each.state}: {one_line(each.why)}")
        _unfinished(out, each)


def _unfinished(out: Output, outcome: Outcome) -> None:
    if not outcome.unfinished:
        return
    number = counted(len(outcome.unfinished), "thing")
    out.note(f"note: {one_line(outcome.arm)}: {number} not done; the same command tries again")
    for each in outcome.unfinished[:_SHOWN]:
        out.note(f"      {one_line(each)}")


def _audit(result: Result, labels: Labels) -> dict[str, Any]:
    from engram_graph.evaluation.study.metrics import close_audit, stale

    return {
        "close_audit": asdict(close_audit(result.conversations, labels.closes)),
        "stale": {str(k): asdict(stale(result.at(k), labels.outdated)) for k in result.ks},
    }


def _told(audit: Mapping[str, Any]) -> str:
    closes = audit["close_audit"]
    stale = "; ".join(
        f"{each['right']} of {each['of']} outdated at k {k}" for k, each in audit["stale"].items()
    )
    return (
        f"{closes['right']} closes right, {closes['wrong']} wrong, {closes['unknown']} unknown, "
        f"{closes['missed']} of {closes['labelled']} missed; {stale}"
    )


def _walls(arm: str, timings: Iterable[Mapping[str, Any]]) -> dict[str, float] | None:
    """How long a read took on the clock, over all runs in the folder."""
    from engram_graph.evaluation.study.metrics import latency

    found = latency(
        1000 * row["wall_s"] for row in timings if row["arm"] == arm and row["stage"] == "read"
    )
    return asdict(found) if found else None


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f}"


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.5f}"
