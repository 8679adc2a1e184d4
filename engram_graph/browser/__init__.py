"""The look of the graph in Neo4j Browser: names in the circles, a colour for each relation.

To use it, drag ``style.grass`` from a file manager onto Browser's window. That works offline and
asks for no server setting. Browser answers with a ``:style`` frame and keeps the style in its local
storage, so once per browser and address (port) is enough; ``:style reset`` brings the grey edges
back.
"""

from __future__ import annotations

from pathlib import Path


def style_path() -> Path:
    """The file to drop onto Neo4j Browser."""
    return Path(__file__).with_name("style.grass")
