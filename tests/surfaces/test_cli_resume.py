"""``engram resume`` after an outage of the decision API: what was settled, and what was not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.jev_server import JevServer

Engram = Callable[..., Any]
REFUSED = "note: decider: decision_budget"
UNSETTLED = "note: unsettled: resume asks again"


def test_resume_after_an_outage(maya: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "ts-hush-hush")
    with JevServer().listening() as url:
        monkeypatch.setenv("TYPESAFE_BASE_URL", url)
        with monkeypatch.context() as outage:
            outage.setenv("ENGRAM_DECIDER_BUDGET_USD", "0")
            told = maya("remember", "Maya", "owns", "a lathe")
            assert (told.code, told.err.splitlines()) == (0, [REFUSED, UNSETTLED])
            assert "[tentative · unsettled]" in told.out
            maya("remember", "Maya", "owns", "a kiln")
            assert re.search(r"^unsettled +2$", maya("stats").out, re.MULTILINE)

            vain = maya("resume")
            assert (vain.code, vain.err.splitlines()) == (1, [REFUSED, UNSETTLED])
            first, *_, finished, settled = vain.out.splitlines()
            assert first.startswith("? asked again ")
            assert first.count("[tentative · unsettled]") == 1
            assert finished == "0 finished, 0 still unfinished"
            assert settled == "0 settled, 2 still unsettled"

        done = maya("resume", "--json")
        assert (done.code, done.err) == (0, "")
        assert [one["asked_again"] for one in done.json] == [True, True]
        assert [one["facts"][0]["unsettled"] for one in done.json] == [False, False]
        assert maya("stats", "--json").json["unsettled"] == 0
        assert maya("resume").out.splitlines()[-1] == "0 settled, 0 still unsettled"


def test_resume_shows_what_it_settled(maya: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "ts-hush-hush")
    with JevServer().listening() as url:
        monkeypatch.setenv("TYPESAFE_BASE_URL", url)
        with monkeypatch.context() as outage:
            outage.setenv("ENGRAM_DECIDER_BUDGET_USD", "0")
            maya("remember", "Maya", "owns", "a lathe")
        done = maya("resume")
    assert done.code == 0
    assert done.out.startswith("* settled ")
    assert "unsettled" not in done.out.splitlines()[0]
    assert done.out.splitlines()[-1] == "1 settled, 0 still unsettled"
