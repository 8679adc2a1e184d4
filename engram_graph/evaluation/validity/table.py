"""The benchmark's tables, from result files. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from engram_graph.evaluation.study.result import Result
from engram_graph.evaluation.validity.form import KINDS

MAIN_K: Final = "3"
"""Lines of the block where one number is asked for."""
Table = tuple[list[str], list[list[str]]]
"""Columns (``>`` before those of numbers), rows. Shares are in %."""


def by_kind(results: Sequence[Result]) -> Table:
    """Right blocks of ``MAIN_K`` lines: mean over kinds with its interval, then each kind."""
    asked = [_main(result) for result in results]
    kinds = [kind for kind in KINDS if any(kind in each.get("kinds", {}) for each in asked)]
    rows = [
        [
            result.arm,
            _percent(each.get("overall")),
            _interval(each.get("interval")),
            *(_percent(each.get("kinds", {}).get(kind, {}).get("right")) for kind in kinds),
        ]
        for result, each in zip(results, asked, strict=True)
    ]
    return ["arm", ">mean", ">95 %", *(f">{kind}" for kind in kinds)], rows


def by_budget(results: Sequence[Result]) -> Table:
    """Right blocks of each size, mean over kinds; what goes wrong in those of ``MAIN_K`` lines."""
    ks = sorted({k for each in results for k in each.scores["k"]}, key=int)
    budgets = sorted({size for each in results for size in each.scores.get("tokens", {})}, key=int)
    parts = ("reached", "stale", "first")
    rows = [
        [
            result.arm,
            *(_percent(result.scores["k"].get(k, {}).get("overall")) for k in ks),
            *(
                _percent(result.scores.get("tokens", {}).get(size, {}).get("overall"))
                for size in budgets
            ),
            *(_percent((_main(result).get("all") or {}).get(part)) for part in parts),
        ]
        for result in results
    ]
    columns = [*(f">k {k}" for k in ks), *(f">{size} tokens" for size in budgets)]
    return ["arm", *columns, *(f">{part}" for part in parts)], rows


def of_stores(results: Sequence[Result]) -> Table:
    """Arms that keep facts: those open at the end, true at moments, and their boundaries."""
    parts = ("precision", "recall", "f1", "moments", "starts", "ends")
    kept = [result for result in results if "store" in result.scores]
    rows = [
        [result.arm, *(_percent(result.scores["store"].get(part)) for part in parts)]
        for result in kept
    ]
    return ["arm", *(f">{part}" for part in parts)], rows


def _main(result: Result) -> dict[str, Any]:
    """Its scores at ``MAIN_K``; empty where every question asks for more facts than that."""
    found: dict[str, Any] = result.scores["k"].get(MAIN_K, {})
    return found


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _interval(limits: Any) -> str:
    return f"{100 * limits[0]:.0f}–{100 * limits[1]:.0f}" if limits else ""
