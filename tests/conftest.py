"""One real Neo4j for the whole run, a fresh namespace for each test, ``doctor`` after each test.

The server is that of the package's own pytest plugin (``engram_graph.testing``): NEO4J_URI, else a
container when asked for, else the embedded one, shared by all workers of a run. A server that does
not answer ends the run: nothing is ever skipped for it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from engram_graph.errors import EngramError
from engram_graph.graph.driver import Graph
from engram_graph.server import EmbeddedServer, neo4j_version
from engram_graph.testing import database
from engram_graph.testing.choice import CHOICE
from engram_graph.testing.database import Neo4jServer
from engram_graph.testing.keeper import Keeper, keeper

# Nothing here is timed: how busy a machine is must not decide.
hypothesis_settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("unhurried")

_FOREIGN = ("ENGRAM_", "OPENAI_", "TYPESAFE_", "NEO4J_")
_KEPT = ("ENGRAM_CACHE", "ENGRAM_CHROMIUM")  # where things are; they change no result


class Server(Neo4jServer):
    """The Neo4j of this run."""

    def graph(self) -> Graph:
        """A new connection pool; the caller closes it."""
        return Graph(self.uri, self.username, self.password)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "damaged: leaves a broken graph; doctor is not asked after")
    for name in list(os.environ):
        if name.startswith(_FOREIGN) and name not in _KEPT:
            del os.environ[name]
    # Whatever a test forgets to configure, it never opens the user's own memory.
    home = tempfile.mkdtemp(prefix="engram-tests-")
    os.environ["ENGRAM_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


def pytest_report_header(config: pytest.Config) -> str:
    choice = config.stash[CHOICE]
    if choice.uri:
        try:
            version = database.server_version(choice.uri, choice.username, choice.password)
        except EngramError as error:
            _end(error)
        return f"neo4j: {version} at {choice.uri}"
    if choice.container:
        return f"neo4j: container {choice.image}"
    return f"neo4j: {neo4j_version()} embedded, started by the first test that needs it"


def _end(error: EngramError) -> NoReturn:
    pytest.exit(f"the tests' Neo4j: {error} {error.hint}", returncode=3)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked ``anyio`` run on asyncio: the driver knows no other."""
    return "asyncio"


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Server:
    """The Neo4j of this run, started once and stopped at its end."""
    try:
        return Server(**vars(request.getfixturevalue("neo4j_server")))
    except EngramError as error:
        _end(error)


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A second server without a schema, for one module: always embedded, never shared."""
    home = tmp_path_factory.mktemp("empty")
    try:
        one = database.embedded(home)
    except EngramError as error:
        _end(error)
    yield Server(**vars(one))
    EmbeddedServer(home).down()


@pytest.fixture(scope="session")
def migrated(server: Server) -> Iterator[Keeper]:
    """The schema is there, for 384 dimensions."""
    with keeper(server) as one:
        yield one


@pytest.fixture
def namespace(request: pytest.FixtureRequest, migrated: Keeper) -> Iterator[str]:
    """A name nobody used; names that start with it are the test's own too.

    After the test, ``doctor`` looks at them all, unless the test is marked ``damaged``.
    """
    name = f"t{uuid.uuid4().hex[:12]}"
    yield name
    if request.node.get_closest_marker("damaged") is None and (found := migrated.complaint(name)):
        pytest.fail(found, pytrace=False)


@pytest.fixture
async def graph(server: Server, namespace: str) -> AsyncIterator[Graph]:
    """A connected, migrated store."""
    one = server.graph()
    try:
        await one.connect()
        yield one
    finally:
        await one.close()


@pytest.fixture(scope="session")
def settings(server: Server) -> Any:
    """Settings of a client on this run's server: patterns, rules and the hash embedder."""
    from engram_graph.settings import Settings

    return Settings(
        neo4j_uri=server.uri,
        neo4j_username=server.username,
        neo4j_password=server.password,
        embedder="hash",
        extractor="patterns",
    )


@pytest.fixture
async def make_memory(settings: Any, namespace: str) -> AsyncIterator[Callable[..., Any]]:
    """Makes ``AsyncMemory(namespace, settings=settings, …)``, closed after the test."""
    from engram_graph.memory import AsyncMemory

    async with AsyncExitStack() as stack:

        def make(name: str = namespace, **options: Any) -> AsyncMemory:
            one = AsyncMemory(name, **{"settings": settings} | options)
            stack.push_async_exit(one)
            return one

        yield make


@pytest.fixture
async def memory(make_memory: Callable[..., Any]) -> Any:
    """An ``AsyncMemory`` in the test's namespace."""
    return make_memory()


@pytest.fixture
def sync_memory(settings: Any, namespace: str) -> Iterator[Any]:
    """A ``Memory`` in the test's namespace."""
    from engram_graph.sync import Memory

    with Memory(namespace, settings=settings) as one:
        yield one
