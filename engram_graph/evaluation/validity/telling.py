"""The benchmark's conversations as a study runs them, and their gold as single statements. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.study.datasets import Dataset
from engram_graph.evaluation.study.records import Talk, Task
from engram_graph.evaluation.validity.form import Conversation, GoldFact
from engram_graph.evaluation.validity.reading import over_sentence
from engram_graph.formats.locomo import Turn
from engram_graph.intake import sentence

UPDATES = "updates"
OVER = "Nothing any more."
"""The answer where nothing holds at the moment asked about."""


def dataset(conversations: Sequence[Conversation], given: str) -> Dataset:
    """Them as a dataset of a study; ``given`` is its split."""
    return Dataset(UPDATES, given, tuple(map(talk, conversations)))


def talk(conversation: Conversation) -> Talk:
    """One as turns and tasks; a turn is said a second after the one before."""
    turns = [
        Turn(
            source_id=_source(conversation, said.id),
            conversation=conversation.id,
            speaker=said.speaker,
            text=said.text,
            said_at=session.said_at + timedelta(seconds=place),
            session=number,
        )
        for number, session in enumerate(conversation.sessions, 1)
        for place, said in enumerate(session.turns)
    ]
    tasks = [
        Task(
            id=question.id,
            conversation=conversation.id,
            text=question.text,
            answer=", ".join(conversation.gold[name].object for name in question.current) or OVER,
            category=conversation.kind,
            evidence=tuple(_source(conversation, turn) for turn in question.evidence),
        )
        for question in conversation.questions
    ]
    return Talk(conversation.id, tuple(turns), tuple(tasks))


def statements(conversation: Conversation) -> tuple[Statement, ...]:
    """What its turns state, in the order they were said; what is told twice is there twice.

    Only what is said to be over is told as such: that another value took its place, or that a plan
    was carried out, is for the memory to see.
    """
    said = {turn.source_id: turn for turn in talk(conversation).turns}
    found: list[Statement] = []
    for id_ in conversation.turns:
        turn = said[_source(conversation, id_)]
        for number, (fact, over) in enumerate(_told(conversation.facts, id_)):
            text = sentence(*fact.triple, False)
            found.append(
                Statement(
                    *fact.triple,
                    text=over_sentence(fact) if over else text,
                    said_at=turn.said_at,
                    valid_from=_start(fact, over),
                    valid_until=fact.valid_until if fact.ended_by == "told" else None,
                    # An id names one message of a memory.
                    source_id=f"{turn.source_id}/{number}" if number else turn.source_id,
                    speaker=turn.speaker,
                    negated=over,
                )
            )
    return tuple(found)


def _told(facts: Iterable[GoldFact], turn: str) -> Iterator[tuple[GoldFact, bool]]:
    """(fact, whether its end) for all that a turn states; ends first."""
    known = tuple(facts)
    yield from ((f, True) for f in known if f.ended_in == turn and f.ended_by == "said")
    yield from ((f, False) for f in known if turn in f.told_in)


def _start(fact: GoldFact, over: bool) -> datetime | None:
    """Since when a statement holds, if that is said."""
    if over:
        return fact.valid_until if fact.until_words else None
    return fact.valid_from if fact.from_words else None


def _source(conversation: Conversation, turn: str) -> str:
    return f"{conversation.id}:{turn}"
