"""Makes the pictures of Neo4j Browser in ``docs``: ``python -m tests.surfaces.make_screenshot``.

``browser.png`` is for the README, ``guide.png`` for ``docs/browser.md``. Needs what the browser
tests need: the embedded server and a Chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from engram_graph.server import ServerInfo
from tests.surfaces.browser_page import demo_server, find_chromium, guide_of, open_browser

QUERY = (
    "MATCH p=(:Entity {namespace:'demo', name:'Maya'})"
    "-[:LIVES_IN|BORN_IN|WORKS_AT|FAMILY_OF|HOBBY]->{1,2}() RETURN p"
)
CLICKED = "Maya lives in Porto"
DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Start a server with the demo, walk through the guide, draw Maya's people and places."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium: none on the PATH, and ENGRAM_CHROMIUM does not name one")
    with (
        tempfile.TemporaryDirectory(prefix="engram-picture-") as folder,
        demo_server(Path(folder) / "neo4j") as info,
    ):
        pictures(chromium, info, Path(folder))


def pictures(chromium: str, info: ServerInfo, folder: Path) -> None:
    """Both, of a server that holds the demo."""
    evidence = Path(tempfile.gettempdir()) / "engram-picture-failed.png"
    with (
        guide_of(info.home, folder) as address,
        open_browser(chromium, address, evidence, size=(1200, 680), scale=1.5) as browser,
    ):
        browser.connect(info.username, info.password)
        browser.click("load the style")
        browser.style(f":style {browser.style_address()}")
        while not browser.heading().startswith("What took"):
            browser.next_slide()
        browser.drawing(browser.run_slide()[1])
        browser.next_slide()
        browser.table(browser.run_slide()[1])
        browser.page.mouse.move(300, 640)  # no hover effect in the picture
        browser.page.screenshot(path=DOCS / "guide.png")

        browser.close_guide()
        browser.page.set_viewport_size({"width": 1400, "height": 800})
        frame = browser.run(QUERY)
        browser.enlarge(frame)
        browser.select(frame, CLICKED)
        browser.page.mouse.move(700, 10)
        browser.page.screenshot(path=DOCS / "browser.png")


if __name__ == "__main__":
    main()
