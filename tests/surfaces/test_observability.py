"""docs/observability.md names every span, metric and line of the log, and its set-up works."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docs_pages import ROOT, blocks

from engram_graph import telemetry

PAGE = ROOT / "docs" / "observability.md"
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first column is ``heading``."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |")) + 2
    found = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_every_span_is_listed() -> None:
    assert rows("span") == [[f"`{name}`", covers] for name, covers in telemetry.SPANS.items()]


def test_every_metric_is_listed() -> None:
    assert rows("metric") == [
        [
            f"`{name}`",
            f"{metric.kind}, {metric.unit}",
            metric.help,
            ", ".join(f"`{each}`" for each in metric.attributes) or "none",
        ]
        for name, metric in telemetry.METRICS.items()
    ]


def logged(path: Path) -> list[list[str]]:
    """Logger, level and line of every call of a logger in a module."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return [
        [f"`{module}`", node.func.attr.upper(), node.args[0].value]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "log"
        and node.func.attr in LEVELS
        and isinstance(node.args[0], ast.Constant)
    ]


def test_every_line_of_the_log_is_listed() -> None:
    files = sorted((ROOT / "engram_graph").rglob("*.py"))
    assert sorted(rows("logger")) == sorted(line for file in files for line in logged(file))


def test_the_set_up_of_an_sdk_works(server: Any, namespace: str) -> None:
    (block,) = [each for each in blocks(PAGE) if each.not_run]
    env = os.environ | {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "ENGRAM_EMBEDDER": "hash",
    }
    ran = subprocess.run(
        [sys.executable, "-c", block.text.replace("friends", namespace)],
        env=env, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    for name in ("chat turn", "engram.remember", "engram.facts.stored"):
        assert f'"name": "{name}"' in ran.stdout
