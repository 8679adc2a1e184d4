"""Commands on entities: who is there, under which names, and who is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Engram = Callable[..., Any]


@pytest.fixture
def two(maya: Engram) -> Engram:
    """Maya under two names, with a home under each."""
    maya("remember", "Maya", "lives_in", "Lisbon")
    maya("remember", "Maya", "owns", "a kite")
    maya("remember", "Maya Lindqvist", "lives_in", "Porto")
    maya("remember", "Maya", "friend_of", "Maya Lindqvist")
    return maya


def test_entities(two: Engram) -> None:
    shown = two("entities").out.splitlines()
    assert shown[0].split() == ["name", "facts", "also", "called"]
    assert [line.rsplit(maxsplit=1) for line in shown[1:]] == [
        ["a kite", "1"],
        ["Lisbon", "1"],
        ["Maya", "3"],
        ["Maya Lindqvist", "2"],
        ["Porto", "1"],
    ]
    found = two("entities", "--like", "MAYA", "--limit", "1", "--json")
    assert [each["name"] for each in found.json] == ["Maya"]
    more = two("entities", "--limit", "1")
    assert "--limit" in more.err
    assert two("entities", "--limit", "0").code == 2


def test_alias(two: Engram) -> None:
    done = two("alias", "Maya", "Sunshine")
    assert (done.code, done.out) == (0, "Maya, also called Sunshine\n")
    added = two("remember", "Sunshine", "owns", "a boat", "--json")
    assert added.json["facts"][0]["subject"] == "Maya"
    assert len(two("facts", "--subject", "sunshine", "--json").json) == 4
    assert "Sunshine" in two("entities", "--like", "maya").out
    taken = two("alias", "Maya", "Maya Lindqvist", "--json")
    assert (taken.code, taken.error["code"]) == (2, "input")
    assert "merge" in taken.error["hint"]
    assert two("alias", "Maya", "Sunshine", "--remove", "--json").json["aliases"] == []
    again = two("alias", "Maya", "Sunshine", "--remove", "--json")
    assert (again.code, again.error["code"]) == (1, "not_found")


def test_merge_and_unmerge(two: Engram) -> None:
    done = two("merge", "Maya", "Maya Lindqvist", "--reason", "her passport")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Maya, also called Maya Lindqvist: 2 facts moved"
    assert lines[1].startswith("between the two before: ")
    assert lines[2] == "more than one open value of lives_in:"
    assert ["Lisbon" in line or "Porto" in line for line in lines[3:]] == [True, True]
    assert "engram correct" in done.err
    again = two("merge", "Maya", "Maya Lindqvist", "--json")
    assert (again.code, again.error["code"]) == (2, "input")
    back = two("unmerge", "Maya Lindqvist", "--reason", "her cousin")
    assert back.out.splitlines() == ["Maya Lindqvist: 2 facts moved back", "Maya"]
    nothing = two("unmerge", "Maya Lindqvist", "--json")
    assert (nothing.code, nothing.error["code"]) == (1, "not_found")
    merged = two("merge", "Maya", "Maya Lindqvist", "--json").json
    assert (merged["entity"]["name"], merged["merged"]["name"]) == ("Maya", "Maya Lindqvist")
    assert two("unmerge", merged["id"], "--json").json["entity"] == merged["merged"]


def test_duplicates(two: Engram) -> None:
    found = two("duplicates")
    assert found.out == ("0.050 Maya 'Maya Lindqvist' (one name within the other; 3 and 2 facts)\n")
    assert "engram merge" in found.err
    two("remember", "Kern, Odo", "owns", "a hat")
    two("remember", "Odo Kern", "owns", "a hat")
    applied = two("duplicates", "--apply").out
    assert "0.950 'Odo Kern' 'Kern, Odo' (same words; 1 and 1 facts)" in applied or (
        "0.950 'Kern, Odo' 'Odo Kern' (same words; 1 and 1 facts)" in applied
    )
    assert "1 fact moved" in applied
    assert "1 pair of facts saying the same now" in applied
    assert [each["merged"] for each in two("duplicates", "--json").json] == [None]


def test_duplicates_of_nobody(maya: Engram) -> None:
    done = maya("duplicates")
    assert (done.code, done.out, done.err) == (0, "", "no two names are alike\n")
    assert maya("duplicates", "--json").json == []
