"""``whatif``: what other rules would have made of a namespace, made so and taken back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.confirm import confirmed
from engram_graph.cli.files import target, write
from engram_graph.cli.output import counted
from engram_graph.cli.run import FAILED, OK, Run, command
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.models.whatif import FactDiff, WhatIf

_SHOWN = 20  # unanswered questions
_NAMES = {"closed_reason": "reason", "closed_at": "end noted"}
_MOMENTS = ("%Y-%m-%d", "%Y-%m-%d %H:%MZ", "%Y-%m-%d %H:%M:%SZ", "%Y-%m-%d %H:%M:%S.%fZ")


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "whatif", panel="Try and measure")(whatif)


async def whatif(
    run: Run,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The rules; else those that are set.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="A threshold; may be given again."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the decider what the log has no answer to.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Make it so, after a question.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask that.")] = False,
    take_back: Annotated[
        bool, typer.Option("--take-back", help="Undo the last one that was applied.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw what differs, as .svg or .png.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> int:
    """Decide a namespace again under other rules and show what would differ.

    The answers come from the log, so it costs nothing. Corrections, merges and other deeds are
    taken as they were. Nothing is changed without --apply, and that can be taken back.
    """
    if take_back:
        return await _take_back(run, alone=not (preset or set_ or ask or apply or out))
    numbers = _numbers(set_ or [])
    picture = target(out, ("svg", "png"), overwrite=overwrite) if out else None
    if picture:
        from engram_graph.pictures.parts import need

        need("matplotlib.figure")
    texts: dict[str, str] = {}  # of the facts that are stored: a what-if names most by their ids
    with ExitStack() as bars:
        progress = bars.enter_context(run.out.bar("Deciding again"))

        def decide(found: WhatIf) -> bool:
            bars.close()
            if not run.json:
                _show(run, found, texts)
            return yes or confirmed(run, f"{_otherwise(found)} would stand otherwise.", "apply it")

        async with run.memory() as memory:
            if not run.json:
                texts.update({fact.id: fact.text async for fact in memory.iter_facts(limit=1000)})
            found = await memory.whatif(
                preset=preset,
                numbers=numbers,
                ask=ask,
                apply=decide if apply else False,
                progress=progress,
            )
    if picture:
        _draw(found, *picture, overwrite=overwrite)
    if run.json:
        run.out.data(found)
    elif found.same or not apply:
        _show(run, found, texts)
    if apply and not found.same and not found.applied:
        run.out.note("nothing was applied")
        return FAILED
    if not run.json:
        run.out.note(_applied(found.namespace) if found.applied else "Nothing was changed.")
    return OK


def _applied(namespace: str) -> str:
    return (
        f"Applied; `engram whatif -n {shlex.quote(namespace)} --take-back` undoes it. What is new "
        "or resumed is decided by the rules that are set (ENGRAM_PRESET), as ever."
    )


def _draw(found: WhatIf, path: Path, kind: str, *, overwrite: bool) -> None:
    from engram_graph.pictures import whatif as pictures

    write(path, pictures.draw(found, "svg" if kind == "svg" else "png"), overwrite)


async def _take_back(run: Run, *, alone: bool) -> int:
    if not alone:
        raise InputError("--take-back goes with no other option of whatif", field="take_back")
    async with run.memory() as memory:
        step = await memory.take_back()
    if run.json:
        run.out.data(step)
    else:
        rules = _rules(step.preset, step.numbers)
        facts, links = counted(step.facts, "fact"), counted(step.links, "link")
        run.out.line(
            f"took back {rules} of {step.applied_at:%Y-%m-%d %H:%M}: {facts} and {links} stand "
            "as before"
        )
    return OK


def _numbers(given: Sequence[str]) -> dict[str, float]:
    numbers = {}
    for each in given:
        name, _, value = each.partition("=")
        try:
            numbers[name.strip()] = float(value)
        except ValueError:
            raise InputError(
                f"not NAME=NUMBER: {each!r}", hint="Such as --set close_below=0.3", field="set"
            ) from None
    return numbers


def _show(run: Run, found: WhatIf, stored: Mapping[str, str]) -> None:
    from engram_graph.cli import show

    texts = {**stored, **{one.fact: one.text for one in found.unanswered}}
    texts |= {diff.fact.id: diff.fact.text for diff in found.facts}

    def text(fact_id: str) -> str:
        return show.cut(texts.get(fact_id, fact_id))

    if found.facts:
        rows = [(_change(d), text(d.fact.id), _moved(d), d.fact.id) for d in found.facts]
        run.out.table(["change", "fact", "as stored → by these rules", "id"], rows)
    if found.links:
        named = [
            (d.change, d.link.type, text(d.link.source), text(d.link.target)) for d in found.links
        ]
        run.out.table(["change", "link", "from", "to"], named)
    for one in found.unanswered[:_SHOWN]:
        answered = "asked now" if one.asked else "never asked"
        pair = f' with "{text(one.candidate)}"' if one.candidate else ""
        run.out.line(f'{answered}: {one.question} of "{show.cut(one.text)}"{pair}')
    if len(found.unanswered) > _SHOWN:
        run.out.line(f"and {counted(len(found.unanswered) - _SHOWN, 'more question')}")
    for deed in found.passed_over:
        run.out.line(f"not repeated: {deed}")
    if found.incomplete:
        run.out.line(
            f"{counted(len(found.incomplete), 'fact')} lost something to forget and may differ "
            "for that alone: " + "; ".join(map(text, found.incomplete))
        )
    rules = _rules(found.preset, found.numbers)
    run.out.line(
        f"{counted(found.drafts, 'draft')} decided again by {rules}; {_otherwise(found)} "
        f"otherwise, {counted(len(found.unanswered), 'question')} not in the log"
    )
    if found.requests:
        cost = "unknown" if found.cost_usd is None else f"${found.cost_usd:.6f}"
        run.out.line(f"{counted(found.requests, 'request')}, cost {cost}")


def _otherwise(found: WhatIf) -> str:
    return f"{counted(len(found.facts), 'fact')} and {counted(len(found.links), 'link')}"


def _rules(preset: str, numbers: Mapping[str, float]) -> str:
    return ", ".join([preset, *(f"{name}={value:g}" for name, value in numbers.items())])


def _change(diff: FactDiff) -> str:
    """What kind of change it is, in words."""
    if diff.change == "left_out":
        return "left out"
    if diff.change != "end_moved":
        return diff.change
    if "valid_until" in diff.fields:
        return "end"
    return "reason of its end" if "closed_reason" in diff.fields else "when its end was noted"


def _moved(diff: FactDiff) -> str:
    """What differs, as values where they say something in a few characters."""
    before, after = diff.before, diff.after
    if before is None or after is None:
        return ""
    left = list(diff.fields)
    parts = []
    if "valid_until" in left:
        ends = _told_apart(before.valid_until or "open", after.valid_until or "open")
        reasons = [f" ({one.closed_reason})" if one.valid_until else "" for one in (before, after)]
        parts.append(f"until {ends[0]}{reasons[0]} → {ends[1]}{reasons[1]}")
        told = {"valid_until", "closed_reason"}
        if before.valid_until is None or after.valid_until is None:
            told |= {"open", "closed_at"}
        left = [name for name in left if name not in told]
    for name in left:
        one, other = _told_apart(getattr(before, name), getattr(after, name))
        parts.append(f"{_NAMES.get(name, name)} {one} → {other}")
    return "; ".join(parts)


def _told_apart(one: object, other: object) -> tuple[str, str]:
    """Two values as texts, no more exactly than tells them apart."""
    for exactness in range(len(_MOMENTS)):
        found = _told(one, exactness), _told(other, exactness)
        if found[0] != found[1]:
            break
    return found


def _told(value: object, exactness: int) -> str:
    from engram_graph.cli import show

    if value is None:
        return "none"
    if isinstance(value, datetime):
        return f"{value:{_MOMENTS[exactness]}}"
    return f"{value:.{2 + 2 * exactness}f}" if isinstance(value, float) else show.cut(str(value))
