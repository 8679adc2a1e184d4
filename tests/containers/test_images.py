"""What the image of the server is, and what it is without."""

from __future__ import annotations

from typing import Any

import docker
import pytest

from tests.containers.names import SERVER

pytestmark = pytest.mark.timeout(1800)  # the first test builds the images

OURS_MB = 150
"""What the image may add to its base, in megabytes; it was 110 when this was written."""


@pytest.fixture(scope="module")
def image(engine: Any, images: None) -> Any:
    return engine.images.get(SERVER)


def run(engine: Any, command: list[str], **options: Any) -> str:
    """What a container prints that has no network and can write nothing."""
    out = engine.containers.run(
        SERVER, command, remove=True, read_only=True, network_mode="none", stderr=True, **options
    )
    return str(out.decode())


def test_it_is_nobody_in_particular_and_looks_after_its_health(image: Any) -> None:
    config = image.attrs["Config"]
    assert config["User"] == "10001"
    assert "'/health'" in " ".join(config["Healthcheck"]["Test"])
    assert config["Entrypoint"] == ["engram"]
    assert config["Cmd"] == ["mcp", "--http", "--host", "0.0.0.0", "--port", "8765"]
    assert list(config["ExposedPorts"]) == ["8765/tcp"]


def test_it_is_small(image: Any) -> None:
    added = sum(layer["Size"] for layer in image.history() if "/bin/sh -c" in layer["CreatedBy"])
    assert 20e6 < added < OURS_MB * 1e6, added


def test_nothing_of_the_build_is_left(engine: Any, image: Any) -> None:
    told = str(image.history()) + str(image.attrs["Config"])
    assert "PIP_" not in told
    assert "TOKEN" not in told
    script = (
        "for one in cc gcc make git curl; do command -v $one; done;"
        "ls -d /src /wheels /opt/pip /opt/engram/bin/pip* 2>/dev/null;"
        "find / -xdev -path '*/.cache/*'; find /etc/apt -name 'sources.list' -size +0;"
        "find /opt/engram -not -user root; true"
    )
    assert run(engine, ["-c", script], entrypoint="sh", user="0") == ""


def test_it_runs_where_nothing_can_be_written(engine: Any, image: Any) -> None:
    assert run(engine, ["--version"]).startswith("engram_graph ")


def test_it_does_not_start_without_a_token(engine: Any, image: Any) -> None:
    with pytest.raises(docker.errors.ContainerError) as error:
        run(engine, [], environment={"ENGRAM_NAMESPACE": "memory"})
    assert "ENGRAM_MCP_TOKEN is not set" in error.value.stderr.decode()
