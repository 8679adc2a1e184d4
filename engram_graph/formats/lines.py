"""Readers of files to ingest: LoCoMo, and messages or facts as JSON lines.

A bad line is handed out as an error with its position, and the lines after it go on. JSON lines
are streamed; a file that is one JSON value (LoCoMo, a list of items) is read whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from engram_graph import clock
from engram_graph.errors import InputError
from engram_graph.formats.export import is_export
from engram_graph.formats.locomo import is_locomo, parse_locomo
from engram_graph.vocabulary import Role, predicate

MAX_LINE_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_HINT = (
    'A message: {"text", speaker, role, said_at, source_id, conversation, metadata}; '
    'a fact: {"subject", "predicate", "object", text, valid_from, valid_until, said_at, '
    "speaker, source_id}."
)
_MESSAGE_FIELDS = frozenset(
    {"text", "content", "speaker", "name", "role", "said_at", "source_id", "conversation"}
)
_FACT_FIELDS = frozenset(
    {
        *("subject", "predicate", "relation", "object", "text", "valid_from", "valid_until"),
        *("said_at", "speaker", "source_id"),
    }
)


@dataclass(frozen=True, slots=True)
class MessageItem:
    """A message to add.

    Attributes:
        said_at: UTC; None means when it is ingested. conversation: None means the default one.
        source_id: as given, else derived from the line and its place in the file.
        metadata: as given, and every field of the line that has no meaning here.
    """

    text: str
    source_id: str
    speaker: str = "user"
    role: Role = Role.USER
    said_at: datetime | None = None
    conversation: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactItem:
    """A fact to remember. ``predicate`` is one of the 25 names; the moments are UTC."""

    subject: str
    predicate: str
    object: str
    source_id: str
    text: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    said_at: datetime | None = None
    speaker: str | None = None


Item = MessageItem | FactItem


def read_items(source: str | Path | BinaryIO) -> Iterator[tuple[int, Item | InputError]]:
    """(position, item or what is wrong with it), in the order of the file.

    Args:
        source: a path, or an open binary stream (standard input; it need not be seekable).

    Positions are line numbers for JSON lines (from 1, empty lines count), else the item's place.

    Raises:
        InputError: the file cannot be read, or is a broken LoCoMo file; raised at the first item.
    """
    if not isinstance(source, str | Path):
        yield from _read(source)
        return
    try:
        stream = Path(source).open("rb")  # noqa: SIM115  (closed below; opening fails apart)
    except OSError as error:
        raise InputError(
            f"cannot read {source}: {error.strerror or type(error).__name__}", field="path"
        ) from None
    with stream:
        yield from _read(stream)


def _read(stream: BinaryIO) -> Iterator[tuple[int, Item | InputError]]:
    lines = _lines(stream)
    before: list[tuple[int, bytes | None]] = []
    for number, line in lines:
        before.append((number, line))
        if line is None or line.strip():
            break
    else:
        return
    first = (before[-1][1] or b"").strip()
    whole: object = None
    if first.startswith(b"[") or first.endswith((b"{", b"[", b",")):
        # One JSON value over many lines, unless it is JSON lines that begin with a broken one.
        rest = list(lines)
        before += rest
        lines = iter(())
        whole = _parsed(b"\n".join(line or b"" for _, line in before))
    elif first.startswith(b"{"):
        one = _parsed(first)
        if is_export(one):
            raise InputError(
                "this is an export of a namespace",
                hint="`engram import` reads it.",
                field="path",
            )
        whole = one if is_locomo(one) else None
    if is_locomo(whole):
        yield from _locomo(whole)
    elif isinstance(whole, list | dict):
        values = whole if isinstance(whole, list) else [whole]
        seed = _digest(json.dumps(values[0], sort_keys=True).encode()) if values else ""
        for place, value in enumerate(values, start=1):
            raw = json.dumps(value, sort_keys=True).encode()
            yield place, _item(raw, place, seed)
    else:
        seed = _digest(first)
        for number, line in chain(before, lines):
            if line is None:
                yield number, _wrong(number, f"longer than {MAX_LINE_BYTES:,} bytes")
            elif line.strip():
                yield number, _item(line.strip(), number, seed)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines without a byte order mark; None for one too long to be taken in."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        too_long = len(line) > MAX_LINE_BYTES
        tail = line
        while too_long and tail and not tail.endswith(b"\n"):
            tail = stream.readline(MAX_LINE_BYTES)
        yield number, None if too_long else line


def _locomo(data: object) -> Iterator[tuple[int, Item]]:
    turns = (turn for conversation in parse_locomo(data) for turn in conversation.turns)
    for place, turn in enumerate(turns, start=1):
        yield (
            place,
            MessageItem(
                text=turn.text,
                source_id=turn.source_id,
                speaker=turn.speaker,
                said_at=turn.said_at,
                conversation=turn.conversation,
            ),
        )


def _item(raw: bytes, number: int, seed: str) -> Item | InputError:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _wrong(number, f"not UTF-8 at byte {error.start}")
    try:
        value = json.loads(text, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair cannot be stored
    except json.JSONDecodeError as error:
        return _wrong(number, f"not JSON: {error.msg} at character {error.pos + 1}")
    except UnicodeEncodeError:
        return _wrong(number, "holds half of a surrogate pair")
    except (ValueError, RecursionError) as error:
        return _wrong(number, f"not JSON: {error}")
    if not isinstance(value, dict):
        return _wrong(number, "not a JSON object")
    try:
        given = _text(value, "source_id")
        source_id = given or _digest(f"{seed}\n{number}\n".encode() + raw)
        if "subject" in value or "object" in value:
            return _fact(value, source_id)
        return _message(value, source_id)
    except InputError as error:
        return InputError(
            f"line {number}: {error.message}",
            hint=error.hint or _HINT,
            **(error.details | {"position": number}),
        )


def _message(value: dict[str, Any], source_id: str) -> MessageItem:
    text = value.get("text", value.get("content"))
    if isinstance(text, list):  # the chat format's parts
        parts = [part.get("text") for part in text if isinstance(part, dict)]
        text = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(text, str) or not text.strip():
        raise InputError("no text", field="text")
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise InputError("metadata must be an object", field="metadata")
    others = {k: v for k, v in value.items() if k not in _MESSAGE_FIELDS | {"metadata"}}
    written = _text(value, "role")
    try:
        role = Role((written or "user").lower())
    except ValueError:
        raise InputError(
            f"unknown role: {written!r}", hint="One of: " + ", ".join(Role), field="role"
        ) from None
    return MessageItem(
        text=text,
        source_id=source_id,
        speaker=_text(value, "speaker") or _text(value, "name") or role.value,
        role=role,
        said_at=_moment(value, "said_at"),
        conversation=_text(value, "conversation"),
        metadata=others | (metadata or {}),
    )


def _fact(value: dict[str, Any], source_id: str) -> FactItem:
    unknown = sorted(value.keys() - _FACT_FIELDS)
    if unknown:  # every field of a fact means something: a misspelt date must not get lost
        raise InputError(f"unknown field of a fact: {unknown[0]!r}", field=unknown[0])
    subject, object_ = _text(value, "subject"), _text(value, "object")
    named = _text(value, "predicate") or _text(value, "relation")
    if subject is None or object_ is None or named is None:
        raise InputError("a fact needs subject, predicate and object")
    starts, ends = _moment(value, "valid_from"), _moment(value, "valid_until")
    if starts and ends and ends < starts:
        raise InputError("valid_until is before valid_from", field="valid_until")
    return FactItem(
        subject=subject,
        predicate=predicate(named).name,
        object=object_,
        source_id=source_id,
        text=_text(value, "text"),
        valid_from=starts,
        valid_until=ends,
        said_at=_moment(value, "said_at"),
        speaker=_text(value, "speaker"),
    )


def _text(value: dict[str, Any], name: str) -> str | None:
    """A text field without outer blanks; None when absent, null or blank."""
    found = value.get(name)
    if found is None:
        return None
    if name == "source_id" and isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        raise InputError(f"{name} must be text", field=name)
    return found.strip() or None


def _moment(value: dict[str, Any], name: str) -> datetime | None:
    written = _text(value, name)
    return clock.instant(written, name) if written else None


def _wrong(number: int, reason: str) -> InputError:
    return InputError(f"line {number}: {reason}", hint=_HINT, position=number)


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
