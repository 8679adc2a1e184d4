"""README and docs: every block of every page works, and no page tells less than it should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
import typer
from docs_pages import GENERATED, PAGES, REASONS, ROOT, Reader, blocks, shows

import engram_graph
from docs._build import reference
from engram_graph.rules.method import PRESETS

README = (ROOT / "README.md").read_text(encoding="utf-8")
SCREENS = 110  # lines of the README


@pytest.fixture(scope="module")
def demo(server: Any, migrated: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What ``engram demo`` prints, and a file with what it wrote."""
    name = f"t{uuid.uuid4().hex[:12]}"
    file = tmp_path_factory.mktemp("demo") / "demo.jsonl"
    given = os.environ | {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "ENGRAM_EMBEDDER": "hash",
    }
    printed = []
    for arguments in (["demo"], ["export", str(file)]):
        done = subprocess.run(
            [sys.executable, "-m", "engram_graph", "-n", name, *arguments],
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.replace(name, "demo"))
    return printed[0], file


@pytest.fixture
def reader(
    server: Any,
    demo: tuple[str, Path],
    on_server: Callable[..., Any],
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Reader]:
    """Somebody who reads a page in an empty folder."""
    printed, file = demo
    monkeypatch.chdir(tmp_path)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        yield Reader(
            engram=on_server,
            rows=lambda query: driver.execute_query(query).records,
            prefix=namespace,
            export=file,
            demo=printed,
            setenv=monkeypatch.setenv,
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_works(reader: Reader, page: Path) -> None:
    reader.read(page)


def test_hardly_any_block_is_left_unrun() -> None:
    found = [block for page in PAGES for block in blocks(page)]
    unrun = [block for block in found if block.not_run]
    assert {block.not_run for block in unrun} <= set(REASONS)
    assert len(unrun) < len(found) / 6


# -- the reader is not easily pleased --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("```python\nprint(1)\n```\n```text\n2\n```", "printed:\n1"),
        ("```text\n2\n```", "nothing before it"),
        ("```python\nprint(1)\n```\n```text\n…\n```", "nothing is shown"),
        ("```bash\nengram facts -n demo --no-such-option\n```", "--no-such-option"),
        ("```bash\nrm -r x\n```", "not run here"),
        ("```console\n$ engram facts -n demo --subject Jonas\n```", "printed"),
        ("```cypher\nMATCH (e:Entity {namespace: 'demo', key: 'no'}) RETURN e\n```", "no rows"),
        ("```cypher\nRETURN 1\n```", "without a namespace"),
        ("```\nengram facts\n```", "without a language"),
        ("text\n\n    engram facts", "fence this block"),
        ("```rust\n```", "nobody knows"),
        ("<!-- not run: no time -->\n```bash\nengram facts\n```", "no reason"),
        ("<!-- not run: installs -->\n\ntext", "no block behind"),
        ("<!-- not run: installs -->\n```bash\npip install '.[extra]'\n```", "extra"),
        ("<!-- not run: needs a key -->\n```python\nfrom engram_graph import No\n```", "No"),
        ("<!-- not run: takes minutes -->\n```bash\nengram demo --fast\n```", "--fast"),
    ],
)
def test_what_does_not_hold_is_noticed(reader: Reader, tmp_path: Path, text: str, why: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, ImportError, typer.BadParameter.__mro__[2])) as caught:
        reader.read(page)
    assert why in str(caught.value)


def test_only_an_ellipsis_stands_for_something() -> None:
    assert shows("a …\n…\nd", "a b  \nc\nd\n")
    assert not shows("a", "a\nb")
    assert not shows("a.c", "abc")


# -- what is generated, and what must be told -----------------------------------------------------


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_generated_page_is_what_the_code_says(name: str) -> None:
    stored = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert stored == reference.PAGES[name](), "run: python -m docs._build.reference"


def test_generated_pages_are_those_nobody_reads() -> None:
    assert {path.name for path in GENERATED} == set(reference.PAGES)


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    homes = {f"{home}.{name}" for name, home in engram_graph._HOME_OF.items()}
    assert len(listed) == len(set(listed))
    assert homes <= set(listed)


def test_every_preset_and_extra_is_explained() -> None:
    deciding = (ROOT / "docs" / "deciding.md").read_text(encoding="utf-8")
    assert {name for name in PRESETS if f"| `{name}` |" not in deciding} == set()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = (ROOT / "docs" / "start.md").read_text(encoding="utf-8").partition("| extra |")[2]
    rows = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines()[2:]]
    told = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert told == set(project["optional-dependencies"])


def test_readme_stays_short_and_tells_how_to_test() -> None:
    lines = README.splitlines()
    assert len(lines) <= SCREENS
    assert [line for line in lines if re.fullmatch(r"python3 -m venv .* -m pytest -n 2", line)]
