"""Result files of made-up arms, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram_graph.evaluation.study.result import Label, Result, Row, Store

KINDS = ("multi-hop", "single-hop")


def rows(labels: str, k: int = 3, **more: Any) -> list[Row]:
    """A row for each sign: ``+`` right, ``-`` wrong, ``.`` not judged; kinds take turns."""
    told: dict[str, Label | None] = {"+": "CORRECT", "-": "WRONG", ".": None}
    return [
        Row(
            **{
                "task": f"q{place}",
                "conversation": f"talk-{place % 2}",
                "category": KINDS[place % 2],
                "k": k,
                "question": f"Question {place}?",
                "gold": "the lake",
                "answer": None if sign == "." else "an answer",
                "label": told[sign],
                "tokens": 10 * k + place,
                "evidence": ("t1", "t2"),
                "shortlisted": 2 if place else 1,
                "kept": place % 3,
                "read_usd": 0.001,
                "answer_usd": 0.002,
                "read_ms": 100.0 + place,
                "answer_ms": 200.0,
            }
            | more
        )
        for place, sign in enumerate(labels)
    ]


def result(arm: str, made: Sequence[Row], **more: Any) -> Result:
    """Of an arm over two conversations of four turns each."""
    store = Store(turns=4, facts=2, active=1, cost_usd={"extraction": 0.004}, latency_ms=(5.0, 7.0))
    fields: dict[str, Any] = {
        "dataset": "made-up",
        "split": "all",
        "digest": "d1",
        "arm": arm,
        "about": "An arm that was made up.",
        "models": {"answer": "none"},
        "tokens_at": (10.0, 20.0, 30.0),
        "conversations": {"talk-0": store, "talk-1": store},
        "rows": tuple(made),
    }
    return Result(**(fields | more))
