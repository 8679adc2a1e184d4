"""The guide for Neo4j Browser, walked through in a real Chromium as somebody new would walk it.

Without a Chromium those tests are skipped; what the guide asks is run on the database without one.
"""

from __future__ import annotations

import html
import http.client
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from engram_graph import demo
from engram_graph.browser import guide, saved
from engram_graph.browser.serve import GuideServer, guide_path
from engram_graph.browser.tour import Tour, plan
from engram_graph.errors import NotFoundError
from engram_graph.graph import analyst
from engram_graph.server import ServerInfo
from engram_graph.vocabulary import PREDICATES
from tests.surfaces.browser_page import (
    BrowserPage,
    guide_of,
    open_browser,
)

Engram = Callable[..., Any]
Open = Callable[..., AbstractContextManager[BrowserPage]]
HOSTILE = "O'Neil \\ onload=\"x\" <img src=x onerror='window.hacked=1'>'}) DETACH DELETE n //"
NUMBER = len(analyst.library())
PARAMETERS = {each.name for query in analyst.library().values() for each in query.params}


def table(tour: Tour, answers: Any) -> dict[str, list[dict[str, Any]]]:
    """Heading → rows of each query of the guide."""
    return {heading: answers(query) for heading, query in guide.queries(tour)}


@pytest.fixture
def answers(server: Any) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """Runs a query as Browser does: without a parameter."""
    import neo4j

    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        yield lambda query: driver.execute_query(query, routing_="r").records


# -- what the guide tells -------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_demos_guide(memory: Any, namespace: str, answers: Any) -> None:
    for message in demo.messages():
        await memory.add([message])
    tour = await plan(memory)
    assert tour is not None
    assert (tour.namespace, tour.subject, tour.predicate.name) == (namespace, "Maya", "lives_in")
    assert tour.ended is not None
    found = table(tour, answers)
    assert list(found) == [
        "People, things, and what is true of them",
        "What was true in March 2024?",
        "And before, and after?",
        "What took its place?",
        "Why was “Maya lives in Lisbon” closed?",
        "The decision itself",
        "How did belief move?",
        "What changed between two dates?",
    ]
    graph, march, homes, chain, why, decision, belief, changes = found.values()
    assert len(graph) == 24
    assert [(row["value"], str(row["since"]), str(row["until"])) for row in march] == [
        ("Lisbon", "2024-01-08", "2024-05-06")
    ]
    assert [row["value"] for row in homes] == ["Lisbon", "Porto", "Lisbon"]
    assert [row["closed_reason"] for row in homes] == ["belief", "belief", None]
    assert len(chain) == len(decision) == 2
    assert [(row["closed"], row["because_of"], row["said"]) for row in why] == [
        ("Maya lives in Lisbon", "Maya lives in Porto", "I moved to Porto last week!"),
        ("Maya lives in Porto", "Maya lives in Lisbon", "I moved back to Lisbon yesterday."),
    ]
    assert {(row["answer"], row["p"], row["before"], row["after"]) for row in why} == {
        ("update", 1.0, 0.98, 0.02)
    }
    assert [(row["before"], row["after"]) for row in belief][:2] == [(None, 0.98), (0.98, 0.02)]
    told = [(row["change"], row["fact"]) for row in changes]
    assert ("ended", "Maya lives in Lisbon") in told
    assert ("began", "Maya lives in Porto") in told


