"""Texts and numbers for one start of the embedded server: settings, memory, command line.

Nothing here starts or opens anything except the port probes.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from engram_graph.errors import ConfigurationError

HOST = "127.0.0.1"
BOLT_PORT, HTTP_PORT = 7687, 7474
_PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
    "object-src 'none'; frame-ancestors 'none'; connect-src 'self' "
    + " ".join(f"{scheme}://{host}:*" for scheme in ("ws", "http") for host in ("localhost", HOST))
)
"""Browser's page reaches this machine and nothing else; Neo4j's own policy lets it ask a font
service, and anybody else."""
MAIN_CLASS = "org.neo4j.server.Neo4jCommunity"
ADMIN_CLASS = "org.neo4j.cli.AdminTool"

_MIB = 1024 * 1024
_MIN_HEAP_MB, _MAX_HEAP_MB = 256, 1024
_MIN_CACHE_MB = 64
_SMALLEST_HEAP_MB = 80  # measured: 64 MB starts but fails while 10,000 facts are loaded


@dataclass(frozen=True)
class Sizes:
    """Memory of one server, in MiB."""

    heap_mb: int
    page_cache_mb: int


def size_memory(total_mb: int, heap_mb: int | None = None) -> Sizes:
    """Share of a machine with ``total_mb`` MiB that the server may take.

    An eighth each for heap and page cache, within bounds. ``heap_mb`` wins, then the environment's
    ENGRAM_NEO4J_HEAP_MB; the page cache then never exceeds the heap, for who asks for a small
    server means all of it. Raises ConfigurationError for a heap that is no number or too small.
    """
    named = heap_mb if heap_mb is not None else _heap_from_environment()
    share = total_mb // 8
    if named is None:
        heap = max(_MIN_HEAP_MB, min(share, _MAX_HEAP_MB))
        return Sizes(heap, max(_MIN_CACHE_MB, min(share, _MAX_HEAP_MB)))
    if named < _SMALLEST_HEAP_MB:
        raise ConfigurationError(
            f"a heap of {named} MB is too small for Neo4j",
            hint=f"Give it at least {_SMALLEST_HEAP_MB} MB; {_MIN_HEAP_MB} MB is comfortable.",
        )
    return Sizes(named, max(_MIN_CACHE_MB, min(share, _MAX_HEAP_MB, named)))


def _heap_from_environment() -> int | None:
    value = os.environ.get("ENGRAM_NEO4J_HEAP_MB", "").strip()
    if not value:
        return None
    try:
        return int(value)
    except ValueError as error:
        raise ConfigurationError(
            f"ENGRAM_NEO4J_HEAP_MB is {value!r}, not a whole number of megabytes"
        ) from error


def limit_memory(machine_bytes: int) -> int:
    """MiB that this process may really use: the machine's, or its container's limit if smaller."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no cgroup v2 here, or the word "max"
        limit = machine_bytes
    return min(machine_bytes, limit) // _MIB


def render_conf(
    bolt_port: int,
    http_port: int | None,
    sizes: Sizes,
    extra: Mapping[str, str] | None = None,
) -> str:
    """Text of ``neo4j.conf``. ``http_port`` None switches HTTP, and with it Browser, off.

    ``extra`` overrides every setting but those of ``_CHOSEN_HERE``. Raises ConfigurationError for
    one of them, and for a line break in a name or value.
    """
    settings = {
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{bolt_port}",
        # What Browser and routing drivers are told to connect to; the default says 7687 always.
        "server.bolt.advertised_address": f"{HOST}:{bolt_port}",
        "server.http.enabled": "false" if http_port is None else "true",
        # All of these send something out, or open something, unless switched off.
        "dbms.usage_report.enabled": "false",
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        "client.allow_telemetry": "false",
        "server.http.x_forward.enabled": "false",
        "db.logs.query.enabled": "OFF",
        # The heap is no setting here but -Xmx: server.memory.heap.* is read by a script only.
        "server.memory.pagecache.size": f"{sizes.page_cache_mb}m",
        # A new data folder takes 2 MB instead of 517.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "16m",
        # A stop takes half a second instead of ten, and a running query holds it up for 2 s.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "100ms",
        "db.shutdown_transaction_end_timeout": "2s",
        "db.query.default_language": "CYPHER_25",
    }
    if http_port is not None:
        settings["server.http.listen_address"] = f"{HOST}:{http_port}"
        settings["server.http.advertised_address"] = f"{HOST}:{http_port}"
        # Browser takes guides and styles from this machine only (`engram browser` has them).
        settings["browser.remote_content_hostname_whitelist"] = "localhost"
        settings["dbms.security.http_static_content_security_policy_header"] = _PAGE_POLICY
    for name, value in (extra or {}).items():
        _check_extra(name, str(value))
        settings[name] = str(value)
    lines = ["# Written by engram_graph at each start; changes here are lost."]
    lines += [f"{name}={value}" for name, value in settings.items()]
    return "\n".join(lines) + "\n"


