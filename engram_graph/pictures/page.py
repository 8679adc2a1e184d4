"""HTML pages that hold all they need: no network when opened, and no script but their own.

Each page forbids everything that is not in it (Content-Security-Policy by hashes), so that no text
from the memory could run or fetch anything even if it were not escaped; it is.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from engram_graph.pictures.parts import need


def page(template: str, *, css: str, scripts: Mapping[str, str], **values: Any) -> str:
    """A template of this package, filled in; what comes from ``values`` is escaped.

    Args:
        css: name of the style sheet. scripts: name in the template → code, put in as it is.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    jinja2 = need("jinja2")
    markupsafe = need("markupsafe")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    style = source(css)
    code = {name: text.replace("\r\n", "\n") for name, text in scripts.items()}
    allowed = " ".join(map(_hash, code.values())) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    text: str = environment.from_string(source(template)).render(
        policy=policy,
        css=markupsafe.Markup(style),
        **{name: markupsafe.Markup(text) for name, text in code.items()},
        **values,
    )
    return text + "\n"


def source(name: str) -> str:
    """A file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
