"""The resources: the graph's schema, and the analysts' queries."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from engram_graph import schemas
from engram_graph.errors import InputError
from engram_graph.graph import analyst

SCHEMA = "engram://schema"
QUERIES = "engram://queries"
QUERY = "engram://queries/{name}"


def add(server: MCPServer[Any]) -> None:
    """Offer them on ``server``."""

    @server.resource(
        SCHEMA,
        name="schema",
        title="Schema of the graph",
        description="Labels, relationship types, properties, constraints and indexes.",
        mime_type="application/json",
    )
    def schema() -> str:
        return (schemas.folder() / "graph.json").read_text(encoding="utf-8")

    @server.resource(
        QUERIES,
        name="queries",
        title="Analyst queries",
        description="What each query for the tool cypher answers, its parameters and columns.",
        mime_type="application/json",
    )
    def queries() -> str:
        known = [each.described() for each in analyst.library().values()]
        return json.dumps(known, ensure_ascii=False, default=str)

    @server.resource(
        QUERY,
        name="query",
        title="Text of an analyst query",
        description="The Cypher of one query, with what it answers and its parameters.",
        mime_type="text/plain",
    )
    def query(name: str) -> str:
        try:
            return analyst.named(name).source
        except InputError as error:
            raise ResourceNotFoundError(f"{error.message}. {error.hint}") from None
