"""The models of a study, scripted, for arms that are tried on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from engram_graph.evaluation.study.records import Tally
from engram_graph.memory import AsyncMemory
from engram_graph.ports import Extractor
from engram_graph.settings import Settings
from engram_graph.testing.scripted import ScriptedDecider


@dataclass
class FakeModels:
    """A scripted decider in Jev's place, and hashed embeddings.

    Attributes:
        decider: used where an arm asks for Jev. extractor: used unless an arm brings its own.
        url: of the language model.
    """

    settings: Settings
    decider: ScriptedDecider
    extractor: Extractor
    url: str

    @asynccontextmanager
    async def memory(self, namespace: str, **changes: Any) -> AsyncIterator[AsyncMemory]:
        parts: dict[str, Any] = {"extractor": changes.pop("extractor", self.extractor)}
        if changes.get("decider") == "jev":
            parts["decider"] = self.decider
            changes |= {"decider": "rules", "escalation": "none"}
        given = {name: getattr(self.settings, name) for name in self.settings.model_fields_set}
        settings = Settings.load(**given | {"openai_base_url": self.url} | changes)
        async with AsyncMemory(namespace, settings=settings, **parts) as memory:
            yield memory

    @contextmanager
    def tally(self) -> Iterator[Tally]:
        yield Tally({"decisions": 0.5, "embeddings": 0.25}, latency_ms=7.0, calls=2)

    def missing(self, *needs: str) -> str | None:
        return None

    def endpoint(self) -> Mapping[str, Any]:
        return {"base_url": self.url, "api_key": "key", "model": "scripted"}
