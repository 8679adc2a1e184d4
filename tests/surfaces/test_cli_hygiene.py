"""``engram hygiene`` and ``engram restore``: told first, done with --apply, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engram_graph.adapters import rules_decider
from engram_graph.errors import DecisionUnavailableError
from engram_graph.rules import method

Engram = Callable[..., Any]


def links(maya: Engram, fact_id: str) -> list[str]:
    return [link["type"] for link in maya("explain", fact_id, "--json").json["links"]]


@pytest.fixture
def unlinked(maya: Engram, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two facts that say the same, which the decider did not notice when they were written."""
    with monkeypatch.context() as patch:
        patch.setattr(rules_decider, "relation", lambda *_, **__: "new")
        for obj, text in (("a bike", "Maya owns a bike"), ("the bike", "Maya has a bike")):
            assert maya("remember", "Maya", "owns", obj, "--text", text).code == 0
    first, second = maya("facts", "--json").json
    return second["id"], first["id"]


def test_a_dry_run_tells_and_changes_nothing(maya: Engram, unlinked: tuple[str, str]) -> None:
    newer, older = unlinked
    told = maya("hygiene")
    assert told.code == 0
    assert "= Maya has a bike  |  Maya owns a bike" in told.out
    assert f"same with p 1.00  {newer}  {older}" in told.out
    assert "1 of 1 pair asked about, 1 would be linked, 0 would be unlinked" in told.out
    assert "1 request, cost $0.000000" in told.out
    assert "--apply" in told.err
    assert links(maya, newer) == []


def test_apply_does_it_once(maya: Engram, unlinked: tuple[str, str]) -> None:
    newer, older = unlinked
    report = maya("hygiene", "--apply", "--json").json
    assert (report["applied"], report["pairs"], report["asked"]) == (True, 1, 1)
    (link,) = report["same_as"]
    assert (link["change"], link["fact"]["id"], link["other"]["id"]) == ("link", newer, older)
    assert links(maya, newer) == ["SAME_AS"]
    again = maya("hygiene", "--apply")
    assert (again.code, "0 of 1 pair asked about, 0 linked" in again.out) == (0, True)
    assert maya("hygiene", "--no-same-as", "--json").json["pairs"] == 0


def test_a_decider_that_is_away_fails_the_command(
    maya: Engram, unlinked: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> Any:
        raise DecisionUnavailableError("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(rules_decider.RulesDecider, "ask", away)
        done = maya("hygiene", "--apply")
        assert (done.code, "note: decider: decision_unavailable" in done.err) == (1, True)
        assert maya("hygiene", "--json").json["degraded"] == ["decider: decision_unavailable"]
    assert maya("hygiene", "--apply").code == 0  # goes on
    assert links(maya, unlinked[0]) == ["SAME_AS"]


def test_what_was_archived_is_shown_and_restored(
    maya: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With numbers by which every fact is old, and none is worth it."""
    assert maya("add", "I live in Porto.", "--speaker", "Maya").code == 0
    (fact,) = maya("facts", "--json").json
    assert "0 stale facts asked about" in maya("hygiene", "--worth").out
    numbers = replace(method.DEFAULT.thresholds, stale_days=-1, worth_drop=1.1)
    monkeypatch.setitem(method.PRESETS, "default", replace(method.DEFAULT, thresholds=numbers))
    told = maya("hygiene", "--worth").out
    assert f"- {fact['text']}  {fact['id']}" in told
    assert "worth 1.00" in told
    assert "1 fact would be archived" in told
    report = maya("hygiene", "--worth", "--short-lived", "--apply", "--json").json
    assert [each["fact"]["id"] for each in report["archived"]] == [fact["id"]]
    assert "archived" in maya("facts").out
    assert maya("search", "Porto", "--json").json["facts"] == []
    assert "archived" not in maya("restore", fact["id"]).out
    assert maya("restore", fact["id"], "--json").json["archived_at"] is None
    assert len(maya("search", "Porto", "--json").json["facts"]) == 1
    missing = maya("restore", "no-such-id", "--json")
    assert (missing.code, missing.error["code"]) == (1, "not_found")
