"""HTML pages that hold all they need: no network when opened, and no script but their own.

Each page forbids everything that is not in it (Content-Security-Policy by hashes), so that no text
from a memory or a file could run or fetch anything even if it were not escaped; it is.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from engram_graph.errors import MissingExtraError


def filled(
    package: str, template: str, *, css: str, scripts: Mapping[str, str], extra: str, **values: Any
) -> str:
    """A template of ``package``, filled in; what comes from ``values`` is escaped.

    Args:
        css: the style sheet. scripts: name in the template → code, put in as it is.
        extra: the one that brings jinja2 for this page.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        import jinja2
        from jinja2.filters import do_mark_safe as as_it_is
    except ImportError as error:
        raise MissingExtraError("a page needs jinja2", extra=extra) from error
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    style = css.replace("\r\n", "\n")
    code = {name: text.replace("\r\n", "\n") for name, text in scripts.items()}
    allowed = " ".join(map(_hash, code.values())) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    text = environment.from_string(source(package, template)).render(
        policy=policy,
        css=as_it_is(style),
        **{name: as_it_is(text) for name, text in code.items()},
        **values,
    )
    return text + "\n"


def source(package: str, name: str) -> str:
    """A file of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
