"""An agent with a scripted model that keeps what it is told in the store, across processes."""

from __future__ import annotations

import sys
from typing import Annotated, Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from engram_graph import Memory, Settings
from engram_graph.integrations.langgraph import EngramStore

USER = ("users", "maya")


class Scripted(BaseChatModel):
    """Saves a statement by the tool; answers a question with what it is given."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        known, last = messages[0], messages[-1]
        if isinstance(last, HumanMessage) and not last.text.endswith("?"):
            call = {"name": "save", "args": {"text": last.text}, "id": "call-1"}
            reply = AIMessage("", tool_calls=[call])
        else:
            asked = isinstance(last, HumanMessage)
            reply = AIMessage(known.text if asked else "Noted.")
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def save(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Keep a text for later conversations."""
    store.put(USER, str(uuid4()), {"text": text})
    return "kept"


def model(state: MessagesState, runtime: Runtime[None]) -> dict[str, Any]:
    assert runtime.store is not None
    asked = next(each.text for each in state["messages"] if isinstance(each, HumanMessage))
    found = runtime.store.search(USER, query=asked, limit=3)
    known = SystemMessage(" ".join(item.value["text"] for item in found) or "nothing")
    return {"messages": [Scripted().invoke([known, *state["messages"]])]}


def talk(memory: Memory, said: str) -> str:
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([save]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile(store=EngramStore(memory))
    answer = agent.invoke({"messages": [HumanMessage(said)]})
    return str(answer["messages"][-1].text)


if __name__ == "__main__":
    with Memory(sys.argv[1], settings=Settings(embedder="hash", extractor="patterns")) as here:
        print(talk(here, sys.argv[2]))  # noqa: T201
