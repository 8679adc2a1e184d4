"""Reader of LoCoMo in its official format (``locomo10.json``). The path is given; no data ships.

LoCoMo (Maharana et al., ACL 2024) is licensed CC BY-NC 4.0: for tests and benchmarks only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram_graph.errors import InputError
from engram_graph.formats.json_file import read_json

SCORED = frozenset({1, 2, 3, 4})
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_HINT = "Give the path of locomo10.json, or of one conversation out of it, as published."
_SESSION = re.compile(r"session_(\d+)")
_SPLIT = re.compile(r"[;,\s]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation.

    Attributes:
        source_id: ``sample_id:dia_id``. conversation: the sample_id.
        said_at: the session's time, one second later for each turn (UTC).
        session: counts from 1.
    """

    source_id: str
    conversation: str
    speaker: str
    text: str
    said_at: datetime
    session: int
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Question:
    """One question with the turns that answer it.

    Attributes:
        evidence: source ids, cleaned: each exists, in order, none twice.
        answer: as text; empty where the file has none (adversarial questions).
        category: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial; 0 where the
            file has no number.
    """

    id: str
    conversation: str
    text: str
    answer: str
    evidence: tuple[str, ...]
    category: int

    @property
    def scored(self) -> bool:
        """Whether it counts for recall: asks something, categories 1 to 4, evidence that exists."""
        return self.category in SCORED and bool(self.evidence) and bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation: its turns in the order they were said, and its questions."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def scored(self) -> tuple[Question, ...]:
        """The questions that count for recall."""
        return tuple(question for question in self.questions if question.scored)


def load_locomo(path: str | Path) -> tuple[Conversation, ...]:
    """All conversations of a LoCoMo file: the whole list, or a single conversation's object.

    Turns without a word (a picture alone) and sessions without turns are left out.

    Raises:
        InputError: no such file, no JSON, or another format; the hint says what is expected.
    """
    return parse_locomo(read_json(path, _HINT))


def is_locomo(data: object) -> bool:
    """Whether parsed JSON looks like LoCoMo: a conversation, or a list of them."""
    first = data[0] if isinstance(data, list) and data else data
    return (
        isinstance(first, Mapping)
        and isinstance(first.get("conversation"), Mapping)
        and "sample_id" in first
    )


def parse_locomo(data: object) -> tuple[Conversation, ...]:
    """As ``load_locomo``, from parsed JSON.

    Raises:
        InputError: the data has another format; ``position`` counts conversations from 1.
    """
    if not is_locomo(data):
        raise InputError("not in LoCoMo's format: no sample_id and conversation", hint=_HINT)
    samples = data if isinstance(data, list) else [data]
    found: list[Conversation] = []
    for position, sample in enumerate(samples, start=1):
        try:
            made = _conversation(sample)
            if any(made.id == other.id for other in found):
                raise InputError(f"two conversations are called {made.id!r}", hint=_HINT)
            found.append(made)
        except InputError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"conversation {position} is not in LoCoMo's format: "
                f"{type(error).__name__} {error}",
                hint=_HINT,
                position=position,
            ) from None
    return tuple(found)


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    name = str(sample["sample_id"])
    name.encode()  # half of a surrogate pair is no name: files are called after it
    turns = tuple(_turns(name, sample["conversation"]))
    if not turns:
        raise InputError(f"{name} has no turns", hint=_HINT)
    known = {turn.source_id for turn in turns}
    if len(known) < len(turns):
        raise InputError(f"{name} has two turns with one dia_id", hint=_HINT)
    questions = tuple(
        Question(
            id=f"{name}:q{number}",
            conversation=name,
            text=_text(row["question"]),
            answer=_text(row.get("answer")),
            evidence=_evidence(name, row.get("evidence"), known),
            category=_category(row.get("category")),
        )
        for number, row in enumerate(sample.get("qa") or (), start=1)
    )
    return Conversation(name, turns, questions)


def _turns(name: str, conversation: Mapping[str, Any]) -> Iterator[Turn]:
    found = (match for key in conversation if (match := _SESSION.fullmatch(key)))
    for number, key in sorted((int(match[1]), match[0]) for match in found):
        rows = conversation[key]
        if not rows:  # announced, and nothing said
            continue
        started = session_time(str(conversation.get(f"{key}_date_time")))
        for index, row in enumerate(rows):
            text = _text(row.get("text"))
            if not text.strip():  # a picture without a word: there is nothing to find it by
                continue
            yield Turn(
                source_id=f"{name}:{row['dia_id']}",
                conversation=name,
                speaker=_text(row["speaker"]),
                text=text,
                said_at=started + timedelta(seconds=index),
                session=number,
            )


def _text(value: object) -> str:
    """Numbers and lists as they are written, nothing as an empty text."""
    return "" if value is None else str(value)


def _category(value: object) -> int:
    """A number, also written as text; 0 for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return 0
    return int(number) if number.is_integer() else 0


def session_time(text: str) -> datetime:
    """A session's time, such as ``1:56 pm on 8 May, 2023``, as UTC.

    Raises:
        InputError: another form.
    """
    months = "january february march april may june july august september october november december"
    found = re.fullmatch(
        r"\s*(\d{1,2}):(\d{2})\s*([ap])m\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", text.lower()
    )
    try:
        if not found:
            raise ValueError
        hour, minute, half, day, month, year = found.groups()
        return datetime(
            int(year),
            months.split().index(month) + 1,
            int(day),
            int(hour) % 12 + (12 if half == "p" else 0),
            int(minute),
            tzinfo=UTC,
        )
    except ValueError:
        raise InputError(f"not a session time: {text!r}", hint=_HINT) from None


def _evidence(name: str, value: object, known: set[str]) -> tuple[str, ...]:
    """Ids as written ("D8:6; D9:17", "D", "D:11:26") without those that no turn has."""
    if isinstance(value, list):
        ids = tuple(each for field in value for each in _evidence(name, field, known))
    else:
        ids = tuple(f"{name}:{part}" for part in _SPLIT.split(_text(value)))
    return tuple(dict.fromkeys(each for each in ids if each in known))
