"""``search``, ``facts``, ``history``, ``diff``, ``explain`` …: what the memory knows, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import one_line
from engram_graph.cli.run import FAILED, OK, Run, command, listing

if TYPE_CHECKING:
    from engram_graph.models.facts import Fact
    from engram_graph.models.results import FactHit, Recall, TurnHit

_PANEL = "Read"
_Name = Annotated[str | None, typer.Option(metavar="NAME")]
_Between = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="FROM TO", help="Only what was true at some time of it; both days in it."),
]
_AsOf = Annotated[str | None, typer.Option(metavar="DATE", help="Only what was true then.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "search", panel=_PANEL)(search)
    command(app, "facts", panel=_PANEL)(facts)
    command(app, "history", panel=_PANEL)(history)
    command(app, "diff", panel=_PANEL)(diff)
    command(app, "explain", panel=_PANEL)(explain)
    command(app, "get", panel=_PANEL)(get)
    command(app, "namespaces", panel=_PANEL, scoped=False)(namespaces)
    command(app, "stats", panel=_PANEL)(stats)
    command(app, "doctor", panel=_PANEL)(doctor)


async def search(
    run: Run,
    query: Annotated[str, typer.Argument(help="What to find.")],
    mode: Annotated[str, typer.Option(help="facts, turns or both.")] = "facts",
    limit: Annotated[int | None, typer.Option(help="Most items of each sort, 1 to 150.")] = None,
    as_of: _AsOf = None,
    between: _Between = None,
    context_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Budget of the context, in tokens.")
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Look at 150 items and leave none out.")
    ] = False,
    context: Annotated[
        bool, typer.Option("--context", help="Print the lines for a prompt instead.")
    ] = False,
    lines: Annotated[
        str, typer.Option(help="Of the context: compact, full, lean or nodates.")
    ] = "compact",
) -> None:
    """Find what bears on a question."""
    async with run.memory() as memory:
        found = await memory.search(
            query,
            mode=mode,  # type: ignore[arg-type]  # checked by the client
            limit=limit,
            as_of=as_of,
            between=between,
            context_tokens=context_tokens,
            wide=wide,
            lines=lines,  # type: ignore[arg-type]  # checked by the client
        )
    run.out.degraded(found.degraded)
    if run.json:
        run.out.data(flat_recall(found))
    elif context:
        run.out.line(found.context)
    else:
        from engram_graph.cli import show

        run.out.lines(show.recall(found))


async def facts(
    run: Run,
    subject: _Name = None,
    predicate: Annotated[str | None, typer.Option(metavar="RELATION")] = None,
    object: _Name = None,  # noqa: A002
    open: Annotated[  # noqa: A002
        bool | None, typer.Option("--open/--closed", help="Without an end, or with one.")
    ] = None,
    as_of: _AsOf = None,
    between: _Between = None,
    known_at: Annotated[
        str | None, typer.Option(metavar="DATE", help="As the memory knew it then.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Facts on a page, 1 to 10,000.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Of the page before.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All pages.")] = False,
) -> None:
    """List facts in recording order."""
    found: list[Fact] = []
    async with run.memory() as memory:
        while True:
            page = await memory.facts(
                subject=subject,
                predicate=predicate,
                object=object,
                open=open,
                as_of=as_of,
                between=between,
                known_at=known_at,
                limit=limit,
                cursor=cursor,
            )
            found += page.facts
            cursor = page.cursor
            if not every or cursor is None:
                break
    if run.json:
        run.out.data(found)
    else:
        from engram_graph.cli import show

        run.out.lines(show.fact_line(fact, triple=True) for fact in found)
        if not found:
            run.out.note("no facts")
    if cursor is not None:
        run.out.note(f"more: --cursor {cursor} (or --all)")


async def history(
    run: Run,
    subject: Annotated[str, typer.Argument(help="Who or what.")],
    predicate: Annotated[str | None, typer.Argument(help="Only this relation.")] = None,
) -> None:
    """Show how a subject's facts changed, with what superseded what."""
    async with run.memory() as memory:
        found = await memory.history(subject, predicate)
    if run.json:
        run.out.data(found)
        return
    from engram_graph.cli import show

    run.out.lines(show.timeline(found, memory.namespace or ""))


