"""Secrets that no pattern knows: the decider names them, and they are gone from what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flow_fakes import ScriptedExtractor, draft

from engram_graph.graph.driver import Graph
from engram_graph.graph.records import native
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]
WORDS = "blue heron at noon"
TOLD = f"To open the mill you say {WORDS}, then you knock."


async def everything(graph: Graph, namespace: str) -> str:
    """All properties of all that is kept, as one text."""
    rows = await graph.statement(
        "CYPHER 25 MATCH (n {namespace: $ns}) OPTIONAL MATCH (n)-[r]-() "
        "RETURN properties(n) AS n, collect(properties(r)) AS r",
        ns=namespace,
    )
    return str(native(rows))


def secretive(**more: Any) -> ScriptedDecider:
    decider = ScriptedDecider()
    decider.script = {"sensitivity": [{"fact": "heron", "p": {"credentials": 0.9, "none": 0.1}}]}
    decider.script |= more
    return decider


async def test_a_draft_that_holds_a_secret(make_memory: Make, graph: Graph) -> None:
    drafts = [
        draft(f"The mill opens to {WORDS}", f"mill|related_to|{WORDS}", quote=f"say {WORDS}"),
        draft(f"Ann says {WORDS} every day", "Ann|habit|says it", quote=f"you say {WORDS}"),
    ]
    memory = make_memory(extractor=ScriptedExtractor(drafts), decider=secretive())
    added = await memory.add(TOLD, metadata={"raw": TOLD}, source_id="m1")
    assert [fact.object for fact in added.facts] == ["(redacted)", "says it"]
    assert added.facts[0].text == "The mill opens to (redacted)"
    assert added.facts[1].text == "Ann says (redacted) every day"
    assert added.message.text == "To open the mill you say (redacted), then you knock."
    assert WORDS not in await everything(graph, memory.namespace)
    behind = await memory.explain(added.facts[0])
    assert "redact_credentials" in [d.question for d in behind.decisions]
    found = await memory.search("mill heron noon", mode="both")
    assert WORDS not in found.context
    assert "mill" in found.context
    again = await memory.add(TOLD, source_id="m1")
    assert again.duplicate


async def test_a_given_fact_that_holds_a_secret(make_memory: Make, graph: Graph) -> None:
    memory = make_memory(decider=secretive())
    added = await memory.remember("mill", "related_to", WORDS, text=f"The mill: {WORDS}")
    assert added.facts[0].object == "(redacted)"
    assert (await memory.get(added.facts[0].id)).text == "The mill: (redacted)"
    assert WORDS not in await everything(graph, memory.namespace)


@pytest.mark.parametrize("label", ["health", "financial", "relationship"])
async def test_what_is_private_but_no_secret_stays(make_memory: Make, label: str) -> None:
    memory = make_memory(decider=secretive(sensitivity={label: 0.97, "none": 0.03}))
    added = await memory.remember("Ann", "has_condition", "asthma")
    assert (added.facts[0].object, added.facts[0].sensitivity) == ("asthma", label)


async def test_names_and_ids_are_searched_too(make_memory: Make, graph: Graph) -> None:
    key = "sk-proj-abcdefghijklmnop1234567890"
    memory = make_memory()
    first = await memory.add(
        "Hello.", speaker=f"Ann {key}", conversation=f"chat {key}", source_id=f"m {key}"
    )
    assert first.message.speaker == "Ann (redacted)"
    assert first.message.conversation == "chat (redacted)"
    assert key not in await everything(graph, memory.namespace)
    assert (await memory.add("Hello.", source_id=f"m {key}")).duplicate
    assert not (await memory.add("Hello.", source_id=f"n {key}")).duplicate
    plain = "70bc82ad73c84ca4a0c7f2cf83999244"
    assert (await memory.add("Hi.", source_id=plain)).message.source_id == plain
