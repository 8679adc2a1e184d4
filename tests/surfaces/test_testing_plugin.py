"""The pytest plugin, as a project of its own uses it: pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from docs_pages import ROOT, blocks

from engram_graph.testing.keeper import Keeper

PAGE = ROOT / "docs" / "testing.md"
LOADS_NOTHING = """
import sys
HEAVY = ("neo4j", "pydantic", "openai", "httpx", "anyio.from_thread", "networkx", "filelock")
def test_nothing_is_loaded_for_who_uses_nothing():
    assert [name for name in HEAVY if name in sys.modules] == []
"""
MISUSED = """
import pytest

def test_settings_are_not_those_of_the_environment(memory_settings):
    assert (memory_settings.shortlist, memory_settings.decider) == (30, "rules")

@pytest.mark.engram(shortlist=5)
def test_but_those_of_the_marker(memory):
    assert memory.settings.shortlist == 5

def test_two_deciders(memory, scripted_decider, recorded_decider): ...

def test_no_recording(memory, recorded_decider): ...

def damage(memory, keeper):
    open("names", "a").write(memory.namespace + "\\n")
    memory.remember("Maya", "prefers", "tea")
    memory.remember("Maya", "prefers", "tea", namespace=memory.namespace + "-more")
    broken = "MATCH (f:Fact {namespace: $n}) SET f.belief = 2"
    keeper.portal.call(lambda: keeper.graph.statement(broken, n=memory.namespace + "-more"))

def test_a_broken_graph(memory, memory_keeper): damage(memory, memory_keeper)

@pytest.mark.engram(doctor=False)
def test_a_graph_broken_on_purpose(memory, memory_keeper): damage(memory, memory_keeper)
"""
UNRECORDED = """
def test_one_thing(memory, recorded_decider): memory.remember("Maya", "prefers", "tea")
"""


class Project:
    """A folder with tests that know nothing of this repository.

    Attributes:
        said: what pytest printed in the last run. why: test → why it failed.
    """

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self._env = env
        self.said = ""
        self.why: dict[str, str] = {}
        (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"test_{name}.py").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> dict[str, str]:
        """Test → passed, failed, error (an error of a fixture) or skipped."""
        report = self.folder / "report.xml"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = done.stdout + done.stderr
        assert report.exists(), self.said
        found: dict[str, str] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = case.attrib["name"]
            wrong = [each for each in case if each.tag in ("failure", "error", "skipped")]
            found.setdefault(name, "passed")
            if wrong:
                found[name] = {"failure": "failed"}.get(wrong[0].tag, wrong[0].tag)
                self.why[name] = f"{wrong[0].get('message')}\n{wrong[0].text}"
        return found


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | {"PYTHONPATH": str(ROOT), "ENGRAM_SHORTLIST": "7"} | more


@pytest.fixture
def project(server: Any, tmp_path: Path) -> Project:
    """One on this run's Neo4j."""
    named = {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
    }
    return Project(tmp_path, environment(**named))


def shown() -> dict[str, str]:
    """The files that docs/testing.md shows, by what stands behind ``test_`` in their names."""
    files = {each.mark[1]: each.text for each in blocks(PAGE) if each.mark}
    return {Path(name).stem.removeprefix("test_"): text for name, text in files.items()}


def test_the_docs_files_pass(project: Project) -> None:
    files = shown()
    assert len(files["moves"].splitlines()) <= 10
    project.write(recorded=files["recorded"])
    assert project.run("--engram-record") == {"test_a_new_job": "passed"}, project.said
    assert (project.folder / "recordings" / "test_recorded.jsonl").exists()
    project.write(**files)
    outcomes = project.run("-n", "2", "--dist", "loadfile")
    assert set(outcomes.values()) == {"passed"}, project.said
    assert len(outcomes) == 8


def test_who_uses_nothing_loads_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"))
    project.write(nothing=LOADS_NOTHING)
    outcomes = project.run("-p", "engram_graph.testing.plugin")
    assert outcomes == {"test_nothing_is_loaded_for_who_uses_nothing": "passed"}, project.said


def test_what_goes_wrong_is_told(project: Project, migrated: Keeper) -> None:
    project.write(misused=MISUSED, one=UNRECORDED)
    (project.folder / "recordings").mkdir()
    project.write(recorded=shown()["recorded"])
    project.run("--engram-record", "test_recorded.py")
    recorded = project.folder / "recordings" / "test_recorded.jsonl"
    recorded.rename(recorded.with_name("test_one.jsonl"))
    assert project.run("test_misused.py", "test_one.py") == {
        "test_settings_are_not_those_of_the_environment": "passed",
        "test_but_those_of_the_marker": "passed",
        "test_two_deciders": "error",
        "test_no_recording": "error",
        "test_a_broken_graph": "error",
        "test_a_graph_broken_on_purpose": "passed",
        "test_one_thing": "error",
    }, project.said
    assert "a memory has one decider" in project.why["test_two_deciders"]
    assert "pytest --engram-record" in project.why["test_no_recording"]
    assert "-more: belief_range" in project.why["test_a_broken_graph"]
    assert "not in the recording" in project.why["test_one_thing"]
    for name in (project.folder / "names").read_text().splitlines():
        assert migrated.findings(name) == []
        assert migrated.namespaces(name) == []


def test_recording_takes_one_process(project: Project) -> None:
    project.write(nothing=LOADS_NOTHING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "--engram-record"],
        cwd=project.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "leave out -n" in done.stdout + done.stderr
    assert done.returncode != 0
