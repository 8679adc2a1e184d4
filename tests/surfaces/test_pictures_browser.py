"""The pages in a real Chromium: from a file, offline, with every request and every error counted.

Without a Chromium these tests are skipped; what the files hold is checked without one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engram_graph.models.facts import Fact
from engram_graph.pictures import interactive
from engram_graph.pictures.view import View
from engram_graph.vocabulary import PREDICATES

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Engram = Callable[..., Any]
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>"
_STATES = """() => Object.fromEntries([...document.querySelectorAll('.fact')].map(fact =>
  [fact.querySelector('title').textContent.split('\\n')[0],
   getComputedStyle(fact).display === 'none' ? 'hidden'
     : fact.classList.contains('ended') ? 'faded' : 'plain']))"""
_NAMES = """() => [...document.querySelectorAll('.entity')].filter(each =>
  getComputedStyle(each).display !== 'none').map(each => each.dataset.key).sort()"""
_SIZES = """() => [...document.querySelectorAll('.fact, .entity')].map(each => {
  const text = each.querySelector('text').getBBox(), rect = each.querySelector('rect').getBBox();
  return [text.width, text.height, rect.x, rect.y, rect.width, rect.height];
})"""


@dataclass
class Opened:
    """A page, and what went on in it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def opened(chromium: str, path: Path) -> Iterator[Opened]:
    """The file, opened offline. It asks for nothing but itself and says nothing on the console."""
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = ["--disable-gpu", "--no-first-run", *(["--no-sandbox"] if root else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags, timeout=60_000)
        try:
            context = browser.new_context(
                viewport={"width": 1400, "height": 900}, offline=True, timezone_id="Asia/Tokyo"
            )
            page = context.new_page()
            page.set_default_timeout(20_000)
            found = Opened(page)
            page.on("request", lambda request: found.requests.append(request.url))
            page.on("console", lambda message: found.said.append(message.text))
            page.on("pageerror", lambda error: found.said.append(str(error)))
            page.goto(path.as_uri())
            yield found
            assert page.evaluate("window.hacked") is None
            assert found.said == []
            assert found.requests == [path.as_uri()]
        finally:
            browser.close()


@pytest.fixture
def moved(sync_memory: Any) -> Any:
    sync_memory.remember("Ann", "lives_in", "Bonn", valid_from="2020-01-01")
    sync_memory.remember("Ann", "lives_in", "Cork", valid_from="2021-01-01")
    sync_memory.remember(HOSTILE, "prefers", "tea", text=HOSTILE, valid_from="2022-01-01")
    return sync_memory


def test_slider_click_and_hostile_text(
    chromium: str, maya: Engram, moved: Any, tmp_path: Path
) -> None:
    out = tmp_path / "graph.html"
    assert maya("graph", "--out", str(out), "--as-of", "2023-01-01").code == 0
    bonn, cork = (f"Ann lives in {city}" for city in ("Bonn", "Cork"))
    hostile = moved.facts(predicate="prefers").facts[0].text
    story = moved.explain("Ann|lives_in|Bonn").text
    with opened(chromium, out) as found:
        page = found.page
        shown = page.locator("#shown")
        assert page.evaluate(_STATES) == {bonn: "faded", cork: "plain", hostile: "plain"}
        assert "2023-01-01 00:00 UTC · 2 facts hold, 1 ended, 0 to come" in shown.inner_text()
        everything = page.evaluate(_NAMES)
        assert {"ann", "bonn", "cork", "tea"} < set(everything)

        page.locator("#moment").fill("0")  # of the slider: the first change
        assert page.evaluate(_STATES) == {bonn: "plain", cork: "hidden", hostile: "hidden"}
        assert page.evaluate(_NAMES) == ["ann", "bonn"]
        assert shown.inner_text().startswith("2020-01-01 00:00 UTC · 1 fact holds")
        assert page.locator("#earlier").is_disabled()
        page.locator("#later").click()
        assert page.evaluate(_STATES) == {bonn: "faded", cork: "plain", hostile: "hidden"}
        page.locator("#moment").press("ArrowRight")
        assert page.evaluate(_STATES)[hostile] == "plain"
        page.locator("#ended").uncheck()
        assert page.evaluate(_STATES)[bonn] == "hidden"
        assert page.evaluate(_NAMES) == sorted(set(everything) - {"bonn"})
        page.locator("#ended").check()

        page.locator(".fact", has_text="lives in").first.locator("text").click()
        assert page.locator("#sentence").inner_text() == bonn
        assert page.locator("#since").inner_text() == (
            "2020-01-01 00:00 UTC → 2021-01-01 00:00 UTC · closed: belief"
        )
        assert page.locator("#story").text_content() == story
        page.locator(".fact", has_text="prefers").focus()
        page.keyboard.press("Enter")
        assert page.locator("#sentence").text_content() == hostile
        assert "window.hacked" in hostile
        assert page.locator("script").count() == 3
        assert page.locator("img").count() == 0

        strip = page.locator("#time").bounding_box()
        assert strip is not None
        page.mouse.click(strip["x"] + 2, strip["y"] + 10)
        assert page.locator("#moment").input_value() == "0"


def test_thirty_facts_are_readable(chromium: str, tmp_path: Path) -> None:
    """Every caption fits into its box, and the boxes do not overlap."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    names = ["Lisbon", "the Maritime Museum", "a long name that is cut somewhere", "北京市", "WWWW"]
    facts = tuple(
        Fact(
            id=f"f{i}",
            namespace="n",
            subject="Maya" if i % 3 else "Jonas",
            subject_key="maya" if i % 3 else "jonas",
            predicate=list(PREDICATES)[i % 25],
            object=f"{names[i % 5]} {i}" if i % 7 else "Maya",
            object_key=f"thing {i}" if i % 7 else "maya",
            text=f"fact {i}",
            negated=i % 9 == 0,
            valid_from=start + timedelta(days=i),
            recorded_at=start,
        )
        for i in range(30)
    )
    out = tmp_path / "thirty.html"
    view = View("thirty", facts, 30, start + timedelta(days=40))
    out.write_text(interactive.render(view), encoding="utf-8")
    with opened(chromium, out) as found:
        sizes = found.page.evaluate(_SIZES)
        scale = found.page.evaluate("document.querySelector('#graph g').getCTM().a")
        found.page.screenshot(path=tmp_path / "thirty.png")
    assert len(sizes) > 50
    for width, height, _, _, room, high in sizes:
        assert width <= room
        assert height <= high + 2
    assert 11 * scale >= 7  # pixels of the smaller captions, the whole picture in view
    for i, (_, _, x, y, w, h) in enumerate(sizes):
        for _, _, x2, y2, w2, h2 in sizes[:i]:
            assert x >= x2 + w2 or x2 >= x + w or y >= y2 + h2 or y2 >= y + h


@pytest.mark.parametrize("command", ["graph", "report"])
def test_an_empty_namespace_opens_too(
    chromium: str, maya: Engram, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "page.html"
    assert maya(command, "--out", str(out)).code == 0
    with opened(chromium, out) as found:
        assert "no facts" in found.page.locator("body").inner_text().lower()


def test_report_opens_offline(chromium: str, maya: Engram, moved: Any, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert maya("report", "--out", str(out)).code == 0
    hostile = moved.facts(predicate="prefers").facts[0].text
    with opened(chromium, out) as found:
        page = found.page
        assert page.get_by_text(hostile, exact=True).count() >= 1
        page.get_by_role("link", name="Belief over time").click()
        plot = page.locator(".belief svg").first.bounding_box()
        assert plot is not None
        assert plot["width"] > 100
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 1400
