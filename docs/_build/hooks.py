"""What the site shows from outside ``docs/``: the README as its first page, the queries, schemas.

MkDocs calls the functions; ``mkdocs.yml`` names this file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]

PAGES = {
    "README.md": "index.md",
    "cypher/README.md": "queries.md",
    "schemas/README.md": "schemas.md",
}
"""Where a page lies in the repository, and in the site."""
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add them; nothing is written into the repository."""
    schemas = {f"schemas/{path.name}": f"schemas/{path.name}" for path in _schemas()}
    for source, target in (PAGES | schemas).items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links are written as they lead in the repository; here they lead to the same in the site."""
    home = {target: source for source, target in PAGES.items()}
    source = Path(home.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def led(link: re.Match[str]) -> str:
        target = (ROOT / source.parent / link[1]).resolve()
        if not target.is_relative_to(ROOT):
            return link[1]
        path = target.relative_to(ROOT).as_posix()
        return PAGES.get(path, path.removeprefix("docs/"))

    return _LINK.sub(led, markdown)


def _schemas() -> list[Path]:
    return sorted((ROOT / "schemas").glob("*.json"))
