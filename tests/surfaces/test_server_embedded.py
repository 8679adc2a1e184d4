"""The embedded server with a real Neo4j: fetched once into the user's cache, data in a temp folder.

The tests share one data folder; each brings the server into the state it needs, so any one of
them can run alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

import engram_graph
from engram_graph.errors import ServerError, ServerVersionError
from engram_graph.server import EmbeddedServer, ServerInfo, config, install
from engram_graph.server.process import State

ROOT = Path(engram_graph.__file__).parents[1]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

UP = """
import sys
from pathlib import Path
from engram_graph.server import EmbeddedServer
info = EmbeddedServer(Path(sys.argv[1])).up(http=sys.argv[2] == "http", heap_mb=256)
print(info.pid, info.started)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    one = EmbeddedServer(tmp_path_factory.mktemp("engram") / "dätä folder 記")
    yield one
    one.down(timeout=5)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[EmbeddedServer]:
    one = EmbeddedServer(tmp_path / "fresh")
    yield one
    one.down(timeout=5)


def up_elsewhere(home: Path, http: str = "no") -> subprocess.Popen[str]:
    """Run `up` in another process, in the poorest locale."""
    command = [sys.executable, "-X", "utf8", "-c", UP, str(home), http]
    env = {**os.environ, "LC_ALL": "C"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=pipe, stderr=pipe, text=True)


def up(server: EmbeddedServer) -> ServerInfo:
    return server.up(http=False, heap_mb=256)


def run(info: ServerInfo, query: str) -> list[object]:
    auth = (info.username, info.password)
    with GraphDatabase.driver(info.bolt_uri, auth=auth) as driver:
        return [record.values()[0] for record in driver.execute_query(query).records]


def wait_for(condition: Callable[[], bool], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def starting_pid(home: Path) -> int | None:
    state = State.read(home / "server.json")
    return None if state is None else state.pid


def is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_one_server_for_two_processes_that_start_at_once_and_then_exit(
    server: EmbeddedServer,
) -> None:
    server.down()
    with socket.socket() as bolt, socket.socket() as web:
        # The well-known ports are taken, by us or by somebody before us.
        for held, port in ((bolt, config.BOLT_PORT), (web, config.HTTP_PORT)):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                held.bind(("127.0.0.1", port))
                held.listen()
            except OSError:
                assert not config.is_free(port)
        answers = []
        for child in [up_elsewhere(server.home, "http") for _ in range(2)]:
            out, err = child.communicate(timeout=240)
            assert (child.returncode, err) == (0, "")
            answers.append(out.split())
    assert sorted(started for _, started in answers) == ["False", "True"]
    assert len({pid for pid, _ in answers}) == 1

    info = server.status()
    assert info is not None
    assert str(info.pid) == answers[0][0]
    assert not info.started
    assert info.bolt_uri != f"bolt://127.0.0.1:{config.BOLT_PORT}"
    assert info.http_url is not None
    assert info.version == install.neo4j_version()
    assert run(info, "RETURN 1") == [1]
    language = "SHOW DATABASES YIELD name, defaultLanguage WHERE name = 'neo4j' RETURN *"
    assert "CYPHER 25" in run(info, language.replace("*", "defaultLanguage"))
    assert_browser_finds_bolt(info)
    assert up(server) == info


def assert_browser_finds_bolt(info: ServerInfo) -> None:
    from urllib.request import ProxyHandler, Request, build_opener

    assert info.http_url is not None
    opener = build_opener(ProxyHandler({}))  # loopback, whatever proxy is set
    with opener.open(Request(info.http_url, headers={"Accept": "application/json"})) as answer:
        assert json.load(answer)["bolt_direct"] == info.bolt_uri
    with opener.open(Request(info.http_url, headers={"Accept": "text/html"})) as answer:
        assert answer.url.endswith("/browser/")
        assert b"Neo4j Browser" in answer.read()


def test_password_is_private(server: EmbeddedServer) -> None:
    info = up(server)
    path = server.home / "password"
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
        assert server.home.stat().st_mode & 0o777 == 0o700
    assert info.password not in repr(info)
    assert info.password not in (server.home / "server.json").read_text(encoding="utf-8")
    assert info.password not in (server.home / "conf" / "neo4j.conf").read_text(encoding="utf-8")
    assert not any(info.password in line for line in server.logs(10_000))
    assert not any(info.password in word for word in psutil.Process(info.pid).cmdline())


@posix_only
def test_data_survives_kill_9_and_a_starter_that_dies(server: EmbeddedServer) -> None:
    first = up(server)
    run(first, "MERGE (k:Kept {id: 1})")
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: server.status() is None)

    starter = up_elsewhere(server.home)
    wait_for(lambda: starting_pid(server.home) not in (None, first.pid))
    begun = starting_pid(server.home)
    starter.kill()
    starter.communicate()
    assert server.status() is None  # running, but nobody has seen it answer

    second = up(server)
    assert (second.pid, second.started) == (begun, False)
    assert run(second, "MATCH (k:Kept) RETURN count(k)") == [1]
    assert second.password == first.password


def test_down_asks_and_leaves_nothing(server: EmbeddedServer) -> None:
    info = up(server)
    assert server.down()
    assert is_gone(info.pid)
    assert server.status() is None
    assert not server.down()
    assert any("Stopped." in line for line in server.logs())
    # Whoever is connected finds it again.
    assert up(server).bolt_uri == info.bolt_uri


