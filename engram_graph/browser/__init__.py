"""What Neo4j Browser is given: a style, a guide through one namespace, saved queries.

``style.grass`` gives each relation its colour. ``guide`` makes a guide for Browser's sidebar out of
the files in ``slides``, for the namespace and the person that ``tour`` chose. ``saved`` packs the
queries of the guide and of ``cypher/analyst`` for Browser's favourites. ``serve`` hands guide and
style to Browser. See ``docs/browser.md``.
"""

from __future__ import annotations

from pathlib import Path


def style_path() -> Path:
    """The file to drop onto Neo4j Browser; ``:style`` takes its address as well."""
    return Path(__file__).with_name("style.grass")
