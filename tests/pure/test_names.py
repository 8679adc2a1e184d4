"""Entity keys, first person, exact repetition, names in a sentence."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.rules.names import (
    entity_key,
    is_first_person,
    normal_text,
    possible_keys,
    rare_entity_names,
    resolve_person,
)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Ilka", "ilka"),
        ("  the   Lantern\u00a0Choir ", "lantern choir"),
        ("The bindery of Hollin Press", "bindery of hollin press"),
        ("a Lark 2 phone", "lark 2 phone"),
        ("An apple", "apple"),
        ("Hollin Press.", "hollin press"),
        ("'Quarrel Optics',", "quarrel optics"),
        ('"the Weir School"', "weir school"),
        ("the the band", "the band"),
        ("The", "the"),
        ("Theresa", "theresa"),
        ("...", "..."),
        ("Straße", "straße"),
        ("雨", "雨"),
        ("   ", ""),
    ],
)
def test_entity_key(name: str, key: str) -> None:
    assert entity_key(name) == key


@given(st.text(max_size=40))
def test_composed_and_decomposed_names_share_a_key(name: str) -> None:
    assert entity_key(unicodedata.normalize("NFC", name)) == entity_key(
        unicodedata.normalize("NFD", name)
    )


@given(st.text(max_size=40))
def test_a_key_is_blank_only_for_blank_names(name: str) -> None:
    assert bool(entity_key(name)) == bool(name.strip())


@pytest.mark.parametrize(
    ("name", "speaker", "role", "person"),
    [
        ("I", "Odo", "user", "Odo"),
        ("My", "Odo", "user", "Odo"),
        ("the user", "Odo", "user", "Odo"),
        ("User", "user", "user", "user"),
        ("I", "assistant", "assistant", "user"),
        ("mine", "mail", "tool", "mail"),
        (" Jorun ", "Odo", "user", "Jorun"),
        ("Iris", "Odo", "user", "Iris"),
        ("Jorun", "assistant", "assistant", "Jorun"),
    ],
)
def test_resolve_person(name: str, speaker: str, role: str, person: str) -> None:
    assert resolve_person(name, speaker, role) == person


def test_first_person_is_a_closed_list() -> None:
    said = ["I", "me", "my", "myself", "mine", "user", "the user", "we", "you", "users", "Mia"]
    assert [name for name in said if is_first_person(name)] == said[:7]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ilka lives in Tarnfold", "ilka  lives in Tarnfold.", True),
        ("Café", "Cafe\u0301!", True),
        ("Ilka lives in Tarnfold", "Ilka lived in Tarnfold", False),
        ("Ilka lives in Tarnfold?", "Ilka lives in Tarnfold", False),
    ],
)
def test_normal_text(one: str, other: str, same: bool) -> None:
    assert (normal_text(one) == normal_text(other)) is same


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Pia sings in the Lantern Choir.", ("Pia", "Lantern Choir")),
        ("The Lantern Choir meets on Monday, in March.", ("Lantern Choir",)),
        ("I think She left. Yesterday Odo came", ("Odo",)),
        ("Kester, Tamsin and Jorun's barge", ("Kester", "Tamsin", "Jorun")),
        ("They saw Kester. Tamsin did not.", ("Kester", "Tamsin")),
        ("Odo met Odo and the ODO", ("Odo",)),
        ("nobody here, 雨が降る", ()),
        ("", ()),
    ],
)
def test_rare_entity_names(text: str, names: tuple[str, ...]) -> None:
    assert rare_entity_names(text) == names


def test_possible_keys_are_runs_of_words_in_any_script() -> None:
    keys = possible_keys("Where does Miss Sunshine's 小雨 live?")
    assert {"miss sunshine", "小雨", "live", "where does miss sunshine"} <= set(keys)
    assert len(keys) == len(set(keys))
    assert possible_keys(" ?! ") == ()


@given(
    st.lists(st.text("abcdäß小", min_size=1, max_size=6), min_size=1, max_size=12),
    st.integers(0, 11),
    st.integers(1, 4),
)
def test_possible_keys_hold_every_short_run(words: list[str], begin: int, length: int) -> None:
    run = words[begin : begin + length]
    keys = possible_keys(" ".join(words))
    assert not run or entity_key(" ".join(run)) in keys
    assert len(keys) <= 4 * len(words)


def test_possible_keys_of_a_very_long_text_are_few() -> None:
    assert len(possible_keys("word " * 1_000_000 + "end")) <= 400
