"""Saved queries for Neo4j Browser: a zip archive that its window takes as favourites.

A folder in the archive becomes a folder of favourites, a ``.cypher`` file a favourite, named by the
comment in its first line. (A single ``.cypher`` file would become one favourite, however many
queries are in it.)
"""

from __future__ import annotations

import io
import zipfile

from engram_graph.browser import guide
from engram_graph.browser.tour import Tour
from engram_graph.graph import analyst

FOLDER, GUIDE_FOLDER = "engram queries", "engram guide"
PARAMETERS = "// 0. Run this first: it sets the parameters"
_UNDATED = (1980, 1, 1, 0, 0, 0)  # the earliest a zip knows: the same queries give the same bytes


def files(tour: Tour | None) -> dict[str, str]:
    """Path in the archive → text: ``cypher/analyst`` as it stands, and the queries of the guide.

    Args:
        tour: what parameters and guide are about; None leaves both out.
    """
    found = {f"{FOLDER}/{name}.cypher": each.source for name, each in analyst.library().items()}
    if tour is None:
        return found
    found[f"{FOLDER}/parameters.cypher"] = f"{PARAMETERS}\n{guide.parameters(tour)}\n"
    for number, (heading, query) in enumerate(guide.queries(tour), 1):
        text = f"// {number:02} {heading}\n{query}\n"
        found[f"{GUIDE_FOLDER}/{number:02}.cypher"] = text
    return found


def archive(tour: Tour | None) -> bytes:
    """The zip file to drop onto Neo4j Browser; see ``files``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in sorted(files(tour).items()):
            packed.writestr(zipfile.ZipInfo(path, _UNDATED), text.encode("utf-8"))
    return stream.getvalue()
