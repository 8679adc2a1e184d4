"""Five facts and five turns of a tenant's own, among thousands of others with the same words."""

from __future__ import annotations

from itertools import islice

import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.patterns import PatternExtractor
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.bench import sentences, tenant
from engram_graph.bench.load import Loader
from engram_graph.bench.searches import LIMIT
from engram_graph.bench.vectors import ReadyVectors
from engram_graph.flows.runtime import Runtime
from engram_graph.graph.driver import Graph
from engram_graph.rules.text import query_terms

pytestmark = pytest.mark.anyio
OTHERS = 5_000
_MANY = 400
# What the product must not do: ask an index without a namespace and filter what comes.
_BY_VECTOR = """CYPHER 25
MATCH (n:{label})
SEARCH n IN (VECTOR INDEX {vectors} FOR $embedding LIMIT $limit)
SCORE AS score
RETURN n.namespace = $namespace AS own, score"""
_BY_TEXT = """CYPHER 25
CALL db.index.fulltext.queryNodes('{texts}', $lucene, {{limit: $limit}}) YIELD node, score
RETURN node.namespace = $namespace AS own, score"""
_INDEXES = (
    {"label": "Fact", "vectors": "fact_vector", "texts": "fact_text"},
    {"label": "Message", "vectors": "message_vector", "texts": "message_text"},
)


async def test_a_tenant_of_five_is_found_among_thousands_by_each_index_alone(
    graph: Graph, namespace: str
) -> None:
    vectors = ReadyVectors(HashEmbedder())
    runtime = Runtime(
        graph=graph,
        embedder=vectors,
        extractor=PatternExtractor(),
        decider=RulesDecider(),
    )
    others = Loader(runtime, vectors, f"{namespace}-others")
    given = list(islice(sentences.stream(1), OTHERS))
    await others.facts(given)
    await others.turns(given)
    await tenant.settle(Loader(runtime, vectors, namespace), others)

    rows = await tenant.found(runtime, vectors, namespace)

    assert [(row["work"], row["found"], row["met"]) for row in rows] == [
        ("sparse tenant, facts by vector", 5, True),
        ("sparse tenant, facts by full text", 5, True),
        ("sparse tenant, turns by vector", 5, True),
        ("sparse tenant, turns by full text", 5, True),
    ]
    # Without the namespace inside the indexes no place would be kept for them.
    question = tenant.QUESTION
    for names in _INDEXES:
        for statement, asked in (
            (_BY_VECTOR, {"embedding": vectors.vector(question)}),
            (_BY_TEXT, {"lucene": f"search_text:({' '.join(query_terms(question))})"}),
        ):
            found = await graph.statement(
                statement.format(**names), limit=_MANY, namespace=namespace, **asked
            )
            last = min((row["score"] for row in found if row["own"]), default=-1.0)
            # As good as the last of its own, or better: which of them come first is chance.
            assert sum(not row["own"] and row["score"] >= last for row in found) >= LIMIT
