"""The form of the benchmark's data: one conversation with its gold a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from engram_graph.errors import InputError
from engram_graph.evaluation.lines import numbered

KINDS = {
    "change": "one value replaces another",
    "trap": "something alike is said that must close nothing",
    "plan": "a plan is carried out, given up, or still ahead",
    "chain": "four or more values, one after the other",
    "moment": "asked about a time in the past",
    "return": "a value comes back after another one",
    "negation": "something ends and nothing takes its place",
    "late": "what was true earlier is told later",
    "speakers": "many speakers, the same attribute of each",
    "undated": "no dates but those of the sessions and relative ones",
    "several": "relations that hold many values at a time",
    "crowded": "an old value is said many times, the current one once",
}
"""Kind of a conversation → what it tests."""
_CHECK = "`engram eval updates --check FILE` tells all that is wrong in it."
Name = Annotated[str, Field(min_length=1, max_length=200)]
EndedBy = Literal["replaced", "said", "done", "told"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))


class Said(_Part):
    """One turn. Ids are ``t1``, ``t2``, … through the whole conversation."""

    id: Name
    speaker: Name
    text: Annotated[str, Field(min_length=1, max_length=2_000)]


class Session(_Part):
    """Turns said in one go, at ``said_at`` and the seconds after it."""

    said_at: AwareDatetime
    turns: tuple[Said, ...] = Field(min_length=1)


class GoldFact(_Part):
    """One fact with its window.

    Attributes:
        predicate: one of our 25.
        valid_from, valid_until: half-open; no end: it still holds when the last turn is said.
        from_words, until_words: the words in a turn that date it; without them it is dated by the
            session in which it was told, or in which its end was.
        told_in: every turn that states it, in order. ended_in: the turn that tells its end.
        ended_by: ``replaced`` by another value, ``said`` to be over, a plan that was ``done``, or
            ``told`` with its end from the start.
        forms: a line that holds one of these states the fact. end_forms: one that holds one of
            these says that it is over.
    """

    id: Name
    subject: Name
    predicate: Name
    object: Name
    valid_from: AwareDatetime
    valid_until: AwareDatetime | None = None
    from_words: str | None = None
    until_words: str | None = None
    told_in: tuple[Name, ...] = Field(min_length=1)
    ended_in: str | None = None
    ended_by: EndedBy | None = None
    forms: tuple[Name, ...] = Field(min_length=1)
    end_forms: tuple[Name, ...] = ()

    @property
    def triple(self) -> tuple[str, str, str]:
        """Subject, predicate, object."""
        return self.subject, self.predicate, self.object

    def holds(self, moment: datetime) -> bool:
        """Whether it was true then."""
        return self.valid_from <= moment and (self.valid_until is None or moment < self.valid_until)


class GoldQuestion(_Part):
    """One question.

    Attributes:
        as_of: the moment asked about; None for the end of the conversation.
        current: facts that answer it; none if nothing holds then. stale: facts of the same subject
            and relation that hold at other times.
        distractors: strings of values that were never true, or belong elsewhere.
        evidence: turns that answer it.
    """

    id: Name
    text: Name
    as_of: AwareDatetime | None = None
    current: tuple[Name, ...] = ()
    stale: tuple[Name, ...] = ()
    distractors: tuple[Name, ...] = ()
    evidence: tuple[Name, ...] = Field(min_length=1)


class Conversation(_Part):
    """One conversation with its gold. ``tests``: what it is there for, in words."""

    id: Name
    kind: Name
    tests: Name
    sessions: tuple[Session, ...] = Field(min_length=1)
    facts: tuple[GoldFact, ...] = Field(min_length=1)
    questions: tuple[GoldQuestion, ...] = Field(min_length=1)

    @cached_property
    def turns(self) -> dict[str, Said]:
        """Id → turn, in the order they were said; of a repeated id the first."""
        found: dict[str, Said] = {}
        for session in self.sessions:
            for turn in session.turns:
                found.setdefault(turn.id, turn)
        return found

    @cached_property
    def said_at(self) -> dict[str, datetime]:
        """Id of a turn → the moment of its session."""
        return {turn.id: each.said_at for each in self.sessions for turn in each.turns}

    @cached_property
    def gold(self) -> dict[str, GoldFact]:
        """Id → fact."""
        return {fact.id: fact for fact in self.facts}

    @property
    def end(self) -> datetime:
        """The moment of the last session."""
        return self.sessions[-1].said_at


def load(path: str | Path) -> tuple[Conversation, ...]:
    """The conversations of a file.

    Raises:
        InputError: no such file, or a line that is no conversation (with its number).
    """
    return tuple(_read(path))


def usable(conversations: Sequence[Conversation]) -> tuple[Conversation, ...]:
    """``conversations``, if they can be run: every id leads somewhere, and none is there twice.

    Raises:
        InputError: one does not; ``check.check`` tells what else disagrees.
    """
    questions = [one.id for each in conversations for one in each.questions]
    for ids in ([each.id for each in conversations], questions):
        for name, number in Counter(ids).items():
            if number > 1:
                raise InputError(f"{name}: this id is there twice", hint=_CHECK)
    for each in conversations:
        facts = [fact.id for fact in each.facts]
        turns = [turn.id for session in each.sessions for turn in session.turns]
        for kind, ids in (("fact", facts), ("turn", turns)):
            if len(set(ids)) < len(ids):
                raise InputError(f"{each.id}: a {kind}'s id is there twice", hint=_CHECK)
        named = {name for one in each.questions for name in (*one.current, *one.stale)}
        said = {name for fact in each.facts for name in (*fact.told_in, fact.ended_in)} - {None}
        said |= {name for question in each.questions for name in question.evidence}
        for lost in sorted(named - set(facts)) + sorted(map(str, said - set(turns))):
            raise InputError(f"{each.id}: nothing is called {lost!r}", hint=_CHECK)
    return tuple(conversations)


def shipped() -> tuple[Conversation, ...]:
    """All conversations that come with the package, by the kinds' order.

    Raises:
        InputError: a file is damaged.
    """
    folder = resources.files(__package__) / "data"
    with resources.as_file(folder) as here:
        return tuple(each for kind in KINDS for each in _read(here / f"{kind}.jsonl"))


def _read(path: str | Path) -> Iterator[Conversation]:
    for number, value in numbered(path):
        try:
            yield Conversation.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(
                f"{Path(path).name}, line {number}: {where}: {first['msg']}",
                hint="Each line is one conversation: id, kind, tests, sessions, facts, questions.",
                line=number,
            ) from None
