"""Records as pandas data frames (extra ``pandas``).

frame(memory.facts(limit=10_000))
frame(memory.explain(fact).decisions)
frame(memory.diff("2024-01-01"))
frame(memory.query("world_as_of"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from engram_graph.errors import InputError, MissingExtraError
from engram_graph.models.facts import Fact, Record
from engram_graph.models.results import Diff, DiffEntry, Page, Timeline

if TYPE_CHECKING:
    import pandas as pd

Rows = Iterable[Record | Mapping[str, Any]]
_MOMENT = "datetime64[us, UTC]"  # years 1 to 9999; the usual nanoseconds end in 2262


def frame(records: Page | Timeline | Diff | Rows) -> pd.DataFrame:
    """A row for each record, a column for each field, in their order.

    Moments become ``datetime64[us, UTC]`` and labels text; what is missing is missing. The fields
    of a record inside another have its name in front, such as ``fact_text``. Other values that
    are not plain stay as they are.

    Args:
        records: a page or a timeline (its facts), a diff (its changes), or any records or rows
            (mappings), such as decisions. Without any there are no columns, unless the sort is
            known.

    Raises:
        MissingExtraError: pandas is not installed. InputError: something that is no record.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("data frames need pandas", extra="pandas") from error
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
    return pd.DataFrame(
        {name: _series(pd, [row.get(name) for row in rows]) for name in columns}, columns=columns
    )


def _series(pd: Any, values: list[Any]) -> Any:
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, datetime) for value in given):
        return pd.Series(values, dtype=_MOMENT)
    return pd.Series(values, dtype=None if given else object)


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
