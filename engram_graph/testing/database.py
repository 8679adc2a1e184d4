"""Starting and stopping the Neo4j of a test run, which all processes of the run share.

Whoever needs it first starts it; it outlives that process. The process that began the run, which
outlives its workers even when they crash, stops it.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from filelock import FileLock

from engram_graph.errors import ConfigurationError, ServerError
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.server import EmbeddedServer, neo4j_version
from engram_graph.server.embedded import new_password, write_private
from engram_graph.testing.choice import Choice

_HEAP_MB = 768  # what a whole suite leaves in caches of plans and indexes, with room to spare


@dataclass(frozen=True)
class Neo4jServer:
    """A running Neo4j and how to connect to it."""

    uri: str
    username: str
    password: str = field(repr=False)
    version: str


def obtain(choice: Choice) -> Neo4jServer:
    """The Neo4j of the run, started if nobody has yet.

    Raises:
        StoreUnavailableError, ServerVersionError, ConfigurationError: a named one does not answer,
            is too old or refuses the password.
        ServerError: it does not start; for a container also when no Docker engine answers.
        MissingExtraError: the extra ``embedded`` is not installed. ConfigurationError: nor is
            testcontainers, which was asked for.
    """
    if choice.uri:
        version = server_version(choice.uri, choice.username, choice.password)
        return Neo4jServer(choice.uri, choice.username, choice.password, version)
    choice.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _container(choice) if choice.container else embedded(choice.home / "neo4j")


def release(choice: Choice) -> None:
    """Stop the run's own server and remove its data; nothing to do when none was started."""
    if not choice.home.is_dir():
        return
    try:
        if choice.container:
            _remove_container(_record(choice))
        else:
            EmbeddedServer(choice.home / "neo4j").down()
    finally:
        shutil.rmtree(choice.home, ignore_errors=True)


def embedded(home: Path) -> Neo4jServer:
    """The embedded server of the folder ``home``, started if it does not run."""
    info = EmbeddedServer(home).up(http=False, heap_mb=_HEAP_MB)
    return Neo4jServer(info.bolt_uri, info.username, info.password, info.version)


def server_version(uri: str, username: str, password: str) -> str:
    """What the server says it is, such as ``2026.09.0``.

    Raises:
        EngramError: as of ``Graph`` and its ``connect``.
    """

    async def look() -> str:
        graph = Graph(uri, username, password)
        try:
            await graph.connect()
            return str((await graph.read(load("schema")["server_version"]))[0]["version"])
        finally:
            await graph.close()

    with start_blocking_portal("asyncio") as portal:
        return portal.call(look)


def _container(choice: Choice) -> Neo4jServer:
    record = _record(choice)
    with FileLock(record.with_suffix(".lock")):
        if not record.exists():
            _start_container(choice.image or f"neo4j:{neo4j_version()}", record)
        return Neo4jServer(**json.loads(record.read_text(encoding="utf-8"))["server"])


def _start_container(image: str, record: Path) -> None:
    # Its reaper would end the container with the process that started it; ``release`` does that.
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
    docker = _docker()
    from testcontainers.community.neo4j import Neo4jContainer

    password = new_password()
    one = Neo4jContainer(image, password=password, username="neo4j")
    try:
        one.start()
        uri = one.get_connection_url()
        server = {
            "uri": uri,
            "username": "neo4j",
            "password": password,
            "version": server_version(uri, "neo4j", password),
        }
        made = {"id": one.get_wrapped_container().id, "server": server}
        write_private(record, json.dumps(made))
    except (docker.errors.DockerException, TimeoutError) as error:
        one.stop()
        raise ServerError(f"the container of {image} did not start: {error}") from error
    except BaseException:
        one.stop()
        raise


def _remove_container(record: Path) -> None:
    if not record.exists():
        return
    docker = _docker()
    client = docker.from_env()
    try:
        found = client.containers.get(json.loads(record.read_text(encoding="utf-8"))["id"])
        found.remove(force=True, v=True)
    except docker.errors.NotFound:
        return
    finally:
        client.close()


def _record(choice: Choice) -> Path:
    return choice.home / "container.json"


def _docker() -> Any:
    """The module docker, with an engine that answers."""
    try:
        import testcontainers  # noqa: F401

        # Type checkers would take the folder docker/ of this repository for it.
        docker = import_module("docker")
    except ImportError as error:
        raise ConfigurationError(
            "a Neo4j in a container needs testcontainers",
            hint="Install it with: pip install testcontainers",
        ) from error
    try:
        docker.from_env(timeout=10).close()
    except docker.errors.DockerException as error:
        raise ServerError(
            "a Neo4j in a container was asked for, but no Docker engine answers",
            hint="Start one, or leave out --engram-database and ENGRAM_TEST_DATABASE.",
        ) from error
    return docker
