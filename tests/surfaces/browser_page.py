"""Neo4j Browser in a real Chromium, driven as a person would: form, editor, graph, table.

Selectors are those of Neo4j Browser 5.24: it draws the graph as SVG (``g.node``,
``g.relationship``) and marks its own parts with ``data-testid``.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engram_graph import demo
from engram_graph.server import EmbeddedServer, ServerInfo
from engram_graph.settings import Settings
from engram_graph.sync import Memory

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
_NODES = """svg => [...svg.querySelectorAll('g.node')].map(node =>
  [...node.querySelectorAll('text.caption')].map(line => line.textContent.trim()).join(' '))"""
_EDGES = """svg => [...svg.querySelectorAll('g.relationship')].map(edge =>
  [edge.querySelector('text').textContent.trim(),
   getComputedStyle(edge.querySelector('path.b-outline')).fill])"""
_CHIPS = """all => all.map(chip =>
  [chip.dataset.testid.replace('property-details-overview-', ''),
   chip.textContent.match(/\\((\\d+)\\)/)[1], getComputedStyle(chip).backgroundColor])"""
_FIND = """(arrows, text) =>
  arrows.findIndex(arrow => arrow.__data__.propertyMap.text === text)"""
_ROWS = """table => [...table.querySelectorAll('tbody tr')].map(row =>
  [...row.querySelectorAll('td[role=cell]')].map(cell => cell.innerText.trim()))"""
_DROP = """([name, bytes]) => {
  const files = new DataTransfer();
  files.items.add(new File([new Uint8Array(bytes)], name));
  document.querySelector('[data-testid=editor-Run]').dispatchEvent(
    new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
}"""


def find_chromium() -> str | None:
    """ENGRAM_CHROMIUM, else the first Chromium or Chrome on the PATH."""
    chosen = os.environ.get("ENGRAM_CHROMIUM", "").strip()
    return chosen or next((found for name in _NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Drawing:
    """What a graph frame shows."""

    names: list[str]
    """Captions of the nodes; a long one ends in "…"."""
    edges: list[tuple[str, str]]
    """Caption and CSS colour of each arrow."""
    legend: dict[str, str]
    """CSS colour of each relationship type in the overview."""

    def colours(self, caption: str) -> set[str]:
        """Of the arrows with this caption."""
        return {colour for shown, colour in self.edges if shown == caption}


class BrowserPage:
    """One tab with Neo4j Browser in it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def connect(self, username: str, password: str) -> None:
        """Fill in the connect form and wait until it has gone."""
        page = self.page
        page.get_by_test_id("username").fill(username)
        page.get_by_test_id("password").fill(password)
        page.get_by_test_id("connect").click()
        page.get_by_test_id("password").wait_for(state="detached")

    def bolt_address(self) -> str:
        """What the connect form proposes."""
        return self.page.get_by_test_id("boltaddress").input_value()

    def drop(self, path: Path) -> None:
        """Drop a file onto the window."""
        self.page.evaluate(_DROP, [path.name, list(path.read_bytes())])

    def style(self, command: str = ":style") -> str:
        """The style that Browser says it has, in the frame of ``command``."""
        frame = self._frame(command)
        # Wait for a whole sheet: the frame may come before its text.
        frame.get_by_text("relationship").first.wait_for()
        return frame.get_by_test_id("frameContents").inner_text()

    def answered(self) -> Locator:
        """The frame on top, once it has an answer."""
        frame = self.page.get_by_test_id("frame").first
        frame.get_by_test_id("frame-loaded-contents").wait_for()
        return frame

    def favourites(self, folder: str) -> list[str]:
        """Names of the saved queries in a folder, as the drawer lists them."""
        page = self.page
        unfold = page.get_by_test_id(f"expandFolder-{folder}")
        if not unfold.is_visible():
            page.get_by_test_id("navigationFavorites").click()
        unfold.click()
        inside = page.get_by_test_id(f"savedScriptsFolder-{folder}")
        titles = inside.locator("[data-testid^=scriptTitle-]")
        titles.first.wait_for()
        return titles.all_inner_texts()

    def run_favourite(self, name: str) -> None:
        """Run a saved query from its menu, and wait for a new frame."""
        page = self.page
        page.get_by_test_id(f"scriptTitle-{name}").hover()
        page.get_by_test_id(f"navicon-{name}").click()
        with self._new_frame():
            page.get_by_test_id("contextMenuRun").click()

    def heading(self) -> str:
        """Of the slide that the guide shows."""
        return self._guide().locator("h3").inner_text()

    def next_slide(self) -> str:
        """Turn the page; the new heading."""
        before = self.heading()
        self.page.get_by_test_id("guideNextSlide").click()
        self._guide().locator("h3").filter(has_not_text=before).wait_for()
        return self.heading()

    def click(self, words: str) -> None:
        """Click these words in the guide."""
        self._guide().get_by_text(words, exact=True).click()

    def run_slide(self) -> tuple[str, Locator]:
        """Click the sign in front of the slide's query; the query and its frame with an answer."""
        query = self._guide().locator("pre.runnable")
        with self._new_frame():
            query.locator("i").click()
        return query.inner_text().strip(), self.answered()

    def ask(self, question: str) -> Locator:
        """Click the sign in front of a question of the guide's last slide; the answer's frame."""
        with self._new_frame():
            self._guide().locator("li a").filter(has_text=question).locator("i").click()
        return self.answered()

    def all_set(self, number: int) -> None:
        """Wait until the script on top has set so many parameters."""
        frame = self.page.get_by_test_id("frame").first
        done = frame.locator("[data-testid=multi-statement-list-icon][title='Status: success']")
        done.nth(number - 1).wait_for()

    @contextmanager
    def _new_frame(self) -> Iterator[None]:
        frames = self.page.get_by_test_id("frame")
        before = frames.count()
        yield
        frames.nth(before).wait_for()

    def style_address(self) -> str:
        """Where the guide's link to the style points."""
        return (self._guide().locator("[data-exec^=style]").get_attribute("data-exec") or "")[6:]

    def close_guide(self) -> None:
        """Fold the guide away."""
        self.page.get_by_test_id("navigationGuides").click()
        self._guide().wait_for(state="hidden")

    def _guide(self) -> Locator:
        return self.page.get_by_test_id("guidesDrawer")

    def run(self, query: str) -> Locator:
        """Put one line into the editor, run it, and return its frame once there is an answer."""
        page = self.page
        page.locator(".monaco-editor").first.click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(query)
        page.get_by_test_id("editor-Run").click()
        frame = self._frame(query)
        frame.get_by_test_id("frame-loaded-contents").wait_for()
        return frame

    def drawing(self, frame: Locator) -> Drawing:
        """The nodes and edges of a graph frame, once all are drawn."""
        chips = frame.locator("[data-testid^=property-details-overview-]")
        chips.last.wait_for()
        shown = {name: (int(count), colour) for name, count, colour in chips.evaluate_all(_CHIPS)}
        svg = frame.locator("svg").filter(has=self.page.locator("g.node"))
        svg.locator("g.node").nth(shown["node-label-*"][0] - 1).wait_for(state="attached")
        edges = shown["relationship-type-*"][0]
        svg.locator("g.relationship").nth(edges - 1).wait_for(state="attached")
        kind = "relationship-type-"
        legend = {
            name.removeprefix(kind): colour
            for name, (_, colour) in shown.items()
            if name.startswith(kind) and not name.endswith("*")
        }
        drawn = [(caption, colour) for caption, colour in svg.evaluate(_EDGES)]
        return Drawing(svg.evaluate(_NODES), drawn, legend)

    def table(self, frame: Locator) -> tuple[list[str], list[list[str]]]:
        """Headings and rows of a table frame."""
        table = frame.get_by_role("table")
        table.wait_for()
        return table.locator("th[role=columnheader]").all_inner_texts(), table.evaluate(_ROWS)

    def enlarge(self, frame: Locator) -> None:
        """Show a graph frame alone, its nodes in the middle of the free space, at rest."""
        frame.get_by_title("Fullscreen", exact=True).click()
        self._settle(frame)
        frame.get_by_label("zoom-to-fit").click()
        self._settle(frame)
        nodes = _box(frame.locator("g.layer.nodes"))
        canvas = _box(frame.locator("svg").filter(has=self.page.locator("g.node")))
        free = _box(frame.get_by_test_id("vizInspector"))["x"] - canvas["x"]
        shift = canvas["x"] + free / 2 - (nodes["x"] + nodes["width"] / 2)
        # The fit knows nothing of the panel on the right: drag the background.
        start = (canvas["x"] + 8, canvas["y"] + 8)
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(start[0] + shift, start[1], steps=4)
        self.page.mouse.up()
        self._settle(frame)

    def select(self, frame: Locator, text: str) -> None:
        """Click the arrow of the fact with this text; the panel then shows its properties."""
        arrows = frame.locator("g.relationship")
        found = arrows.evaluate_all(_FIND, text)
        assert found >= 0, f"no arrow says {text!r}"
        # Not by its place on the screen: in a crowd another arrow may lie on top of it.
        arrows.nth(found).dispatch_event("mousedown")
        panel = frame.get_by_test_id("vizInspector")
        panel.get_by_text("Relationship properties").wait_for()
        panel.get_by_text(text, exact=True).wait_for()

    def _settle(self, frame: Locator) -> None:
        """Wait until the nodes have not moved for a while: the layout is a simulation."""
        layer = frame.locator("g.layer.nodes")
        before: object = None
        for _ in range(100):
            now = [_box(layer), layer.inner_html()]
            if now == before:
                return
            before = now
            self.page.wait_for_timeout(200)
        raise AssertionError("the graph does not come to rest")

    def _frame(self, command: str) -> Locator:
        """The newest frame of a command."""
        shown = self.page.get_by_test_id("frameCommand").get_by_text(command, exact=True)
        frame = self.page.get_by_test_id("frame").filter(has=shown).first
        frame.wait_for()
        return frame


@contextmanager
def demo_server(home: Path) -> Iterator[ServerInfo]:
    """A real Neo4j with Browser that holds the demo; its folder stays."""
    server = EmbeddedServer(home)
    try:
        info = server.up(http=True, heap_mb=256)
        settings = Settings.load(
            neo4j_uri=info.bolt_uri,
            neo4j_username=info.username,
            neo4j_password=info.password,
            embedder="hash",
            extractor="patterns",
        )
        with Memory(demo.NAMESPACE, settings=settings) as memory:
            for message in demo.messages():
                memory.add(message.pop("text"), **message)
        yield info
    finally:
        server.down()


@contextmanager
def guide_of(home: Path, folder: Path, *arguments: str) -> Iterator[str]:
    """``engram browser`` as a person runs it: what it opens; Ctrl-C at the end.

    Args:
        home: of the embedded server. folder: for a file that the "web browser" writes.
    """
    opened, program = folder / "opened", folder / "open.sh"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    program.chmod(0o700)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    ours = {
        "ENGRAM_HOME": str(home.parent),
        "ENGRAM_EMBEDDER": "hash",
        "BROWSER": f"{program} %s",
    }
    command = [sys.executable, "-m", "engram_graph", "browser", *arguments]
    with subprocess.Popen(
        command, env=kept | ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            deadline = time.monotonic() + 60
            while not opened.exists():
                assert running.poll() is None, running.communicate()
                assert time.monotonic() < deadline, "nothing was opened"
                time.sleep(0.1)
            yield opened.read_text()
        finally:
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)
    assert running.returncode == 0, err
    assert (home / "password").read_text().strip() not in out + err
    opened.unlink()


@contextmanager
def open_browser(
    executable: str,
    url: str,
    evidence: Path,
    *,
    size: tuple[int, int] = (1400, 900),
    scale: float = 1,
) -> Iterator[BrowserPage]:
    """Neo4j Browser with its connect form, in a fresh profile.

    Whatever the page asks for outside of this machine is refused by its own policy: that is
    checked in the end. When the block fails, a picture of the page is saved as ``evidence`` and the
    error says so.
    """
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = [*_FLAGS, "--no-sandbox"] if root else list(_FLAGS)
    outside: list[str] = []
    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix="engram-chromium-") as profile, sync_playwright() as p:
        context = p.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            args=flags,
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=scale,
            timeout=60_000,
        )
        try:
            page = context.pages[0]
            page.set_default_timeout(30_000)
            page.on("request", lambda r: None if _is_local(r.url) else outside.append(r.url))
            page.on(
                "requestfailed", lambda r: refused.append(r.url) if r.failure == "csp" else None
            )
            try:
                page.goto(url)
                page.get_by_test_id("connect").wait_for()
                yield BrowserPage(page)
            except BaseException as error:
                page.screenshot(path=evidence)
                error.add_note(f"what the page showed: {evidence}")
                raise
            assert outside  # Browser does try: a font service at least
            assert sorted(outside) == sorted(refused)
        finally:
            context.close()


def _box(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None, "not on the page"
    return box


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in (None, "127.0.0.1", "localhost")