# The recorded state and the readiness check rely on these, so they are arguments, not settings.
_CHOSEN_HERE = frozenset(
    {
        "dbms.security.auth_enabled",
        "server.bolt.enabled",
        "server.bolt.listen_address",
        "server.bolt.tls_level",
        "server.directories.data",
        "server.http.enabled",
        "server.http.listen_address",
    }
)


def _check_extra(name: str, value: str) -> None:
    if name in _CHOSEN_HERE:
        raise ConfigurationError(
            f"the setting {name} of the embedded Neo4j is chosen by engram_graph",
            hint="To run a server your own way, start it yourself and set NEO4J_URI.",
        )
    if not name.strip() or any(sign in name + value for sign in "\r\n"):
        raise ConfigurationError("a Neo4j setting has an empty name or a line break in it")


def server_command(java: Path, java_major: int, lib: Path, home: Path, heap_mb: int) -> list[str]:
    """Command line of the server. ``lib/*`` is expanded by java itself, not by a shell."""
    command = [*_java_start(java, lib, heap_mb, java_major), MAIN_CLASS]
    return [*command, home_argument(home), f"--config-dir={home / 'conf'}", "--console-mode"]


def home_argument(home: Path) -> str:
    """The argument by which a server of this folder is known among all processes."""
    return f"--home-dir={home}"


def password_command(java: Path, java_major: int, lib: Path, password_file: Path) -> list[str]:
    """Command line that sets the first password, read from a file: ``@`` keeps it out of ps."""
    command = [*_java_start(java, lib, 128, java_major), ADMIN_CLASS]
    return [*command, "dbms", "set-initial-password", f"@{password_file}"]


def _java_start(java: Path, lib: Path, heap_mb: int, java_major: int) -> list[str]:
    opened = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
    command = [str(java), f"-Xmx{heap_mb}m"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
    command += ["--enable-native-access=ALL-UNNAMED", "-Dfile.encoding=UTF-8"]
    if java_major >= 23:  # older ones end at once when they meet this option
        command.append("--sun-misc-unsafe-memory-access=allow")
    return [*command, "-cp", str(lib / "*")]


def last_ports(conf: Path) -> tuple[int, int]:
    """Bolt and HTTP ports of the last start, by its ``neo4j.conf``; before it the well-known ones.

    Who was connected before a stop finds the server again after it.
    """
    try:
        text = conf.read_text(encoding="utf-8")
    except OSError:
        return BOLT_PORT, HTTP_PORT
    found = dict(re.findall(r"^server\.(bolt|http)\.listen_address=.*:(\d{1,5})$", text, re.M))
    return int(found.get("bolt", BOLT_PORT)), int(found.get("http", HTTP_PORT))


def choose_ports(
    http: bool, taken: Collection[int] = (), preferred: tuple[int, int] = (BOLT_PORT, HTTP_PORT)
) -> tuple[int, int | None]:
    """Free Bolt and HTTP ports on loopback: those preferred, else any. None without ``http``.

    ``taken`` are never chosen. Another program can take a port before the server does; the caller
    then asks again.
    """
    bolt = _choose(preferred[0], taken)
    return bolt, _choose(preferred[1], {*taken, bolt}) if http else None


def _choose(preferred: int, taken: Collection[int]) -> int:
    if preferred not in taken and is_free(preferred):
        return preferred
    while True:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port = int(probe.getsockname()[1])
        if port not in taken:
            return port


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        # macOS lets 127.0.0.1 be bound beside a listener on all addresses: ask for one first.
        probe.settimeout(0.2)
        if probe.connect_ex((HOST, port)) == 0:
            return False
    with socket.socket() as probe:
        if sys.platform == "win32":
            # There SO_REUSEADDR would mean "steal it".
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            # As Neo4j does: connections that linger after a stop do not keep the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
