"""What is indexed and what is asked: stems, scripts without spaces, and safe query strings."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_graph.rules import text as rules
from engram_graph.rules.text import (
    MAX_TERMS,
    encodable,
    lucene_query,
    namespace_key,
    query_terms,
    search_text,
    stem,
    turn_text,
)

KEY = namespace_key("acme")
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too
_OPERATORS = (
    'AND OR NOT && || ! + - * ? ~2 ^3 / \\ " ( ) [ ] { } “ cat C++ 東京 กา namespace_key:other'
)
NASTY = st.lists(st.sampled_from([*_OPERATORS.split(), "[a TO b]", "\x00", " "])).map("".join)


def terms(query: str, key: str = KEY) -> list[str]:
    made = lucene_query(query, key)
    if made is None:
        return []
    found = re.fullmatch(rf"\+namespace_key:{key} \+search_text:\((.*)\)", made, re.DOTALL)
    assert found, made
    term = r'"((?:[^"\\]|\\["\\])+)"'
    assert re.fullmatch(rf"{term}(?: OR {term})*", found[1], re.DOTALL), made
    return re.findall(term, found[1], re.DOTALL)


def test_namespace_key_is_one_opaque_token() -> None:
    assert re.fullmatch(r"n[0-9a-f]{16}", KEY)
    assert namespace_key("acme") == KEY
    keys = {namespace_key(name) for name in ("acme", "Acme", "acme ", "ácme", "a\u0301cme")}
    assert len(keys) == 5


@settings(max_examples=1500)
@given(ANY_TEXT)
def test_any_query_is_safe(query: str) -> None:
    found = terms(query)
    assert len(found) <= MAX_TERMS
    assert all(any(char.isalnum() or ord(char) > 127 for char in term) for term in found)
    "".join(found).encode()


@settings(max_examples=1500)
@given(NASTY)
def test_operators_are_only_words(query: str) -> None:
    for term in terms(query):
        assert not set(term) & set('+-!(){}[]^"~*?:/\\&|')


@given(ANY_TEXT)
def test_search_text_begins_with_the_text(text: str) -> None:
    made = search_text(text)
    assert made.startswith(unicodedata.normalize("NFC", encodable(text)))
    made.encode()


_WORDS = "hiking moved cities user's don’t children 東京 커피를"


@given(st.lists(st.sampled_from(_WORDS.split())))
def test_every_term_of_a_text_finds_it(words: list[str]) -> None:
    text = " ".join(words)
    held = search_text(text)
    assert all(term in held for term in terms(text))


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Ann went hiking with her dogs", "hike"),
        ("Ann hikes", "hiking"),
        ("the user’s car", "user"),
        ("the user's car", "cars"),
        ("She moved.Then she rested", "rest"),
        ("see example.com", "example"),
        ("a snake_case_name", "snake"),
        ("for 1,000 euros", "1000"),
        ("for 1,000.50 euros", "1,000"),
        ("José eats in cafés", "jose"),
        ("José eats in cafés", "Cafe"),
        ("my resume", "Résumé"),
        ("コーヒーマシンを買った", "マシン"),
        ("커피를 좋아해요", "커피"),
        ("ร้านกาแฟในกรุงเทพ", "กาแฟ"),
    ],
)
def test_forms_meet(stored: str, asked: str) -> None:
    tokens = {token.lower() for token in re.findall(r"[^\s?!,;:()]+", search_text(stored))}
    assert tokens & {term.lower() for term in terms(asked)}


def test_han_and_hiragana_are_asked_in_pairs() -> None:
    assert terms("東京に行く") == ["東京", "京に", "に行", "行く", "行"]
    assert terms("猫") == ["猫"]
    assert terms("住む") == ["住む", "住"]  # 住んで shares only the first
    assert search_text("東京に行く") == "東京に行く"  # the analyzer splits these by itself


def test_pairs_keep_marks_with_their_letter() -> None:
    assert all(unicodedata.category(term[0])[0] != "M" for term in terms("ที่บ้าน"))
    assert terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_question_words_go_unless_they_are_all() -> None:
    assert terms("What did the dog not eat, and why?") == ["dog", "not", "eat"]
    assert terms("no") == ["no"]
    assert terms("Who is it?") == ["Who", "is", "it"]
    assert terms("?!") == []
    assert terms(" _ ") == []


def test_equal_terms_are_asked_once() -> None:
    assert terms("Dog dog DOGS dogs") == ["Dog", "DOGS"]
    assert terms("cafe\u0301 café") == ["café", "cafe"]


def test_at_most_64_terms_long_ones_and_those_at_both_ends_first() -> None:
    many = [f"longword{at}" for at in range(200)]
    query = " ".join(["cat", *many[:100], "ox", "extraordinarily", *many[100:], "dog"])
    found = terms(query)
    assert len(found) == MAX_TERMS
    assert {"cat", "dog", "extraordinarily"} <= set(found)
    assert "ox" not in found
    assert len(terms("word " * 100_000)) == 1
    assert {"first", "last"} <= set(terms("first " + "x y z " * 20_000 + " last"))


def test_a_strange_key_is_quoted() -> None:
    assert lucene_query("cat", 'a" b') == '+namespace_key:"a\\" b" +search_text:("cat")'


def test_words_of_a_nickname_count_less() -> None:
    made = lucene_query("Where does Sunny live? (Ann)", "key", faint={"sunny"})
    assert made is not None
    assert '"Sunny"^0.25' in made
    assert '"Ann"' in made
    assert '"Ann"^' not in made
    assert made.count("^") == sum(term.startswith("sun") for term in query_terms("Sunny"))


def test_companions_are_bounded() -> None:
    words = "hiking " * 50_000
    assert len(search_text(words)) <= len(words) + 1 + rules.MAX_INDEXED_WORDS * 5
    assert len(search_text("ก" * 200_000)) < 600_000


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Hiking", "hike"),
        ("user’s", "user"),
        ("not", "not"),
        ("東京", "東京"),
        ("", ""),
        ("b2b", "b2b"),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_turns_name_their_speaker() -> None:
    assert turn_text("Ann", "I moved") == "Ann: I moved"
    assert turn_text(" ", "I moved") == "I moved"


def test_encodable_keeps_what_can_be_sent() -> None:
    assert encodable("a😀") == "a😀"
    assert "\ufffd" in encodable("a\ud83d")
