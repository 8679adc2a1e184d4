"""What EngramStore does besides the contract: facts, secrets, other loops, a real agent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from engram_graph.errors import InputError
from engram_graph.integrations.langgraph import EngramStore
from engram_graph.sync import Memory

ANN, BO = ("users", "ann"), ("users", "bo")


@pytest.fixture
def store(sync_memory: Memory) -> EngramStore:
    return EngramStore(sync_memory)


def test_what_an_item_says_becomes_facts_with_a_history(store: EngramStore) -> None:
    store.put(ANN, "home", {"text": "I live in Porto."})
    store.put(ANN, "home", {"text": "I live in Porto.", "seen": 2})  # says the same
    store.put(ANN, "home", {"text": "I live in Lisbon."})
    store.put(BO, "home", {"data": "I live in Rome."})
    store.put(BO, "diet", {"content": {"content": "I am vegan."}}, index=False)
    homes = store.memory.history("users/ann", "lives_in").facts
    assert [(fact.object, fact.open) for fact in homes] == [("Porto", False), ("Lisbon", True)]
    assert store.memory.stats().messages == 3
    store.delete(ANN, "home")
    assert [fact.text for fact in store.memory.facts().facts] == ["users/bo lives in Rome"]
    assert store.memory.stats().messages == 1


def test_said_and_speaker_are_options(sync_memory: Memory) -> None:
    silent = EngramStore(sync_memory, said=())
    silent.put(ANN, "home", {"text": "I live in Porto."})
    assert sync_memory.stats().messages == 0
    told = EngramStore(sync_memory, said=["note.words"], speaker="Ann")
    told.put(ANN, "home", {"note": {"words": "I live in Lisbon."}, "text": "I live in Oslo."})
    assert [fact.text for fact in sync_memory.facts().facts] == ["Ann lives in Lisbon"]


def test_one_batch_reads_before_it_writes(store: EngramStore) -> None:
    store.put(ANN, "a", {"n": 1})
    before = store.get(ANN, "a")
    assert before is not None
    results = store.batch(
        [
            PutOp(ANN, "a", {"n": 2}),
            GetOp(ANN, "a"),
            PutOp(ANN, "a", {"n": 3}),
            SearchOp(("users",), filter={"n": {"$ne": 7}}),
        ]
    )
    assert results[0] is None
    assert results[1] == before
    assert [item.value for item in results[3]] == [{"n": 1}]  # type: ignore[union-attr]
    after = store.get(ANN, "a")
    assert after is not None
    assert after.value == {"n": 3}
    assert (after.created_at, after.updated_at > before.updated_at) == (before.created_at, True)


def test_a_bad_operation_leaves_nothing_behind(store: EngramStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(ANN, "a", {"n": 1}), PutOp(("a.b",), "a", {"n": 1})])
    with pytest.raises(InputError, match="no JSON type"):
        store.put(ANN, "a", {"text": "I live in Porto.", "when": object()})
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(ANN, "a", {"n": 1}, ttl=5)
    assert store.search(()) == []
    assert store.memory.stats().messages == 0
    store.put(ANN, "a", {"n": "many"})
    assert store.search((), filter={"n": {"$gt": 1}}) == []
    with pytest.raises(InputError, match="\\$like"):
        store.search((), filter={"n": {"$like": "m"}})


def test_a_secret_is_not_kept(store: EngramStore) -> None:
    store.put(ANN, "wifi", {"text": "The password is hunter2x9!", "api_key": "sk-12345678abcdefgh"})
    item = store.get(ANN, "wifi")
    assert item is not None
    assert "hunter2x9!" not in str(item.value)
    assert item.value["api_key"] == "(redacted)"


def test_slashes_and_like_names_stay_apart(store: EngramStore) -> None:
    for path in (("a",), ("a/b",), ("a", "b"), ("ab",), ("a%2Fb",), ("a0",)):
        store.put(path, "k", {"path": list(path)})
    assert [item.value["path"] for item in store.search(("a",))] == [["a"], ["a", "b"]]
    assert [item.namespace for item in store.search(("a/b",))] == [("a/b",)]
    assert len(store.list_namespaces()) == 6


def test_forgetting_all_takes_items_too(store: EngramStore) -> None:
    store.put(ANN, "home", {"text": "I live in Porto."})
    assert store.memory.forget(everything=True, dry_run=True).items == 1
    assert store.memory.forget(everything=True).items == 1
    assert store.search(()) == []
    assert store.list_namespaces() == []


@pytest.mark.anyio
async def test_the_loop_goes_on_while_the_store_works(store: EngramStore) -> None:
    working = asyncio.create_task(store.aput(ANN, "home", {"text": "I live in Porto."}))
    turns = 0
    while not working.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100
    (found,) = await store.asearch(ANN, query="home")
    assert found.score is not None


def test_an_agent_keeps_a_fact_across_two_processes(
    settings: Any, namespace: str, sync_memory: Memory
) -> None:
    def process(said: str) -> str:
        ran = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("langgraph_agent.py")), namespace, said],
            env=os.environ
            | {
                "PYTHONPATH": str(Path(__file__).parents[2]),
                "NEO4J_URI": settings.neo4j_uri,
                "NEO4J_USERNAME": settings.neo4j_username,
                "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    assert process("Where do I live?") == "nothing"
    assert process("I moved to Lisbon last week.") == "Noted."
    assert process("Where do I live?") == "I moved to Lisbon last week."
    (home,) = sync_memory.history("users/maya", "lives_in").facts
    assert home.object == "Lisbon"
