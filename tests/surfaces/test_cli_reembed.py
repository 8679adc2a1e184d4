"""``engram reembed`` on a server of its own: told first, done, and done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Engram = Callable[..., Any]


@pytest.fixture
def own(engram: Engram, empty_server: Any, monkeypatch: pytest.MonkeyPatch) -> Engram:
    """``engram`` on that server."""
    monkeypatch.setenv("NEO4J_URI", empty_server.uri)
    monkeypatch.setenv("NEO4J_USERNAME", empty_server.username)
    monkeypatch.setenv("NEO4J_PASSWORD", empty_server.password)
    return engram


def test_a_change_is_refused_told_and_made(own: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ann", "bo"):
        assert own("-n", name, "add", "I live in Bergen.", "--speaker", name).code == 0

    monkeypatch.setenv("ENGRAM_EMBEDDING_DIMENSION", "256")
    refused = own("-n", "ann", "add", "I own a dog.", "--json")
    assert refused.code == 1
    assert refused.error["code"] == "dimension"
    assert "engram reembed" in refused.error["hint"]

    told = own("reembed", "--dry-run")
    assert told.code == 0
    assert "2 facts, 2 messages in all namespaces" in told.out
    assert "in use: hash-384 (384 dimensions); wanted: hash-256 (256 dimensions)" in told.out
    assert "4 vectors to be made: about " in told.out
    assert "Nothing was changed" in told.err
    assert own("-n", "ann", "search", "Where?", "--json").code == 1

    done = own("reembed", "--json").json
    assert (done["embedder"], done["before"], done["missing"]) == ("hash-256", "hash-384", 4)
    assert (done["applied"], done["switched"]) == (True, True)
    found = own("-n", "bo", "search", "Where does bo live?", "--json").json
    assert found["degraded"] == []
    assert found["facts"][0]["scores"]["vector"] is not None

    again = own("reembed")
    assert again.code == 0
    assert again.out.endswith("in use: hash-256 (256 dimensions)\n0 vectors made\n")
    assert own("-n", "bo", "doctor").code == 0


def test_without_an_embedder_it_is_wrong_usage(
    own: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_EMBEDDER", "none")
    refused = own("reembed", "--json")
    assert refused.code == 2
    assert "ENGRAM_EMBEDDER" in refused.error["hint"]
