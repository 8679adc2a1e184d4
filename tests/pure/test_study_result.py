"""Result files as they come from elsewhere: what cannot be read is one kind of error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.report import listings
from engram_graph.evaluation.report.tables import groups
from engram_graph.evaluation.study.result import Result, Row, Store, read_result, write_result
from engram_graph.evaluation.validity import table

CLOSE = {"text": "t", "reason": "update", "old_sources": ["a:1"], "new_sources": ["a:2"]}


def result(**fields: Any) -> Result:
    row = Row(task="q", conversation="a", category="x", k=3, question="?", gold="g")
    common: dict[str, Any] = {"dataset": "locomo", "split": "all", "digest": "d", "about": "b"}
    stores = {"a": Store(turns=1, closes=(CLOSE,))}
    return Result(**common | {"arm": "one", "conversations": stores, "rows": (row,)} | fields)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = write_result(result(), tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_result(path) == result()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["conversations"]["a"]["closes"][0].pop("old_sources"),
        lambda data: data["conversations"]["a"]["closes"][0].update(new_sources="a:2"),
        lambda data: data.update(rows=data["rows"] * 2),
        lambda data: data.update(tokens_at=[float("nan")]),
        lambda data: data["rows"][0].update(read_usd=float("inf")),
        lambda data: data.update(scores={"k": 3}),
        lambda data: data.update(scores={"k": {"three": {}}}),
        lambda data: data.update(scores={"tokens": {"60": None}}),
        lambda data: data.pop("arm"),
    ],
)
def test_a_damaged_file_is_an_error_with_a_hint(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    path = write_result(result(), tmp_path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="is no result file") as caught:
        read_result(path)
    assert caught.value.hint


def test_a_benchmark_whose_questions_all_ask_for_more_than_fits_has_empty_cells() -> None:
    scored = result(scores={"k": {"3": {}, "6": {"overall": 1.0}}, "tokens": {"60": {}}})
    assert table.by_kind([scored])[1] == [["one", "", ""]]
    assert table.by_budget([scored])[1] == [["one", "", "100.0", "", "", "", ""]]
    assert listings.benchmark(groups([scored])[0])
