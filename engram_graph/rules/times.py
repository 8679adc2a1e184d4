"""The times that a question names, and whether a fact was true then. Pure.

Read in every script and in any digits: ISO dates (2023-05-08, 2023-05), years from 1900 to 2099,
ranges of those (2019-2021), and years, months and days as Chinese, Japanese and Korean write them.
Read in English only: names of months, and words such as "before" and "since". A month without a
year names no time: which year is meant is not known. Nor do "last year" and "two weeks ago".
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from engram_graph.models.facts import Fact
from engram_graph.rules.timeline import Span
from engram_graph.vocabulary import PREDICATES, FactKind, TemporalStatus

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_YEARS = range(1900, 2100)  # a number outside is not taken for a year
_TICK = timedelta(microseconds=1)
_HALF = 365.0  # days by which "before" counts half
_MOST = 4_000  # characters of a question that are looked at

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_TIME = re.compile(
    rf"""
    (?<!\d)(?P<iso>\d{{4}})-(?P<iso_m>\d{{2}})(?:-(?P<iso_d>\d{{2}}))?(?!\d|-\d)
    |(?<!\d)(?P<han>\d{{4}})\s?[年년](?:\s?(?P<han_m>\d{{1,2}})\s?[月월]
        (?:\s?(?P<han_d>\d{{1,2}})\s?[日일])?)?
    |(?:(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?
        (?:\s+(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?,?\s+(?:of\s+)?(?P<year>\d{{4}})(?!\d)
    |(?<![a-z_$€£¥\#])(?<!\d)(?P<alone>\d{{4}})(?:(?P<decade>s)\b|(?![a-z_%$€£¥]|\d|[.,:]\d))
    """,
    re.VERBOSE,
)
_SHORT = r"\s+(?:the\s+)?(?:(?:year|month|day)\s+)?$"
_BEFORE = re.compile(r"\b(?:before|prior to|earlier than)" + _SHORT)
_UNTIL = re.compile(r"\b(?:until|till|up to|by)" + _SHORT)
_AFTER = re.compile(r"\b(?:after|later than)" + _SHORT)
_SINCE = re.compile(r"\b(?:since|from)" + _SHORT)
_PAIR = re.compile(r"\b(?:from|between)" + _SHORT)
_JOINT = re.compile(r"\s+(?:to|and|until|till|through)" + _SHORT)
_DASH = re.compile(r"\s*[-–—~〜～]\s*")


def named_times(question: str) -> tuple[Span, ...]:
    """The stretches of time a question names, in its order; none for most questions."""
    low = question[:_MOST].lower()
    found = [
        (match.start(), match.end(), span)
        for match in _TIME.finditer(low)
        if (span := _read(match)) is not None
    ]
    spans: list[Span] = []
    place = 0
    while place < len(found):
        start, end, span = found[place]
        place += 1
        before = low[max(0, start - 40) : start]
        if place < len(found) and _joined(before, low[end : found[place][0]]):
            second = found[place][2]
            place += 1
            spans.append(Span(min(span.first, second.first), max(span.last, second.last)))
        else:
            spans.append(_turned(before, span))
    return tuple(spans)


def hull(spans: Sequence[Span]) -> Span | None:
    """From the first moment of any to the last one of any."""
    if not spans:
        return None
    return Span(min(each.first for each in spans), max(each.last for each in spans))


def true_then(fact: Fact, spans: Sequence[Span]) -> float:
    """How well a fact fits the times named, in [0, 1]: 1 when it was true in one of them.

    An event is true for ever after; it belongs to the time in which it began. Of what had ended
    "before" a time, the later counts more: half for each year between.
    """
    return max((_fit(fact, each) for each in spans), default=0.0)


def rival(fact: Fact) -> tuple[str, str] | None:
    """Subject and relation, where that has one value at a time: of those, time alone decides."""
    single = PREDICATES[fact.predicate].single and not fact.negated
    if single and fact.temporal_status in (TemporalStatus.CURRENT, TemporalStatus.PAST):
        return fact.subject_key, fact.predicate
    return None


def _fit(fact: Fact, span: Span) -> float:
    if not span.touches(fact):
        return 0.0
    event = fact.kind is FactKind.EVENT or fact.predicate == "attended"
    if event and not span.holds(fact.valid_from):
        return 0.0
    since = fact.valid_from if event else fact.valid_until
    if span.first == FIRST and since is not None and since <= span.last:
        years: float = (span.last - since) / timedelta(days=_HALF)
        return math.pow(0.5, years)
    return 1.0


def _joined(before: str, between: str) -> bool:
    """Whether two times are the ends of one stretch."""
    if _DASH.fullmatch(between):
        return True
    return _JOINT.fullmatch(between) is not None and _PAIR.search(before) is not None


def _turned(before: str, span: Span) -> Span:
    """What a word in front makes of a time."""
    if _BEFORE.search(before):
        return Span(FIRST, span.first - _TICK)
    if _UNTIL.search(before):
        return Span(FIRST, span.last)
    if _AFTER.search(before):
        return Span(span.last + _TICK, LAST)
    return Span(span.first, LAST) if _SINCE.search(before) else span


def _read(match: re.Match[str]) -> Span | None:
    """A match as a time; None for a day that no calendar has, or a number that is no year."""
    part = match.groupdict()
    year = int(part["iso"] or part["han"] or part["year"] or part["alone"])
    month = part["iso_m"] or part["han_m"]
    day = part["iso_d"] or part["han_d"] or part["day"] or part["day_after"]
    if year not in _YEARS:
        return None
    number = _MONTHS.index(part["month"][:3]) + 1 if part["month"] else int(month or 0)
    if part["decade"]:
        return _days(datetime(year - year % 10, 1, 1, tzinfo=UTC), 10)
    if not number and not month:
        return _days(datetime(year, 1, 1, tzinfo=UTC), 1)
    try:
        first = datetime(year, number, int(day or 1), tzinfo=UTC)
    except ValueError:
        return None
    length = 1 if day else monthrange(year, number)[1]
    return Span.between(first, first + timedelta(days=length))


def _days(first: datetime, years: int) -> Span:
    return Span.between(first, first.replace(year=first.year + years))
