"""Stretches of time, and how a pair of moments becomes one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.clock import interval
from engram_graph.errors import InputError
from engram_graph.models.facts import Fact
from engram_graph.rules.timeline import Span

T0 = datetime(2024, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def fact(start: datetime, end: datetime | None, **more: Any) -> Fact:
    values: dict[str, Any] = {
        "id": "f",
        "namespace": "n",
        "subject": "Ann",
        "subject_key": "ann",
        "predicate": "lives_in",
        "object": "Oslo",
        "object_key": "oslo",
        "text": "Ann lives in Oslo",
        "recorded_at": T0,
    }
    return Fact(**values | {"valid_from": start, "valid_until": end, "open": end is None} | more)


def day(number: int) -> datetime:
    return T0 + timedelta(days=number)


@pytest.mark.parametrize(
    ("start", "end", "touched"),
    [
        (0, 5, False),  # its end is not in it
        (0, 6, True),
        (0, None, True),
        (9, None, True),
        (10, None, False),  # nor is that of the stretch
        (6, 7, True),
        (7, 7, False),  # true at no moment
    ],
)
def test_both_intervals_are_closed_open(start: int, end: int | None, touched: bool) -> None:
    one = fact(day(start), None if end is None else day(end))
    assert Span.between(day(5), day(10)).touches(one) is touched


@given(st.integers(0, 9), st.none() | st.integers(0, 5), st.integers(0, 9), st.integers(1, 5))
def test_touching_is_holding_at_one_of_the_moments(
    start: int, length: int | None, first: int, days: int
) -> None:
    one = fact(day(start), None if length is None else day(start + length))
    inside = (day(first) + timedelta(hours=hour) for hour in range(24 * days))
    # Intervals begin and end at midnight here: an hour of each day stands for all of it.
    held = any(one.holds_at(moment) for moment in inside)
    assert Span.between(day(first), day(first + days)).touches(one) is held
    assert Span.at(day(first)).touches(one) is one.holds_at(day(first))


def test_a_date_as_the_end_means_that_whole_day() -> None:
    day_after = datetime(2024, 7, 1, tzinfo=UTC)
    for end in ("2024-06-30", " 2024-06-30 ", date(2024, 6, 30)):
        assert interval(("2024-01-01", end)) == (T0, day_after)
    assert interval(("2024-01-01", "2024-01-01")) == (T0, T0 + timedelta(days=1))
    assert interval([T0, "2024-07-01T00:00:00Z"]) == (T0, day_after)
    east = timezone(timedelta(hours=2))
    assert interval((T0, datetime(2024, 7, 1, 2, tzinfo=east))) == (T0, day_after)


@pytest.mark.parametrize(
    "value",
    [
        "2024-01-01",
        ("2024-01-01",),
        ("2024-01-01", "2024-02-01", "2024-03-01"),
        ("2024-01-02", "2024-01-01"),
        (T0, T0),
        ("2024-01-01", None),
        ("soon", "2024-01-01"),
        ("2024-01-01", datetime(2024, 2, 1)),  # noqa: DTZ001
        ("2024-01-01", "9999-12-31"),
        None,
        7,
        {"2024-01-01", "2024-02-01"},
    ],
)
def test_what_is_no_stretch_of_time_is_refused(value: object) -> None:
    with pytest.raises(InputError) as caught:
        interval(value)
    assert caught.value.details["field"] == "between"


@given(st.datetimes(timezones=st.just(UTC)), st.timedeltas(TICK, timedelta(days=900)))
def test_a_span_ends_a_tick_before_its_end(start: datetime, length: timedelta) -> None:
    try:
        end = start + length
    except OverflowError:
        return
    span = Span.between(start, end)
    assert span.holds(start)
    assert span.holds(end - TICK)
    assert not span.holds(end)
