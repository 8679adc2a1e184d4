"""One real Neo4j for the whole run, a fresh namespace for each test, ``doctor`` after each test.

The server: ``NEO4J_URI`` (with NEO4J_USERNAME, NEO4J_PASSWORD) when set; else a container with
``--database container`` or ENGRAM_TEST_DATABASE=container, where Docker runs; else the embedded
server on a temporary folder. It starts when the first test needs it. A server that does not
answer ends the run: nothing is ever skipped for it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import neo4j
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.flows import doctor
from engram_graph.graph import schema
from engram_graph.graph.driver import Graph
from engram_graph.models.results import Finding

_FOREIGN = ("ENGRAM_", "OPENAI_", "TYPESAFE_", "NEO4J_")
_KEPT = ("ENGRAM_CACHE", "ENGRAM_CHROMIUM")  # where things are; they change no result
_IMAGE = "engram-neo4j:2026.09.0"
_NAMESPACES = """CYPHER 25
MATCH (n:Fact|Entity|Message|Conversation|Decision|Request)
WHERE n.namespace STARTS WITH $prefix
RETURN DISTINCT n.namespace AS namespace ORDER BY namespace"""


@dataclass(frozen=True)
class Server:
    """The Neo4j of this run."""

    uri: str
    username: str
    password: str = field(repr=False)
    version: str

    def graph(self) -> Graph:
        """A new connection pool; the caller closes it."""
        return Graph(self.uri, self.username, self.password)


@dataclass(frozen=True)
class _Choice:
    """What the environment says about the database, read before it is cleaned."""

    uri: str
    username: str
    password: str = field(repr=False)
    container: bool
    image: str


_CHOICE = pytest.StashKey[_Choice]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database",
        choices=("embedded", "container"),
        help="the Neo4j to test on while NEO4J_URI is unset (or ENGRAM_TEST_DATABASE)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "damaged: leaves a broken graph; doctor is not asked after")
    asked = config.getoption("--database") or os.environ.get("ENGRAM_TEST_DATABASE", "embedded")
    config.stash[_CHOICE] = _Choice(
        uri=os.environ.get("NEO4J_URI", "").strip(),
        username=os.environ.get("NEO4J_USERNAME", "neo4j"),
        password=os.environ.get("NEO4J_PASSWORD", ""),
        container=asked == "container",
        image=os.environ.get("ENGRAM_TEST_IMAGE", _IMAGE),
    )
    for name in list(os.environ):
        if name.startswith(_FOREIGN) and name not in _KEPT:
            del os.environ[name]
    # Whatever a test forgets to configure, it never opens the user's own memory.
    home = tempfile.mkdtemp(prefix="engram-tests-")
    os.environ["ENGRAM_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


def pytest_report_header(config: pytest.Config) -> str:
    choice = config.stash[_CHOICE]
    if choice.uri:
        version = _version(choice.uri, choice.username, choice.password)
        return f"neo4j: {version} at {choice.uri}"
    if choice.container:
        found = "" if _docker() else " asked for, but Docker does not run: embedded instead"
        return f"neo4j: container {choice.image}{found}"
    from engram_graph.server.install import neo4j_version

    return f"neo4j: {neo4j_version()} embedded, started by the first test that needs it"


def _version(uri: str, username: str, password: str) -> str:
    """What the server says it is; a server that does not answer ends the run."""
    try:
        with neo4j.GraphDatabase.driver(
            uri, auth=(username, password), connection_timeout=10
        ) as driver:
            driver.verify_connectivity()
            rows = driver.execute_query(
                "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' "
                "RETURN versions[0] AS version"
            ).records
            return str(rows[0]["version"])
    except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError, ValueError) as error:
        pytest.exit(f"the tests' Neo4j at {uri} does not answer: {error}", returncode=3)


def _docker() -> bool:
    try:
        import docker
    except ImportError:
        return False
    try:
        client = docker.from_env(timeout=5)
    except docker.errors.DockerException:
        return False
    client.close()
    return True


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked ``anyio`` run on asyncio: the driver knows no other."""
    return "asyncio"


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The Neo4j of this run, started once and stopped at its end."""
    choice = request.config.stash[_CHOICE]
    if choice.uri:
        version = _version(choice.uri, choice.username, choice.password)
        yield Server(choice.uri, choice.username, choice.password, version)
    elif choice.container and _docker():
        yield from _container(choice.image)
    else:
        yield from _embedded(tmp_path_factory.mktemp("neo4j"))


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A second server without a schema, for one module: always embedded, never shared."""
    yield from _embedded(tmp_path_factory.mktemp("empty"))


def _embedded(home: Path) -> Iterator[Server]:
    """An embedded server on an empty folder, for as long as the generator lives."""
    from engram_graph.errors import EngramError
    from engram_graph.server import EmbeddedServer

    one = EmbeddedServer(home)
    try:
        try:
            info = one.up(http=False, heap_mb=256)
        except EngramError as error:
            pytest.exit(f"the embedded Neo4j did not start: {error} {error.hint}", returncode=3)
        version = _version(info.bolt_uri, info.username, info.password)
        yield Server(info.bolt_uri, info.username, info.password, version)
    finally:
        one.down()


def _container(image: str) -> Iterator[Server]:
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    from testcontainers.community.neo4j import Neo4jContainer

    password = uuid.uuid4().hex
    with Neo4jContainer(image, password=password) as one:
        uri = one.get_connection_url()
        yield Server(uri, "neo4j", password, _version(uri, "neo4j", password))


class Doctor:
    """The check after each test, on a connection and an event loop of its own."""

    def __init__(self, portal: BlockingPortal, graph: Graph) -> None:
        self._portal = portal
        self._graph = graph

    def findings(self, prefix: str) -> list[tuple[str, Finding]]:
        """What is broken in the namespaces whose names start with ``prefix``."""

        async def look() -> list[tuple[str, Finding]]:
            rows = await self._graph.statement(_NAMESPACES, prefix=prefix)
            names = [row["namespace"] for row in rows]
            return [
                (name, finding)
                for name in names
                for finding in (await doctor.check(self._graph, name)).findings
            ]

        return self._portal.call(look)


@pytest.fixture(scope="session")
def migrated(server: Server) -> Iterator[Doctor]:
    """The schema is there, for 384 dimensions."""
    embedder = HashEmbedder()

    async def open_graph() -> Graph:
        graph = server.graph()
        await graph.connect()
        await schema.migrate(graph, embedder.model, embedder.dimension)
        return graph

    with start_blocking_portal("asyncio") as portal:
        graph = portal.call(open_graph)
        try:
            yield Doctor(portal, graph)
        finally:
            portal.call(graph.close)


@pytest.fixture
def namespace(request: pytest.FixtureRequest, migrated: Doctor) -> Iterator[str]:
    """A name nobody used; names that start with it are the test's own too.

    After the test, ``doctor`` looks at them all, unless the test is marked ``damaged``.
    """
    name = f"t{uuid.uuid4().hex[:12]}"
    yield name
    if request.node.get_closest_marker("damaged") is None:
        found = migrated.findings(name)
        if found:
            lines = [f"{where}: {one.invariant}: {one.message}" for where, one in found]
            pytest.fail("doctor found a broken graph\n" + "\n".join(lines), pytrace=False)


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
