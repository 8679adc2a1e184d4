"""An engine and our images for the tests of this folder. Without an engine they skip and say so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import docker
import pytest

from tests.containers.names import ROOT


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    """A client of the engine that runs here."""
    # The program is asked first: where no engine is, the library leaves a socket open.
    said = "there is no program docker"
    if shutil.which("docker"):
        done = subprocess.run(["docker", "version"], capture_output=True, text=True, check=False)
        said = done.stderr.strip() if done.returncode else ""
    if said:
        pytest.skip(f"no Docker engine answers: {said}")
    client = docker.from_env(timeout=300)
    yield client
    client.close()


@pytest.fixture(scope="session")
def images(engine: Any) -> None:
    """The images of ``names`` are there, made from this checkout."""
    done = subprocess.run(
        ["bash", "docker/build.sh"],
        cwd=ROOT,
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def compose() -> list[str]:
    """The command that reads compose files: ``docker compose``, else ``docker-compose``."""
    plugin = ["docker", "compose"]
    if shutil.which("docker"):
        done = subprocess.run([*plugin, "version"], capture_output=True, check=False)
        if done.returncode == 0:
            return plugin
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    pytest.skip("neither docker compose nor docker-compose is installed")
