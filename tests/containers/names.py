"""What docker/build.sh makes."""

from pathlib import Path

import engram_graph
from engram_graph.server import neo4j_version

ROOT = Path(engram_graph.__file__).parents[1]
NEO4J = f"engram-neo4j:{neo4j_version()}"
SERVER = "engram-graph:test"
