"""``entities``, ``alias``, ``merge``, ``unmerge``, ``duplicates``: who is who."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.output import one_line
from engram_graph.cli.run import Run, command

if TYPE_CHECKING:
    from engram_graph.models.entities import Merged, MergeSuggestion
    from engram_graph.models.facts import Entity, Fact

_PANEL = "Entities"
_Reason = Annotated[str, typer.Option(help="Why; logged with it.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "entities", panel=_PANEL)(entities)
    command(app, "alias", panel=_PANEL)(alias)
    command(app, "merge", panel=_PANEL)(merge)
    command(app, "unmerge", panel=_PANEL)(unmerge)
    command(app, "duplicates", panel=_PANEL)(duplicates)


async def entities(
    run: Run,
    like: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only with this in a name or alias.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Most of them, 1 to 10,000.")] = 100,
) -> None:
    """List whom and what the facts are about."""
    async with run.memory() as memory:
        found = await memory.entities(like=like, limit=limit)
    if run.json:
        run.out.data(found)
        return
    run.out.table(
        ["name", ">facts", "also called"],
        ([one_line(e.name), e.facts, one_line(", ".join(e.aliases))] for e in found),
    )
    if len(found) == limit:
        run.out.note("there may be more: --limit, --like")


async def alias(
    run: Run,
    entity: Annotated[str, typer.Argument(help="A name the entity has.")],
    name: Annotated[str, typer.Argument(help="Its other name.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take it away again.")] = False,
) -> None:
    """Give an entity another name, or take it away."""
    async with run.memory() as memory:
        change = memory.remove_alias if remove else memory.add_alias
        result = await change(entity, name)
    if run.json:
        run.out.data(result)
        return
    run.out.line(_called(result))


async def merge(
    run: Run,
    keep: Annotated[str, typer.Argument(help="The entity that stays.")],
    other: Annotated[str, typer.Argument(help="The one that becomes part of it.")],
    reason: _Reason = "",
) -> None:
    """Make two entities one. `engram unmerge` takes it back."""
    async with run.memory() as memory:
        result = await memory.merge_entities(keep, other, reason=reason)
    if run.json:
        run.out.data(result)
        return
    _show_merge(run, result)


async def unmerge(
    run: Run,
    name: Annotated[
        str, typer.Argument(help="The merged entity, the one it went into, or a decision's id.")
    ],
    reason: _Reason = "",
) -> None:
    """Take a merge back; facts written since then stay where they are."""
    async with run.memory() as memory:
        result = await memory.unmerge(name, reason=reason)
    if run.json:
        run.out.data(result)
        return
    run.out.line(f"{_called(result.entity)}: {_count(result.facts, 'fact')} moved back")
    if result.kept is not None:
        run.out.line(_called(result.kept))


async def duplicates(
    run: Run,
    apply: Annotated[
        bool, typer.Option("--apply", help="Merge those with a probability of .85 or more.")
    ] = False,
) -> None:
    """List entities that may be the same, with the decider's probability."""
    async with run.memory() as memory:
        found = await memory.suggest_merges(apply=apply)
    if run.json:
        run.out.data(found)
        return
    for each in found:
        run.out.line(_suggestion(each))
        if each.merged is not None:
            _show_merge(run, each.merged)
    if not found:
        run.out.note("no two names are alike")
    elif any(each.merged is None for each in found):
        run.out.note("if two are the same: engram merge KEEP OTHER")


def _called(entity: Entity) -> str:
    also = f", also called {', '.join(entity.aliases)}" if entity.aliases else ""
    return one_line(f"{entity.name}{also}")


def _suggestion(each: MergeSuggestion) -> str:
    p = "  ?  " if each.p is None else f"{each.p:.3f}"
    pair = f"{shlex.quote(each.keep.name)} {shlex.quote(each.other.name)}"
    return one_line(
        f"{p} {pair} ({'; '.join(each.why)}; {each.keep.facts} and {each.other.facts} facts)"
    )


def _show_merge(run: Run, result: Merged) -> None:
    run.out.line(f"{_called(result.entity)}: {_count(result.facts, 'fact')} moved")
    if result.same:
        run.out.line(f"{_count(result.same, 'pair')} of facts saying the same now")
    for fact in result.loops:
        run.out.line(f"between the two before: {_fact(fact)}")
    for group in result.conflicts:
        run.out.line(f"more than one open value of {group[0].predicate}:")
        run.out.lines(f"  {_fact(fact)}" for fact in group)
    if result.conflicts:
        run.out.note("nothing was closed: engram correct ID … settles it")


def _count(found: Sequence[object], what: str) -> str:
    return f"{len(found)} {what}{'s' if len(found) != 1 else ''}"


def _fact(fact: Fact) -> str:
    from engram_graph.cli import show

    return str(show.fact_line(fact))
