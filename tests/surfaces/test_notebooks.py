"""The notebooks: stored without a trace of a run, and run from top to bottom on a real database."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import engram_graph
from engram_graph.evaluation.pairs import decide, load_pairs, summary

FOLDER = Path(engram_graph.__file__).parents[1] / "notebooks"
NAMES = ("01_first_steps", "02_inspecting_decisions", "03_fact_history", "04_evaluation")
_BOUND = re.compile(r'^NAMESPACE = "notebook-[a-z-]+"$', re.M)


class Ran:
    """A notebook after its run."""

    def __init__(self, notebook: Any) -> None:
        self._cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def said(self, source: str) -> str:
        """What the one cell printed or showed that has ``source`` in it."""
        (cell,) = [each for each in self._cells if source in each.source]
        return "\n".join(
            each.text if each.output_type == "stream" else each.data["text/plain"]
            for each in cell.outputs
        )

    @property
    def pictures(self) -> int:
        """How many were drawn."""
        outputs = [each for cell in self._cells for each in cell.outputs]
        return sum("image/png" in each.get("data", {}) for each in outputs)


@pytest.fixture
def run(
    server: Any, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Ran]:
    """``run(name)``: a notebook run in the test's namespace, without a key or a way outside."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))

    def run(name: str) -> Ran:
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = _BOUND.sub(f"NAMESPACE = {namespace!r}", cell.source)
        client = NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}
        )
        environment = os.environ | {
            "NEO4J_URI": server.uri,
            "NEO4J_USERNAME": server.username,
            "NEO4J_PASSWORD": server.password,
            "ENGRAM_EMBEDDER": "hash",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "IPYTHONDIR": str(tmp_path),
            "PYTHONPATH": str(FOLDER.parent),
        }
        client.execute(env=environment)
        return Ran(notebook)

    return run


def test_every_notebook_is_run() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_stored_without_a_trace_of_a_run(name: str) -> None:
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert text == nbformat.writes(notebook) + "\n"  # one form, so that diffs tell what changed
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        assert cell.metadata == {}
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.parametrize("name", NAMES)
def test_touches_its_own_namespace_only(name: str) -> None:
    cells = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert len(_BOUND.findall(code)) == 1
    assert set(re.findall(r"Memory\((\w*)", code)) == {"NAMESPACE"}
    assert "namespace=" not in code


def test_first_steps(run: Callable[[str], Ran]) -> None:
    ran = run("01_first_steps")
    told = ran.said("memory.add(text")
    assert "+ Maya lives in Lisbon · since 2024-06-01\n- Maya lives in Berlin · until" in told
    assert ran.said("again.duplicate") == "True"
    assert "Maya lives in Lisbon — source:" in ran.said("found.context")
    assert "Maya lives in Berlin · 2024-01-10 to 2024-06-01" in ran.said('as_of="2024-03-15"')
    assert "σ(−3.8918) = 0.0200" in ran.said("memory.explain(berlin).text")
    assert "+ Maya has a dog called Pixel" in ran.said("memory.correct")
    assert "sound: True" in ran.said("memory.doctor()")


def test_inspecting_decisions(run: Callable[[str], Ran]) -> None:
    ran = run("02_inspecting_decisions")
    assert "42 messages, 40 facts" in ran.said("demo.messages()")
    assert "refused: the two are about different times" in ran.said("told.text")
    assert "applied" in ran.said("frame(told.decisions)")
    assert "same_attribute" in ran.said("frame(asked.questions)")
    assert "agreement" in ran.said("frame(against.gates)")
    arithmetic = ran.said("change.pieces")
    assert "update 1.00   0.9800 → 0.5000\n" in arithmetic
    assert "update 1.00   0.5000 → 0.0200\n" in arithmetic
    assert "stored: 0.0200" in arithmetic
    assert "0.376923" in ran.said("decisions_near_threshold")
    assert "differences: 0" in ran.said("memory.whatif()")
    assert "closed · Maya lives in Berlin · 0.37692" in ran.said("close_below")
    assert "['Maya lives in Berlin', 'Maya lives in Lisbon']" in ran.said("# as it was")
    assert "was called right by an analyst" in ran.said("labelled")
    assert "sound: True" in ran.said("labelled")


def test_fact_history(run: Callable[[str], Ran]) -> None:
    ran = run("03_fact_history")
    assert "40 facts, 27 of them open" in ran.said("demo.messages()")
    assert "shape: (13, 6)" in ran.said('library="polars"')
    assert "2024-02-01 Lisbon\n2024-08-15 Porto\n2025-02-01 Lisbon\n" in ran.said("for day in")
    clocks = ran.said("known_at=before")
    assert [line.split()[-1] for line in clocks.splitlines() if line] == [
        "Faro",
        "Lisbon",
        "Lisbon",
    ]
    assert "Maya lives in Faro" in ran.said('clock="recorded"')
    chain = ran.said("supersession_chain").splitlines()
    assert [line.split()[1] for line in chain if " lives in " in line][:4] == ["0", "1", "2", "3"]
    assert "Jonas" in ran.said("betweenness_centrality").splitlines()[0]
    assert "'Bremen'" in ran.said("louvain_communities")
    assert ran.pictures == 2


def test_evaluation(run: Callable[[str], Ran]) -> None:
    ran = run("04_evaluation")
    assert "negates   applied" in ran.said("calibration_data")
    assert "12 closes labelled, 1 wrong" in ran.said("closes.labelled")
    calibrated = ran.said("top_brier(found)").splitlines()
    assert [row.split()[1:] for row in calibrated[1:]] == [
        ["jev_v2", "38", "0.895", "0.871", "0.079", "0.10"],
        ["weak_v2", "38", "0.421", "0.471", "0.216", "0.25"],
    ]
    assert "meets: 0.91, 25 of 38 answers" in ran.said("lowest_within(curve")
    presets = ran.said("PRESETS.items()").splitlines()
    assert ["default", "22", "0", "0", "0"] in [row.split() for row in presets]
    assert len(ran.said("missed = ").split("blocked_temporal")) == 3
    assert ran.pictures == 2


def test_evaluation_without_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = nbformat.read(FOLDER / "04_evaluation.ipynb", as_version=4).cells
    (cell,) = [each for each in cells if each.source.startswith("PAIRS =")]
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {"Path": Path, "json": json, "tempfile": tempfile}
    monkeypatch.setattr(tempfile, "mkdtemp", lambda: str(tmp_path))
    exec(cell.source, known)
    counts = summary(decide(load_pairs(known["PAIRS"], "jev_v2")))
    assert counts["pairs"] == counts["accepted"] == 2
    assert (counts["right_closes"], counts["false_closes"]) == (1, 0)