async def diff(
    run: Run,
    start: Annotated[str, typer.Argument(metavar="FROM", help="A date or a moment.")],
    end: Annotated[
        str | None, typer.Argument(metavar="[TO]", help="A date: that whole day. Else now.")
    ] = None,
    clock: Annotated[
        str, typer.Option(help="valid: in the world; recorded: in the memory.")
    ] = "valid",
    subject: _Name = None,
    predicate: Annotated[str | None, typer.Option(metavar="RELATION")] = None,
    limit: Annotated[int, typer.Option(help="Most changes, 1 to 100,000.")] = 1_000,
) -> None:
    """Show what changed between two dates: what began and ended, by what, and why."""
    async with run.memory() as memory:
        found = await memory.diff(
            start,
            end,
            clock=clock,  # type: ignore[arg-type]  # checked by the client
            subject=subject,
            predicate=predicate,
            limit=limit,
        )
    if run.json:
        run.out.data(found)
        return
    from engram_graph.cli import show

    run.out.lines(show.diff(found))
    if not found.changes:
        run.out.note("no changes")
    if not found.complete:
        run.out.note(f"these are the first {len(found.changes)}: raise --limit, or look at less")


async def explain(
    run: Run,
    fact: Annotated[
        str, typer.Argument(help="Id of a fact, its start, or 'subject|predicate|object'.")
    ],
) -> None:
    """Tell the story of a fact: who said it, what was asked, how its belief moved, and why."""
    async with run.memory() as memory:
        with listing(memory):
            found = await memory.explain(fact)
    if run.json:
        run.out.data(found)
        return
    from engram_graph.cli import show

    run.out.lines(show.explanation(found))


async def get(
    run: Run,
    id: Annotated[str, typer.Argument(help="Id of a fact or message.")],  # noqa: A002
) -> None:
    """Show one fact or message by its id, with every field."""
    from engram_graph.errors import NotFoundError
    from engram_graph.models.facts import Message

    async with run.memory() as memory:
        record: Fact | Message
        with listing(memory):
            try:
                record = await memory.get(id)
            except NotFoundError:
                try:
                    record = await memory.get_message(id)
                except NotFoundError:
                    raise NotFoundError(f"no fact and no message {one_line(id)!r}") from None
    if run.json:
        run.out.data(record)
        return
    for name, value in record.model_dump(mode="json").items():
        if value is not None:
            run.out.line(f"{name:<18} {one_line(str(value))}")


async def namespaces(run: Run) -> None:
    """List every namespace in the database with its counts."""
    async with run.memory() as memory:
        found = await memory.namespaces()
    if run.json:
        run.out.data(found)
        return
    from engram_graph.cli import show

    run.out.table(
        ["namespace", ">messages", ">facts", ">open", ">entities", "last recorded"],
        (
            [
                one_line(each.namespace),
                each.messages,
                each.facts,
                each.open,
                each.entities,
                show.moment(each.last_recorded_at),
            ]
            for each in found
        ),
    )


async def stats(run: Run) -> None:
    """Show the counts of a namespace, and what its decider cost and how long it takes."""
    async with run.memory() as memory:
        found = await memory.stats()
    if run.json:
        run.out.data({**found.model_dump(mode="json"), "failed_share": found.failed_share})
        return
    from engram_graph.cli import show

    run.out.lines(show.stats(found))


async def doctor(
    run: Run,
    everywhere: Annotated[
        bool,
        typer.Option("--everywhere", help="All namespaces, the indexes, and what a reembed left."),
    ] = False,
) -> int:
    """Check the graph's invariants; exit code 1 when one is broken."""
    async with run.memory() as memory:
        report = await memory.doctor(everywhere=everywhere)
    if run.json:
        run.out.data({"sound": report.sound} | report.model_dump(mode="json"))
    else:
        for finding in report.findings:
            run.out.line(f"{finding.invariant}: {one_line(finding.message)}")
        looked_at = sum(report.checked.values())
        run.out.line(
            f"{len(report.checked)} invariants, {looked_at} checks, "
            f"{len(report.findings) or 'no'} findings"
        )
    return OK if report.sound else FAILED


def flat_recall(found: Recall) -> dict[str, Any]:
    """A recall whose hits carry the fields of their fact or message beside their own."""
    return found.model_dump(mode="json", exclude={"facts", "turns"}) | {
        "facts": [_flat(hit, hit.fact) for hit in found.facts],
        "turns": [_flat(hit, hit.message) for hit in found.turns],
    }


def _flat(hit: FactHit | TurnHit, record: Any) -> dict[str, Any]:
    own: dict[str, Any] = hit.model_dump(mode="json", exclude={"fact", "message"})
    fields: dict[str, Any] = record.model_dump(mode="json")
    return fields | own
