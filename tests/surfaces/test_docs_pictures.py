"""docs/pictures.md: its examples run from top to bottom and print what they are about."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path

import networkx as nx

import engram_graph

ROOT = Path(engram_graph.__file__).parents[1]
PAGE = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")


def test_examples_run(run_script: Callable[[Path], str], namespace: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 4
    script = tmp_path / "examples.py"
    script.write_text("\nprint('--')\n".join(blocks).replace('"friends"', repr(namespace)))
    printed = run_script(script)
    edges, central, groups, _ = printed.split("--\n")
    assert "Lisbon LIVES_IN 2024-01-08 False\n" in edges
    assert "Porto LIVES_IN 2024-05-06 True\n" in edges
    assert [line.split()[1] for line in central.splitlines()][:2] == ["Maya", "Jonas"]
    assert sorted(map(literal_eval, groups.splitlines())) == [
        ["jonas", "pia", "tom"],
        ["maya", "porto", "rui"],
    ]
    written = nx.read_graphml(tmp_path / "friends.graphml", force_multigraph=True)
    assert written.number_of_edges() == 7


def test_every_link_leads_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", PAGE) if "://" not in link]
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)
