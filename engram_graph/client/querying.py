"""The client's method for the queries of ``cypher/analyst``."""

from __future__ import annotations

from typing import Any

from engram_graph.client.base import Connection
from engram_graph.graph import analyst


class Querying(Connection):
    """``query``."""

    async def query(
        self, name: str, /, *, namespace: str | None = None, **params: Any
    ) -> list[dict[str, Any]]:
        """Rows of a query of the library for people, such as ``relation_history``.

        ``cypher/README.md`` and ``engram query`` list them. Runs in a transaction that can only
        read. Moments in the rows are aware datetimes in UTC.

        Args:
            name: of a file in ``cypher/analyst``.
            params: its parameters but the namespace; those with a default may be left out.

        Raises:
            InputError: no such query; or a parameter is unknown, missing, or of another type.
        """
        scope = self._scope(namespace)
        wanted = analyst.named(name)
        arguments = wanted.arguments(params)
        return await analyst.run((await self.open()).graph, scope, wanted, arguments)
