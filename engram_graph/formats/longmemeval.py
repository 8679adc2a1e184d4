"""Reader of LongMemEval in its official format (``longmemeval_s_cleaned.json``, ``_s``, ``_m``,
``_oracle``). The path is given; no data ships.

LongMemEval (Wu et al., ICLR 2025): each question has a history of its own, dated sessions between
a user and an assistant.
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
from engram_graph.formats.locomo import Turn

KINDS = (
    "knowledge-update",
    "multi-session",
    "single-session-assistant",
    "single-session-preference",
    "single-session-user",
    "temporal-reasoning",
)
_ABSTENTION = "_abs"
_TIME = "%Y/%m/%d %H:%M"
_WEEKDAY = re.compile(r"\(\w+\) ")  # says nothing new, and what it is called depends on the locale
_HINT = "Give the path of a LongMemEval file as published, such as longmemeval_s_cleaned.json."


@dataclass(frozen=True, slots=True)
class Item:
    """One question with the history it is asked about.

    Attributes:
        kind: one of ``KINDS``. asked_on: the question's date, as the file writes it.
        turns: in the order they were said; the time of each is that of its session and as many
            seconds as turns came before it there.
        evidence: source ids of the turns marked ``has_answer``; none for an abstention.
    """

    id: str
    kind: str
    text: str
    answer: str
    asked_on: str
    turns: tuple[Turn, ...]
    evidence: tuple[str, ...]

    @property
    def abstention(self) -> bool:
        """Whether the history does not tell the answer."""
        return self.id.endswith(_ABSTENTION)


def load_longmemeval(path: str | Path, *, user_only: bool = False) -> tuple[Item, ...]:
    """All questions of a file, in its order.

    Args:
        user_only: without what the assistant said.

    Raises:
        InputError: no such file, no JSON, or another format.
    """
    return parse_longmemeval(read_json(path, _HINT), user_only=user_only)


def parse_longmemeval(data: object, *, user_only: bool = False) -> tuple[Item, ...]:
    """As ``load_longmemeval``, from parsed JSON.

    Raises:
        InputError: the data has another format; ``position`` counts questions from 1.
    """
    if not isinstance(data, list) or not data:
        raise InputError("not in LongMemEval's format: no list of questions", hint=_HINT)
    found: dict[str, Item] = {}
    for position, row in enumerate(data, start=1):
        try:
            item = _item(row, user_only)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"question {position} is not in LongMemEval's format: "
                f"{type(error).__name__} {error}",
                hint=_HINT,
                position=position,
            ) from None
        if item.id in found:
            raise InputError(f"two questions are called {item.id!r}", hint=_HINT)
        found[item.id] = item
    return tuple(found.values())


def session_time(text: str) -> datetime:
    """A session's or a question's time, such as ``2023/05/20 (Sat) 02:21``, as UTC.

    Raises:
        ValueError: another form.
    """
    return datetime.strptime(_WEEKDAY.sub("", text.strip()), _TIME).replace(tzinfo=UTC)


def _item(row: Mapping[str, Any], user_only: bool) -> Item:
    name, kind = str(row["question_id"]), str(row["question_type"])
    name.encode()  # half of a surrogate pair is no name: files are called after it
    if kind not in KINDS:
        raise ValueError(f"question_type {kind!r}")
    session_time(row["question_date"])
    marked: list[str] = []
    turns = tuple(_turns(name, row, user_only, marked))
    if not turns:
        raise ValueError("no turns")
    abstains = name.endswith(_ABSTENTION)
    return Item(
        id=name,
        kind=kind,
        text=str(row["question"]),
        answer=str(row["answer"]),
        asked_on=row["question_date"].strip(),
        turns=turns,
        evidence=() if abstains else tuple(marked),
    )


def _turns(name: str, row: Mapping[str, Any], user_only: bool, marked: list[str]) -> Iterator[Turn]:
    """The turns by time; source ids of those that hold the answer are added to ``marked``."""
    dated = zip(row["haystack_dates"], row["haystack_sessions"], strict=True)
    # The oracle files do not keep sessions in order; those of one minute stay as they are.
    sessions = sorted(
        ((session_time(date), said) for date, said in dated), key=lambda each: each[0]
    )
    for number, (started, said) in enumerate(sessions, start=1):
        for index, turn in enumerate(said):
            role, text = str(turn["role"]), str(turn["content"])
            if not text.strip() or (user_only and role != "user"):
                continue
            source_id = f"{name}:S{number}:{index + 1}"
            if turn.get("has_answer") is True:
                marked.append(source_id)
            yield Turn(
                source_id=source_id,
                conversation=name,
                speaker=role,
                text=text,
                said_at=started + timedelta(seconds=index),
                session=number,
                role=role,
            )
