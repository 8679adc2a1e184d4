"""The toolset and the instructions under a real PydanticAI agent with its own test models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from engram_graph.integrations.pydantic_ai import memory_instructions, memory_toolset
from engram_graph.sync import Memory

pytestmark = pytest.mark.anyio


class Scripted:
    """Calls these tools, one a step, then says ``done``; keeps what it was sent."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self._calls = list(calls)
        self.instructions: str | None = None
        self.returned: list[Any] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions = info.instructions
        self.returned += [
            part.content
            for part in messages[-1].parts
            if part.part_kind.startswith(("tool", "retry"))
        ]
        if self._calls:
            return ModelResponse([ToolCallPart(*self._calls.pop(0))])
        return ModelResponse([TextPart("done")])


async def test_an_agent_remembers_searches_and_reads_the_history(sync_memory: Memory) -> None:
    def lives(city: str) -> dict[str, Any]:
        return {"subject": "Maya", "predicate": "lives_in", "object": city}

    script = Scripted(
        ("remember", lives("Porto")),
        ("remember", lives("Lisbon") | {"predicate": "resides"}),  # no such predicate
        ("remember", lives("Lisbon")),
        ("search_memory", {"question": "Where does Maya live?"}),
        ("fact_history", {"subject": "Maya", "predicate": "lives_in"}),
    )
    agent = Agent(FunctionModel(script), toolsets=[memory_toolset(sync_memory)], retries=2)
    assert (await agent.run("Maya moved.")).output == "done"
    porto, refused, lisbon, found, history = script.returned
    assert porto.startswith("Maya lives in Porto (since ")
    assert "resides" in refused
    assert lisbon.startswith("Maya lives in Lisbon")
    assert "Maya lives in Lisbon" in found
    assert [line.split(" (")[0] for line in history] == [
        "Maya lives in Porto",
        "Maya lives in Lisbon",
    ]
    assert script.instructions is not None
    assert "lives_in" in script.instructions


async def test_instructions_tell_what_bears_on_the_prompt(sync_memory: Memory) -> None:
    sync_memory.add("I moved to Lisbon last week.", speaker="Maya")
    script = Scripted()
    agent = Agent(FunctionModel(script), instructions=memory_instructions(sync_memory))
    await agent.run("Where does Maya live?")
    assert script.instructions is not None
    assert "Maya lives in Lisbon" in script.instructions
    await agent.run(" ")
    assert not script.instructions


async def test_every_tool_takes_what_its_schema_allows(sync_memory: Memory) -> None:
    model = TestModel(call_tools=["search_memory", "fact_history"])
    agent = Agent(model, toolsets=[memory_toolset(sync_memory)])
    await agent.run("Anything.")
    assert model.last_model_request_parameters is not None
    tools = model.last_model_request_parameters.function_tools
    assert [tool.name for tool in tools] == ["remember", "search_memory", "fact_history"]
    assert all(tool.description for tool in tools)
