"""What a question names: speakers, days, months, a wish for a date."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.rules.cues import (
    asks_when,
    date_match,
    lowered,
    named_dates,
    names,
    tells_time,
    without_names,
)


@pytest.mark.parametrize(
    ("question", "speakers", "rest"),
    [
        ("What's Ann's dog called?", ["Ann"], "What's dog called"),
        ("What did Bo Lind say to ann?", ["Ann", "Bo Lind"], "What did say to"),
        ("Where is Annapolis?", ["Ann"], "Where is Annapolis?"),
        ("Will it rain in May?", ["Will", "May"], "Will it rain in May?"),
        ("Ann?", ["Ann"], "Ann?"),
        ("Ann’s 🦊", ["Ann"], "🦊"),
        ("小雨住在哪里？", ["小雨"], "住在哪里？"),
        ("Где живёт Мила?", ["Мила"], "Где живёт"),
        (unicodedata.normalize("NFD", "Was isst Zoë?"), ["Zoë"], "Was isst"),
        ("İstanbul'da Ann var", ["Ann"], "i̇stanbul'da var"),
        ("What does the user eat?", ["user", "assistant"], "What does the eat"),
        ("What?", [], "What?"),
    ],
)
def test_names_are_left_out(question: str, speakers: list[str], rest: str) -> None:
    assert without_names(question, speakers) == rest


@given(st.text(max_size=40), st.lists(st.text(max_size=8), max_size=3))
def test_any_text_and_any_name(question: str, speakers: list[str]) -> None:
    rest = without_names(question, speakers)
    if rest != question:
        assert any(names(lowered(question), speaker) for speaker in speakers)
        assert rest.strip()


def test_a_speaker_is_named_by_any_word_of_the_name() -> None:
    assert names("what does bo eat?", "Bo Lind")
    assert names("bo's dog", "Bo")
    assert not names("what about bonn?", "Bo")
    assert not names("what will it be?", "Will")
    assert not names("what?", "")
    assert names(lowered("Where does O’Brien live?"), "O'Brien")
    assert names(lowered("Where does O'Brien live?"), "O’Brien")
    assert names("where does zoe live?", "Zoë")
    assert not names("what may it be?", "Mäy")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("on 3 May 2023", [(2023, 5, 3)]),
        ("on May 4th, 2024", [(2024, 5, 4)]),
        ("in june", [(None, 6, None)]),
        ("the 2nd of March", [(None, 3, 2)]),
        ("may I ask", []),
        ("in may", [(None, 5, None)]),
        ("2024-02 or 2024-02-30", [(2024, 2, None), (2024, 2, 30)]),
        ("in 2023", []),
    ],
)
def test_dates_that_are_named(question: str, found: list[object]) -> None:
    assert named_dates(question) == found


@pytest.mark.parametrize(
    ("said", "named", "value"),
    [
        (date(2023, 5, 3), (2023, 5, 3), 1.0),
        (date(2023, 5, 31), (2023, 5, None), 1.0),
        (date(2023, 5, 10), (2023, 5, 3), 0.5),
        (date(2023, 4, 30), (2023, 5, 3), 0.5),
        (date(2023, 6, 1), (2023, 5, 3), 0.0),
        (date(2023, 4, 25), (2023, 5, 3), 0.0),
        (date(2024, 1, 2), (None, 12, 26), 0.5),
        (date(2024, 2, 28), (2024, 2, 30), 0.0),
        (date(2024, 1, 1), (0, 1, 1), 0.0),
        (date(1, 1, 1), (None, 1, 1), 1.0),
        (date(9999, 12, 31), (None, 12, None), 1.0),
    ],
)
def test_how_near_a_date_is(
    said: date, named: tuple[int | None, int, int | None], value: float
) -> None:
    assert date_match(said, [named]) == pytest.approx(value)


def test_whether_a_time_is_asked_for_or_told() -> None:
    assert asks_when("How long has she been there?")
    assert not asks_when("Whenever?")
    assert tells_time("since 2019")
    assert not tells_time("I paint.")


def test_a_megabyte_of_months_is_read_once() -> None:
    assert named_dates("may " * 250_000) == []
    assert len(named_dates("in may " + "may " * 50_000)) == 50_001
