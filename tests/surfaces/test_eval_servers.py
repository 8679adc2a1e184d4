"""Which server a study's conversations are written to, with servers that are only counted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from engram_graph.cli import client
from engram_graph.cli.eval_servers import OwnServers
from engram_graph.cli.output import Output
from engram_graph.settings import Settings


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is started and stopped; servers are called one, two, …"""
    said: list[str] = []
    names = iter(("one", "two", "three"))

    @contextmanager
    def counted(out: Output, settings: Settings, prefix: str) -> Iterator[Any]:
        name = next(names)
        said.append(f"{name} up")
        yield SimpleNamespace(settings=settings.model_copy(update={"neo4j_uri": f"bolt://{name}"}))
        said.append(f"{name} down")

    monkeypatch.setattr(client, "own_server", counted)
    return said


def test_each_conversation_has_a_server_once_one_is_asked_for(log: list[str]) -> None:
    asked = Settings(rerank="none")
    with OwnServers(Output()) as servers:
        with servers.fresh():
            assert log == []  # nobody has asked
            first = [servers.settings(asked), servers.settings(Settings(rerank="llm"))]
        assert log == ["one up", "one down"]
        with servers.fresh():
            pass
        with servers.fresh():
            assert servers.settings(asked).neo4j_uri == "bolt://two"
        assert servers.settings(asked).neo4j_uri == "bolt://three"  # and one outside of any
    assert log[2:] == ["two up", "two down", "three up", "three down"]
    assert [each.neo4j_uri for each in first] == ["bolt://one"] * 2
    assert [each.rerank for each in first] == ["none", "llm"]  # the rest is the client's


def test_a_server_that_is_named_is_used(log: list[str]) -> None:
    named = Settings(neo4j_uri="bolt://there")
    with OwnServers(Output()) as servers, servers.fresh():
        assert servers.settings(named) is named
    assert log == []


def test_who_is_terminated_stops_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(
        client, "EmbeddedServer", lambda home: SimpleNamespace(down=lambda: ended.append(home.name))
    )
    info = SimpleNamespace(bolt_uri="bolt://own", username="neo4j", password="secret")
    monkeypatch.setattr(client, "start_server", lambda *_, **__: info)
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with client.own_server(Output(), Settings(), "engram-own-") as server:
            assert server.settings.neo4j_uri == "bolt://own"
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ended == ["neo4j"]
    assert signal.getsignal(signal.SIGTERM) == before
