"""Makes ``docs/browser.png`` for the README: ``python -m tests.surfaces.make_screenshot``.

Needs what the browser tests need: the embedded server and a Chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from engram_graph.browser import style_path
from tests.surfaces.browser_page import demo_server, find_chromium, open_browser

QUERY = (
    "MATCH p=(:Entity {namespace:'demo', name:'Maya'})"
    "-[:LIVES_IN|BORN_IN|WORKS_AT|FAMILY_OF|HOBBY]->{1,2}() RETURN p"
)
CLICKED = "Maya lives in Porto"
PICTURE = Path(__file__).parents[2] / "docs" / "browser.png"


def main() -> None:
    """Start a server with the demo, draw Maya's people and places, click on an ended edge."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium: none on the PATH, and ENGRAM_CHROMIUM does not name one")
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="engram-picture-") as folder:
        evidence = Path(tempfile.gettempdir()) / "engram-picture-failed.png"
        with demo_server(Path(folder) / "neo4j") as info:
            assert info.http_url is not None
            with open_browser(
                chromium, info.http_url, evidence, size=(1400, 800), scale=1.5
            ) as browser:
                browser.connect(info.username, info.password)
                browser.drop(style_path())
                frame = browser.run(QUERY)
                browser.enlarge(frame)
                browser.select(frame, CLICKED)
                browser.page.mouse.move(700, 10)  # no hover effect in the picture
                browser.page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
