"""Two servers started at once want the same port: neither takes the other for itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import neo4j
import pytest

from engram_graph.server import EmbeddedServer, config


def test_a_port_lost_to_another_neo4j_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_choice = config.choose_ports

    def same_port(http: bool, taken: set[int], _: Any) -> tuple[int, int | None]:
        # Both look before either has bound it.
        return first_choice(http, taken) if taken else (chosen, None)

    chosen, _ = first_choice(False, set())
    monkeypatch.setattr(config, "choose_ports", same_port)
    servers = [EmbeddedServer(tmp_path / name) for name in ("one", "two")]
    try:
        with ThreadPoolExecutor(2) as both:
            infos = list(both.map(lambda s: s.up(http=False, heap_mb=256), servers))
        assert len({info.bolt_uri for info in infos}) == 2
        for info in infos:
            with neo4j.GraphDatabase.driver(
                info.bolt_uri, auth=(info.username, info.password)
            ) as driver:
                driver.verify_connectivity()
    finally:
        for server in servers:
            server.down()
