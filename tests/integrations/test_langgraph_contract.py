"""The store tests of langgraph-checkpoint's own sdist, run against EngramStore."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from engram_graph.server.paths import cache_dir

ROOT = Path(__file__).parents[2]
RUN = 85  # of the tests that the plugin does not leave out


@pytest.fixture(scope="session")
def sdist_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests of the pinned version, fetched once into the cache and unpacked alone."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pin = next(each for each in pins if each.startswith("langgraph-checkpoint=="))
    version = pin.partition("==")[2]
    folder = cache_dir() / "sdists"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"langgraph_checkpoint-{version}.tar.gz"
    with FileLock(folder / "lock"):
        if not archive.exists():
            command = ("-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", pin)
            subprocess.run([sys.executable, *command, "-d", str(folder)], check=True)
    found = tmp_path_factory.mktemp("sdist") / "tests"
    found.mkdir()
    with tarfile.open(archive) as tar:
        for name in ("__init__.py", "embed_test_utils.py", "test_store.py"):
            member = tar.extractfile(f"{archive.name.removesuffix('.tar.gz')}/tests/{name}")
            assert member is not None
            (found / name).write_bytes(member.read())
    return found


def test_engram_store_passes_the_tests_of_the_library(
    sdist_tests: Path, settings: Any, namespace: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.xml"
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "store_under_test", "-c", os.devnull),
            *("--rootdir", str(sdist_tests.parent), "-p", "no:cacheprovider"),
            *("-o", "anyio_mode=auto", f"--junitxml={report}"),
            "tests/test_store.py",
        ],
        cwd=sdist_tests.parent,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parent), str(ROOT), os.environ.get("PYTHONPATH", "")]
            ),
            "NEO4J_URI": settings.neo4j_uri,
            "NEO4J_USERNAME": settings.neo4j_username,
            "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
            "ENGRAM_TEST_NAMESPACE": namespace,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-6000:]}\n{ran.stderr[-2000:]}"
    suite = ElementTree.parse(report).getroot()[0].attrib
    assert {name: int(suite[name]) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": RUN,
        "failures": 0,
        "errors": 0,
        "skipped": 0,
    }
