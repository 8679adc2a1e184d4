"""The docs' site: it builds without a warning, loads nothing from elsewhere, leads everywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from docs_pages import ROOT

from docs._build import hooks


class Loads(HTMLParser):
    """What a page loads, and where its links lead.

    Attributes:
        loaded: addresses of scripts, styles, pictures and the like.
        links: addresses of links.
    """

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        address = given.get("src") or given.get("href")
        if address:
            (self.links if tag == "a" else self.loaded).append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``mkdocs build --strict`` does."""
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(target)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def test_every_page_is_there(site: Path) -> None:
    made = {path.stem for path in site.glob("*.html")} - {"404"}
    written = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert made == written | {Path(target).stem for target in hooks.PAGES.values()}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = {address for page in site.glob("*.html") for address in Loads(page).loaded}
    assert any(address.endswith(".css") for address in loaded)
    assert {address for address in loaded if re.match(r"(\w+:)?//", address)} == set()
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert not any(re.search(r"url\(['\"]?(https?:)?//|@import", style) for style in styles)
    pages = [page.read_text(encoding="utf-8") for page in site.glob("*.html")]
    assert not any('class="mermaid"' in page for page in pages)  # its script would be fetched


def test_links_between_pages_lead_somewhere(site: Path) -> None:
    """MkDocs looks at links of pages; here are those to files beside them, too."""
    for page in site.glob("*.html"):
        for address in Loads(page).links:
            target = address.partition("#")[0]
            if target and ":" not in target and page.name != "404.html":
                assert (page.parent / target).exists(), f"{page.name}: {address}"


def test_public_methods_are_told(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    for name in ("add", "search", "explain", "whatif", "feedback"):
        assert f'id="engram_graph.memory.AsyncMemory.{name}"' in page
    assert "Say whether a fact stands rightly" in page


def test_what_is_built_is_not_committed() -> None:
    assert "\nsite_dir: build/" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "build/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