@pytest.mark.anyio
async def test_a_guide_of_ones_own(memory: Any, answers: Any) -> None:
    """No fact has ended, and the name is what nobody should have: nothing breaks out of it."""
    assert await plan(memory) is None
    with pytest.raises(NotFoundError, match="no fact about 'Ann'") as nobody:
        await plan(memory, "Ann")
    assert f"`engram query hubs -n {memory.namespace}`" in str(nobody.value.hint)
    await memory.remember(HOSTILE, "owns", "a boat", valid_from="2024-03-01")
    await memory.remember(HOSTILE, "owns", "a car", valid_from="2024-04-01")
    await memory.remember("Ben", "works_at", HOSTILE, valid_from="2024-03-01")
    tour = await plan(memory)
    assert tour is not None
    assert (tour.subject, tour.predicate, tour.ended) == (HOSTILE, PREDICATES["owns"], None)
    found = table(tour, answers)
    assert "The decision itself" not in found
    assert [row["value"] for row in found["What was true in March 2024?"]] == ["a boat"]
    assert len(found["People, things, and what is true of them"]) == 3
    assert len(found["How did belief move?"]) == 2

    page = guide.render(tour, style_url="http://s", username="<u>", password_in="<x>")
    assert page.count("<slide>") == 7
    assert f"engram browser -n {memory.namespace} --queries" in page
    assert not any(markup in page for markup in ("<u>", "<x>", "<img"))
    # Nothing is there that Browser would take out, or would take for markup.
    assert re.search(r"\son[^\s=]*\s*=", page) is None
    assert html.unescape(page).count(HOSTILE) >= 3
    about = await plan(memory, "Ben")
    assert about is not None
    assert about.subject == "Ben"


@pytest.mark.anyio
async def test_the_guide_follows_a_decision(memory: Any, answers: Any) -> None:
    """Not an end that was given with the fact, which is earlier here."""
    await memory.remember(
        "Ann", "lives_in", "Aden", valid_from="2010-01-01", valid_until="2015-01-01"
    )
    await memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    await memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    tour = await plan(memory)
    assert tour is not None
    assert tour.ended is not None
    assert tour.ended.object == "Bonn"
    found = table(tour, answers)
    assert [row["value"] for row in found["What was true in July 2020?"]] == ["Bonn"]
    assert [row["because_of"] for row in found["Why was “Ann lives in Bonn” closed?"]] == [
        "Ann lives in Cork"
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("until", ["2024-03-01T12:00:01Z", "9999-12-31"])
async def test_moments_lie_within_the_fact(memory: Any, answers: Any, until: str) -> None:
    """Also of a fact that held for a second, and of one that ends at the last of all dates."""
    await memory.remember(
        "Ann", "owns", "a kite", valid_from="2024-03-01T12:00:00Z", valid_until=until
    )
    tour = await plan(memory)
    assert tour is not None
    assert tour.since <= tour.as_of < tour.until
    (fact,) = (await memory.history("Ann")).facts
    assert fact.holds_at(tour.as_of)
    assert table(tour, answers)[f"What was true in {tour.as_of:%B %Y}?"]


# -- saved queries --------------------------------------------------------------------------------


def test_saved_queries_are_the_library_and_the_guide(maya: Engram, tmp_path: Path) -> None:
    path = tmp_path / "engram.zip"
    empty = maya("browser", "--queries", str(path))
    assert empty.out == f"{NUMBER} queries, {path}\n"
    maya("remember", "Ann", "lives_in", "Bonn", "--valid-from", "2020-01-01")
    maya("remember", "Ann", "lives_in", "Cork", "--valid-from", "2021-01-01")
    refused = maya("browser", "--queries", str(path), "--json")
    assert (refused.code, refused.error["code"]) == (2, "input")
    assert maya("browser", "--queries", str(tmp_path / "engram.cypher")).code == 2
    again = maya("browser", "--queries", str(path), "--overwrite", "--json")
    assert again.json == {"path": str(path), "queries": NUMBER + 1 + 8}
    first = path.read_bytes()
    assert maya("browser", "--queries", str(path), "--overwrite").code == 0
    assert path.read_bytes() == first
    with zipfile.ZipFile(path) as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist()}
    for name, each in analyst.library().items():
        assert texts.pop(f"{saved.FOLDER}/{name}.cypher") == each.source
    script = texts.pop(f"{saved.FOLDER}/parameters.cypher").splitlines()
    assert all(text.startswith(f"// {n:02} ") for n, text in enumerate(texts.values(), 1))
    assert "// 05 Why was “Ann lives in Bonn” closed?\nMATCH" in texts["engram guide/05.cypher"]
    set_ = [line.removeprefix(":param ").partition(" => ")[0] for line in script[1:]]
    assert sorted(set_) == sorted(PARAMETERS)
    assert ":param subject => 'Ann';" in script


# -- what serves it -------------------------------------------------------------------------------


