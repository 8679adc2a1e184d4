"""What is generated agrees with its source, the tools are content, the notebook runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import engram_graph
from engram_graph import schemas
from engram_graph.models.facts import Record
from engram_graph.rules.method import PRESETS
from engram_graph.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", sorted(schemas.RECORDS))
def test_schema_is_what_the_model_says(name: str) -> None:
    stored = (schemas.folder() / f"{name}.schema.json").read_text(encoding="utf-8")
    assert stored == schemas.render(schemas.RECORDS[name]), "run: python -m engram_graph.schemas"


def test_every_public_record_has_a_schema_and_every_schema_a_record() -> None:
    public = {getattr(engram_graph, name) for name in engram_graph.__all__}
    records = {one for one in public if isinstance(one, type) and issubclass(one, Record)}
    assert records <= set(schemas.RECORDS.values())
    files = {path.name for path in schemas.folder().glob("*.json")}
    assert files == {f"{name}.schema.json" for name in schemas.RECORDS}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports", "--no-cache"],
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
    for extra, names in project["optional-dependencies"].items():
        wanted += names if extra != "all" else []
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in text.splitlines()}
    names = {re.split(r"[\[<>=~! ]", name)[0].lower().replace("_", "-") for name in wanted}
    assert names <= pinned
    assert "://" not in text
    assert "--hash" not in text


def test_readme_names_every_setting() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {
        str(field.validation_alias.choices[0])  # type: ignore[union-attr]
        for field in Settings.model_fields.values()
    }
    assert names
    assert {name for name in names if f"`{name}`" not in readme} == set()


def test_docs_name_every_preset() -> None:
    text = (ROOT / "docs" / "deciding.md").read_text(encoding="utf-8")
    assert {name for name in PRESETS if f"| `{name}` |" not in text} == set()


def test_notebook_runs_from_top_to_bottom(
    run_script: Callable[[Path], str], tmp_path: Path
) -> None:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        assert all(not c["outputs"] for c in cells), f"{path.name} is stored with output"
        script = tmp_path / f"{path.stem}.py"
        script.write_text("\n\n".join("".join(c["source"]) for c in cells), encoding="utf-8")
        assert "Lisbon" in run_script(script)
