"""graphiti, through its own package: facts by a language model, in a Neo4j of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from engram_graph.evaluation.arms import peers
from engram_graph.evaluation.arms.statements import Statement
from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Tally, Task, Written
from engram_graph.models.facts import Vector

_PACKAGE = peers.Package("graphiti_core", "graphiti-core", database=True)


@dataclass(slots=True)
class Graphiti:
    """Its defaults: each turn is an episode, read by its hybrid search over edges."""

    name: str = "graphiti"
    about: str = "graphiti with its defaults: each turn an episode, read by its hybrid search."
    ks: tuple[int, ...] = (3, 20)
    limit: int = 30
    needs: tuple[str, ...] = ("llm",)
    tell_needs: tuple[str, ...] = ("llm",)
    flags: Mapping[str, Any] = field(default_factory=lambda: {"package": "graphiti-core"})
    _sources: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def missing(self) -> str | None:
        """See ``peers.Package``."""
        return _PACKAGE.missing()

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """An episode for each turn, one after the other."""
        facts = set[str]()
        asked: list[Tally] = []
        async with self._memory(models, namespace, new=True) as memory:
            for turn in talk.turns:
                with peers.counted(models, asked):
                    done = await memory.add_episode(
                        name=turn.source_id,
                        episode_body=f"{turn.speaker}: {turn.text}",
                        source_description="conversation",
                        reference_time=turn.said_at,
                        group_id=peers.short_name(namespace),
                    )
                self._sources[done.episode.uuid] = turn.source_id
                facts |= {edge.uuid for edge in done.edges}
        return peers.written(len(talk.turns), len(facts), asked)

    async def tell(self, models: Models, namespace: str, statements: Sequence[Statement]) -> None:
        """Add the statements as triplets; its language model still says what they end."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EntityNode

        group = peers.short_name(namespace)
        async with self._memory(models, namespace, new=True) as memory:
            for each in statements:
                ends = [
                    EntityNode(name=name, group_id=group, labels=["Entity"], summary="")
                    for name in (each.subject, each.object)
                ]
                edge = EntityEdge(
                    source_node_uuid=ends[0].uuid,
                    target_node_uuid=ends[1].uuid,
                    name=each.predicate.upper(),
                    fact=each.text,
                    group_id=group,
                    created_at=each.said_at,
                    valid_at=each.valid_from or each.said_at,
                    invalid_at=each.valid_until,
                )
                done = await memory.add_triplet(ends[0], edge, ends[1])
                if each.source_id is not None and done.edges:
                    self._sources.setdefault(done.edges[0].uuid, each.source_id)

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """The edges its search gives, best first; those it invalidated say so."""
        group = peers.short_name(namespace)
        async with self._memory(models, namespace) as memory:
            with models.tally() as asked:
                found = await memory.search(task.text, group_ids=[group], num_results=self.limit)
        return peers.given([self._line(edge) for edge in found], asked, self.limit)

    def _line(self, edge: Any) -> Line:
        text = peers.dated(edge.valid_at or edge.created_at, edge.fact)
        text, ended = peers.until(text, edge.invalid_at)
        named = [
            self._sources[each] for each in (*edge.episodes, edge.uuid) if each in self._sources
        ]
        return Line(text, named[0] if named else None, ended)

    @asynccontextmanager
    async def _memory(
        self, models: Models, namespace: str, *, new: bool = False
    ) -> AsyncIterator[Any]:
        """A connection; with ``new`` what was in the namespace is gone."""
        peers.quiet()
        from graphiti_core import Graphiti as Client
        from graphiti_core.llm_client.config import LLMConfig
        from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
        from graphiti_core.utils.maintenance.graph_data_operations import clear_data

        place = await peers.own_server()
        llm = models.endpoint()
        async with peers.ours(models, namespace) as (_, vectors), peers.at_work(self.name):
            client = Client(
                place.bolt_uri,
                place.username,
                place.password,
                llm_client=OpenAIGenericClient(
                    LLMConfig(
                        api_key=llm["api_key"],
                        base_url=llm["base_url"],
                        model=llm["model"],
                        small_model=llm["model"],
                        temperature=0.0,
                    )
                ),
                embedder=_embedder(vectors),
                cross_encoder=_no_reranker(),
            )
            try:
                if new:
                    await client.build_indices_and_constraints()
                    await clear_data(client.driver, [peers.short_name(namespace)])
                yield client
            finally:
                await client.close()


def _embedder(vectors: peers.Vectors) -> Any:
    from graphiti_core.embedder.client import EmbedderClient

    class Study(EmbedderClient):  # type: ignore[misc]
        """The study's embedder."""

        async def create(self, input_data: Any) -> Vector:
            texts = [input_data] if isinstance(input_data, str) else list(input_data)
            return (await vectors.of(texts))[0]

        async def create_batch(self, input_data_list: list[str]) -> list[Vector]:
            return await vectors.of(input_data_list)

    return Study()


def _no_reranker() -> Any:
    from graphiti_core.cross_encoder.client import CrossEncoderClient

    class Unused(CrossEncoderClient):  # type: ignore[misc]
        """Its default search asks none, but wants to have one."""

        async def rank(self, query: str, passages: Iterable[str]) -> list[tuple[str, float]]:
            return [(passage, 0.0) for passage in passages]

    return Unused()


def graphiti() -> Graphiti:
    """graphiti-core."""
    return Graphiti()
