"""``hygiene`` and ``restore``: upkeep, shown before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.output import counted
from engram_graph.cli.run import FAILED, OK, Run, command, listing

if TYPE_CHECKING:
    from engram_graph.models.upkeep import HygieneReport

_PANEL = "Keep in order"


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "hygiene", panel=_PANEL)(hygiene)
    command(app, "restore", panel=_PANEL)(restore)


async def hygiene(
    run: Run,
    same_as: Annotated[
        bool, typer.Option("--same-as/--no-same-as", help="Link facts that say the same.")
    ] = True,
    worth: Annotated[
        bool, typer.Option("--worth", help="Ask again about facts unread for 30 days.")
    ] = False,
    short_lived: Annotated[
        bool, typer.Option("--short-lived", help="Archive short-lived facts after a week.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; otherwise only tell.")] = False,
) -> int:
    """Link facts that say the same; archive what search need not give.

    Without --apply it asks the decider and changes nothing. Run it again after a failure: it goes
    on where it stopped, and the exit code is 1 as long as something was left out.
    """
    with run.out.bar("Comparing facts") as progress:
        async with run.memory() as memory:
            report = await memory.hygiene(
                same_as=same_as,
                worth=worth,
                short_lived=short_lived,
                apply=apply,
                progress=progress,
            )
    run.out.degraded(report.degraded)
    if run.json:
        run.out.data(report)
    else:
        _show(run, report)
    return FAILED if report.degraded else OK


async def restore(
    run: Run,
    fact_id: Annotated[str, typer.Argument(help="Id of an archived fact.")],
) -> None:
    """Give an archived fact back to search."""
    async with run.memory() as memory:
        with listing(memory):
            fact = await memory.restore(fact_id)
    if run.json:
        run.out.data(fact)
    else:
        from engram_graph.cli import show

        run.out.line(show.fact_line(fact))


def _show(run: Run, report: HygieneReport) -> None:
    from engram_graph.cli import show

    for pair in report.same_as:
        sign = "=" if pair.change == "link" else "≠"
        run.out.line(f"{sign} {show.cut(pair.fact.text)}  |  {show.cut(pair.other.text)}")
        run.out.line(f"    same with p {pair.p:.2f}  {pair.fact.id}  {pair.other.id}")
    for one in report.archived:
        worth = "" if one.question == "short_lived" else f", worth {one.p:.2f}"
        run.out.line(f"- {show.cut(one.fact.text)}  {one.fact.id}")
        run.out.line(f"    {one.reason}{worth}")
    links = [pair.change for pair in report.same_as]
    would = "" if report.applied else "would be "
    skipped = f" ({report.skipped} left undecided)" if report.skipped else ""
    run.out.line(
        f"{report.asked} of {counted(report.pairs, 'pair')} asked about{skipped}, "
        f"{links.count('link')} {would}linked, {links.count('unlink')} {would}unlinked; "
        f"{counted(report.stale, 'stale fact')} asked about, "
        f"{counted(len(report.archived), 'fact')} {would}archived"
    )
    cost = "unknown" if report.cost_usd is None else f"${report.cost_usd:.6f}"
    run.out.line(f"{counted(report.requests, 'request')}, cost {cost}")
    if not report.applied and (report.same_as or report.archived):
        run.out.note("Nothing was changed: --apply does it.")
