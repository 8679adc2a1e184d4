"""The pages of pictures: ``formats.pages`` with the templates of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram_graph.formats import pages


def page(template: str, *, css: str, scripts: Mapping[str, str], **values: Any) -> str:
    """A template of this package, filled in; what comes from ``values`` is escaped.

    Args:
        css: name of the style sheet. scripts: name in the template → code, put in as it is.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return pages.filled(
        __package__, template, css=source(css), scripts=scripts, extra="pictures", **values
    )


def source(name: str) -> str:
    """A file of this package."""
    return pages.source(__package__, name)
