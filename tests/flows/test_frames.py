"""Records of a real memory as data frames."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import pytest

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.frames import frame
from engram_graph.models.facts import Fact
from engram_graph.models.results import Page

pytestmark = pytest.mark.anyio


@pytest.fixture
async def moved(memory: Any) -> Any:
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="0900-01-01")
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    return memory


async def test_facts(moved: Any) -> None:
    page = await moved.facts()
    table = frame(page)
    assert list(table.columns) == list(Fact.model_fields)
    assert list(table["object"]) == ["Bonn", "Cork"]
    assert [str(table[name].dtype) for name in ("valid_from", "valid_until")] == [
        "datetime64[us, UTC]"
    ] * 2
    assert table["valid_until"].isna().tolist() == [False, True]
    assert table["valid_from"].dt.year.tolist() == [900, 2021]
    assert table["open"].dtype == bool
    assert table["closed_reason"].iloc[0] == "belief"
    assert type(table["closed_reason"].iloc[0]) is str
    assert table["belief"].tolist() == [fact.belief for fact in page.facts]
    assert table.equals(frame(list(page.facts)))
    assert table.equals(frame(await moved.history("Ann")))


async def test_decisions(moved: Any) -> None:
    (cork,) = (await moved.facts(open=True)).facts
    decisions = (await moved.explain(cork)).decisions
    table = frame(decisions)
    assert len(table) == len(decisions) > 1
    assert list(table["question"]) == [each.question for each in decisions]
    assert str(table["decided_at"].dtype) == "datetime64[us, UTC]"
    assert table.groupby("outcome").size().sum() == len(decisions)


async def test_changes_and_rows(moved: Any) -> None:
    table = frame(await moved.diff("2020-01-01"))
    assert table[["kind", "fact_object"]].to_numpy().tolist() == [
        ["ended", "Bonn"],
        ["began", "Cork"],
    ]
    nothing = frame(await moved.diff("2022-01-01", "2022-02-01"))
    assert (len(nothing), list(nothing.columns)) == (0, list(table.columns))
    assert frame([{"a": 1}, {"b": "x"}]).columns.tolist() == ["a", "b"]


def test_without_records() -> None:
    assert list(frame(Page()).columns) == list(Fact.model_fields)
    assert frame([]).equals(pd.DataFrame())
    for wrong in (["a"], [None], [3]):
        with pytest.raises(InputError, match="no record"):
            frame(wrong)  # type: ignore[list-item]


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas") as caught:
        frame([])
    assert "engram-graph[pandas]" in caught.value.hint
