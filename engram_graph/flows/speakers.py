"""Who speaks in a namespace, known for a while: a question's vectors are made without names."""

from __future__ import annotations

import time
from collections.abc import Callable

from engram_graph.graph import read
from engram_graph.graph.driver import Graph

SECONDS = 60.0
NAMESPACES = 256


class Speakers:
    """Names of speakers by namespace, read again after ``SECONDS``; of 256 namespaces at most.

    Someone who spoke elsewhere for the first time since then is not known yet: questions that name
    them are then looked up as they are, name and all.

    Args:
        now: seconds on a clock that only runs forward.
    """

    def __init__(self, graph: Graph, now: Callable[[], float] = time.monotonic) -> None:
        self._graph = graph
        self._now = now
        self._known: dict[str, tuple[float, frozenset[str]]] = {}

    async def of(self, namespace: str) -> frozenset[str]:
        """All that are known of."""
        now = self._now()
        known = self._known.get(namespace)
        if known is not None and now - known[0] < SECONDS:
            return known[1]
        found = await read.speakers(self._graph, namespace)
        self._known.pop(namespace, None)
        if len(self._known) >= NAMESPACES:
            del self._known[next(iter(self._known))]  # the one read longest ago
        self._known[namespace] = (now, found)
        return found

    def note(self, namespace: str, speaker: str) -> None:
        """Someone spoke just now."""
        known = self._known.get(namespace)
        if known is not None and speaker not in known[1]:
            self._known[namespace] = (known[0], known[1] | {speaker})
