"""``query``: the queries of ``cypher/analyst``, listed, shown and run."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import Output, one_line
from engram_graph.cli.run import Run, command
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.graph.analyst import AnalystQuery

_CELL = 60  # columns of a table that one cell takes at most; longer rows are shown as records


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    command(app, "query", panel="Read")(query)


async def query(
    run: Run,
    name: Annotated[str | None, typer.Argument(help="Which; without it, all are listed.")] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter; repeatable."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the Cypher instead, to paste into Neo4j Browser.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Rows as CSV with a header.")] = False,
) -> None:
    """Ask the graph one of the analysts' questions, or list them. It only reads."""
    from engram_graph.graph import analyst

    if as_csv and run.json:
        raise InputError("--csv and --json exclude each other", field="csv")
    if name is None:
        if param or show or as_csv:
            raise InputError("which query?", hint="`engram query` lists them.", field="name")
        _list(run, list(analyst.library().values()))
        return
    wanted = analyst.named(name)
    given = _given(param or ())
    if show:
        _show(run, wanted, given)
        return
    async with run.memory() as memory:
        rows = await memory.query(wanted.name, **given)
    cells = [[row[column] for column in wanted.column_names] for row in rows]
    if run.json:
        run.out.data(rows)
    elif as_csv:
        sys.stdout.write(_csv([wanted.column_names, *cells]))
    elif rows:
        _table(run.out, wanted.column_names, cells)
    else:
        run.out.note("no rows")
    limit = next((p.default for p in wanted.params if p.name == "limit"), None)
    if rows and limit is not None and len(rows) == int(given.get("limit", limit)):
        run.out.note(f"there may be more: -p limit={2 * len(rows)}")


def _given(texts: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip().lstrip("$")
        if not sign or not name:
            raise InputError(
                f"not of the form NAME=VALUE: {text!r}",
                hint="Such as -p subject=Maya.",
                field="param",
            )
        if name == "namespace":
            raise InputError("the namespace comes from -n or ENGRAM_NAMESPACE", field="param")
        if name in found:
            raise InputError(f"{name} is given twice", field=name)
        found[name] = value
    return found


def _list(run: Run, known: Sequence[AnalystQuery]) -> None:
    if run.json:
        run.out.data([each.described() for each in known])
        return
    run.out.table(
        ["name", "parameters", "what it answers"],
        (
            (
                each.name,
                " ".join(p.name if p.required else f"[{p.name}]" for p in each.params[1:]),
                each.title,
            )
            for each in known
        ),
    )
    run.out.note("engram query NAME -n NAMESPACE -p name=value …; --show prints its Cypher")


def _show(run: Run, wanted: AnalystQuery, given: dict[str, str]) -> None:
    """The statement behind lines that set its parameters, as Browser and cypher-shell take them."""
    from engram_graph.graph import analyst

    values = {name: analyst.value_of(wanted.require(name), value) for name, value in given.items()}
    namespace = run.namespace or run.settings().namespace
    if namespace:
        values[analyst.NAMESPACE] = namespace
    lines = []
    for each in wanted.params:
        unset = each.example if each.required else analyst.as_cypher(each.default)
        value = analyst.as_cypher(values[each.name]) if each.name in values else unset
        lines.append(f":param {each.name} => {value}")
    if run.json:
        run.out.data({"name": wanted.name, "params": lines, "cypher": wanted.query.text})
        return
    sys.stdout.write("\n".join([*lines, "", f"{wanted.query.text};", ""]))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: Any) -> object:
    """A cell of CSV: lists as JSON, moments as ISO 8601, nothing that could steer a terminal."""
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in value)
    if isinstance(value, bool):
        return str(value).lower()
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat is not None else value


def _table(out: Output, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table; where the window is too narrow for it, one block a row."""
    shown = [[_cell(value) for value in row] for row in rows]
    widths = [
        min(max(len(name), *(len(row[i]) for row in shown)), _CELL)
        for i, name in enumerate(columns)
    ]
    if sum(widths) + 2 * len(widths) <= out.stdout.width:
        numbers = [
            all(isinstance(row[i], int | float | None) and row[i] is not True for row in rows)
            for i in range(len(columns))
        ]
        heads = [
            f">{name}" if right else name for name, right in zip(columns, numbers, strict=True)
        ]
        out.table(heads, shown)
        return
    longest = max(len(name) for name in columns)
    for number, row in enumerate(shown, 1):
        out.line(f"— {number}")
        out.lines(
            f"{name.ljust(longest)}  {cell}"
            for name, cell in zip(columns, row, strict=True)
            if cell
        )


def _cell(value: Any) -> str:
    from engram_graph.cli.show import moment

    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_cell(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return one_line(str(value))
