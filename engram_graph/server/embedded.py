"""A private Neo4j with Browser: one server per data folder, shared by all processes that use it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from engram_graph.errors import ServerError, ServerVersionError
from engram_graph.server import config, process
from engram_graph.server.install import (
    Progress,
    ensure_jars,
    find_java,
    java_major,
    neo4j_version,
)
from engram_graph.server.paths import cache_dir, data_dir
from engram_graph.server.ready import wait_until_ready

USERNAME = "neo4j"
_BIND_TRIES = 2


@dataclass(frozen=True)
class ServerInfo:
    """A running server and how to connect to it."""

    pid: int
    bolt_uri: str
    http_url: str | None
    """Neo4j Browser is there; None when HTTP is off."""
    username: str
    password: str = field(repr=False)
    home: Path
    version: str
    started: bool
    """Whether the call that returned this started the server."""


class _PortTakenError(Exception):
    """The server ended because a port was taken after we had chosen it."""


class EmbeddedServer:
    """The Neo4j of one data folder. Any number of objects and processes may stand for it."""

    def __init__(self, home: Path | None = None) -> None:
        """``home`` holds database, settings, logs and password; by default under ``data_dir()``."""
        # One spelling of the path: a running server is recognised by it.
        self.home = (home if home is not None else data_dir() / "neo4j").expanduser().resolve()
        self._state_path = self.home / "server.json"
        self._password_path = self.home / "password"
        self._console = self.home / "logs" / "console.log"
        self._version_path = self.home / "neo4j-version"

    def up(
        self,
        progress: Progress | None = None,
        *,
        timeout: float = 120.0,
        http: bool = True,
        heap_mb: int | None = None,
        extra_settings: Mapping[str, str] | None = None,
    ) -> ServerInfo:
        """Return the running server of this folder; install and start it first if there is none.

        A server that already runs is returned as it is, whatever the other arguments say.
        ``progress`` is told how many jars are done while they are fetched (187 MB, once a
        machine). ``timeout`` is in seconds and counts from there; ``heap_mb`` is in MiB, by
        default sized to the machine. If the start fails or is interrupted, no process is left.
        Raises ServerError, ServerVersionError, MissingExtraError or ConfigurationError.
        """
        running = self.status()
        if running is not None:
            return running
        java = find_java()
        lib = ensure_jars(cache_dir(), progress)
        deadline = time.monotonic() + timeout
        with self._locked(timeout):
            state = self._adopt(deadline)
            if state is not None:
                return self._info(state, started=False)
            self._check_version()
            sizes = config.size_memory(
                config.limit_memory(process.load_psutil().virtual_memory().total), heap_mb
            )
            major = java_major(java) or 0
            self._prepare_password(java, major, lib)
            command = config.server_command(java, major, lib, self.home, sizes.heap_mb)
            written = self.home / "conf" / "neo4j.conf"
            preferred = config.last_ports(written)
            taken: set[int] = set()
            for attempt in range(1, _BIND_TRIES + 1):
                bolt, web = config.choose_ports(http, taken, preferred)
                conf = config.render_conf(bolt, web, sizes, extra_settings)
                written.write_text(conf, encoding="utf-8")
                try:
                    state = self._start(command, bolt, web, deadline)
                except _PortTakenError as error:
                    if attempt == _BIND_TRIES:
                        raise self._failure() from error
                    taken |= {bolt} if web is None else {bolt, web}
                else:
                    return self._info(state, started=True)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def status(self) -> ServerInfo | None:
        """The running server, or None. One that another process is just starting is not there yet.

        Looks at the recorded process only; it does not connect.
        """
        state = process.State.read(self._state_path)
        if state is None or not state.ready or process.find_process(state, self.home) is None:
            return None
        return self._info(state, started=False)

    def down(self, timeout: float = 15.0) -> bool:
        """Stop the server and return whether one was running.

        It is asked to stop, and killed after ``timeout`` seconds; nothing that was committed is
        lost. Raises ServerError while another process starts it, or when it cannot be ended.
        """
        if not self._state_path.exists():
            return False
        with self._locked(timeout):
            state = process.State.read(self._state_path)
            running = process.find_process(state, self.home) if state is not None else None
            if running is not None:
                psutil = process.load_psutil()
                try:
                    process.stop(running, timeout)
                except psutil.Error as error:
                    raise ServerError(f"process {running.pid} could not be ended") from error
            self._state_path.unlink(missing_ok=True)
            return running is not None

    def logs(self, lines: int = 100) -> list[str]:
        """The last lines that the server wrote in its current or last run."""
        return process.tail(self._console, lines)

    # ---- one start ----

    @contextmanager
    def _locked(self, timeout: float) -> Iterator[None]:
        """Hold the folder against other starts and stops. The system lets go of it if we die."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.home / "server.lock", timeout=timeout)
        try:
            # A memory is private: nobody else may even list it.
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.home / "conf").mkdir(exist_ok=True)
            lock.acquire()
        except Timeout as error:
            raise ServerError(
                f"another process has been starting or stopping the Neo4j in {self.home} "
                f"for more than {timeout:g} s"
            ) from error
        except OSError as error:
            raise ServerError(
                f"the data folder {self.home} cannot be used: {error}",
                hint="Choose another folder with ENGRAM_HOME.",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _adopt(self, deadline: float) -> process.State | None:
        """The server that another process started, or began to start before it died."""
        state = process.State.read(self._state_path)
        if state is None or process.find_process(state, self.home) is None:
            return None  # stale, after a crash: the next start overwrites it
        if state.ready:
            return state
        known = state

        def alive() -> bool:
            return process.find_process(known, self.home) is not None

        if not self._wait(known, alive, deadline):
            return None
        state = replace(state, ready=True)
        state.write(self._state_path)
        return state

    def _start(
        self, command: list[str], bolt_port: int, http_port: int | None, deadline: float
    ) -> process.State:
        """Start the process and wait until it answers. It is stopped when anything goes wrong."""
        try:
            child = process.spawn(command, self.home, self._console)
        except OSError as error:
            raise ServerError(f"Java could not be started: {error}") from error
        try:
            created = process.load_psutil().Process(child.pid).create_time()
            state = process.State(child.pid, created, bolt_port, http_port, neo4j_version())
            # Before it is ready: if we are killed now, the next `up` finds it.
            state.write(self._state_path)
            if not self._wait(state, lambda: child.poll() is None, deadline):
                if self._cause()[0] == "port":
                    raise _PortTakenError
                raise self._failure()
            state = replace(state, ready=True)
            state.write(self._state_path)
            self._version_path.write_text(state.version + "\n", encoding="utf-8")
        except BaseException:
            _end(child)
            self._state_path.unlink(missing_ok=True)
            raise
        process.release(child)
        return state

    def _wait(self, state: process.State, alive: Callable[[], bool], deadline: float) -> bool:
        return wait_until_ready(
            state.bolt_port,
            state.http_port,
            (USERNAME, self._read_password()),
            alive,
            lambda port: process.listens(state.pid, port),
            deadline,
        )

    def _cause(self) -> tuple[str, str, str]:
        return process.decisive_line(process.tail(self._console, 2000))

    def _failure(self) -> ServerError:
        kind, line, hint = self._cause()
        return ServerError(f"Neo4j ended while it started: {line}", hint=hint, cause=kind)

    # ---- password and version ----

    def _prepare_password(self, java: Path, major: int, lib: Path) -> None:
        """Make the password before the first start; Neo4j takes one only then."""
        used = (self.home / "data" / "databases" / "system").exists()
        if used:
            if not self._password_path.exists():
                raise ServerError(
                    f"the database in {self.home} is older than this start, "
                    "but the file 'password' beside it is gone",
                    hint="Put the file back with the password of the user neo4j in it. If it is "
                    "lost, remove data/databases/system and data/transactions/system there: users "
                    "are set anew, the memory itself stays.",
                )
            return
        if not self._password_path.exists():
            write_private(self._password_path, new_password())
        command = config.password_command(java, major, lib, self._password_path)
        try:
            ran = subprocess.run(
                command,
                env=process.environment(self.home),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServerError("the first password could not be set: Java did not run") from error
        if ran.returncode != 0:
            output = (ran.stdout + ran.stderr).decode("utf-8", errors="replace")
            _, line, hint = process.decisive_line(output.splitlines())
            raise ServerError(f"the first password could not be set: {line}", hint=hint)

    def _read_password(self) -> str:
        try:
            password = self._password_path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ServerError(f"{self._password_path} cannot be read") from error
        if not password:
            raise ServerError(f"{self._password_path} is empty")
        return password

    def _check_version(self) -> None:
        """Refuse a store that a later Neo4j has used: it may have changed the format."""
        try:
            last = self._version_path.read_text(encoding="utf-8").strip()
        except OSError:
            return
        if version_key(last) > version_key(neo4j_version()):
            raise ServerVersionError(
                f"Neo4j {last} has used {self.home}; this package brings {neo4j_version()}",
                hint="Upgrade engram-graph, or choose another folder with ENGRAM_HOME.",
            )

    def _info(self, state: process.State, *, started: bool) -> ServerInfo:
        web = None if state.http_port is None else f"http://{config.HOST}:{state.http_port}"
        return ServerInfo(
            pid=state.pid,
            bolt_uri=f"bolt://{config.HOST}:{state.bolt_port}",
            http_url=web,
            username=USERNAME,
            password=self._read_password(),
            home=self.home,
            version=state.version,
            started=started,
        )


def new_password() -> str:
    """A random password of 32 signs, safe in a URL, a shell and an argument file."""
    import secrets

    while True:
        password = secrets.token_urlsafe(24)
        if password[0].isalnum():  # a leading "-" would be read as an option
            return password


def write_private(path: Path, text: str) -> None:
    """Create a file that only its owner can read, whole or not at all.

    On Windows the mode has no such effect; the file then has the rights of its folder, which in a
    user's data folder keep other users out.
    """
    building = path.with_name(path.name + ".new")
    building.unlink(missing_ok=True)  # its mode would be kept
    descriptor = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    building.replace(path)


def version_key(version: str) -> tuple[int, ...]:
    """Numbers of a version, to compare two of them."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _end(child: subprocess.Popen[bytes]) -> None:
    """Stop our own child for good, politely first."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=5)
    finally:
        # Also when the wait is interrupted a second time.
        child.kill()
        child.wait()
