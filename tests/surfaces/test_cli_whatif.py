"""``engram whatif``: a table of what would differ, JSON, refused input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Engram = Callable[..., Any]


@pytest.fixture
def moved(maya: Engram) -> str:
    """Maya moved from Porto to Lisbon; the id of the home she left."""
    for place, day in (("Porto", "2024-01-10"), ("Lisbon", "2025-03-04")):
        assert maya("remember", "Maya", "lives_in", place, "--said-at", day).code == 0
    (old,) = maya("facts", "--object", "Porto", "--json").json
    assert old["closed_reason"] == "belief"
    return str(old["id"])


def test_the_rules_that_are_set_change_nothing(maya: Engram, moved: str) -> None:
    told = maya("whatif")
    assert told.code == 0
    assert "2 drafts decided again by default; 0 facts and 0 links otherwise" in told.out
    assert moved not in told.out


def test_a_threshold_keeps_a_fact_open(maya: Engram, moved: str) -> None:
    told = maya("whatif", "--set", "close_below=0.01")
    assert told.code == 0
    assert "reopened" in told.out
    assert moved in told.out
    assert "until 2025-03-04 (belief) → open" in told.out
    assert "decided again by default, close_below=0.01" in told.out
    found = maya("whatif", "--set", "close_below=0.01", "--json").json
    assert [(d["change"], d["before"]["id"]) for d in found["facts"]] == [("reopened", moved)]
    assert [d["link"]["type"] for d in found["links"]] == ["SUPERSEDES"]
    (old,) = maya("facts", "--object", "Porto", "--json").json
    assert not old["open"]


def test_refused(maya: Engram) -> None:
    assert maya("whatif", "--preset", "none").code == 2
    assert maya("whatif", "--set", "close_below").code == 2
    assert maya("whatif", "--set", "hub=3").code == 2
