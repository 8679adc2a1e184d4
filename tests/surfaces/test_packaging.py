"""What is shipped: wheel and sdist, their contents, and the package where only the wheel is."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from docs_pages import ROOT, blocks

import engram_graph

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = Path(sys.executable).parent
CONSTRAINTS = ROOT / "constraints.txt"
GENERATED = ("__pycache__", "_cypher", "_schemas")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, the wheel made of it and, in ``direct``, that of the checkout."""
    folder = tmp_path_factory.mktemp("built")
    uv("build", "-o", str(folder), "--build-constraints", str(CONSTRAINTS))
    uv("build", "--wheel", "-o", f"{folder}/direct", "--build-constraints", str(CONSTRAINTS))
    return folder


def uv(*arguments: str, **env: str) -> str:
    """What uv prints; it is called in the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [TOOLS / "uv", "--quiet", *arguments],
        cwd=ROOT,
        env=kept | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def the(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def contents(archive: Path) -> dict[str, bytes]:
    """Name → bytes; those of an sdist without its top folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    found = {}
    with tarfile.open(archive) as sdist:
        for member in sdist.getmembers():
            file = sdist.extractfile(member)
            if file is not None:
                found[member.name.partition("/")[2]] = file.read()
    return found


def files(folder: str) -> set[str]:
    """The files below a folder of the checkout, without what is generated."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not any(part in GENERATED for part in path.parts)
    }


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    found = set(contents(the(built, "*.whl")))
    wanted = files("engram_graph")
    for folder in ("cypher", "schemas"):
        wanted |= {f"engram_graph/_{name}" for name in files(folder)}
    assert {name for name in found if ".dist-info/" not in name} == wanted
    for name in ("py.typed", "_cypher/doctor.cypher", "server/neo4j.lock", "pictures/graph.js"):
        assert f"engram_graph/{name}" in found


def test_the_sdist_holds_what_it_takes_to_work_on_it(built: Path) -> None:
    found = set(contents(the(built, "*.tar.gz")))
    for folder in ("engram_graph", "cypher", "schemas", "tests"):
        assert files(folder) <= found
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "CHANGELOG.md", "LICENSE"):
        assert name in found
    assert {name for name in found if name.startswith((".git/", ".mypy", "dist/"))} == set()


def test_the_sdists_wheel_is_that_of_the_checkout(built: Path) -> None:
    assert contents(the(built, "*.whl")) == contents(the(built / "direct", "*.whl"))


def test_no_path_of_this_machine_is_inside(built: Path) -> None:
    places = {str(ROOT), sys.prefix, str(built.parent)}
    for archive in (the(built, "*.whl"), the(built, "*.tar.gz")):
        for name, data in contents(archive).items():
            assert [place for place in places if place.encode() in data] == [], name


def test_metadata(built: Path) -> None:
    done = subprocess.run(
        [TOOLS / "twine", "check", "--strict", *built.glob("*.[wt]*")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (text,) = (data for name, data in contents(the(built, "*.whl")).items() if "/META" in name)
    told = Parser().parsestr(text.decode())
    assert told["Version"] == engram_graph.__version__
    assert told["License-Expression"] == "Apache-2.0 AND CC-BY-4.0"
    assert told["Requires-Python"] == ">=3.11"
    assert set(told.get_all("Provides-Extra", ())) == set(PROJECT["optional-dependencies"])
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {engram_graph.__version__}\n" in cited


def test_every_dependency_has_a_floor_and_a_ceiling() -> None:
    extras = PROJECT["optional-dependencies"]
    tools = {"all", "dev", "docs", "integrations"}
    needed = list(PROJECT["dependencies"])
    needed += [one for extra, each in extras.items() if extra not in tools for one in each]
    open_ended = [one for one in needed if "==" not in one and not (">=" in one and "<" in one)]
    assert open_ended == []


@pytest.mark.parametrize("versions", ["tested", "lowest"])
def test_ten_lines_run_where_only_the_wheel_is(
    versions: str, built: Path, server: Any, tmp_path: Path
) -> None:
    (text,) = (
        each.text
        for each in blocks(ROOT / "docs" / "testing.md")
        if each.mark == ("file", "test_moves.py")
    )
    (tmp_path / "test_moves.py").write_text(text, encoding="utf-8")
    needed = CONSTRAINTS
    if versions == "lowest":
        needed = tmp_path / "lowest.txt"
        lowest = ("--resolution", "lowest-direct", "--python-version", "3.11")
        uv("pip", "compile", *lowest, str(ROOT / "pyproject.toml"), "-o", str(needed))
    python = tmp_path / "venv" / "bin" / "python"
    uv("venv", "--python", sys.executable, str(tmp_path / "venv"))
    wheel = str(the(built, "*.whl"))
    uv("pip", "install", "--python", str(python), "-c", str(needed), wheel, "pytest")
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "NEO4J_URI": server.uri,
            "NEO4J_USERNAME": server.username,
            "NEO4J_PASSWORD": server.password,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_all_lower_bounds_go_together() -> None:
    lowest = ("--resolution", "lowest-direct", "--python-version", "3.11")
    extras = ("--extra", "all", "--extra", "integrations")
    found = uv("pip", "compile", *lowest, *extras, str(ROOT / "pyproject.toml"))
    assert "neo4j==6.0.0" in found


def test_uvx_runs_the_command(built: Path, tmp_path: Path) -> None:
    wheel = str(the(built, "*.whl"))
    run = ("tool", "run", "--python", sys.executable, "-c", str(CONSTRAINTS), "--from", wheel)
    printed = uv(*run, "engram", "--version", UV_TOOL_DIR=str(tmp_path))
    assert printed.split() == ["engram_graph", engram_graph.__version__]
