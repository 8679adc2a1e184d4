"""Which Neo4j a test run uses: read once, before anything cleans the environment. Loads nothing."""

from __future__ import annotations

import os
import tempfile
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Choice:
    """What options and environment say about the database of a run.

    Attributes:
        uri: a server that is there (NEO4J_URI); empty for one of the run's own.
        container: whether the run's own one is a container; else it is embedded.
        image: of the container; empty for the official one of the embedded server's version.
        folder: what a server of the run's own is known by to all its processes. Not there until
            one starts it.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    container: bool
    image: str
    folder: str

    @property
    def home(self) -> Path:
        """Where the run's own server lives."""
        return Path(self.folder)


CHOICE = pytest.StashKey[Choice]()
_KEY = "engram_graph"


def read(config: pytest.Config) -> Choice:
    """The choice of this run; a worker of pytest-xdist has that of the process that started it."""
    given = getattr(config, "workerinput", {}).get(_KEY)
    if given is not None:
        return Choice(**given)
    asked = config.getoption("--engram-database") or os.environ.get("ENGRAM_TEST_DATABASE", "")
    if asked not in ("", "embedded", "container"):
        raise pytest.UsageError("ENGRAM_TEST_DATABASE is embedded or container, not " + repr(asked))
    return Choice(
        uri=os.environ.get("NEO4J_URI", "").strip(),
        username=os.environ.get("NEO4J_USERNAME", "neo4j"),
        password=os.environ.get("NEO4J_PASSWORD", ""),
        container=asked == "container",
        image=os.environ.get("ENGRAM_TEST_IMAGE", "").strip(),
        folder=str(Path(tempfile.gettempdir()) / f"engram-tests-{uuid.uuid4().hex[:16]}"),
    )


def hand_on(config: pytest.Config, workerinput: dict[str, object]) -> None:
    """Give a worker the choice of this run."""
    workerinput[_KEY] = asdict(config.stash[CHOICE])


def owns(config: pytest.Config) -> bool:
    """Whether this process outlives all others of the run, so that it stops what they started."""
    return not hasattr(config, "workerinput")
