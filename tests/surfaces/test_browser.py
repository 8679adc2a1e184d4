"""Neo4j Browser shows the demo's graph: entities by name, each relation in a colour of its own.

A real Chromium is driven through the real page. Without one these tests are skipped; the check
of the style file is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from engram_graph.browser import style_path
from engram_graph.server import ServerInfo
from engram_graph.vocabulary import PREDICATES
from tests.surfaces.browser_page import BrowserPage, open_browser

GRAPH = "MATCH p=(:Entity {namespace:'demo'})-[r]->(:Entity) RETURN p"
HOMES = (
    "MATCH (:Entity {name:'Maya'})-[r:LIVES_IN]->(c) "
    "RETURN c.name, r.valid_from, r.valid_until ORDER BY r.valid_from"
)
Open = Callable[[], AbstractContextManager[BrowserPage]]


def style() -> dict[str, dict[str, str]]:
    """The rules of the style file, read as Browser reads them."""
    rules = re.findall(
        r"([\w.]+)\s*{(.*?)^}", style_path().read_text(encoding="utf-8"), re.M | re.S
    )
    return {
        selector: {
            parts[0].strip(): parts[1].strip().strip('"')
            for line in body.split(";")
            if len(parts := line.split(":")) == 2
        }
        for selector, body in rules
    }


def css(colour: str) -> str:
    """``#1565C0`` as a browser computes it."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.fixture
def connected(chromium: str, demo_neo4j: ServerInfo, tmp_path: Path) -> Open:
    """Opens Browser and connects as a person does: user, password, Connect."""

    @contextmanager
    def connect() -> Iterator[BrowserPage]:
        assert demo_neo4j.http_url is not None
        with open_browser(chromium, demo_neo4j.http_url, tmp_path / "page.png") as browser:
            assert demo_neo4j.bolt_uri.endswith("//" + browser.bolt_address())
            browser.connect(demo_neo4j.username, demo_neo4j.password)
            yield browser

    return connect


def test_every_relation_has_a_colour_of_its_own() -> None:
    rules = style()
    colours = [rules[f"relationship.{one.neo4j_type}"]["color"] for one in PREDICATES.values()]
    assert len(set(colours)) == len(PREDICATES) == 25
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in colours)
    assert rules["relationship"]["caption"] == "<type>"
    assert rules["node.Entity"]["caption"] == "{name}"
    assert rules["node.Fact"]["caption"] == "{text}"


@pytest.mark.browser
def test_graph_shows_names_and_coloured_relations(connected: Open) -> None:
    rules = style()
    with connected() as browser:
        plain = browser.drawing(browser.run(GRAPH))
        assert {"Maya", "Jonas", "Lisbon", "Porto", "Bremen"} <= set(plain.names)
        assert {"LIVES_IN", "WORKS_AT", "BORN_IN", "HOBBY", "PLANS"} <= set(plain.legend)
        assert len({colour for _, colour in plain.edges}) == 1  # Browser's own: all grey

        browser.drop(style_path())
        assert "relationship.LIVES_IN" in browser.style()
        frame = browser.run(f"{GRAPH} // in colour")
        drawn = browser.drawing(frame)
        assert {"Maya", "Jonas", "Lisbon", "Porto", "Bremen"} <= set(drawn.names)
        assert drawn.legend == {
            type_: css(rules[f"relationship.{type_}"]["color"]) for type_ in plain.legend
        }
        assert len(drawn.edges) == len(plain.edges)
        for caption, colour in drawn.edges:
            # A short arrow has room for the beginning of its caption only.
            shown = "NEGATED" if caption.startswith("not") else caption.rstrip("…")
            types = [type_ for type_ in drawn.legend if type_.startswith(shown)]
            assert colour in [drawn.legend[type_] for type_ in types], (caption, colour)
        lives, works = drawn.colours("LIVES_IN"), drawn.colours("WORKS_AT")
        assert (len(lives), len(works)) == (1, 1)
        assert lives != works

        # A click on an arrow tells its fact.
        browser.select(frame, "Maya lives in Porto")
        panel = frame.get_by_test_id("vizInspector").inner_text()
        for name in ("belief", "fact_id", "valid_from", "valid_until", "closed_reason"):
            assert name in panel


@pytest.mark.browser
def test_analyst_reads_a_history_in_the_table(connected: Open) -> None:
    with connected() as browser:
        headings, rows = browser.table(browser.run(HOMES))
    assert headings == ["c.name", "r.valid_from", "r.valid_until"]
    assert [city for city, _, _ in rows] == ['"Lisbon"', '"Porto"', '"Lisbon"']
    (_, first, moved), (_, arrived, left), (_, back, now) = rows
    assert first == '"2024-01-08T18:12:00Z"'
    assert (moved, left) == (arrived, back)
    assert now == "null"
