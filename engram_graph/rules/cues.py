"""What a question names besides its words: speakers, days and months, a wish for a date. Pure.

Dates and time expressions are read in English and in ISO form; elsewhere they are simply not seen.
The times a question names for facts are in ``times``.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import date

from engram_graph.rules.text import COMMON, places, without_accents, words

QUESTION_MARKS = ("?", "？", "؟")
NamedDate = tuple[int | None, int, int | None]
"""Year, month, day; None for what the question leaves out."""

_NO_NAMES = COMMON | {"may"}  # Will and May are more often verbs
_EDGES = ".,;:!?'’\""
_WHEN = re.compile(
    r"\b(when|what (date|day|month|year|time)|which (date|day|month|year|week)|how long"
    r"|how many (days|weeks|months|years))\b",
    re.IGNORECASE,
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTHS = _MONTH.split("|")
_TIMES = frozenset(
    [
        *("yesterday", "today", "tonight", "tomorrow", "last", "next", "ago", "since", "recently"),
        *(
            "just",
            "week",
            "weeks",
            "weekend",
            "weekends",
            "month",
            "months",
            "year",
            "years",
            "day",
        ),
        *("days", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *_MONTHS,
    ]
)
_WORD = re.compile(r"\w+")
_NAMED_DATE = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b({_MONTH})\b"
    r"(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?,?(?:\s+(\d{4}))?"
)
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)")
_MAY = re.compile(r"\b(?:in|of|since|during|last|this) may\b")  # else it is the verb
_AFTER, _BEFORE = (28, 7), (7, 3)  # days at most, days by which it halves


def lowered(text: str) -> str:
    """In the form in which names and terms are looked for."""
    return unicodedata.normalize("NFC", text.lower()).replace("’", "'")


@functools.lru_cache(maxsize=1_024)
def name_words(speaker: str) -> tuple[str, ...]:
    """The words of a speaker's name that can be told from other words, also without accents."""
    own = words(lowered(speaker))
    plain = [without_accents(word) or word for word in own]
    return tuple(word for word in dict.fromkeys(own + plain) if word not in _NO_NAMES)


def names(question: str, speaker: str) -> bool:
    """Whether a question (``lowered``) holds a word of the speaker's name."""
    return any(True for word in name_words(speaker) for _ in places(question, word))


def without_names(question: str, speakers: Iterable[str]) -> str:
    """The question without the words of speakers' names; as it is if it holds none, or only those.

    A name is in every turn of its speaker and pulls a vector towards all of them; who speaks is a
    part of its own.
    """
    text = unicodedata.normalize("NFC", question)
    low = lowered(text)
    if len(low) != len(text):  # a letter that is longer in lower case
        text = low
    gone = [
        (at, at + len(word))
        for word in {word for speaker in speakers for word in name_words(speaker)}
        for at in places(low, word)
    ]
    if not gone:
        return question
    kept, done = "", 0
    for start, end in sorted(gone):
        kept += text[done : max(start, done)]
        done = max(done, end + 2 if low[end : end + 2] == "'s" else end)
    bare = (word.strip(_EDGES) for word in (kept + text[done:]).split())
    rest = " ".join(word for word in bare if word)
    return rest if words(rest) else question


def asks_when(question: str) -> bool:
    """Whether a time is asked for."""
    return _WHEN.search(question) is not None


def tells_time(text: str) -> bool:
    """Whether something in the text says when."""
    found = _WORD.findall(text.lower())
    return not _TIMES.isdisjoint(found) or any(len(w) == 4 and w.isdigit() for w in found)


def named_dates(question: str) -> list[NamedDate]:
    """The months and days a question names; a year alone is not one."""
    low = question.lower()
    month_of_may = _MAY.search(low) is not None
    found: list[NamedDate] = []
    for match in _NAMED_DATE.finditer(low):
        first, month, second, year = match.groups()
        if month == "may" and not (first or second or year or month_of_may):
            continue
        day = first or second
        found.append(
            (int(year) if year else None, _MONTHS.index(month) + 1, int(day) if day else None)
        )
    for year, month, day in _ISO_DATE.findall(low):
        found.append((int(year), int(month), int(day) if day else None))
    return found


def date_match(said: date, named: Sequence[NamedDate]) -> float:
    """1 when said within a named day or month; half for each week after, each three days before.

    People tell of an event on its day or soon after; plans stand shortly before it.
    """
    best = 0.0
    for year, month, day in named:
        for each in (year,) if year is not None else (said.year - 1, said.year):
            try:
                first = date(each, month, day or 1)
                last = first if day else date(each, month, monthrange(each, month)[1])
            except ValueError:  # no such day
                continue
            for days, (most, half) in (
                ((said - last).days, _AFTER),
                ((first - said).days, _BEFORE),
            ):
                if 0 < days <= most:
                    best = max(best, 0.5 ** (days / half))
            if first <= said <= last:
                return 1.0
    return best
