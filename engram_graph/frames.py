"""Records as data frames of pandas or polars (extras ``pandas``, ``polars``).

frame(memory.facts(limit=10_000))
frame(memory.explain(fact).decisions)
frame(memory.diff("2024-01-01"), library="polars")
frame(memory.query("world_as_of"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, overload

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.models.facts import Fact, Record
from engram_graph.models.results import Diff, DiffEntry, Page, Timeline

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Rows = Iterable[Record | Mapping[str, Any]]
Library = Literal["pandas", "polars"]
_MOMENT = "datetime64[us, UTC]"  # years 1 to 9999; the usual nanoseconds end in 2262


@overload
def frame(
    records: Page | Timeline | Diff | Rows, library: Literal["pandas"] = ...
) -> pd.DataFrame: ...


@overload
def frame(records: Page | Timeline | Diff | Rows, library: Literal["polars"]) -> pl.DataFrame: ...


def frame(
    records: Page | Timeline | Diff | Rows, library: Library = "pandas"
) -> pd.DataFrame | pl.DataFrame:
    """A row for each record, a column for each field, in their order.

    Moments become ``datetime64[us, UTC]`` (polars: ``Datetime("us", "UTC")``) and labels text; what
    is missing is missing. The fields of a record inside another have its name in front, such as
    ``fact_text``. Of polars, lists of plain values become ``List``. Other values stay as they are.

    Args:
        records: a page or a timeline (its facts), a diff (its changes), or any records or rows
            (mappings), such as decisions. Without any there are no columns, unless the sort is
            known.
        library: ``pandas`` or ``polars``.

    Raises:
        MissingExtraError: that library is not installed. InputError: another library, or something
            that is no record.
    """
    if library not in ("pandas", "polars"):
        raise InputError(f"no library for data frames: {library!r}", hint="pandas or polars")
    columns: list[str] = []
    items: Rows
    if isinstance(records, Diff):
        items, columns = records.changes, _columns(DiffEntry)
    elif isinstance(records, Page | Timeline):
        items, columns = records.facts, _columns(Fact)
    else:
        items = records
    rows = [_flat(each) for each in items]
    columns = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    values = {name: [row.get(name) for row in rows] for name in columns}
    return _of_polars(values) if library == "polars" else _of_pandas(values)


def _of_pandas(columns: dict[str, list[Any]]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("data frames need pandas", extra="pandas") from error

    def series(values: list[Any]) -> Any:
        given = [value for value in values if value is not None]
        if given and all(isinstance(value, datetime) for value in given):
            return pd.Series(values, dtype=_MOMENT)
        return pd.Series(values, dtype=None if given else object)

    return pd.DataFrame(
        {name: series(values) for name, values in columns.items()}, columns=list(columns)
    )


def _of_polars(columns: dict[str, list[Any]]) -> pl.DataFrame:
    try:
        import polars as pl
    except ImportError as error:
        raise MissingExtraError("these data frames need polars", extra="polars") from error

    def plain(given: Iterable[Any]) -> Any:
        """The type of plain values; None for others."""
        kinds = {type(value) for value in given}
        if kinds <= {int, float} and len(kinds) == 2:
            return pl.Float64
        types = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}
        return types.get(kinds.pop()) if len(kinds) == 1 else None

    def series(name: str, values: list[Any]) -> pl.Series:
        given = [value for value in values if value is not None]
        if all(isinstance(value, datetime) for value in given):
            return pl.Series(name, values, pl.Datetime("us", "UTC") if given else pl.Null)
        if all(isinstance(value, list | tuple) for value in given):
            inner = [each for value in given for each in value]
            kind = plain(inner) if inner else pl.Null
            if kind is not None:
                lists = [None if value is None else list(value) for value in values]
                return pl.Series(name, lists, pl.List(kind))
            return pl.Series(name, values, pl.Object)
        return pl.Series(name, values, plain(given) or pl.Object)

    return pl.DataFrame([series(name, values) for name, values in columns.items()])


def _columns(record: type[Record]) -> list[str]:
    names: list[str] = []
    for name, field in record.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Record):
            names += [f"{name}_{each}" for each in _columns(inner)]
        else:
            names.append(name)
    return names


def _flat(record: object) -> dict[str, Any]:
    if isinstance(record, Record):
        fields: Mapping[str, Any] = {
            name: getattr(record, name) for name in type(record).model_fields
        }
    elif isinstance(record, Mapping):
        fields = record
    else:
        raise InputError(
            f"{type(record).__name__} is no record",
            hint="Pass what facts, history, diff or query return, or a list of records.",
        )
    row: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Record):
            row |= {f"{name}_{inner}": each for inner, each in _flat(value).items()}
        else:
            row[name] = str(value.value) if isinstance(value, Enum) else value
    return row
