"""Lines of an export: rendered, and read back with every value checked. A bad line is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, BinaryIO, NoReturn, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from engram_graph.errors import InputError
from engram_graph.models.export import (
    FORMAT,
    VERSION,
    AliasRecord,
    AnyRecord,
    ConversationRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    Header,
    ItemRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Fact, Message
from engram_graph.models.feedback import Feedback
from engram_graph.rules.paths import clean_place
from engram_graph.rules.validate import clean_metadata, clean_namespace, clean_text
from engram_graph.vocabulary import PREDICATES, MessageStatus

MAX_LINE_BYTES = 256 * 1024 * 1024  # a message of 4 million characters and its drafts fit in
T = TypeVar("T")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PROPERTY = re.compile("[a-z_]{1,50}")
_COUNTERS = 2**31
_RECORD: TypeAdapter[AnyRecord] = TypeAdapter(Annotated[AnyRecord, Field(discriminator="record")])


@dataclass(frozen=True, slots=True)
class Line:
    """A record with the number of its line (the header is 1) and its length in bytes."""

    number: int
    record: AnyRecord
    size: int


def render(record: BaseModel) -> bytes:
    """``record`` as its line; what is None is left out, but in a request, which is told in full."""
    short = not isinstance(record, RequestRecord)
    return record.model_dump_json(exclude_none=short).encode() + b"\n"


def is_export(value: object) -> bool:
    """Whether a parsed first line is the header of an export."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def read_header(stream: BinaryIO) -> Header:
    """The first line.

    Raises:
        InputError: it is no header, or one of a version this package does not read.
    """
    raw = stream.readline(MAX_LINE_BYTES + 1)
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        value = None
    if not is_export(value):
        raise InputError(
            "not an export of engram_graph: the first line is no header",
            hint="`engram ingest` reads messages and facts; `engram export` writes exports.",
            position=1,
        )
    if value.get("version") != VERSION:
        raise InputError(
            f"export version {value.get('version')!r} is not known, only {VERSION}",
            hint="Upgrade engram-graph, or export again with this version.",
            position=1,
        )
    header = _parsed(1, raw.removeprefix(b"\xef\xbb\xbf"), TypeAdapter(Header))
    try:
        clean_namespace(header.namespace)
    except InputError as error:
        raise wrong(1, error.message) from None
    return header


def read_records(stream: BinaryIO) -> Iterator[Line]:
    """The records behind the header, one at a time.

    Raises:
        InputError: with the line's number, at the first line that is not usable.
    """
    number = 1
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise wrong(number, f"longer than {MAX_LINE_BYTES:,} bytes")
        record = _parsed(number, raw, _RECORD)
        try:
            _check(record)
        except InputError as error:
            raise wrong(number, error.message) from None
        yield Line(number, record, len(raw))


def wrong(number: int, reason: str) -> InputError:
    """The error for a line that cannot be imported."""
    return InputError(
        f"line {number}: {reason}",
        hint="Nothing was imported. Export again; a file changed by hand must stay whole.",
        position=number,
    )


def _parsed(number: int, raw: bytes, form: TypeAdapter[T]) -> T:
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
        clean_metadata(value, "record")  # finite numbers, storable text, bounded depth
        found: T = _utc(form.validate_json(raw))
        return found
    except UnicodeDecodeError as error:
        raise wrong(number, f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise wrong(number, f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except ValidationError as error:  # its words, never the values: they may be anything
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise wrong(number, f"{place or 'record'}: {first['msg']}") from None
    except InputError as error:
        raise wrong(number, error.message) from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise wrong(number, f"not usable: {type(error).__name__}") from None


def _no_constant(name: str) -> NoReturn:
    raise InputError(f"{name} is not a JSON number")


def _utc(value: Any) -> Any:
    """``value`` with each moment in UTC; a moment without a zone is an error."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InputError(f"a moment without a time zone: {value.isoformat()}")
        return value.astimezone(UTC)
    if isinstance(value, tuple):
        return tuple(_utc(item) for item in value)
    if isinstance(value, BaseModel):
        changed = {
            name: _utc(inner)
            for name, inner in value
            if isinstance(inner, datetime | tuple | BaseModel)
        }
        return value.model_copy(update=changed) if changed else value
    return value


def _check(record: AnyRecord) -> None:
    """What a model's types do not say."""
    match record:
        case ConversationRecord():
            clean_text(record.name, "name")
        case MessageRecord():
            _message(record.message)
        case EntityRecord():
            _ids(record.entity.id, *record.apart)
            clean_text(record.entity.key, "key")
            clean_text(record.entity.name, "name")
        case FactRecord():
            _fact(record.fact)
            _ids(*record.sources)
            if not record.sources:
                raise InputError("no message states the fact")
        case MentionRecord():
            _ids(record.fact, *record.of)
        case LinkRecord():
            _ids(record.link.source, record.link.target)
        case DecisionRecord():
            _ids(record.decision.id, record.decision.fact_id, record.decision.candidate_id)
            if not all(map(_PROPERTY.fullmatch, record.more)):
                raise InputError("more holds a name that is none")
        case RequestRecord():
            _ids(record.request.id, *record.request.candidates, *record.decisions)
            moment = record.request.sent_at
            if moment.utcoffset() is None or moment.utcoffset():
                raise InputError("sent_at is not in UTC")
        case AliasRecord():
            _ids(*record.decisions)
            clean_text(record.key, "key")
            clean_text(record.name, "name")
            if record.merged:
                _ids(record.merged.id, *record.merged.apart)
        case FeedbackRecord():
            _feedback(record.feedback)
        case ItemRecord():
            _item(record)


def _feedback(label: Feedback) -> None:
    _ids(label.id, label.fact_id, label.decision_id)
    for field in ("why", "given_by"):
        if getattr(label, field) is not None:
            clean_text(getattr(label, field), field)
    if (label.fact_id is None) == (label.decision_id is None):
        raise InputError("a label is about a fact or a decision, one of them")
    if (label.belief is None or label.open is None) == (label.decision_id is None):
        raise InputError("a label on a fact says how it stood, and no other one does")


def _item(record: ItemRecord) -> None:
    item = record.item
    _ids(item.id)
    clean_place(item.path, item.key)
    for text in (item.source, *(each.text for each in record.texts)):
        clean_text(text, "text")
    if item.updated_at < item.created_at:
        raise InputError("the item was put before it was created")


def _message(message: Message) -> None:
    _ids(message.id)
    for field in ("text", "speaker", "conversation", "source_id"):
        clean_text(getattr(message, field), field)
    if message.status is MessageStatus.DONE and message.error is not None:
        raise InputError("a message that is done has no error")


def _fact(fact: Fact) -> None:
    _ids(fact.id)
    clean_text(fact.text, "text")
    if fact.predicate not in PREDICATES:
        raise InputError("unknown predicate")
    if not 0.02 - 1e-9 <= fact.belief <= 0.98 + 1e-9:
        raise InputError("belief is not in [.02, .98]")
    if fact.valid_until is not None and fact.valid_until < fact.valid_from:
        raise InputError("the fact ends before it starts")
    ends = {fact.open, fact.valid_until is None, fact.closed_at is None, fact.closed_reason is None}
    if len(ends) > 1:
        raise InputError("open, valid_until, closed_at and closed_reason do not fit each other")
    if not (0 <= fact.version < _COUNTERS and 0 <= fact.against_count < _COUNTERS):
        raise InputError("version and against_count count from 0")


def _ids(*values: str | None) -> None:
    for value in values:
        if value is not None and not _ID.fullmatch(value):
            raise InputError("an id is no UUID")
