"""The pytest plugin: options, hooks and fixtures. Whatever costs time is imported by a fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engram_graph.testing import choice

if TYPE_CHECKING:
    from engram_graph.testing.database import Neo4jServer


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("engram_graph", "engram_graph: memory in Neo4j")
    group.addoption(
        "--engram-database",
        choices=("embedded", "container"),
        help="the Neo4j that fixtures start while NEO4J_URI is unset: embedded (the default), or "
        "a container by testcontainers (also ENGRAM_TEST_DATABASE, ENGRAM_TEST_IMAGE)",
    )


# First: a conftest.py may clean the environment when it is its turn.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[choice.CHOICE] = choice.read(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """pytest-xdist is about to start a worker."""
    choice.hand_on(node.config, node.workerinput)


def pytest_unconfigure(config: pytest.Config) -> None:
    chosen = config.stash.get(choice.CHOICE, None)
    if chosen is not None and choice.owns(config) and chosen.home.is_dir():
        from engram_graph.testing import database

        database.release(chosen)


@pytest.fixture(scope="session")
def neo4j_server(pytestconfig: pytest.Config) -> Neo4jServer:
    """The Neo4j of this run: that of NEO4J_URI, else one of its own, shared by all workers.

    It starts with the first test that needs it and is stopped at the end of the run.
    """
    from engram_graph.testing import database

    return database.obtain(pytestconfig.stash[choice.CHOICE])
