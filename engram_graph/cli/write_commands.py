"""``add``, ``remember``, ``correct``, ``ingest``, ``resume``: what goes into the memory."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.run import FAILED, OK, Run, command, listing
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.models.results import Added, Imported

_PANEL = "Write"
_ERRORS = 10  # lines of a file that people are told of one by one
_Date = Annotated[
    str | None, typer.Option(metavar="DATE", help="ISO 8601; a date means 00:00 UTC.")
]
_Speaker = Annotated[str | None, typer.Option(metavar="NAME", help="Who said it.")]
_Source = Annotated[
    str | None, typer.Option(metavar="ID", help="Your own id; a known one changes nothing.")
]
_Metadata = Annotated[
    str | None, typer.Option(metavar="JSON", help="A JSON object to keep with it.")
]
_Role = Annotated[str, typer.Option(help="user, assistant, system or tool.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "add", panel=_PANEL)(add)
    command(app, "remember", panel=_PANEL)(remember)
    command(app, "correct", panel=_PANEL)(correct)
    command(app, "ingest", panel=_PANEL)(ingest)
    command(app, "resume", panel=_PANEL)(resume)


async def add(
    run: Run,
    text: Annotated[str, typer.Argument(help="The message; - reads standard input.")],
    conversation: Annotated[str | None, typer.Option(metavar="NAME", help="Which chat.")] = None,
    speaker: _Speaker = None,
    role: _Role = "user",
    said_at: _Date = None,
    source_id: _Source = None,
    metadata: _Metadata = None,
) -> int:
    """Store a message and the facts it states."""
    content = _standard_input() if text == "-" else text
    async with run.memory() as memory:
        result = await memory.add(
            content,
            conversation=conversation,
            speaker=speaker,
            role=role,
            said_at=said_at,
            source_id=source_id,
            metadata=_metadata(metadata),
        )
    return _show(run, result)


async def remember(
    run: Run,
    subject: Annotated[str, typer.Argument(help="Who or what the fact is about.")],
    predicate: Annotated[str, typer.Argument(help="One of the 25 relations, such as lives_in.")],
    object: Annotated[str, typer.Argument(help="The other end.")],  # noqa: A002
    text: Annotated[str | None, typer.Option(help="The fact as a sentence.")] = None,
    negated: Annotated[
        bool, typer.Option("--negated", help="It does NOT hold (any more).")
    ] = False,
    valid_from: _Date = None,
    valid_until: _Date = None,
    said_at: _Date = None,
    conversation: Annotated[str | None, typer.Option(metavar="NAME", help="Which chat.")] = None,
    speaker: _Speaker = None,
    role: _Role = "user",
    source_id: _Source = None,
    metadata: _Metadata = None,
) -> int:
    """Store one given fact, decided against what is known."""
    async with run.memory() as memory:
        result = await memory.remember(
            subject,
            predicate,
            object,
            text=text,
            negated=negated,
            valid_from=valid_from,
            valid_until=valid_until,
            said_at=said_at,
            conversation=conversation,
            speaker=speaker,
            role=role,
            source_id=source_id,
            metadata=_metadata(metadata),
        )
    return _show(run, result)


async def correct(
    run: Run,
    fact_id: Annotated[str, typer.Argument(help="Id of the fact to put right.")],
    subject: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    predicate: Annotated[str | None, typer.Option(metavar="RELATION")] = None,
    object: Annotated[str | None, typer.Option(metavar="NAME")] = None,  # noqa: A002
    text: Annotated[str | None, typer.Option(help="The fact as a sentence.")] = None,
    valid_from: _Date = None,
    valid_until: _Date = None,
    reason: Annotated[str, typer.Option(help="Why; logged with it.")] = "",
    speaker: _Speaker = None,
) -> int:
    """Close a fact by hand and put a corrected one in its place.

    What is not given stays. Without --valid-from the old fact was never true; with it, it was
    true until then.
    """
    async with run.memory() as memory:
        with listing(memory):
            result = await memory.correct(
                fact_id,
                subject=subject,
                predicate=predicate,
                object=object,
                text=text,
                valid_from=valid_from,
                valid_until=valid_until,
                reason=reason,
                speaker=speaker,
            )
    return _show(run, result)


async def ingest(
    run: Run,
    file: Annotated[str, typer.Argument(help="JSON lines of messages or facts, or LoCoMo.")],
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Of a LoCoMo file, only this one.")
    ] = None,
) -> int:
    """Read a file of messages or facts; again if need be: what is known is skipped.

    A line that cannot be read is reported with its number, the rest goes on, and the exit code
    is 1 at the end.
    """
    with run.out.bar("Ingesting") as progress:
        async with run.memory() as memory:
            result = await memory.ingest(file, conversation=conversation, progress=progress)
    return imported(run, result)


async def resume(run: Run) -> int:
    """Finish what is unfinished: messages without their facts, then facts that lack answers.

    The exit code is 1 while any is left.
    """
    async with run.memory() as memory:
        results = await memory.resume()
        unsettled = (await memory.stats()).unsettled
    run.out.degraded(reason for result in results for reason in result.degraded)
    messages = [result for result in results if not result.asked_again]
    unfinished = sum(result.message.status.value != "done" for result in messages)
    asked = [fact for result in results if result.asked_again for fact in result.facts]
    settled = sum(not fact.unsettled for fact in asked)
    if run.json:
        run.out.data(results)
    else:
        for result in results:
            run.out.lines(_lines(result))
        run.out.line(f"{len(messages) - unfinished} finished, {unfinished} still unfinished")
        run.out.line(f"{settled} settled, {unsettled} still unsettled")
    return FAILED if unfinished or unsettled else OK


def imported(run: Run, result: Imported) -> int:
    """What came of a file: its errors by line, then the counts; the exit code."""
    run.out.degraded(result.degraded)
    shown = result.failed if run.json else result.failed[:_ERRORS]
    for position, reason in shown:
        told = reason if reason.startswith(f"line {position}:") else f"line {position}: {reason}"
        run.out.note(f"error: {told}")
    if more := len(result.failed) - len(shown):
        wrong_file = "" if result.messages or result.skipped else "; is this a JSON-lines file?"
        run.out.note(f"… and {more} more{wrong_file}")
    if run.json:
        failed = [{"position": place, "message": reason} for place, reason in result.failed]
        run.out.data(result.model_dump(mode="json") | {"failed": failed})
    else:
        run.out.line(
            f"{result.messages} messages, {result.facts} facts, {result.skipped} known already, "
            f"{len(result.failed)} failed"
        )
    return FAILED if result.failed else OK


def _show(run: Run, result: Added) -> int:
    run.out.degraded(result.degraded)
    if run.json:
        run.out.data(result)
    else:
        run.out.lines(_lines(result))
    return FAILED if result.message.status.value == "failed" else OK


def _lines(result: Added) -> Any:
    from engram_graph.cli import show

    return show.added(result)


def _metadata(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"metadata is not JSON: {error}", hint='Such as {"channel": "mail"}.', field="metadata"
        ) from None
    if not isinstance(found, dict):
        raise InputError(
            "metadata must be a JSON object", hint='Such as {"channel": "mail"}.', field="metadata"
        )
    return found


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is not UTF-8 at byte {error.start}",
            hint="Convert it first, such as with iconv.",
            field="content",
        ) from None
