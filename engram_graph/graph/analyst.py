"""The library of queries for people: ``cypher/analyst/<name>.cypher``, read, checked and run.

Each file runs as it stands in Neo4j Browser and cypher-shell. Its opening comment says what the
query answers, its parameters with an example each (lines that set them in both), and its columns.
Every parameter has a Cypher type, and a default unless it must be given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import Any

from engram_graph.clock import instant
from engram_graph.errors import InputError, SchemaError, StoreError
from engram_graph.graph import records
from engram_graph.graph.driver import Graph, Row
from engram_graph.graph.queries import NamedQuery, cypher_folder, used_params
from engram_graph.rules.validate import clean_text

TYPES = ("STRING", "INTEGER", "FLOAT", "BOOLEAN", "ZONED DATETIME")
NAMESPACE = "namespace"
_PARAM = re.compile(r":param (\w+) => (\S.*)")
_KIND = re.compile(rf"({'|'.join(TYPES)})(?: = (\S+))?: (\S.*\.)")
_COLUMN = re.compile(r"(\w+(?:, \w+)*): (\S.*)")
_DATETIME = re.compile(r"datetime\('([^']+)'\)")
_REFUSED = "Neo.ClientError.Statement.AccessMode"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as its file declares it.

    Attributes:
        type: one of ``TYPES``. doc: what it means.
        example: as written in Cypher. required: it has no default.
    """

    name: str
    type: str
    doc: str
    example: str
    required: bool
    default: Any = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the answer, or several that belong together."""

    names: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class AnalystQuery:
    """One query for people.

    Attributes:
        title: the question it answers. doc: what else there is to know; may be empty.
        params: in the order of the file, ``namespace`` first.
        source: the whole file. query: the statement as it is run.
    """

    name: str
    title: str
    doc: str
    params: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    source: str
    query: NamedQuery

    @property
    def column_names(self) -> tuple[str, ...]:
        """Every column in its order."""
        return tuple(name for column in self.columns for name in column.names)

    def described(self) -> dict[str, Any]:
        """What it answers, takes and gives, as plain data."""
        return {
            "name": self.name,
            "question": self.title,
            "about": self.doc,
            "parameters": [
                {
                    "name": each.name,
                    "type": each.type,
                    "required": each.required,
                    "default": each.default,
                    "example": each.example,
                    "about": each.doc,
                }
                for each in self.params
            ],
            "columns": [{"names": list(each.names), "about": each.doc} for each in self.columns],
        }

    def arguments(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Values for all parameters but the namespace; text is read as the parameter's type.

        Raises:
            InputError: one is unknown, missing, or not of its type.
        """
        own = self._own()
        for name in given:
            self.require(name)
        missing = [name for name, each in own.items() if each.required and name not in given]
        if missing:
            raise InputError(
                f"{self.name} needs {' and '.join(missing)}",
                hint="; ".join(f"{name}: {own[name].doc}" for name in missing),
                field=missing[0],
            )
        return {
            name: value_of(each, given[name]) if name in given else each.default
            for name, each in own.items()
        }

    def require(self, name: str) -> Parameter:
        """The parameter called ``name``, the namespace left out.

        Raises:
            InputError: there is none; the hint says which there are.
        """
        own = self._own()
        if name in own:
            return own[name]
        takes = f"It takes {', '.join(own)}." if own else "It takes none but the namespace."
        raise InputError(
            f"{self.name} has no parameter {name!r}",
            hint=_nearest(name, own) or takes,
            field=name,
        )

    def _own(self) -> dict[str, Parameter]:
        return {each.name: each for each in self.params if each.name != NAMESPACE}


def value_of(parameter: Parameter, given: object) -> Any:
    """``given`` as a value of the parameter's type; None where a default of null allows it.

    Raises:
        InputError: it is not of that type.
    """
    name, kind = parameter.name, parameter.type
    if given is None and not parameter.required and parameter.default is None:
        return None
    if kind == "STRING" and isinstance(given, str):
        return clean_text(given, name)
    if kind == "ZONED DATETIME":
        return instant(given, name)  # type: ignore[arg-type]  # it refuses what is no moment
    if kind == "BOOLEAN":
        found = {"true": True, "false": False}.get(str(given).lower())
        if found is not None:
            return found
    if kind in ("INTEGER", "FLOAT") and not isinstance(given, bool):
        number = _number(kind, given)
        if number is not None and (kind == "FLOAT" or abs(number) < 2**63):
            if name == "limit" and number < 0:
                raise InputError("limit must not be negative", field=name)
            return number
    raise InputError(f"{name} must be {_A[kind]}, not {given!r}", hint=parameter.doc, field=name)


_A = {
    "STRING": "a text",
    "INTEGER": "a whole number",
    "FLOAT": "a number",
    "BOOLEAN": "true or false",
}


