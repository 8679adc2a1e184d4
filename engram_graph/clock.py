"""Time and ids: aware UTC instants, dates that mean a day, time-ordered ids.

Every instant inside the package is an aware ``datetime`` in UTC. Text is parsed here and nowhere
else.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta

from engram_graph.errors import InputError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_AGO = re.compile(r"(\d{1,5}) (day|week)s? ago")
_lock = threading.Lock()
_last = datetime.min.replace(tzinfo=UTC)
_source: Callable[[], datetime] | None = None  # None: the wall clock


def now() -> datetime:
    """The wall clock in UTC, strictly increasing within a process (microseconds).

    Two records made in a row never share an instant, so recording order is an order.
    """
    global _last
    with _lock:
        read = _source() if _source else datetime.now(UTC)
        _last = max(read, _last + timedelta(microseconds=1))
        return _last


@contextmanager
def reading(source: Callable[[], datetime]) -> Iterator[None]:
    """Let ``now`` read ``source``, which tells aware UTC, instead of the wall clock: for tests.

    It is strictly increasing within the block as well, and goes on after it where it was before.
    """
    global _last, _source
    with _lock:
        before = _last, _source
        _last, _source = datetime.min.replace(tzinfo=UTC), source
    try:
        yield
    finally:
        with _lock:
            _last, _source = before


def new_id() -> str:
    """A UUIDv7: sorts by creation time, safe to make anywhere."""
    import uuid_utils

    return str(uuid_utils.uuid7())


def derived_id(*parts: str) -> str:
    """A UUIDv5 of ``parts``: the same parts give the same id, in every process."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\x1f".join(parts)))


def instant(value: datetime | date | str, field: str = "date") -> datetime:
    """Any accepted form of a moment, as aware UTC.

    Args:
        value: an aware datetime; a date (that day's 00:00Z); or ISO 8601 text of either.
        field: the argument's name, for the error.

    Raises:
        InputError: no such date, an unknown form, or a datetime without a zone.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            if _DATE.fullmatch(text):
                value = date.fromisoformat(text)
            else:
                value = datetime.fromisoformat(text)
        except ValueError:
            raise InputError(
                f"{field} is not a date: {value!r}",
                hint="Use ISO 8601, such as 2025-03-04 or 2025-03-04T09:00:00Z.",
                field=field,
            ) from None
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            raise InputError(
                f"{field} has no time zone: {value.isoformat()}",
                hint="Add one, such as Z or +02:00; a date alone means midnight UTC.",
                field=field,
            )
        try:
            return value.astimezone(UTC)
        except OverflowError:
            raise InputError(f"{field} is out of range: {value.isoformat()}", field=field) from None
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise InputError(f"{field} must be a datetime, a date or ISO text", field=field)


def interval(value: object, field: str = "between") -> tuple[datetime, datetime]:
    """A pair of moments as the closed-open interval [start, end), in UTC.

    Args:
        value: start and end, each in a form ``instant`` takes. A date as the end means that whole
            day; a moment as the end is not in it any more.

    Raises:
        InputError: not two moments, or the end does not come after the start.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise InputError(
            f"{field} must be a pair of moments",
            hint=f'Such as {field}=("2024-01-01", "2024-06-30"): from and to, both days in it.',
            field=field,
        )
    start, end = (instant(each, field) for each in value)
    if _is_day(value[1]):
        try:
            end += timedelta(days=1)
        except OverflowError:
            raise InputError(f"{field} is out of range: {value[1]}", field=field) from None
    if end <= start:
        raise InputError(
            f"{field} ends before it begins: {start.isoformat()}, {end.isoformat()}",
            hint="Give the earlier moment first; the end itself is not in it, unless it is a date.",
            field=field,
        )
    return start, end


def _is_day(value: object) -> bool:
    if isinstance(value, str):
        return _DATE.fullmatch(value.strip()) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def relative_instant(text: str, said_at: datetime) -> datetime | None:
    """What a draft's ``when`` means, counted from the day of the message; None if unknown.

    Understands ISO 8601, today, yesterday, tomorrow, ``N days ago`` and ``N weeks ago``.
    """
    plain = text.strip().lower()
    if not plain:
        return None
    midnight = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    words = {"today": 0, "yesterday": -1, "tomorrow": 1}
    try:
        if plain in words:
            return midnight + timedelta(days=words[plain])
        if found := _AGO.fullmatch(plain):
            days = int(found[1]) * (7 if found[2] == "week" else 1)
            return midnight - timedelta(days=days)
    except OverflowError:
        return None
    if found := re.fullmatch(r"(\d{4})(?:-(\d{2}))?", plain):  # a year, or a year and month
        plain = f"{found[1]}-{found[2] or '01'}-01"
    try:
        return instant(plain.upper())
    except InputError:
        return None
