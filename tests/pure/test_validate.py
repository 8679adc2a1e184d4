"""What callers pass in is stored verbatim or refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_graph.errors import InputError, ScopeError
from engram_graph.rules.validate import (
    MAX_TEXT,
    clean_metadata,
    clean_name,
    clean_namespace,
    clean_query,
    clean_text,
)

STORABLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1
).filter(lambda text: bool(text.strip(" \t\r\n\u200b\u200c\u200d\u2060\ufeff\u00ad").strip()))


@given(STORABLE)
def test_text_is_returned_verbatim(text: str) -> None:
    assert clean_text(text, "text") == text


def test_text_is_not_normalised_and_may_be_long() -> None:
    assert clean_text(" e\u0301 ", "text") == " e\u0301 "
    assert len(clean_text("word " * 200_000, "text")) == 1_000_000
    assert len(clean_text("x" * MAX_TEXT)) == MAX_TEXT


def test_no_character_of_a_question_is_refused() -> None:
    assert clean_query("bolt\x00cutter") == "bolt cutter"
    assert "bolt" in clean_query("bolt \ud83d")
    assert clean_query("Zoe\u0308 \u202e ~*") == "Zoe\u0308 \u202e ~*"
    for nothing in ("", " \x00 ", None, "x" * (MAX_TEXT + 1)):
        with pytest.raises(InputError):
            clean_query(nothing)


@pytest.mark.parametrize(
    "value",
    [None, 3, b"bytes", "", "   ", "\n\t", "\u3000", "\u200b\ufeff", "a\x00b", "a\ud83d",
     "x" * (MAX_TEXT + 1)],
)  # fmt: skip
def test_unusable_text_is_refused_with_a_hint(value: object) -> None:
    with pytest.raises(InputError) as caught:
        clean_text(value, "query")
    assert caught.value.hint
    assert caught.value.details["field"] == "query"
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "value", ["main", "Main", " a ", "a b", "null", "*", "`'\"})", "é", "名前", "x" * 500]
)
def test_any_other_namespace_is_valid_and_opaque(value: str) -> None:
    assert clean_namespace(value) == value


@pytest.mark.parametrize(
    "value", [None, "", "  ", "\t\n", "\u200b", 5, ["a"], "a\x00", "\udc00", "x" * 501]
)
def test_no_namespace_is_an_error(value: object) -> None:
    with pytest.raises(ScopeError) as caught:
        clean_namespace(value)
    assert caught.value.hint


@pytest.mark.parametrize("value", ["Maya", "x'}) DELETE", "C++", "?", "名前", "the", "🦊"])
def test_names_with_something_in_them_are_valid(value: str) -> None:
    assert clean_name(value, "subject") == value


@pytest.mark.parametrize(
    "value", [None, "", " ", ".", " ., ", "'\"'", "a\x00", "\ud800", "n" * 1001]
)
def test_names_with_nothing_in_them_are_refused(value: object) -> None:
    with pytest.raises(InputError):
        clean_name(value, "subject")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text("abc", max_size=3), JSON, max_size=4))
def test_any_json_object_is_valid_metadata(value: dict[str, Any]) -> None:
    assert clean_metadata(value) is value


def test_no_metadata_is_an_empty_object() -> None:
    assert clean_metadata(None) == {}


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def _circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


def test_depth_has_a_limit() -> None:
    assert clean_metadata(_deep(100))
    with pytest.raises(InputError, match="deeper than 100"):
        clean_metadata(_deep(101))


@pytest.mark.parametrize(
    "value",
    [
        [], "text", 1, {"a": float("nan")}, {"a": [float("inf")]}, {"a": {1, 2}}, {1: "a"},
        {"a": b"x"}, {"a": "\x00"}, {"\x00": 1}, {"a": ["\ud83d"]}, {"\ud83d": 1}, {"a": object},
        _circle(),
    ],
)  # fmt: skip
def test_other_metadata_is_refused(value: object) -> None:
    with pytest.raises(InputError) as caught:
        clean_metadata(value)
    assert caught.value.hint
