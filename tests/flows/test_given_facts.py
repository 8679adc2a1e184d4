"""What the log holds of a fact that a caller gave: its worth is the caller's, by rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flow_fakes import AwayDecider, ScriptedExtractor, draft

from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
WORTH = "worth_remembering"


async def worth(memory: Any, fact: Any) -> list[tuple[str, str, float, str]]:
    decisions = (await memory.explain(fact)).decisions
    return [(d.backend, d.chosen, d.p, d.outcome) for d in decisions if d.question == WORTH]


async def test_the_worth_of_a_given_fact_is_decided_by_rule_and_never_asked(
    make_memory: Make,
) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    (fact,) = (await memory.remember("Ann", "owns", "a kiln")).facts
    assert await worth(memory, fact) == [("rule", "yes", 1.0, "stored")]
    assert WORTH not in decider.asked
    assert "Worth remembering, without a question: asked for by the caller." in (
        (await memory.explain(fact)).text
    )


async def test_it_is_decided_once(make_memory: Make) -> None:
    """Neither a repetition nor asking again says so a second time."""
    decider = AwayDecider()
    memory = make_memory(decider=decider)
    (fact,) = (await memory.remember("Ann", "owns", "a kiln")).facts
    assert fact.unsettled
    await memory.remember("Ann", "owns", "a kiln", speaker="Bo")
    decider.away = False
    await memory.resume()
    assert not (await memory.get(fact.id)).unsettled
    assert await worth(memory, fact) == [("rule", "yes", 1.0, "stored")]


async def test_the_worth_of_an_extracted_fact_is_an_answer(make_memory: Make) -> None:
    decider = ScriptedDecider()
    extractor = ScriptedExtractor([draft("Ann owns a kiln", "Ann|owns|a kiln")])
    memory = make_memory(decider=decider, extractor=extractor)
    (fact,) = (await memory.add("Ann owns a kiln.")).facts
    assert await worth(memory, fact) == []
    assert WORTH in decider.asked