def test_open_transaction_does_not_hold_up_a_stop(server: EmbeddedServer) -> None:
    info = up(server)
    auth = (info.username, info.password)
    # It would, for a minute and more: Neo4j waits for the client.
    with GraphDatabase.driver(info.bolt_uri, auth=auth) as driver, driver.session() as session:
        transaction = session.begin_transaction()
        transaction.run("CREATE (:NeverCommitted)").consume()
        begun = time.monotonic()
        assert server.down(timeout=1)
        assert time.monotonic() - begun < 30
        with contextlib.suppress(DriverError, Neo4jError):
            transaction.close()
    assert run(up(server), "MATCH (n:NeverCommitted) RETURN count(n)") == [0]


def test_wrong_password_is_said_at_once(server: EmbeddedServer) -> None:
    server.down()
    path = server.home / "password"
    right = path.read_text(encoding="utf-8") if path.exists() else up(server).password
    server.down()
    path.write_text("not-the-password", encoding="utf-8")
    try:
        with pytest.raises(ServerError, match="refuses the password") as caught:
            up(server)
    finally:
        path.write_text(right, encoding="utf-8")
    assert "not-the-password" not in str(caught.value)
    assert server.status() is None


def test_port_lost_between_choice_and_start(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.down()
    real = config.choose_ports
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", 0))
        stolen = thief.getsockname()[1]

        def first_the_stolen_one(http: bool, taken: set[int], _: Any) -> tuple[int, int | None]:
            if taken:
                return real(http, taken)
            thief.listen()
            return stolen, None

        monkeypatch.setattr(config, "choose_ports", first_the_stolen_one)
        info = up(server)
    assert info.started
    assert info.bolt_uri != f"bolt://127.0.0.1:{stolen}"
    assert run(info, "RETURN 1") == [1]


def test_second_server_on_the_same_data_is_refused_by_name(server: EmbeddedServer) -> None:
    first = up(server)
    record = server.home / "server.json"
    kept = record.read_text(encoding="utf-8")
    record.unlink()  # lost, so that the running one cannot be found
    try:
        with pytest.raises(ServerError, match="locked by another process") as caught:
            up(server)
    finally:
        record.write_text(kept, encoding="utf-8")
    assert caught.value.details["cause"] == "lock"
    assert run(first, "RETURN 1") == [1]


def test_bad_setting_is_quoted_and_nothing_stays(fresh: EmbeddedServer) -> None:
    with pytest.raises(ServerError, match=r"no\.such\.setting") as caught:
        fresh.up(http=False, heap_mb=256, extra_settings={"no.such.setting": "1"})
    assert caught.value.details["cause"] == "setting"
    assert fresh.status() is None
    assert not (fresh.home / "server.json").exists()


@posix_only
@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_start_leaves_no_orphan(fresh: EmbeddedServer) -> None:
    starter = up_elsewhere(fresh.home)
    wait_for(lambda: starting_pid(fresh.home) is not None)
    pid = starting_pid(fresh.home)
    assert pid is not None
    starter.send_signal(signal.SIGINT)
    _, err = starter.communicate(timeout=240)
    assert "KeyboardInterrupt" in err
    assert is_gone(pid)
    assert not (fresh.home / "server.json").exists()


def test_start_that_takes_too_long_is_stopped(fresh: EmbeddedServer) -> None:
    with pytest.raises(ServerError, match="in time"):
        fresh.up(http=False, heap_mb=256, timeout=2)
    assert fresh.status() is None
    assert not (fresh.home / "server.json").exists()


def test_pid_of_a_stranger_is_left_alone(fresh: EmbeddedServer) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        # For a moment after its start the system shows no command line.
        wait_for(lambda: bool(psutil.Process(stranger.pid).cmdline()))
        created = psutil.Process(stranger.pid).create_time()
        fresh.home.mkdir()
        state = State(stranger.pid, created, 7687, None, install.neo4j_version(), ready=True)
        state.write(fresh.home / "server.json")
        (fresh.home / "password").write_text("x" * 12, encoding="utf-8")
        assert fresh.status() is None
        assert not fresh.down()
        assert stranger.poll() is None
        assert not (fresh.home / "server.json").exists()
    finally:
        stranger.kill()
        stranger.communicate()


def test_lost_password_is_said_before_a_start(fresh: EmbeddedServer) -> None:
    (fresh.home / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(ServerError, match="'password'") as caught:
        up(fresh)
    assert "data/databases/system" in caught.value.hint


def test_store_of_a_later_neo4j_is_refused(fresh: EmbeddedServer) -> None:
    fresh.home.mkdir()
    (fresh.home / "neo4j-version").write_text("2099.01.0\n", encoding="utf-8")
    with pytest.raises(ServerVersionError, match=r"2099\.01\.0"):
        up(fresh)


def test_home_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(tmp_path / "memory"))
    here = EmbeddedServer()
    assert here.home.is_relative_to((tmp_path / "memory").resolve())
    assert here.status() is None
    assert not here.down()
    assert here.logs() == []
    assert not (tmp_path / "memory").exists()  # only `up` makes anything
