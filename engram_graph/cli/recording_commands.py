"""``recording``: what a file of recorded model calls holds."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import one_line
from engram_graph.cli.run import Run, command

if TYPE_CHECKING:
    from engram_graph.adapters.recording import Summary


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "recording", panel="Try and measure", scoped=False)(recording)


def recording(
    run: Run,
    file: Annotated[str, typer.Argument(help="As named in ENGRAM_RECORDING.")],
) -> None:
    """What a recording holds: calls, models, what they cost when they were made.

    A call in it is answered from it at no cost, as long as ENGRAM_RECORDING names it.
    """
    from engram_graph.adapters.recording import Recording

    opened = Recording(file, read_only=True)
    try:
        found = opened.summary()
    finally:
        opened.close()
    rows = [_row(each) for each in found]
    total = {
        "calls": sum(each.calls for each in found),
        "failures": sum(each.failures for each in found),
        "cost_usd": sum(each.cost_usd for each in found),
        "unpriced": sum(each.unpriced for each in found),
        "first": min((each.first for each in found), default=None),
        "last": max((each.last for each in found), default=None),
    }
    if run.json:
        run.out.data({"file": str(opened.path), **total, "models": rows})
        return
    if not rows:
        run.out.line("no call is recorded in it")
        return
    shown = rows if len(rows) == 1 else [*rows, {"kind": "together", **total}]
    run.out.table(
        ["kind", "backend", "model", ">calls", ">refused", ">cost", "first", "last"],
        (_cells(each) for each in shown),
    )


def _row(found: Summary) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__slots__}


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        *(one_line(row.get(name, "")) for name in ("kind", "backend", "model")),
        f"{row['calls']:,}",
        f"{row['failures']:,}",
        _cost(row),
        _moment(row["first"]),
        _moment(row["last"]),
    ]


def _cost(row: dict[str, Any]) -> str:
    """In dollars; the sum of what is known, and whether that is all."""
    known = f"${row['cost_usd']:.4f}"
    if row["unpriced"] == row["calls"]:
        return "unknown"
    return f"{known} + {row['unpriced']:,} unknown" if row["unpriced"] else known


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%SZ}"
