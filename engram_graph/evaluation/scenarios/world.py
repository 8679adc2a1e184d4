"""What one scenario happens in: its clients, its scripts, its namespaces, and what it left."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from engram_graph.evaluation.scenarios.format import Scenario
from engram_graph.evaluation.scenarios.scripted import ScriptedDecider, ScriptedExtractor
from engram_graph.graph import inspect
from engram_graph.graph.inspect import Stored
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact
from engram_graph.rules.names import USER, entity_key, is_first_person
from engram_graph.vocabulary import PREDICATES

_NUMBER = re.compile(r"(.*)#([1-9][0-9]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Raised:
    """What a step raised of which an error was expected, and whether it left the graph alone."""

    error: Exception
    stored_nothing: bool


@dataclass
class World:
    """One scenario at work.

    Attributes:
        prefix: stands before every namespace that is not blank.
        make: a new client with the scenario's models. client: the one in use.
        marks: name → wall clock. raised: number of the step → its error.
        exports: what was written to files since something was last forgotten.
        log: every line that was logged. at: number of the step at work; 0 after the last one.
        problems: what is not as expected, in words.
    """

    scenario: Scenario
    prefix: str
    make: Callable[[], AsyncMemory]
    decider: ScriptedDecider
    extractor: ScriptedExtractor
    client: AsyncMemory
    marks: dict[str, datetime] = field(default_factory=dict)
    raised: dict[int, Raised] = field(default_factory=dict)
    exports: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    at: int = 0
    problems: list[str] = field(default_factory=list)

    def ns(self, name: str) -> str:
        """The namespace that ``name`` stands for; a blank one goes in as it is."""
        return self.prefix + name if name.strip() else name

    def namespaces(self) -> list[str]:
        """Those of the scenario that can hold anything."""
        return [self.ns(name) for name in self.scenario.namespaces() if name.strip()]

    async def everything(self, names: list[str] | None = None) -> list[Stored]:
        """All that is stored in ``names``, or in every namespace the scenario names.

        Without when a fact was last read: that is noted some time after a search.
        """
        if names is None:
            blank = [name for name in self.scenario.namespaces() if not name.strip()]
            names = [*self.namespaces(), *dict.fromkeys(["", *blank])]
        found = await inspect.everything((await self.client.open()).graph, names)
        for record in found:
            record.properties.pop("read_at", None)
        return found

    async def facts(self, name: str) -> dict[str, Fact]:
        """Reference → fact, in recording order."""
        seen: Counter[str] = Counter()
        found = {}
        async for fact in self.client.iter_facts(namespace=self.ns(name)):
            triple = _triple(fact.subject_key, fact.predicate, fact.object_key)
            seen[triple] += 1
            found[f"{triple}#{seen[triple]}"] = fact
        return found


def reference(name: str) -> str:
    """``subject|relation|object#number`` with normalised names; without a number the first."""
    numbered = _NUMBER.fullmatch(name)
    triple, number = (numbered[1], numbered[2]) if numbered else (name, "1")
    parts = triple.split("|")
    for at in range(1, len(parts) - 1):  # a name may hold the bar
        if parts[at] in PREDICATES:
            subject, target = "|".join(parts[:at]), "|".join(parts[at + 1 :])
            return f"{_triple(subject, parts[at], target)}#{number}"
    return f"{triple}#{number}"


def person(name: str) -> str:
    """``name``, or who is meant by it where it is the first person."""
    return USER if is_first_person(name) else name


def _triple(subject: str, predicate: str, target: str) -> str:
    return f"{entity_key(person(subject))}|{predicate}|{entity_key(person(target))}"


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


@contextmanager
def recorded_log(lines: list[str]) -> Iterator[None]:
    """Add every line that is logged meanwhile to ``lines``, the package's own from DEBUG on."""
    ours, root, handler = logging.getLogger("engram_graph"), logging.getLogger(), _Lines(lines)
    level = ours.level
    ours.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(level)
