"""The pytest plugin's types: a real Neo4j, a memory of its own for each test, scripted models.

The fixtures are there wherever the package is installed; see docs/testing.md. Importing this loads
nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "FakeLLM": "fake_llm",
    "FrozenClock": "frozen",
    "Neo4jServer": "database",
    "RecordedDecider": "recorded",
    "Reply": "fake_llm",
    "ScriptedDecider": "scripted",
    "ScriptedModels": "scripted_models",
    "answer": "fake_llm",
    "decisions": "fake_llm",
    "frozen": "frozen",
    "ranking": "fake_llm",
    "recorded_decider": "recorded",
    "settings_for": "client",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from engram_graph.testing.client import settings_for as settings_for
    from engram_graph.testing.database import Neo4jServer as Neo4jServer
    from engram_graph.testing.fake_llm import FakeLLM as FakeLLM
    from engram_graph.testing.fake_llm import Reply as Reply
    from engram_graph.testing.fake_llm import answer as answer
    from engram_graph.testing.fake_llm import decisions as decisions
    from engram_graph.testing.fake_llm import ranking as ranking
    from engram_graph.testing.frozen import FrozenClock as FrozenClock
    from engram_graph.testing.frozen import frozen as frozen
    from engram_graph.testing.recorded import RecordedDecider as RecordedDecider
    from engram_graph.testing.recorded import recorded_decider as recorded_decider
    from engram_graph.testing.scripted import ScriptedDecider as ScriptedDecider
    from engram_graph.testing.scripted_models import ScriptedModels as ScriptedModels


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'engram_graph.testing' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"engram_graph.testing.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
