"""Records of a real memory as data frames."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import polars as pl
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
    assert frame([{"a": 1}], library="polars").to_dicts() == [{"a": 1}]


# -- polars ---------------------------------------------------------------------------------------


async def test_facts_in_polars(moved: Any) -> None:
    page = await moved.facts()
    table = frame(page, library="polars")
    assert isinstance(table, pl.DataFrame)
    assert table.columns == list(Fact.model_fields)
    assert table["object"].to_list() == ["Bonn", "Cork"]
    moment = pl.Datetime("us", "UTC")
    assert [table.schema[name] for name in ("valid_from", "valid_until")] == [moment] * 2
    assert table["valid_until"].to_list() == [fact.valid_until for fact in page.facts]
    assert table["valid_from"].dt.year().to_list() == [900, 2021]
    assert [table.schema[name] for name in ("open", "belief", "version", "closed_reason")] == [
        *(pl.Boolean, pl.Float64, pl.Int64, pl.String)
    ]
    assert table["closed_reason"].to_list() == ["belief", None]
    assert table.equals(frame(list(page.facts), library="polars"))
    open_ones = table.filter(pl.col("valid_until").is_null())
    assert open_ones["object"].to_list() == ["Cork"]


async def test_decisions_and_changes_in_polars(moved: Any) -> None:
    (cork,) = (await moved.facts(open=True)).facts
    decisions = (await moved.explain(cork)).decisions
    table = frame(decisions, library="polars")
    assert table.schema["pieces"] == pl.List(pl.Float64)
    assert table["pieces"].to_list() == [list(each.pieces) for each in decisions]
    assert any(table["pieces"].list.len())
    changes = frame(await moved.diff("2020-01-01"), library="polars")
    assert changes.select("kind", "fact_object").rows() == [("ended", "Bonn"), ("began", "Cork")]
    nothing = frame(await moved.diff("2022-01-01", "2022-02-01"), library="polars")
    assert (nothing.height, nothing.columns) == (0, changes.columns)


def test_rows_in_polars() -> None:
    rows = [{"a": 1, "d": {"x": 1}}, {"a": 2.5, "b": "x", "l": ["u"], "t": ()}, {"b": None}]
    table = frame(rows, library="polars")
    assert table.schema == {
        "a": pl.Float64,
        "d": pl.Object,
        "b": pl.String,
        "l": pl.List(pl.String),
        "t": pl.List(pl.Null),
    }
    assert table["a"].to_list() == [1.0, 2.5, None]
    assert table["d"].to_list() == [{"x": 1}, None, None]
    assert frame([], library="polars").is_empty()
    with pytest.raises(InputError, match="no record"):
        frame(["a"], library="polars")  # type: ignore[list-item]
    with pytest.raises(InputError, match="vaex"):
        frame(rows, library="vaex")  # type: ignore[call-overload]


def test_without_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="polars") as caught:
        frame([], library="polars")
    assert "engram-graph[polars]" in caught.value.hint
