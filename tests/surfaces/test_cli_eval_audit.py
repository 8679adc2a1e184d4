"""``eval audit`` at the command line: a sheet is written, filled and read back."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.evaluation.study.result import Result, Row, write_result

Engram = Callable[..., Any]


@pytest.fixture
def results(tmp_path: Path) -> list[str]:
    """Two arms that differ on questions 1, 2 and 3 of 0 to 9; the second at two k."""
    paths = []
    for arm, ks, right in (("turns_jev", (6,), {0, 1, 2}), ("mem0", (3, 20), {0, 3})):
        rows = tuple(
            Row(
                task=f"q{n}", conversation="c", category="single-hop", k=k, question=f"Who is {n}?",
                gold="Ada", answer=f"={n}", label="CORRECT" if n in right else "WRONG",
            )
            for n in range(10)
            for k in ks
        )  # fmt: skip
        one = Result(dataset="locomo", split="dev", digest="d", arm=arm, about="An arm.", rows=rows)
        paths.append(str(write_result(one, tmp_path)))
    return paths


def graded(sheet: Path, key: Path) -> None:
    """As the judge did, but for one answer that is partly right."""
    told, given = (path.read_text(encoding="utf-8-sig").splitlines() for path in (key, sheet))
    labels = {row["row"]: row for row in csv.DictReader(told)}
    rows = list(csv.reader(given))
    for row in rows[1:]:
        known = labels[row[0]]
        lenient = known["task"] == "q3" and known["arm"] == "turns_jev"
        row[-1] = "partly" if lenient else known["label"].lower()
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def test_an_audit_goes_there_and_back(engram: Engram, results: list[str], tmp_path: Path) -> None:
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.csv"
    files = ["--out", str(sheet), "--key", str(key)]
    made = engram("eval", "audit", *results, "--k", "6", "--k", "3", *files)
    assert (made.code, made.out.split()[0]) == (0, "3")
    text = sheet.read_text(encoding="utf-8-sig")
    assert "mem0" not in text
    assert "'=1" in text
    again = engram("eval", "audit", *results, "--k", "6", "--k", "3", *files)
    assert (again.code, "exists" in again.err) == (2, True)
    graded(sheet, key)
    back = ["eval", "audit", "--import", str(sheet), "--key", str(key)]
    found = engram(*back, "--json").json
    assert (found["questions"], found["audited"], found["ungraded"]) == (10, 3, 0)
    assert (found["strict"]["only_first"], found["strict"]["only_second"]) == (2, 1)
    assert (found["lenient"]["only_first"], found["lenient"]["only_second"]) == (2, 0)
    assert found["strict"]["agreement"] == 1.0
    told = engram(*back).out
    assert "3 of 3 questions graded, 0 of 6 answers not yet" in told
    assert "only turns_jev at 6" in told


def test_wrong_calls_are_refused(engram: Engram, results: list[str], tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "sheet.csv"), "--key", str(tmp_path / "key.csv")]
    for given, words in (
        ([], "--out"),
        ([*results, *out], "several k: 3, 20"),
        ([results[0], *out], "two result files"),
        ([*results, "--k", "6", "--k", "9", *out], "not answered at k = 9"),
        ([*results, "--import", str(tmp_path / "none.csv")], "key alone"),
        (["--import", str(tmp_path / "none.csv")], "cannot be read"),
    ):
        done = engram("eval", "audit", *given)
        assert (done.code, words in done.err) == (2, True), (given, done.err)
    assert not [*tmp_path.glob("*.csv")]
