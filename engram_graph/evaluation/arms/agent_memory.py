"""neo4j-agent-memory, through its own package, in a Neo4j of its own.

It keeps messages with the entities a language model finds in them, and facts that it is given. It
knows no namespaces: each conversation has the whole database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram_graph.evaluation.arms import peers
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Tally, Task, Written
from engram_graph.models.facts import Vector

_PACKAGE = peers.Package("neo4j_agent_memory", "neo4j-agent-memory", database=True)
_SOURCE, _FROM, _UNTIL = "source_id", "from", "until"


@dataclass(slots=True)
class AgentMemory:
    """Its defaults, with a language model for its extractor."""

    name: str = "agent_memory"
    about: str = "neo4j-agent-memory: each turn a message with its entities; facts, then messages."
    ks: tuple[int, ...] = (3, 20)
    limit: int = 30
    needs: tuple[str, ...] = ("llm",)
    tell_needs: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=lambda: {"package": "neo4j-agent-memory"})

    def missing(self) -> str | None:
        """See ``peers.Package``."""
        return _PACKAGE.missing()

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """A message for each turn, one after the other."""
        asked: list[Tally] = []
        async with _memory(models, namespace, llm=models.endpoint(), new=True) as memory:
            for turn in talk.turns:
                with peers.counted(models, asked):
                    await memory.short_term.add_message(
                        talk.id,
                        turn.role,
                        peers.dated(turn.said_at, f"{turn.speaker}: {turn.text}"),
                        metadata={_SOURCE: turn.source_id},
                    )
        return peers.written(len(talk.turns), 0, asked)

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Add the statements as facts; no model is asked."""
        async with _memory(models, namespace, new=True) as memory:
            for each in statements:
                begin = each.valid_from or each.said_at
                await memory.long_term.add_fact(
                    each.subject,
                    ("not " if each.negated else "") + each.predicate.replace("_", " "),
                    each.object,
                    valid_from=begin,
                    valid_until=each.valid_until,
                    metadata={
                        _SOURCE: each.source_id,
                        _FROM: begin.isoformat(),
                        _UNTIL: each.valid_until.isoformat() if each.valid_until else None,
                    },
                )

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """The facts, then the messages that its searches give, with its own thresholds."""
        async with _memory(models, namespace) as memory:
            with models.tally() as asked:
                facts = await memory.long_term.search_facts(task.text, limit=self.limit)
                said = await memory.short_term.search_messages(task.text, limit=self.limit)
        lines = [_fact_line(fact) for fact in facts]
        lines += [Line(peers.dated(None, m.content), m.metadata.get(_SOURCE)) for m in said]
        return peers.given(lines, asked, self.limit)


def _fact_line(fact: Any) -> Line:
    # Its own valid_from and valid_until cannot be used: 0.8 reads back the moment of reading.
    told = {name: fact.metadata.get(name) for name in (_FROM, _UNTIL)}
    begin, end = (datetime.fromisoformat(each) if each else None for each in told.values())
    text = peers.dated(begin, f"{fact.subject} {fact.predicate} {fact.object}")
    text, ended = peers.until(text, end)
    return Line(text, fact.metadata.get(_SOURCE), ended)


@asynccontextmanager
async def _memory(
    models: Models, namespace: str, *, llm: Mapping[str, Any] | None = None, new: bool = False
) -> AsyncIterator[Any]:
    """A client on the database of its own.

    Args:
        llm: the language model that extracts; None: nothing is extracted.
        new: what is in the database goes first.
    """
    from neo4j_agent_memory import ExtractionConfig, ExtractorType, MemoryClient, MemorySettings

    place = await peers.own_server()
    async with peers.ours(models, namespace) as (_, vectors), peers.at_work("agent_memory"):
        embedder = _Embedder(vectors, await vectors.dimension())
        settings = MemorySettings(
            backend="bolt",
            neo4j={
                "uri": place.bolt_uri,
                "username": place.username,
                "password": place.password,
            },
            embedding=embedder,
            extraction=ExtractionConfig(
                extractor_type=ExtractorType.NONE, enable_llm_fallback=False
            ),
            llm=None,
        )
        async with MemoryClient(
            settings, embedder=embedder, extractor=_extractor(llm) if llm else None
        ) as client:
            if new:
                await client.graph.execute_write("MATCH (n) DETACH DELETE n")
            yield client


def _extractor(llm: Mapping[str, Any]) -> Any:
    from neo4j_agent_memory.extraction.llm_extractor import LLMEntityExtractor
    from neo4j_agent_memory.llm.adapters.openai import OpenAIProvider

    provider = OpenAIProvider(
        f"openai/{llm['model']}", api_key=llm["api_key"], api_base=llm["base_url"]
    )
    return LLMEntityExtractor(provider)


@dataclass(slots=True)
class _Embedder:
    """The study's embedder by both protocols of the package."""

    vectors: peers.Vectors
    dimensions: int
    model: str = "study"

    async def embed(self, texts: Any) -> Any:
        if isinstance(texts, str):
            return (await self.vectors.of([texts]))[0]
        return await self.vectors.of(texts)

    async def embed_one(self, text: str) -> Vector:
        return (await self.vectors.of([text]))[0]

    async def embed_batch(self, texts: list[str]) -> list[Vector]:
        return await self.vectors.of(texts)


def agent_memory() -> AgentMemory:
    """neo4j-agent-memory."""
    return AgentMemory()
