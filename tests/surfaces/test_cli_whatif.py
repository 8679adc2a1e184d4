"""``engram whatif``: a table of what would differ, JSON, refused input."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.cli.whatif_command import _change, _moved
from engram_graph.models.facts import Fact
from engram_graph.rules.whatif import fact_diffs

DAY = datetime(2025, 3, 4, tzinfo=UTC)
FACT = Fact(
    id="one",
    namespace="n",
    subject="Maya",
    subject_key="maya",
    predicate="lives_in",
    object="Porto",
    object_key="porto",
    text="Maya lives in Porto",
    valid_from=DAY,
    recorded_at=DAY,
    valid_until=DAY,
    closed_at=DAY,
    closed_reason="belief",
    open=False,
)

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


def test_facts_are_told_by_their_texts(maya: Engram, moved: str) -> None:
    (new,) = maya("facts", "--object", "Lisbon", "--json").json
    told = maya("whatif", "--set", "close_below=0.01").out
    (link,) = (line for line in told.splitlines() if line.startswith("dropped"))
    assert link.split("  ")[1:] == ["SUPERSEDES", "Maya lives in Lisbon", "Maya lives in Porto"]
    assert new["id"] not in told


def test_questions_are_told_by_the_texts_of_their_facts(
    maya: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_PRESET", "reference")  # does not ask whether it is one attribute
    for place in ("Porto", "Lisbon"):
        assert maya("remember", "Maya", "lives_in", place).code == 0
    asked = 'never asked: same_attribute of "Maya lives in Lisbon" with "Maya lives in Porto"\n'
    assert asked in maya("whatif", "--preset", "default").out


@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [
        ({"closed_reason": "superseded"}, "reason of its end", "reason belief → superseded"),
        (
            {"closed_at": DAY.replace(second=5)},
            "when its end was noted",
            "end noted 2025-03-04 00:00:00Z → 2025-03-04 00:00:05Z",
        ),
        (
            {"valid_until": DAY.replace(hour=6), "closed_reason": "stated"},
            "end",
            "until 2025-03-04 00:00Z (belief) → 2025-03-04 06:00Z (stated)",
        ),
        ({"belief": 0.981}, "belief", "belief 0.9800 → 0.9810"),
        ({"source_quote": "in \x1b[31mred"}, "other", "source_quote none → in �[31mred"),
        (
            {"valid_until": None, "closed_at": None, "closed_reason": None, "open": True},
            "reopened",
            "until 2025-03-04 (belief) → open",
        ),
    ],
)
def test_what_differs_is_told(values: dict[str, Any], kind: str, told: str) -> None:
    (diff,) = fact_diffs([FACT], [FACT.model_copy(update=values)])
    assert (_change(diff), _moved(diff)) == (kind, told)


def test_refused(maya: Engram) -> None:
    assert maya("whatif", "--preset", "none").code == 2
    assert maya("whatif", "--set", "close_below").code == 2
    assert maya("whatif", "--set", "hub=3").code == 2


def test_applied_and_taken_back(maya: Engram, moved: str, namespace: str) -> None:
    before = maya("facts", "--json").json
    told = maya("whatif", "--set", "close_below=0.01", "--apply", stdin=b"y\n")
    assert told.code == 0
    assert "1 fact and 1 link would stand otherwise. Apply it? [y/N]" in told.err
    assert f"Applied; `engram whatif -n {namespace} --take-back` undoes it." in told.err
    assert told.out.count("decided again by") == 1
    (porto,) = maya("facts", "--object", "Porto", "--json").json
    assert (porto["id"], porto["open"]) == (moved, True)
    assert maya("doctor").code == 0
    back = maya("whatif", "--take-back")
    assert back.code == 0
    assert back.out.startswith("took back default, close_below=0.01 of 20")
    assert back.out.endswith("1 fact and 1 link stand as before\n")
    assert maya("facts", "--json").json == before
    again = maya("whatif", "--take-back", "--json")
    assert (again.code, again.error["code"]) == (1, "not_found")


@pytest.mark.parametrize("answer", [b"n\n", b"\n"])
def test_anything_but_yes_applies_nothing(maya: Engram, moved: str, answer: bytes) -> None:
    told = maya("whatif", "--set", "close_below=0.01", "--apply", stdin=answer)
    assert told.code == 1
    assert "nothing was applied" in told.err
    assert maya("whatif", "--take-back").code == 1
    (porto,) = maya("facts", "--object", "Porto", "--json").json
    assert not porto["open"]


def test_without_a_question(maya: Engram, moved: str) -> None:
    nobody = maya("whatif", "--set", "close_below=0.01", "--apply", "--json")
    assert (nobody.code, nobody.error["code"]) == (2, "input")
    assert "--yes" in nobody.error["hint"]
    done = maya("whatif", "--set", "close_below=0.01", "--apply", "--yes", "--json").json
    assert done["applied"] is True
    same = maya("whatif", "--set", "close_below=0.01", "--apply")
    assert same.code == 0
    assert "Nothing was changed." in same.err
    assert maya("whatif", "--take-back", "--json").json["numbers"] == {"close_below": 0.01}


def test_what_does_not_go_together(maya: Engram) -> None:
    assert maya("whatif", "--take-back", "--preset", "v3").code == 2
    assert maya("whatif", "--ask", "--apply", "--yes").code == 2


def test_a_picture_of_it(maya: Engram, moved: str, tmp_path: Path) -> None:
    svg, png = tmp_path / "diff.svg", tmp_path / "diff.png"
    for path in (svg, png):
        assert maya("whatif", "--set", "close_below=0.01", "--out", str(path)).code == 0
    drawn = svg.read_text("utf-8")
    texts = [": what if default, close_below=0.01", "facts that would stand otherwise: 1"]
    for text in (*texts, "as stored", "reopened", "Maya lives in Porto"):
        assert text in drawn
    assert "left out" not in drawn  # a key for what is there only
    assert png.read_bytes().startswith(b"\x89PNG")
    assert maya("whatif", "--out", str(svg)).code == 2  # it is there
    assert maya("whatif", "--out", str(svg), "--overwrite").code == 0
    assert "facts that would stand otherwise: 0" in svg.read_text("utf-8")
    assert maya("whatif", "--out", str(tmp_path / "diff.pdf")).code == 2