@pytest.fixture
def serving() -> Iterator[GuideServer]:
    with GuideServer("http://127.0.0.1:7474/browser/") as server:
        server.pages = {"/a.html": "é"}
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def asked(
    server: GuideServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, str, str | None]:
    """Status, text and who may read it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers={"Host": f"localhost:{server.port}"} | headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers["Access-Control-Allow-Origin"]


def test_only_browser_reads_the_guide(serving: GuideServer) -> None:
    ours = "http://localhost:7474"
    assert asked(serving, "/a.html?x#slide-2", Origin=ours) == (200, "é", ours)
    assert asked(serving, "/a.html", "OPTIONS", Origin=ours) == (200, "", ours)
    assert asked(serving, "/a.html", Origin="http://127.0.0.1:7474")[2] is not None
    for other in ("http://localhost:7475", "https://localhost:7474", "http://evil.example", "null"):
        assert asked(serving, "/a.html", Origin=other)[2] is None
    assert asked(serving, "/a.html", Host="evil.example") == (403, "", None)
    assert asked(serving, "/../a.html")[0] == asked(serving, "/")[0] == 404
    with GuideServer("https://db.example/browser/") as second:
        assert second.port != serving.port
        assert second.origins == {"https://db.example"}
    assert guide_path("a", "b") != guide_path("b", "a")
    assert re.fullmatch(r"/guide-[0-9a-f]{12}\.html", guide_path("ä&#?", "b"))


def test_the_address_holds_no_password(
    maya: Engram, namespace: str, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def interrupted(_: GuideServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", lambda url: not opened.append(url))
    monkeypatch.setattr(GuideServer, "serve_forever", interrupted)
    maya("remember", "Ann", "lives_in", "Bonn")
    done = maya("browser", "--at", "http://localhost:1234/browser/", "--about", "Ann", "--json")
    assert done.code == 0
    assert "Ctrl-C" in done.err
    (address,) = opened
    assert done.json["address"] == address
    assert server.password not in address
    assert address.startswith("http://localhost:1234/browser/?")
    wanted = parse_qs(urlsplit(address).query)
    host = server.uri.partition("//")[2]
    assert wanted["dbms"][0].endswith(f"//{server.username}@{host}")
    assert wanted["cmd"] == ["guide"]
    assert wanted["arg"] == [done.json["guide_url"]]
    assert urlsplit(wanted["arg"][0]).path == guide_path(namespace, "Ann")
    assert maya("browser", "--about", "Nobody", "--json").error["code"] == "not_found"
    assert maya("browser", "-n", "", "--json").error["code"] == "scope"


# -- in Browser -----------------------------------------------------------------------------------


@pytest.fixture
def guided(chromium: str, demo_neo4j: ServerInfo, tmp_path: Path) -> Open:
    """Runs ``engram browser …``, opens what it opens, and logs in: only the password is missing."""

    @contextmanager
    def start(*arguments: str) -> Iterator[BrowserPage]:
        with (
            guide_of(demo_neo4j.home, tmp_path, *arguments) as address,
            open_browser(chromium, address, tmp_path / "page.png") as browser,
        ):
            assert demo_neo4j.bolt_uri.endswith("//" + browser.bolt_address())
            assert browser.page.get_by_test_id("username").input_value() == demo_neo4j.username
            browser.connect(demo_neo4j.username, demo_neo4j.password)
            yield browser
            assert browser.page.evaluate("window.hacked") is None

    return start


@pytest.mark.browser
def test_somebody_new_finds_out(guided: Open) -> None:
    """By the guide alone: where Maya lived in March, why that home was closed, and by what."""
    with guided() as browser:
        assert browser.heading() == "What a memory knows about Maya"
        address = browser.style_address()
        assert re.fullmatch(r"http://localhost:\d+/style\.grass", address)
        browser.click("load the style")
        assert "relationship.LIVES_IN" in browser.style(f":style {address}")

        assert browser.next_slide() == "People, things, and what is true of them"
        _, frame = browser.run_slide()
        drawn = browser.drawing(frame)
        assert {"Maya", "Lisbon", "Porto"} <= set(drawn.names)
        assert len(set(drawn.legend.values())) == len(drawn.legend)  # the style: all differ

        assert browser.next_slide() == "What was true in March 2024?"
        _, frame = browser.run_slide()
        headings, rows = browser.table(frame)
        assert headings == ["value", "fact", "since", "until"]
        assert rows == [['"Lisbon"', '"Maya lives in Lisbon"', '"2024-01-08"', '"2024-05-06"']]

        assert browser.next_slide() == "And before, and after?"
        _, rows = browser.table(browser.run_slide()[1])
        assert [row[0] for row in rows] == ['"Lisbon"', '"Porto"', '"Lisbon"']
        assert [row[3] for row in rows] == ['"belief"', '"belief"', "null"]

        assert browser.next_slide() == "What took its place?"
        drawn = browser.drawing(browser.run_slide()[1])
        assert len(drawn.names) == 3
        assert {caption for caption, _ in drawn.edges} == {"SUPERSEDES"}

        assert browser.next_slide() == "Why was “Maya lives in Lisbon” closed?"
        headings, rows = browser.table(browser.run_slide()[1])
        first = dict(zip(headings, rows[0], strict=True))
        assert first == {
            "closed": '"Maya lives in Lisbon"',
            "because_of": '"Maya lives in Porto"',
            "answer": '"update"',
            "p": "1.0",
            "before": "0.98",
            "after": "0.02",
            "said": '"I moved to Porto last week!"',
        }

        assert browser.next_slide() == "The decision itself"
        drawn = browser.drawing(browser.run_slide()[1])
        assert sum(name.startswith("relation_to_can") for name in drawn.names) == 2
        assert {"ABOUT", "COMPARED_WITH", "STATED_IN"} <= set(drawn.legend)

        assert browser.next_slide() == "How did belief move?"
        _, rows = browser.table(browser.run_slide()[1])
        assert rows[1][:3] == ['"Maya lives in Lisbon"', "0.98", "0.02"]

        assert browser.next_slide() == "What changed between two dates?"
        _, rows = browser.table(browser.run_slide()[1])
        assert ['"2024-05-06"', '"ended"', '"Maya lives in Lisbon"', '"current"'] in rows

        assert browser.next_slide() == "More questions"
        browser.click("set all of them")
        browser.all_set(len(PARAMETERS))
        headings, rows = browser.table(browser.ask("Why were facts about somebody closed"))
        assert headings[:2] == ["fact", "valid_until"]
        assert rows[0][0] == '"Maya lives in Lisbon"'


@pytest.mark.browser
def test_saved_queries_come_in(
    guided: Open,
    demo_neo4j: ServerInfo,
    engram: Engram,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(demo_neo4j.home.parent))
    path = tmp_path / "engram.zip"
    assert engram("browser", "--queries", str(path)).code == 0
    with guided() as browser:
        browser.drop(path)
        assert browser.favourites(saved.FOLDER) == sorted(
            [*(each.title for each in analyst.library().values()), saved.PARAMETERS[3:]],
            key=str.lower,
        )
        kept = browser.favourites(saved.GUIDE_FOLDER)
        assert len(kept) == 8
        assert kept[1] == "02 What was true in March 2024?"
        # As a person runs one: the parameters once, then the query.
        browser.run_favourite(saved.PARAMETERS[3:])
        browser.all_set(len(PARAMETERS))
        browser.run_favourite("Which entities do most facts touch?")
        headings, rows = browser.table(browser.answered())
        assert headings[:2] == ["entity", "facts"]
        assert rows[0][0] == '"Maya"'
        browser.run_favourite(kept[1])
        assert browser.table(browser.answered())[1][0][0] == '"Lisbon"'


@pytest.mark.browser
def test_a_hostile_name_stays_a_name(
    guided: Open, demo_neo4j: ServerInfo, engram: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_HOME", str(demo_neo4j.home.parent))
    assert engram("remember", HOSTILE, "lives_in", "Bonn", "-n", "h<b>'").code == 0
    with guided("-n", "h<b>'") as browser:
        assert browser.heading() == f"What a memory knows about {HOSTILE}"
        browser.next_slide()
        assert len(browser.drawing(browser.run_slide()[1]).names) == 2
        browser.next_slide()
        _, rows = browser.table(browser.run_slide()[1])
        assert rows[0][0] == '"Bonn"'
