"""A real Neo4j Community with Browser as a child process: install, start, find, stop.

    from engram_graph.server import EmbeddedServer

    server = EmbeddedServer()
    info = server.up()
    ...  # info.bolt_uri, info.username, info.password
    server.down()

Needs the extra ``embedded``. Everything is synchronous and may take seconds: run it in a worker
thread from asynchronous code.
"""

from engram_graph.server.embedded import EmbeddedServer, ServerInfo
from engram_graph.server.install import ensure_jars, find_java, neo4j_version
from engram_graph.server.paths import cache_dir, data_dir

__all__ = [
    "EmbeddedServer",
    "ServerInfo",
    "cache_dir",
    "data_dir",
    "ensure_jars",
    "find_java",
    "neo4j_version",
]