def _number(kind: str, given: object) -> int | float | None:
    try:
        if kind == "INTEGER":
            return int(given) if isinstance(given, int | str) else None
        number = float(given) if isinstance(given, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


# -- the files -------------------------------------------------------------------------------------


@cache
def library() -> dict[str, AnalystQuery]:
    """Every query for people, by name."""
    paths = sorted((cypher_folder() / "analyst").glob("*.cypher"))
    return {
        path.stem: parse(path.stem, path.read_text(encoding="utf-8"), f"analyst/{path.name}")
        for path in paths
    }


def named(name: str) -> AnalystQuery:
    """The query called ``name``; hyphens count as underscores.

    Raises:
        InputError: there is none; the hint says which is near.
    """
    known = library()
    found = known.get(name.strip().lower().replace("-", "_").removesuffix(".cypher"))
    if found is None:
        raise InputError(
            f"no query is called {name!r}",
            hint=_nearest(name, known) or "`engram query` lists them.",
            field="name",
        )
    return found


def parse(name: str, text: str, origin: str) -> AnalystQuery:
    """The query of one file.

    Raises:
        SchemaError: with file and line, what its opening comment lacks or gets wrong.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    comment = [line.removeprefix("//").rstrip() for line in lines[:start]]
    statement = "\n".join(lines[start:]).strip()

    def wrong(at: int, what: str) -> SchemaError:
        return SchemaError(f"{origin}:{at + 1}: {what}")

    if not comment or not comment[0].endswith("?"):
        raise wrong(0, "the first line is not a question")
    if not statement.startswith("CYPHER 25\n"):
        raise wrong(start, "the statement does not begin with CYPHER 25")
    places = {part: i for i, part in enumerate(comment) if part in _PARTS}
    for part in _PARTS:
        if part not in places:
            raise wrong(start, f"no part {part.strip()!r} in the comment before")
    first, second = (places[part] for part in _PARTS)
    if first > second:
        raise wrong(first, "the parameters stand behind the columns")
    params = _parameters(comment, first, second, wrong)
    columns = _columns(comment, second, wrong)
    used = used_params(statement)
    for each in params:
        if each.name not in used:
            raise wrong(first, f"parameter {each.name!r} is not used")
    if unsaid := used - {each.name for each in params}:
        raise wrong(first, f"no parameter {min(unsaid)!r}, which the statement uses")
    return AnalystQuery(
        name=name,
        title=comment[0].strip(),
        doc=" ".join(" ".join(comment[1:first]).split()),
        params=params,
        columns=columns,
        source=text,
        # Literal in spirit: the text comes from our own files, never from data.
        query=NamedQuery(name, statement, comment[0].strip(), used, f"{origin}:{start + 1}"),
    )


_PARTS = (" Parameters:", " Columns:")


def _parameters(comment: list[str], first: int, second: int, wrong: Any) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    at = first + 1
    while at < second and comment[at]:
        given = _PARAM.fullmatch(comment[at].strip())
        if given is None:
            raise wrong(at, "not of the form `:param name => example`")
        kind = _KIND.fullmatch(comment[at + 1].strip())
        if kind is None:
            raise wrong(at + 1, "not of the form `TYPE: what it means.` or `TYPE = default: …`")
        name, example = given[1], given[2]
        default = literal(kind[2], kind[1], wrong, at + 1) if kind[2] else None
        literal(example, kind[1], wrong, at)
        found.append(Parameter(name, kind[1], kind[3], example, kind[2] is None, default))
        at += 2
    if not found or (found[0].name, found[0].type, found[0].required) != (
        NAMESPACE,
        "STRING",
        True,
    ):
        raise wrong(first, "the first parameter is not `namespace`, a STRING without default")
    return tuple(found)


def literal(text: str, kind: str, wrong: Any, at: int) -> Any:
    """A value as it is written in Cypher: null, true, 'text', 1, 0.5, datetime('2025-01-01')."""
    if text == "null":
        return None
    if kind == "STRING" and re.fullmatch(r"'[^'\\]*'", text):
        return text[1:-1]
    if kind == "BOOLEAN" and text in ("true", "false"):
        return text == "true"
    if kind in ("INTEGER", "FLOAT") and (number := _number(kind, text)) is not None:
        return number
    if kind == "ZONED DATETIME" and (found := _DATETIME.fullmatch(text)):
        return instant(found[1])
    raise wrong(at, f"{text} is no {kind}")


def _columns(comment: list[str], second: int, wrong: Any) -> tuple[Column, ...]:
    found: list[Column] = []
    for at in range(second + 1, len(comment)):
        line = comment[at]
        if line.startswith("     ") and found:  # the description goes on
            found[-1] = Column(found[-1].names, f"{found[-1].doc} {line.strip()}")
            continue
        match = _COLUMN.fullmatch(line.strip())
        if match is None:
            raise wrong(at, "not of the form `column, column: what it holds.`")
        found.append(Column(tuple(match[1].split(", ")), match[2]))
    if not found:
        raise wrong(second, "no column is described")
    return tuple(found)


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(name.lower().replace("-", "_"), known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(near)}?" if near else ""


# -- running ---------------------------------------------------------------------------------------


async def run(
    graph: Graph, namespace: str, query: AnalystQuery, arguments: Mapping[str, Any]
) -> list[Row]:
    """The rows of a query for people; see ``rows``."""
    return await rows(graph, query.query, {**arguments, NAMESPACE: namespace})


async def rows(graph: Graph, query: NamedQuery, params: Mapping[str, Any]) -> list[Row]:
    """The rows of a reading statement, in Python's own types; moments in UTC.

    It runs in a transaction that the server itself holds to reading.

    Raises:
        InputError: the statement writes; nothing was written.
    """
    try:
        found = await graph.read(query, **params)
    except StoreError as error:
        if error.details.get("server_code") == _REFUSED:
            raise InputError(
                f"{query.name} writes, and only reading is allowed here", field="query"
            ) from error
        raise
    return [records.native(row) for row in found]


def as_cypher(value: Any) -> str:
    """A value as it is written in Cypher, for a ``:param`` line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"datetime('{value.isoformat()}')"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return str(value)
