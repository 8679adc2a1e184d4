"""A clock that stands still until a test moves it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta

from engram_graph import clock
from engram_graph.errors import InputError

START = "2025-01-01T09:00:00Z"


class FrozenClock:
    """What the package takes for the present, in this process.

    Readings one after the other differ by a microsecond each, so that recording order stays an
    order. Ids, latencies and timeouts go by the real clock.

    Attributes:
        now: aware UTC.
    """

    def __init__(self, start: datetime | date | str = START) -> None:
        self.now = clock.instant(start, "start")

    def move(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> datetime:
        """Go forward; the moment it is then.

        Raises:
            InputError: it would go backward.
        """
        return self.set(self.now + timedelta(days=days, hours=hours, minutes=minutes))

    def set(self, moment: datetime | date | str) -> datetime:
        """Go forward to ``moment``: an aware datetime, a date, or ISO 8601 text of either.

        Raises:
            InputError: it is earlier than now, for what is recorded never goes back; or no date.
        """
        moment = clock.instant(moment, "moment")
        if moment < self.now:
            raise InputError(f"the clock stands at {self.now.isoformat()} and only goes forward")
        self.now = moment
        return moment


@contextmanager
def frozen(start: datetime | date | str = START) -> Iterator[FrozenClock]:
    """A frozen clock, for as long as the block lasts."""
    one = FrozenClock(start)
    with clock.reading(lambda: one.now):
        yield one
