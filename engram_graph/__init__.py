"""engram_graph: long-term memory for AI agents in Neo4j that people can look into.

from engram_graph import Memory

with Memory("maya") as memory:
    memory.add("I moved to Lisbon last week.", speaker="Maya")
    print(memory.search("Where does Maya live?").context)
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # what to do with it is yours to say

# Loaded on first use: importing the package stays quick, and --help needs none of it.
_HOMES = {
    "engram_graph.errors": (
        "AmbiguousError",
        "ConfigurationError",
        "ConflictError",
        "DecisionBudgetError",
        "DecisionError",
        "DecisionInvalidError",
        "DecisionUnavailableError",
        "DimensionError",
        "EmbedderMismatchError",
        "EmbeddingError",
        "EngramError",
        "ExtractionError",
        "InputError",
        "MissingExtraError",
        "NotFoundError",
        "RerankError",
        "SchemaError",
        "ScopeError",
        "ServerError",
        "ServerVersionError",
        "StoreError",
        "StoreUnavailableError",
    ),
    "engram_graph.memory": ("AsyncMemory",),
    "engram_graph.models.decisions": ("Answer", "Ask", "Decision", "Question", "Reply", "Turn"),
    "engram_graph.models.entities": ("MergeSuggestion", "Merged", "Unmerged"),
    "engram_graph.models.export": ("Exported",),
    "engram_graph.models.facts": ("Draft", "Entity", "Fact", "Link", "Message"),
    "engram_graph.models.feedback": (
        "Calibration",
        "CloseCalibration",
        "Feedback",
        "QuestionCalibration",
        "ReliabilityBin",
        "Threshold",
    ),
    "engram_graph.models.items": ("Item", "ItemHit"),
    "engram_graph.models.moving": ("LeftOut", "Moved"),
    "engram_graph.models.ranking": ("Ranking",),
    "engram_graph.models.results": (
        "Added",
        "Diff",
        "DiffEntry",
        "Explanation",
        "FactHit",
        "Finding",
        "Forgotten",
        "Imported",
        "NamespaceInfo",
        "Page",
        "QuestionStats",
        "Recall",
        "Report",
        "Scores",
        "Stats",
        "Timeline",
        "TurnHit",
    ),
    "engram_graph.models.upkeep": ("Archived", "HygieneReport", "ReembedReport", "SameAs"),
    "engram_graph.models.whatif": ("FactDiff", "LinkDiff", "TakenBack", "Unanswered", "WhatIf"),
    "engram_graph.ports": ("Decider", "Embedder", "Extractor", "Reranker"),
    "engram_graph.server": ("EmbeddedServer", "ServerInfo"),
    "engram_graph.settings": ("Settings",),
    "engram_graph.sync": ("Memory",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])

if TYPE_CHECKING:
    from engram_graph.errors import EngramError as EngramError
    from engram_graph.memory import AsyncMemory as AsyncMemory
    from engram_graph.models.facts import Fact as Fact
    from engram_graph.models.facts import Message as Message
    from engram_graph.models.results import Added as Added
    from engram_graph.models.results import Recall as Recall
    from engram_graph.settings import Settings as Settings
    from engram_graph.sync import Memory as Memory


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'engram_graph' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
