"""The times a question names, and what fits them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Fact
from engram_graph.rules.timeline import Span
from engram_graph.rules.times import FIRST, LAST, hull, named_times, rival, true_then
from engram_graph.vocabulary import FactKind, TemporalStatus

TICK = timedelta(microseconds=1)


def at(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def span(start: datetime, end: datetime) -> Span:
    return Span.between(start, end)


YEAR_2021 = span(at(2021), at(2022))
MAY_2023 = span(at(2023, 5), at(2023, 6))
EIGHTH = span(at(2023, 5, 8), at(2023, 5, 9))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Ana do in May 2023?", [MAY_2023]),
        ("What did Ana do in Sept. 2023?", [span(at(2023, 9), at(2023, 10))]),
        ("Where did she live on 2023-05-08?", [EIGHTH]),
        ("on May 8th, 2023", [EIGHTH]),
        ("on 8 May 2023 or 2021", [EIGHTH, YEAR_2021]),
        ("the 8th of May of 2023", [EIGHTH]),
        ("in 2023-05", [MAY_2023]),
        ("Where was she in 2021?", [YEAR_2021]),
        ("2021's best book", [YEAR_2021]),
        ("in the 2010s", [span(at(2010), at(2020))]),
        # other scripts, other digits
        ("アナは2021年にどこに住んでいましたか？", [YEAR_2021]),
        ("2023年5月8日她住在哪里？", [EIGHTH]),
        ("2023년 5월에 뭐 했어?", [MAY_2023]),
        ("Где жила Мила в 2021 году?", [YEAR_2021]),
        ("أين سكنت في ٢٠٢١؟", [YEAR_2021]),
        ("Wo wohnte sie am 08.05.2021?", [YEAR_2021]),  # the day is not read, its year is
        # words in front: English
        ("before June 2022", [Span(FIRST, at(2022, 6) - TICK)]),
        ("before the year 2021", [Span(FIRST, at(2021) - TICK)]),
        ("until 2021", [Span(FIRST, at(2022) - TICK)]),
        ("after 2021", [Span(at(2022), LAST)]),
        ("since May 2023", [Span(at(2023, 5), LAST)]),
        ("Where did she live BEFORE 2021?", [Span(FIRST, at(2021) - TICK)]),
        ("Wo wohnte sie vor 2021?", [YEAR_2021]),
        # two ends of one stretch
        ("between 2019 and 2021", [span(at(2019), at(2022))]),
        ("from May 2021 to May 2023", [span(at(2021, 5), at(2023, 6))]),
        ("2019-2021", [span(at(2019), at(2022))]),
        ("2019–2021年", [span(at(2019), at(2022))]),
        ("2023-05-01 – 2023-05-31", [MAY_2023]),
        ("in 2019 and 2021", [span(at(2019), at(2020)), YEAR_2021]),
        # no times
        ("Where does Ana live?", []),
        ("What did Ana do in May?", []),
        ("last year", []),
        ("room 2150, box 1850, 20210 and 12021", []),
        ("2021-13", []),
        ("on 30 February 2021", []),
        ("$2021, €2021, 2021€, #2021, 2021% and v2021", []),
        ("2021.5 or 2021,50 or A2021 or 2021b", []),
        ("", []),
    ],
)
def test_times_that_are_named(question: str, named: list[Span]) -> None:
    assert list(named_times(question)) == named


@given(st.text(max_size=80))
def test_any_text(question: str) -> None:
    for each in named_times(question):
        assert FIRST <= each.first <= each.last <= LAST


@given(
    st.dates(at(1900).date(), at(2099, 12, 31).date()),
    st.sampled_from(["", "on ", "в ", "在", "（", "  "]),
    st.sampled_from(["", "?", "に", ".", "）", " and then"]),
)
def test_an_iso_date_is_read_in_any_surroundings(day: Any, before: str, after: str) -> None:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert named_times(f"{before}{day.isoformat()}{after}") == (
        Span(midnight, midnight + timedelta(days=1) - TICK),
    )


def fact(start: datetime, end: datetime | None = None, **more: Any) -> Fact:
    values: dict[str, Any] = {
        "id": "f",
        "namespace": "n",
        "subject": "Ann",
        "subject_key": "ann",
        "predicate": "lives_in",
        "object": "Oslo",
        "object_key": "oslo",
        "text": "Ann lives in Oslo",
        "recorded_at": at(2025),
    }
    return Fact(**values | {"valid_from": start, "valid_until": end, "open": end is None} | more)


def test_what_was_true_then_fits() -> None:
    assert true_then(fact(at(2019), at(2022)), [YEAR_2021]) == 1
    assert true_then(fact(at(2019)), [YEAR_2021]) == 1
    assert true_then(fact(at(2022)), [YEAR_2021]) == 0
    assert true_then(fact(at(2019), at(2021)), [YEAR_2021]) == 0
    assert true_then(fact(at(2019), at(2021)), [YEAR_2021, MAY_2023]) == 0
    assert true_then(fact(at(2019), at(2024)), [YEAR_2021, MAY_2023]) == 1
    assert true_then(fact(at(2019)), []) == 0


def test_an_event_belongs_to_the_time_it_began_in() -> None:
    for more in ({"predicate": "attended"}, {"kind": FactKind.EVENT}):
        assert true_then(fact(at(2021, 5), **more), [YEAR_2021]) == 1
        assert true_then(fact(at(2020, 5), **more), [YEAR_2021]) == 0


def test_before_prefers_what_ended_last() -> None:
    before = named_times("before 2022")
    holding = true_then(fact(at(2021), at(2023)), before)
    year, long = (true_then(fact(at(2010), end), before) for end in (at(2021), at(2015)))
    assert holding == 1 > year > long > 0
    assert year == pytest.approx(0.5, abs=0.01)
    assert true_then(fact(at(2022)), before) == 0


@given(st.lists(st.integers(0, 200), min_size=2, max_size=2), st.none() | st.integers(0, 100))
def test_it_fits_if_and_only_if_it_was_true_then(months: list[int], length: int | None) -> None:
    start, first = (at(2010) + timedelta(days=30 * month) for month in months)
    one = fact(start, None if length is None else start + timedelta(days=30 * length))
    asked = Span.between(first, first + timedelta(days=90))
    fit = true_then(one, [asked])
    assert 0 <= fit <= 1
    assert (fit > 0) is asked.touches(one)


def test_rivals_are_values_of_a_one_valued_relation() -> None:
    assert rival(fact(at(2019))) == ("ann", "lives_in")
    assert rival(fact(at(2019), predicate="owns")) is None
    assert rival(fact(at(2019), negated=True)) is None
    assert rival(fact(at(2019), temporal_status=TemporalStatus.PLANNED)) is None


def test_the_hull_holds_all() -> None:
    assert hull([]) is None
    assert hull([MAY_2023, YEAR_2021]) == span(at(2021), at(2023, 6))
