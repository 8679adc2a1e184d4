"""A colour for each relation: those of the style of Neo4j Browser, which shows the same graph."""

from __future__ import annotations

import re
from functools import cache

from engram_graph.browser import style_path
from engram_graph.models.facts import Fact
from engram_graph.networks import relationship_type
from engram_graph.vocabulary import NEGATED

_RULE = re.compile(r"^relationship\.(\w+) {\s*color: (#[0-9A-F]{6});", re.M)
_DENIED = "#8A1C1C"  # grey in Browser, but here grey is what has ended


@cache
def colours() -> dict[str, str]:
    """Relationship type → colour."""
    found = dict(_RULE.findall(style_path().read_text(encoding="utf-8")))
    return found | {NEGATED: _DENIED}


def colour_of(fact: Fact) -> str:
    """Of its line and caption."""
    return colours()[relationship_type(fact)]
