"""The client's method for networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram_graph.client.base import Connection, Moment
from engram_graph.clock import instant
from engram_graph.graph import network as store
from engram_graph.networks import network
from engram_graph.rules.timeline import Span

if TYPE_CHECKING:
    import networkx as nx


class Networks(Connection):
    """``to_networkx``."""

    async def to_networkx(
        self,
        *,
        namespace: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> nx.MultiDiGraph:
        """The facts as a networkx graph, whole and in memory.

        Each fact that ``facts(as_of=…, known_at=…)`` would list is an edge from its subject to its
        object, with its id as the edge's key. The attributes are the fact's fields by their names
        (moments as aware datetimes in UTC, labels as text, None where it has none) and ``type``,
        such as ``LIVES_IN``: that of the typed edge in Neo4j. Nodes are the entities at their
        ends, by ``key``, with the fields of ``Entity``; an entity without a fact in this view is
        not in it. ``graph.graph`` holds namespace, as_of and known_at.

        Args:
            as_of: only what was true at that moment; all facts without it, ended ones too.
            known_at: as the memory knew it then (inclusive).
        """
        scope = self._scope(namespace)
        true_at = instant(as_of, "as_of") if as_of is not None else None
        known = instant(known_at, "known_at") if known_at is not None else None
        facts, entities = await store.read(
            (await self.open()).graph,
            scope,
            within=Span.at(true_at) if true_at is not None else None,
            known_at=known,
        )
        return network(scope, facts, entities, as_of=true_at, known_at=known)
