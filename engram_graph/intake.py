"""What callers pass in, checked and made into records. Nothing is stored before all of it fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram_graph import clock
from engram_graph.clock import instant
from engram_graph.errors import InputError
from engram_graph.models.facts import Draft, Extracted, Message
from engram_graph.rules.names import resolve_person
from engram_graph.rules.secrets import find, find_in_json, redact_json, redact_values
from engram_graph.rules.validate import clean_metadata, clean_name, clean_text
from engram_graph.vocabulary import MessageStatus, Role, predicate

DEFAULT_CONVERSATION = "default"
CALLER = "caller"
_CHAT_FIELDS = frozenset(
    {"role", "content", "name", "text", "speaker", "said_at", "source_id", "conversation"}
) | {"metadata"}
# What LLM APIs put beside a message's text.
_TOOL_FIELDS = frozenset(
    {"tool_calls", "tool_call_id", "function_call", "refusal", "annotations", "audio", "id"}
)
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_FACT_FIELDS = frozenset(
    {"subject", "predicate", "object", "text", "negated", "valid_from", "valid_until", "said_at"}
) | {"conversation", "speaker", "role", "source_id", "metadata"}


@dataclass(frozen=True, slots=True)
class Correction:
    """The fields of a fact a person changes; None leaves one as it is."""

    message: Message
    subject: str | None
    predicate: str | None
    object: str | None
    text: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    reason: str


def chat(content: object) -> list[dict[str, Any]]:
    """Messages of a list in the chat format, as LLM APIs send and take it.

    Content given in parts is joined from its texts; what carries no text (a call of a tool) is left
    out; fields that belong to tools are dropped; a ``developer`` counts as ``system``.

    Raises:
        InputError: not a list of mappings, or nothing with a text in it.
    """
    if not isinstance(content, Sequence) or isinstance(content, (str, bytes)) or not content:
        raise _no_chat("content must be a text or a list of messages")
    found = []
    for place, item in enumerate(content, 1):
        if not isinstance(item, Mapping):
            raise InputError(f"message {place} is not a mapping", field="content", position=place)
        plain = {key: value for key, value in item.items() if key not in _TOOL_FIELDS}
        if isinstance(plain.get("content"), (list, tuple)):
            plain["content"] = "\n".join(_part_texts(plain["content"])) or None
        if plain.get("role") == "developer":
            plain["role"] = Role.SYSTEM.value
        calls_a_tool = bool(item.get("tool_calls") or item.get("function_call"))
        if plain.get("content") is not None or plain.get("text") is not None or not calls_a_tool:
            found.append(plain)
    if not found:
        raise _no_chat("no message has a text")
    return found


def _part_texts(parts: Sequence[Any]) -> list[str]:
    return [
        part["text"]
        for part in parts
        if isinstance(part, Mapping)
        and part.get("type") in _TEXT_PARTS
        and isinstance(part.get("text"), str)
    ]


def _no_chat(message: str) -> InputError:
    return InputError(
        message,
        hint='Such as "I live in Porto" or [{"role": "user", "content": "I live in Porto"}].',
        field="content",
    )


def message(namespace: str, item: Mapping[str, Any], defaults: Mapping[str, Any]) -> Message:
    """A message from a chat mapping; what it does not say comes from ``defaults``.

    Secrets are redacted here, before anything is stored or sent.

    Raises:
        InputError: a field is missing, unknown or not usable.
    """
    _only_known(item, _CHAT_FIELDS, "message")
    own = {k: v for k, v in item.items() if v is not None}
    given = dict(defaults) | own
    text = clean_text(given.get("content", given.get("text")), "content")
    role = _role(given.get("role"))
    speaker = own.get("name") or own.get("speaker") or None
    if speaker is None and role == _role(defaults.get("role")):
        speaker = defaults.get("speaker")  # of that role: it names no assistant in a user's chat
    return _message(
        namespace,
        text=text,
        role=role,
        speaker=speaker,
        said_at=given.get("said_at"),
        conversation=given.get("conversation"),
        source_id=given.get("source_id"),
        metadata=given.get("metadata"),
    )


def given(namespace: str, item: Mapping[str, Any]) -> tuple[Message, Extracted]:
    """A given fact as its message and draft.

    Raises:
        InputError: a field is missing, unknown or not usable.
    """
    _only_known(item, _FACT_FIELDS, "fact")
    relation = predicate(item.get("predicate"))
    subject = clean_name(item.get("subject"), "subject")
    obj = clean_name(item.get("object"), "object")
    negated = item.get("negated") or False
    if not isinstance(negated, bool):
        raise InputError("negated must be true or false", field="negated")
    text = item.get("text")
    if text is None:
        text = sentence(subject, relation.name, obj, negated)
    secrets = find(clean_text(text)) + find(f"{subject}\n{obj}")
    stated = _message(
        namespace,
        text=redact_values(text, secrets),
        role=_role(item.get("role")),
        speaker=item.get("speaker"),
        said_at=item.get("said_at"),
        conversation=item.get("conversation"),
        source_id=item.get("source_id"),
        metadata=item.get("metadata"),
    )
    start, end = _interval(item.get("valid_from"), item.get("valid_until"), stated.said_at)

    def person(name: str) -> str:
        return resolve_person(redact_values(name, secrets), stated.speaker, stated.role)

    draft = Draft(
        subject=person(subject),
        predicate=relation.name,
        object=person(obj),
        text=stated.text,
        negated=negated,
        valid_from=start,
        valid_until=end,
    )
    return stated, Extracted(extractor=CALLER, drafts=(draft,))


def sentence(subject: str, predicate: str, obj: str, negated: bool) -> str:
    """The text of a fact that was given without one."""
    return f"{subject} {'not ' if negated else ''}{predicate.replace('_', ' ')} {obj}"


def many(namespace: str, items: Iterable[Mapping[str, Any]]) -> list[tuple[Message, Extracted]]:
    """Given facts, each checked.

    Raises:
        InputError: naming the position (from 1) of the first bad one.
    """
    if not isinstance(items, Iterable) or isinstance(items, (str, bytes, Mapping)):
        raise InputError(
            "facts must be a list of mappings",
            hint='Such as [{"subject": "Ann", "predicate": "lives_in", "object": "Porto"}].',
            field="facts",
        )
    found = []
    for place, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            raise InputError(f"fact {place} is not a mapping", position=place)
        try:
            found.append(given(namespace, item))
        except InputError as error:
            raise type(error)(
                f"fact {place}: {error.message}",
                hint=error.hint,
                **(error.details | {"position": place}),
            ) from None
    return found


def correction(
    namespace: str,
    *,
    subject: str | None,
    predicate: str | None,  # the triple's own words
    object: str | None,  # noqa: A002
    text: str | None,
    valid_from: object,
    valid_until: object,
    reason: str,
    speaker: str | None,
    metadata: object = None,
) -> Correction:
    """A correction and the message that records it.

    Raises:
        InputError: nothing is given, or something is not usable.
    """
    changes = (subject, predicate, object, text, valid_from, valid_until)
    if all(value is None for value in changes):
        raise InputError(
            "nothing to correct",
            hint="Give subject, predicate, object, text, valid_from or valid_until.",
        )
    words = [value for value in (text, subject, object, reason or None) if value is not None]
    secrets = find("\n".join(clean_text(word) for word in words)) if words else ()

    def safe(value: str | None) -> str | None:
        return None if value is None else redact_values(value, secrets)

    start = None if valid_from is None else instant(valid_from, "valid_from")  # type: ignore[arg-type]
    end = None if valid_until is None else instant(valid_until, "valid_until")  # type: ignore[arg-type]
    told = _message(
        namespace,
        text=redact_values(reason or "Correction by hand", secrets),
        role=Role.USER,
        speaker=speaker,
        metadata=metadata,
    )

    def name(value: str | None, field: str) -> str | None:
        if value is None:
            return None
        return resolve_person(clean_name(safe(value), field), told.speaker, told.role)

    return Correction(
        message=told,
        subject=name(subject, "subject"),
        predicate=None if predicate is None else _predicate_name(predicate),
        object=name(object, "object"),
        text=safe(text),
        valid_from=start,
        valid_until=end,
        reason=safe(reason) or "",
    )


def whole_number(value: object, default: int, field: str, low: int, high: int) -> int:
    """``value`` or ``default``, checked to lie in [low, high].

    Raises:
        InputError: it does not, or is no whole number.
    """
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{field} must be a whole number from {low} to {high}", field=field)
    return value


def _predicate_name(value: object) -> str:
    return predicate(value).name


def _message(
    namespace: str,
    *,
    text: str,
    role: Role,
    speaker: object = None,
    said_at: object = None,
    conversation: object = None,
    source_id: object = None,
    metadata: object = None,
) -> Message:
    plain = {} if metadata is None else clean_metadata(metadata)
    named = clean_name(role.value if speaker is None else speaker, "speaker")
    chat = clean_name(conversation or DEFAULT_CONVERSATION, "conversation")
    secrets = find(text) + find_in_json(plain) + find(named) + find(chat)
    now = clock.now()
    message_id = clock.new_id()
    return Message(
        id=message_id,
        namespace=namespace,
        conversation=redact_values(chat, secrets),
        speaker=redact_values(named, secrets),
        role=role,
        text=redact_values(text, secrets),
        said_at=now if said_at is None else instant(said_at, "said_at"),  # type: ignore[arg-type]
        recorded_at=now,
        source_id=message_id if source_id is None else _source(source_id, secrets),
        metadata=redact_json(plain, secrets),
        status=MessageStatus.PENDING,
    )


def _source(value: object, secrets: Sequence[str]) -> str:
    """The caller's id; one that holds a secret becomes another, the same each time."""
    given = clean_text(value, "source_id")
    clean = redact_values(given, (*secrets, *find(given)))
    return given if clean == given else clock.derived_id("source_id", given)


def _role(value: object) -> Role:
    try:
        return Role(str(Role.USER.value if value is None else value))
    except ValueError:
        raise InputError(
            f"unknown role: {value!r}", hint="One of: " + ", ".join(Role), field="role"
        ) from None


def _interval(
    start: object, end: object, said_at: datetime
) -> tuple[datetime | None, datetime | None]:
    begins = None if start is None else instant(start, "valid_from")  # type: ignore[arg-type]
    ends = None if end is None else instant(end, "valid_until")  # type: ignore[arg-type]
    if ends is not None and ends < (begins or said_at):
        raise InputError(
            f"valid_until {ends.isoformat()} lies before valid_from "
            f"{(begins or said_at).isoformat()}",
            hint="Give valid_from as well; intervals are half-open.",
            field="valid_until",
        )
    return begins, ends


def _only_known(item: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    unknown = [str(key) for key in item if key not in known]
    if unknown:
        raise InputError(
            f"unknown field in a {what}: {', '.join(sorted(unknown))}",
            hint="Known: " + ", ".join(sorted(known)),
        )
