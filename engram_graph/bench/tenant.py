"""The sparse tenant: five facts and five turns of its own among very many of others.

The others hold the tenant's own sentences, each more often than a search returns records: whoever
asked the indexes first and looked at the namespace afterwards would find nothing of the tenant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engram_graph.bench.load import Loader
from engram_graph.bench.searches import LIMIT, Sort, find
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.flows.runtime import Runtime
from engram_graph.rules.text import query_terms

OWN = 5
_TWINS = 2 * LIMIT  # copies among the others of each of the tenant's sentences
_THINGS = ("violin", "kayak", "camera", "loom", "piano")
QUESTION = "What does Tessa Sparse own?"
_WORDLESS = "?"  # no word to look for: only its vector finds anything

Row = dict[str, Any]


def facts() -> list[Row]:
    """What the tenant holds."""
    return [
        {
            "subject": "Tessa Sparse",
            "predicate": "owns",
            "object": thing,
            "text": f"Tessa Sparse owns a {thing}",
        }
        for thing in _THINGS
    ]


def twins() -> list[Row]:
    """The same sentences for the others; a number in the object makes each a fact of its own."""
    return [
        item | {"object": f"{item['object']} {number}"}
        for number in range(1, _TWINS + 1)
        for item in facts()
    ]


async def settle(tenant: Loader, others: Loader) -> None:
    """Store the tenant's records, each turn in a conversation of its own so that none leads to
    another, and their copies among the others."""
    await tenant.facts(facts())
    await tenant.turns(facts(), batch=1)
    await others.facts(twins())
    await others.turns(twins())


async def found(runtime: Runtime, vectors: ReadyVectors, namespace: str) -> list[Row]:
    """How many of its records the tenant's searches give, by each index alone.

    Returns:
        A row each for facts and turns by vector and by full text, with work, found, of and met.
    """
    assert not query_terms(_WORDLESS)
    alone: dict[str, Callable[[Sort], Any]] = {
        "vector": lambda sort: find(_near(runtime, vectors), namespace, _WORDLESS, sort),
        "full text": lambda sort: find(replace(runtime, embedder=None), namespace, QUESTION, sort),
    }
    rows = []
    sorts: tuple[Sort, ...] = ("facts", "turns")
    for sort in sorts:
        for index, search in alone.items():
            recall = await search(sort)
            hits = [hit.fact for hit in recall.facts] + [hit.message for hit in recall.turns]
            own = len({hit.text for hit in hits} & {item["text"] for item in facts()})
            met = own == OWN and {hit.namespace for hit in hits} == {namespace}
            rows.append(
                {
                    "work": f"sparse tenant, {sort} by {index}",
                    "found": own,
                    "of": OWN,
                    "met": met,
                }
            )
    return rows


def _near(runtime: Runtime, vectors: ReadyVectors) -> Runtime:
    """With the question's vector for the text without words."""
    return replace(runtime, embedder=vectors.saying({_WORDLESS: QUESTION}))
