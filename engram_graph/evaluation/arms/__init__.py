"""The arms of a study, each in a short file over the public API, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from engram_graph.errors import InputError
from engram_graph.evaluation.arms import (
    agent_memory,
    facts,
    full_context,
    graphiti,
    jevmem,
    mem0,
    turns,
)
from engram_graph.evaluation.study.records import Arm

OWN: Final[Mapping[str, Callable[[], Arm]]] = {
    "turns_cosine": turns.turns_cosine,
    "turns_hybrid": turns.turns_hybrid,
    "turns_jev": turns.turns_jev,
    "turns_hybrid_jev": turns.turns_hybrid_jev,
    "turns_llm": turns.turns_llm,
    "turns_jev_wide": turns.turns_jev_wide,
    "facts_v1": facts.facts_v1,
    "facts_v2": facts.facts_v2,
    "facts_v3": facts.facts_v3,
    "facts": facts.facts,
    "both": facts.both,
    "facts_llm": facts.facts_llm,
    "full_context": full_context.full_context,
}
"""Name → what makes the arm, of those that need no foreign package."""
PEERS: Final[Mapping[str, Callable[[], Arm]]] = {
    "mem0": mem0.mem0,
    "jevmem": jevmem.jevmem,
    "graphiti": graphiti.graphiti,
    "agent_memory": agent_memory.agent_memory,
}
"""The same of other memories, through their own packages."""
ARMS: Final[Mapping[str, Callable[[], Arm]]] = {**OWN, **PEERS}
"""All of them."""


def chosen(names: Iterable[str]) -> tuple[Arm, ...]:
    """The arms of these names; see ``chosen_of``.

    Raises:
        InputError: no name, or one that no arm has.
    """
    return chosen_of(ARMS, names)


def chosen_of(known: Mapping[str, Callable[[], Arm]], names: Iterable[str]) -> tuple[Arm, ...]:
    """The arms of these names among those ``known``, each once, in the order named.

    Raises:
        InputError: no name, or one that is not known.
    """
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InputError(
            f"no arm is called {unknown[0]!r}" if unknown else "no arm is named",
            hint="There are " + ", ".join(known),
            field="arms",
        )
    return tuple(known[name]() for name in wanted)
