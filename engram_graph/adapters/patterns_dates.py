"""Date phrases of plain English, resolved against the day a message was said. Pure.

A phrase that names a span ("last week", "in March") stands for its beginning. What a sentence does
not date stays undated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = "january february march april may june july august september october november december"
_MONTH_OF = {name: n for n, name in enumerate(_MONTHS.split(), 1)} | {
    name[:3]: n for n, name in enumerate(_MONTHS.split(), 1)
}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2,
}  # fmt: skip
_MONTH = "(?:" + "|".join(_MONTHS.split()) + r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_YEAR = r"(?:19|20)\d\d"
_COUNT = r"(?:\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_DAY = "(?:" + "|".join(_DAYS) + ")"
_POINT = (
    rf"(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?(?:,? {_YEAR})?"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR})?(?!\d)"
    rf"|{_MONTH}(?: of)?(?:,? {_YEAR})?|\d{{4}}-\d\d-\d\d|{_YEAR})"
)
_PAST = (
    rf"(?:yesterday|today|tonight|this morning|this evening|the other day|just now"
    rf"|(?:earlier )?this (?:week|month|year)"
    rf"|last (?:night|week|month|year|weekend|{_DAY}|{_MONTH})|(?:on )?{_DAY}(?= |$)"
    rf"|(?:about |almost |over )?{_COUNT} (?:day|week|month|year)s? ago"
    rf"|(?:on|in|back in|since|as of|starting|from) {_POINT}(?: on(?:wards)?)?(?!\w))"
)
_FUTURE = (
    rf"(?:tomorrow|next (?:week|month|year|weekend|spring|summer|autumn|fall|winter|{_DAY}"
    rf"|{_MONTH})"
    rf"|in the (?:spring|summer|autumn|fall|winter)|soon|this (?:weekend|summer|autumn|fall"
    rf"|winter|spring)|later this (?:week|month|year)"
    rf"|in {_COUNT} (?:day|week|month|year)s|by {_POINT})"
)
_RANGE = re.compile(
    rf"\b(?:from|between) (?P<a>{_POINT}) (?:to|until|till|and|through) (?P<b>{_POINT})\b", re.I
)
_UNTIL = re.compile(rf"\b(?:until|till) (?P<b>{_POINT}|last (?:week|month|year))\b", re.I)
_FOR = re.compile(
    rf"\bfor (?:about |almost |nearly |over |the (?:last|past) )?(?P<n>{_COUNT}) "
    rf"(?P<unit>day|week|month|year)s?(?: now)?\b",
    re.I,
)
_PAST_RE = re.compile(rf"\b{_PAST}", re.I)
_FUTURE_RE = re.compile(rf"\b{_FUTURE}\b", re.I)


@dataclass(frozen=True, slots=True)
class Dated:
    """A clause without its date phrase, and what the phrase means.

    Attributes:
        when: the phrase as written, None if the clause has no date that can be resolved.
        start, end: the instants it names. future: it lies ahead of the message.
    """

    rest: str
    when: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    future: bool = False
    duration: bool = False


def take_date(clause: str, said_at: datetime) -> Dated:
    """Split a clause into its words and the first date phrase in it."""
    day = said_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if found := _RANGE.search(clause):
        start, end = _point(found["a"], day), _point(found["b"], day)
        if start and end and start < end:
            return Dated(_cut(clause, found), found[0], start, end)
    if found := _UNTIL.search(clause):
        return Dated(_cut(clause, found), None, None, _point(found["b"], day))
    if found := _FUTURE_RE.search(clause):
        return Dated(_cut(clause, found), found[0], future=True)
    for found in _PAST_RE.finditer(clause):
        start = _point(re.sub(r"(?i) on(?:wards)?$", "", found[0]), day)
        if start or found[0].lower() in ("the other day", "just now"):
            return Dated(_cut(clause, found), found[0] if start else None, start)
    if found := _FOR.search(clause):
        start = _back(day, found["n"], found["unit"])
        return Dated(_cut(clause, found), found[0], start, duration=True)
    return Dated(clause)


def join_date(clause: str) -> str:
    """A clause whose opening date has no comma behind it: "Last week I …"."""
    found = _PAST_RE.match(clause)
    if not found or not re.match(r", (?:I|we|my)\b", clause[found.end() :]):
        return clause
    return f"{found[0]} {clause[found.end() + 2 :]}"


def next_occurrence(when: str) -> bool:
    """Whether a bare month or day ("in June", "on Friday") can as well mean the coming one."""
    return bool(re.fullmatch(rf"(?i)(?:(?:in|on|by) )?(?:{_MONTH}|{_DAY})", when))


def _cut(clause: str, found: re.Match[str]) -> str:
    rest = clause[: found.start()].rstrip(" ,") + " " + clause[found.end() :].lstrip(" ,")
    return rest.strip(" ,")


def _back(day: datetime, count: str, unit: str) -> datetime | None:
    n = _NUMBERS.get(count.lower()) or int(count) if count.isdigit() else _NUMBERS[count.lower()]
    try:
        if unit in ("day", "week"):
            return day - timedelta(days=n * (7 if unit == "week" else 1))
        months = day.year * 12 + day.month - 1 - n * (12 if unit == "year" else 1)
        return datetime(months // 12, months % 12 + 1, min(day.day, 28), tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _point(phrase: str, day: datetime) -> datetime | None:
    """The beginning of what ``phrase`` names; a month or day without a year is the latest one."""
    text = " ".join(phrase.lower().replace(",", " ").replace(".", " ").split())
    text = re.sub(r"^(?:on|in|back in|since|as of|starting|from|about|almost|over) ", "", text)
    fixed = {"today": 0, "tonight": 0, "this morning": 0, "this evening": 0, "yesterday": 1,
             "last night": 1, "last week": 7}  # fmt: skip
    if text in fixed:
        return day - timedelta(days=fixed[text])
    spans = {"this week": day - timedelta(days=day.weekday()), "this month": day.replace(day=1),
             "this year": day.replace(month=1, day=1)}  # fmt: skip
    if (span := text.removeprefix("earlier ")) in spans:
        return spans[span]
    if text == "last month":
        return _back(day.replace(day=1), "1", "month")
    if text == "last year":
        return day.replace(year=day.year - 1, month=1, day=1)
    if text == "last weekend":
        return day - timedelta(days=(day.weekday() - 5) % 7 or 7)
    if found := re.fullmatch(rf"({_COUNT}) (day|week|month|year)s? ago", text):
        return _back(day, found[1], found[2])
    if found := re.fullmatch(rf"(?:last )?({_DAY})", text):
        back = (day.weekday() - _DAYS.index(found[1])) % 7
        return day - timedelta(days=back or 7)
    return _calendar(text.removeprefix("last ").removeprefix("the "), day)


def _calendar(text: str, day: datetime) -> datetime | None:
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        if re.fullmatch(_YEAR, text):
            return datetime(int(text), 1, 1, tzinfo=UTC)
        year = re.search(rf"\b{_YEAR}\b", text)
        month = next((_MONTH_OF[w[:3]] for w in text.split() if w[:3] in _MONTH_OF), None)
        number = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", text)
        if not month:
            return None
        date = int(number[1]) if number else 1
        if year:
            return datetime(int(year[0]), month, date, tzinfo=UTC)
        moment = datetime(day.year, month, date, tzinfo=UTC)
        return moment if moment <= day else moment.replace(year=day.year - 1)
    except ValueError:  # no such day
        return None
