"""``engram query``: the analysts' questions listed, shown and run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.graph.analyst import library

Engram = Callable[..., Any]


@pytest.fixture
def homes(maya: Engram) -> Engram:
    """Maya moved once."""
    told = ("--said-at", "2025-01-01", "--speaker", "Maya")
    maya("remember", "Maya", "lives_in", "Lisbon", *told)
    maya("remember", "Maya", "lives_in", "Porto", "--said-at", "2025-05-06", "--speaker", "Maya")
    return maya


def test_the_list_needs_no_database(engram: Engram) -> None:
    done = engram("query")
    assert done.code == 0
    assert {line.split()[0] for line in done.out.splitlines()[1:]} == set(library())
    assert "relation_history" in done.out
    assert "subject [predicate]" in done.out
    found = {each["name"]: each for each in engram("query", "--json").json}
    assert set(found) == set(library())
    assert found["hubs"]["parameters"][1]["default"] == 20
    assert found["hubs"]["columns"][0] == {"names": ["entity"], "about": "its name."}


def test_rows_as_a_table(homes: Engram) -> None:
    done = homes("query", "relation-history", "-p", "subject=Maya", "--param", "predicate=lives_in")
    head, *lines = done.out.splitlines()
    assert head.split()[:4] == ["object", "fact", "negated", "valid_from"]
    assert [line.split()[0] for line in lines] == ["Lisbon", "Porto"]
    assert "2025-01-01" in lines[0]
    assert "Maya lives in Porto" in lines[0]  # which superseded it
    assert (done.code, done.err) == (0, "")


def test_rows_as_json_and_csv(homes: Engram) -> None:
    asked = ("query", "relation_history", "-p", "subject=Maya", "-p", "predicate=lives_in")
    rows = homes(*asked, "--json").json
    assert [row["object"] for row in rows] == ["Lisbon", "Porto"]
    assert rows[0]["valid_until"] == "2025-05-06T00:00:00+00:00"
    assert rows[1]["superseded_by"] == []
    read = list(csv.DictReader(io.StringIO(homes(*asked, "--csv").out)))
    assert [row["object"] for row in read] == ["Lisbon", "Porto"]
    assert read[0]["superseded_by"] == '["Maya lives in Porto"]'
    assert (read[0]["negated"], read[1]["valid_until"]) == ("false", "")
    assert tuple(read[0]) == library()["relation_history"].column_names


def test_a_narrow_window_gets_records(homes: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram_graph.cli.output._WIDE", 60)
    done = homes("query", "relation_history", "-p", "subject=Maya", "-p", "predicate=lives_in")
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("—")] == ["— 1", "— 2"]
    assert lines[1].split() == ["object", "Lisbon"]
    assert "valid_until    2025-05-06" in lines[1:13]


def test_no_rows_and_more_rows(homes: Engram) -> None:
    nothing = homes("query", "open_contradictions")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no rows\n")
    assert homes("query", "open_contradictions", "--json").json == []
    header = homes("query", "open_contradictions", "--csv").out
    assert header == ",".join(library()["open_contradictions"].column_names) + "\n"
    more = homes("query", "hubs", "-p", "limit=1")
    assert "-p limit=2" in more.err
    assert homes("query", "hubs").err == ""


def test_what_the_store_holds_steers_no_terminal(maya: Engram) -> None:
    maya("remember", "Maya", "owns", "a \x1b[31mkite")
    for form in ((), ("--csv",)):
        done = maya("query", "current_facts", "-p", "entity=Maya", *form)
        assert "kite" in done.out
        assert "\x1b" not in done.out


def test_show_prints_what_browser_takes(engram: Engram) -> None:
    shown = engram("-n", "o'neil", "query", "world_as_of", "-p", "as_of=2025-01-02", "--show").out
    lines, statement = shown.split("\n\n", 1)
    assert lines.splitlines() == [
        ":param namespace => 'o\\'neil'",
        ":param as_of => datetime('2025-01-02T00:00:00+00:00')",
        ":param known_at => null",
        ":param limit => 1000",
    ]
    assert statement == library()["world_as_of"].query.text + ";\n"
    unset = engram("query", "why_closed", "--show", "--json").json
    assert unset["params"] == [
        ":param namespace => 'demo'",
        ":param subject => 'Maya'",
        ":param predicate => null",
    ]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("why_close",), "no query is called 'why_close'", "Did you mean why_closed?"),
        (("why_closed",), "why_closed needs subject", "subject: whom"),
        (("hubs", "-p", "limt=1"), "hubs has no parameter 'limt'", "Did you mean limit?"),
        (("hubs", "-p", "limt=1", "--show"), "hubs has no parameter 'limt'", "Did you mean limit?"),
        (("hubs", "-p", "limit=x"), "limit must be a whole number, not 'x'", "most rows."),
        (("hubs", "-p", "limit"), "not of the form NAME=VALUE: 'limit'", "-p subject=Maya"),
        (("hubs", "-p", "limit=1", "-p", "limit=2"), "limit is given twice", ""),
        (("hubs", "-p", "namespace=b"), "the namespace comes from -n or ENGRAM_NAMESPACE", ""),
        (("-p", "limit=1"), "which query?", "`engram query`"),
        (("hubs", "--csv"), "--csv and --json exclude each other", ""),
    ],
)
def test_a_wrong_call_is_refused_before_anything_starts(
    engram: Engram, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    done = engram("-n", "nobody", "query", *arguments, "--json")
    assert (done.code, done.error["code"], done.error["message"]) == (2, "input", message)
    assert hint in done.error.get("hint", "")


@pytest.mark.parametrize("name", ["hubs", "why_closed"])
def test_a_namespace_is_needed(engram: Engram, name: str) -> None:
    """Before any parameter that the query needs."""
    done = engram("query", name, "--json")
    assert (done.code, done.error["code"]) == (2, "scope")
    assert "-n NAME" in done.error["hint"]
