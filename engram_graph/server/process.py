"""The server as a process: find it again, start it detached, stop it, read its last words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engram_graph.errors import MissingExtraError
from engram_graph.server.config import MAIN_CLASS, home_argument

_CLOCK_SLACK = 2.0  # seconds; start times are counted from a boot time that is rounded
_LAST_WORDS = 64 * 1024  # bytes of a log that are searched


@dataclass(frozen=True)
class State:
    """What is remembered of a started server, in ``server.json`` of its home. No secret in it."""

    pid: int
    created: float
    """When the process was started, seconds since 1970: a number may be given out again."""
    bolt_port: int
    http_port: int | None
    version: str
    ready: bool = False
    """False until it answered once: its starter may have died before."""

    def write(self, path: Path) -> None:
        """Replace the file in one step: a reader sees the old state or the new one."""
        building = path.with_suffix(".new")
        building.write_text(json.dumps(asdict(self)), encoding="utf-8")
        building.replace(path)

    @classmethod
    def read(cls, path: Path) -> State | None:
        """The recorded state, or None when there is none that can be read."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            http_port = raw["http_port"]
            return cls(
                pid=int(raw["pid"]),
                created=float(raw["created"]),
                bolt_port=int(raw["bolt_port"]),
                http_port=None if http_port is None else int(http_port),
                version=str(raw["version"]),
                ready=raw["ready"] is True,
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def load_psutil() -> Any:
    """The module psutil. Raises MissingExtraError when it is not installed."""
    try:
        import psutil
    except ImportError as error:
        raise MissingExtraError("the embedded Neo4j needs psutil", extra="embedded") from error
    return psutil


def find_process(state: State, home: Path) -> Any | None:
    """The psutil.Process of a recorded server, or None when it ended or is not ours.

    Its number alone proves nothing. The command line must name Neo4j and this very folder; where
    it may not be read, the moment of its start must be the recorded one.
    """
    psutil = load_psutil()
    try:
        process = psutil.Process(state.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            # Our own child that was killed: collect it, nobody else will.
            with suppress(psutil.TimeoutExpired):
                process.wait(timeout=0)
            return None
        try:
            command = process.cmdline()
        except psutil.AccessDenied:
            command = []
        if command:
            return process if MAIN_CLASS in command and home_argument(home) in command else None
        same_start = abs(process.create_time() - state.created) <= _CLOCK_SLACK
        return process if same_start else None
    except psutil.Error:
        return None


def listens(pid: int, port: int) -> bool:
    """Whether process ``pid`` listens on ``port``; True where the system does not tell."""
    psutil = load_psutil()
    try:
        connections = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def spawn(command: Sequence[str], home: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start the server so that it outlives this process and its terminal; it writes to ``log``."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):  # keep the last run's output too, where it can be moved
        log.replace(log.with_suffix(".previous.log"))
    with log.open("wb") as output:
        common: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": output,
            "stderr": subprocess.STDOUT,
            "cwd": home,
            "env": environment(home),
        }
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
            return subprocess.Popen(command, creationflags=flags, **common)
        # Its own session: Ctrl-C and a closed terminal do not reach it.
        return subprocess.Popen(command, start_new_session=True, **common)


def environment(home: Path) -> dict[str, str]:
    """This process's environment, with Neo4j's own variables pointing into ``home``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    kept |= {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    # In an ASCII locale (cron, containers) Java cannot open a path with an accent in it.
    locale = kept.get("LC_ALL") or kept.get("LC_CTYPE") or kept.get("LANG") or ""
    if sys.platform == "linux" and not locale.lower().endswith(("utf-8", "utf8")):
        kept["LC_ALL"] = "C.UTF-8"
    return kept


def release(child: subprocess.Popen[bytes]) -> None:
    """Let a running child go: it is meant to outlive this object.

    Popen complains about a child that still runs when the object is collected; a return code, any
    one, tells it not to. ``find_process`` collects the child when it ends.
    """
    child.returncode = 0


def stop(process: Any, timeout: float) -> None:
    """End a psutil.Process: ask (SIGTERM), wait ``timeout`` seconds, then kill.

    Killing is safe, Neo4j recovers at the next start; an open transaction can hold up a polite
    stop for ever. On Windows there is no asking, the process is ended at once.
    """
    psutil = load_psutil()
    try:
        process.terminate()
        try:
            process.wait(timeout=timeout)
        except BaseException as error:
            # Also when the wait is interrupted: never leave a server half stopped.
            process.kill()
            process.wait(timeout=30)
            if not isinstance(error, psutil.TimeoutExpired):
                raise
    except psutil.NoSuchProcess:
        return


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a text file; none when it is not there."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            # 400 bytes a line is more than Neo4j writes, stack traces included.
            file.seek(max(0, size - max(_LAST_WORDS, 400 * lines)))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


# The first that is found anywhere in the output decides: a taken port also shows up as a general
# failure to start, and never the other way round.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        "port",
        r"PortBindException|Address already in use|Address .* is already in use",
        "Another program took the port in that moment. Try again.",
    ),
    (
        "lock",
        r"FileLockException|StoreLockException|Lock file has been locked",
        "Another Neo4j uses this data folder. Stop it, or choose another folder (ENGRAM_HOME).",
    ),
    (
        "java",
        r"UnsupportedClassVersionError|Unrecognized option|Could not create the Java Virtual",
        "Neo4j needs Java 21 or later. Unset JAVA_HOME to use the packaged one.",
    ),
    (
        "setting",
        r"Unrecognized setting|Error evaluating value|Invalid value|No declared setting",
        "Correct or leave out this setting.",
    ),
    (
        "memory",
        r"OutOfMemoryError|Could not reserve enough space|Invalid memory configuration"
        r"|Invalid maximum heap|insufficient memory",
        "Choose another heap size with ENGRAM_NEO4J_HEAP_MB.",
    ),
    ("disk", r"No space left on device", "Make room on the disk."),
    ("other", r"\bERROR\b|^Error|Caused by:|Exception", ""),
)


def decisive_line(lines: Sequence[str]) -> tuple[str, str, str]:
    """Why a start failed, out of its output: (kind, the line that says it, what to do).

    Kinds: port, lock, java, setting, memory, disk, other. The last line when nothing is telling.
    """
    for kind, pattern, hint in _CAUSES:
        for line in lines:
            if re.search(pattern, line):
                return kind, line.strip(), hint
    written = [line.strip() for line in lines if line.strip()]
    return "other", written[-1] if written else "it wrote nothing", ""
