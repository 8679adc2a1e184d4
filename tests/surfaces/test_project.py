"""What is generated agrees with its source, and the tools are content."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import engram_graph
from engram_graph import schemas
from engram_graph.models.facts import Record

ROOT = Path(__file__).resolve().parents[2]


GENERATED = schemas.generated()


@pytest.mark.parametrize("path", sorted(GENERATED))
def test_generated_file_is_what_the_code_says(path: str) -> None:
    stored = (ROOT / path).read_text(encoding="utf-8")
    assert stored == GENERATED[path], "run: python -m engram_graph.schemas"


def test_every_public_record_has_a_schema_and_every_schema_a_record() -> None:
    public = {getattr(engram_graph, name) for name in engram_graph.__all__}
    records = {one for one in public if isinstance(one, type) and issubclass(one, Record)}
    assert records <= set(schemas.RECORDS.values())
    files = {f"schemas/{path.name}" for path in schemas.folder().glob("*.json")}
    assert files == {path for path in GENERATED if path.startswith("schemas/")}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports", "--no-cache"],
        ["deptry", "."],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_tool_is_content(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run(
        [str(tool), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_stay_readable() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in (ROOT / "engram_graph").rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_constraints_pin_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"]]
    for names in project["optional-dependencies"].values():
        wanted += [name for name in names if not name.startswith("engram-graph[")]
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in text.splitlines()}
    names = {re.split(r"[\[<>=~! ]", name)[0].lower().replace("_", "-") for name in wanted}
    assert names <= pinned
    assert "://" not in text
    assert "--hash" not in text
