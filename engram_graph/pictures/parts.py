"""The optional packages of pictures: each asked for before any work, with a hint when missing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from engram_graph.errors import MissingExtraError


def need(*modules: str) -> Any:
    """The last of ``modules``, all imported.

    Raises:
        MissingExtraError: one is not installed.
    """
    found = None
    for name in modules:
        try:
            found = import_module(name)
        except ImportError as error:
            package = name.partition(".")[0]
            raise MissingExtraError(f"a picture needs {package}", extra="pictures") from error
    return found


def d3() -> str:
    """D3's code (BSD-3-Clause, its notice in the first line), from the package ``mpld3``."""
    path = Path(need("matplotlib", "mpld3.urls").D3_LOCAL)
    return path.read_text(encoding="utf-8")
