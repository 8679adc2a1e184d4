"""The pytest plugin: options, hooks and fixtures. Whatever costs time is imported by a fixture."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engram_graph.testing import choice

if TYPE_CHECKING:
    from engram_graph.memory import AsyncMemory
    from engram_graph.settings import Settings
    from engram_graph.sync import Memory
    from engram_graph.testing.database import Neo4jServer
    from engram_graph.testing.fake_llm import FakeLLM
    from engram_graph.testing.frozen import FrozenClock
    from engram_graph.testing.keeper import Keeper
    from engram_graph.testing.recorded import RecordedDecider
    from engram_graph.testing.scripted import ScriptedDecider

_MARKER = (
    "engram(doctor=True, **settings): settings of the test's memory; doctor=False: the test breaks "
    "its graph on purpose, which is not checked then"
)
_DECIDERS = ("scripted_decider", "recorded_decider")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("engram_graph", "engram_graph: memory in Neo4j")
    group.addoption(
        "--engram-database",
        choices=("embedded", "container"),
        help="the Neo4j that fixtures start while NEO4J_URI is unset: embedded (the default), or "
        "a container by testcontainers (also ENGRAM_TEST_DATABASE, ENGRAM_TEST_IMAGE)",
    )
    group.addoption(
        "--engram-record",
        action="store_true",
        help="the fixture recorded_decider asks the decider of the environment for what is not "
        "recorded yet, and keeps the answers",
    )


# First: a conftest.py may clean the environment when it is its turn.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    config.stash[choice.CHOICE] = choice.read(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """pytest-xdist is about to start a worker."""
    if node.config.getoption("--engram-record"):
        raise pytest.UsageError("--engram-record writes from one process: leave out -n")
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


@pytest.fixture(scope="session")
def memory_keeper(neo4j_server: Neo4jServer) -> Iterator[Keeper]:
    """Checks and removes what tests leave, on a connection of its own."""
    from engram_graph.testing.keeper import keeper

    with keeper(neo4j_server) as one:
        yield one


@pytest.fixture
def memory_namespace(request: pytest.FixtureRequest, memory_keeper: Keeper) -> Iterator[str]:
    """A namespace nobody used; those whose names start with its name are the test's own, too.

    After the test ``doctor`` looks at them, and they are removed.
    """
    name = f"test-{uuid.uuid4().hex[:16]}"
    yield name
    marker = request.node.get_closest_marker("engram")
    wanted = marker is None or marker.kwargs.get("doctor", True)
    complaint = memory_keeper.complaint(name) if wanted else None
    memory_keeper.remove(name)
    if complaint:
        pytest.fail(complaint, pytrace=False)


@pytest.fixture
def memory_settings(request: pytest.FixtureRequest, neo4j_server: Neo4jServer) -> Settings:
    """The settings of the test's memory: hashed embeddings, patterns and rules; no key, no model.

    The marker ``engram`` changes them for a test. With ``fake_llm``, that one extracts.
    """
    from engram_graph.testing.client import settings_for

    values: dict[str, Any] = {}
    if "fake_llm" in request.fixturenames:
        llm: FakeLLM = request.getfixturevalue("fake_llm")
        values = {"openai_base_url": llm.url, "extractor": "llm"}
    marker = request.node.get_closest_marker("engram")
    given = dict(marker.kwargs) if marker else {}
    given.pop("doctor", None)
    return settings_for(neo4j_server, **values | given)


@pytest.fixture
def memory_parts(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What ``memory`` and ``async_memory`` are made of besides settings: arguments of ``Memory``.

    The scripted or recorded decider, if the test has one. Override it for parts of your own.
    """
    named = [name for name in _DECIDERS if name in request.fixturenames]
    if len(named) > 1:
        pytest.fail("a memory has one decider: scripted_decider or recorded_decider", pytrace=False)
    return {"decider": request.getfixturevalue(named[0])} if named else {}


@pytest.fixture
def memory(
    memory_namespace: str, memory_settings: Settings, memory_parts: dict[str, Any]
) -> Iterator[Memory]:
    """A ``Memory`` in a namespace of its own."""
    from engram_graph.sync import Memory

    with Memory(memory_namespace, settings=memory_settings, **memory_parts) as one:
        yield one


@pytest.fixture
async def async_memory(
    memory_namespace: str, memory_settings: Settings, memory_parts: dict[str, Any]
) -> AsyncIterator[AsyncMemory]:
    """An ``AsyncMemory`` in a namespace of its own, for tests marked ``anyio`` on asyncio."""
    from engram_graph.memory import AsyncMemory

    async with AsyncMemory(memory_namespace, settings=memory_settings, **memory_parts) as one:
        yield one


@pytest.fixture
def scripted_decider() -> ScriptedDecider:
    """A decider that answers by its ``script``; a ``memory`` beside it uses it."""
    from engram_graph.testing.scripted import ScriptedDecider

    return ScriptedDecider()


@pytest.fixture
def recorded_decider(request: pytest.FixtureRequest) -> Iterator[RecordedDecider]:
    """A decider that replays ``recordings/MODULE.jsonl`` beside the test's module.

    A ``memory`` beside it uses it. A question that is not recorded fails the test; with
    ``--engram-record`` the decider of the environment is asked, and recorded.
    """
    from engram_graph.testing import recorded

    module = Path(request.node.path)
    one = recorded.recorded_decider(
        module.parent / "recordings" / f"{module.stem}.jsonl",
        record=request.config.getoption("--engram-record"),
    )
    yield one
    if one.missing:
        pytest.fail(
            f"{one.missing} questions are not in the recording; pytest --engram-record asks them",
            pytrace=False,
        )


@pytest.fixture
def fake_llm() -> Iterator[FakeLLM]:
    """An OpenAI-compatible server on this machine that says what the test scripts."""
    from engram_graph.testing.fake_llm import FakeLLM

    with FakeLLM() as one:
        yield one


@pytest.fixture
def frozen_clock() -> Iterator[FrozenClock]:
    """The package's present, 2025-01-01T09:00Z, which stands still until the test moves it."""
    from engram_graph.testing.frozen import frozen

    with frozen() as one:
        yield one
