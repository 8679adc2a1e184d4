"""What an operator sees of a memory: spans and metrics in an OpenTelemetry SDK, lines in the log.

And what nobody sees: a word of what was said.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from flow_fakes import AwayDecider, ScriptedExtractor, draft
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr

from engram_graph import telemetry
from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.errors import (
    EmbeddingError,
    ExtractionError,
    InputError,
    NotFoundError,
    RerankError,
    StoreError,
)
from engram_graph.graph import driver
from engram_graph.graph.queries import load
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Turn
from engram_graph.models.facts import Fact, Vector
from engram_graph.models.ranking import Ranking
from engram_graph.settings import Settings
from engram_graph.sync import Memory
from engram_graph.testing.fake_llm import FakeLLM, Reply, answer

pytestmark = pytest.mark.anyio
Make = Callable[..., AsyncMemory]
MARKS = ("Zorblatt", "Quindary", "Vexholm", "brumelow", "sk-hushnow")
ROOT = Path(__file__).parents[2]


class Seen:
    """What an SDK got."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()

    def spans(self, name: str | None = None) -> list[ReadableSpan]:
        found = self.exporter.get_finished_spans()
        return [each for each in found if name is None or each.name == name]

    def one(self, name: str) -> ReadableSpan:
        (found,) = self.spans(name)
        return found

    def path(self, span: ReadableSpan) -> list[str]:
        """Names from the root down to ``span``."""
        known = {s.context.span_id: s for s in self.spans() if s.context}
        names = [span.name]
        while span.parent is not None and span.parent.span_id in known:
            span = known[span.parent.span_id]
            names.insert(0, span.name)
        return names

    def points(self, metric: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for each in scope.metrics
            if each.name == metric
            for point in each.data.data_points
        ]

    def total(self, metric: str, **attributes: Any) -> float:
        """Sum of a counter, or number of a histogram's values, over the points that fit."""
        wanted = {f"engram.{key}": value for key, value in attributes.items()}
        return sum(
            getattr(point, "value", None) or getattr(point, "count", 0)
            for point in self.points(metric)
            if wanted.items() <= dict(point.attributes).items()
        )


@pytest.fixture(scope="module")
def sdk() -> Iterator[Seen]:
    """The process's SDK: there can be one only, so that it goes deaf at the end."""
    seen = Seen()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(seen.exporter))
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(MeterProvider([seen.reader]))
    yield seen
    tracers.shutdown()


@pytest.fixture
def seen(sdk: Seen) -> Seen:
    sdk.exporter.clear()
    return sdk


@pytest.fixture
def llm() -> Iterator[FakeLLM]:
    with FakeLLM() as running:
        yield running


def with_llm(settings: Settings, llm: FakeLLM, **more: Any) -> Settings:
    key = SecretStr("sk-hushnow")
    given = {"extractor": "llm", "openai_api_key": key, "openai_base_url": llm.url}
    return settings.model_copy(update=given | more)


async def test_the_spans_of_an_add(
    make_memory: Make, settings: Settings, llm: FakeLLM, seen: Seen
) -> None:
    llm.answers = lambda _: answer(
        [{"text": "Ilka lives in Tarnfold", "subject": "Ilka", "relation": "lives_in",
          "object": "Tarnfold"}]
    )  # fmt: skip
    memory = make_memory(settings=with_llm(settings, llm))
    await memory.open()
    seen.exporter.clear()
    stored = seen.total("engram.facts.stored", tentative=False)
    with trace.get_tracer("caller").start_as_current_span("caller"):
        await memory.add("I live in Tarnfold.", speaker="Ilka")
    assert seen.path(seen.one("chat gpt-4o-mini")) == [
        "caller",
        "engram.add",
        "engram.extract",
        "chat gpt-4o-mini",
    ]
    assert seen.path(seen.one("engram.decide")) == ["caller", "engram.add", "engram.decide"]
    assert ["caller", "engram.add", "engram.transaction", "lock_entities"] in [
        seen.path(span) for span in seen.spans()
    ]
    chat = seen.one("chat gpt-4o-mini")
    assert chat.kind is trace.SpanKind.CLIENT
    assert dict(chat.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.response.model": "gpt-4o-mini",
        "gen_ai.usage.input_tokens": 1,
        "gen_ai.usage.output_tokens": 1,
        "server.address": "127.0.0.1",
    }
    add = dict(seen.one("engram.add").attributes or {})
    assert add == {"engram.operation": "add"}, "a namespace may name a person"
    assert seen.total("engram.facts.stored", tentative=False) == stored + 1
    assert seen.total("engram.decisions", question="belief_start", outcome="stored") >= 1
    assert {kind for p in seen.points("gen_ai.client.token.usage")
            for kind in [p.attributes["gen_ai.token.type"]]} == {"input", "output"}  # fmt: skip


async def test_the_spans_of_a_search_and_what_a_statement_tells(
    make_memory: Make, settings: Settings, seen: Seen
) -> None:
    memory = make_memory(settings=settings.model_copy(update={"trace_namespace": True}))
    await memory.remember("Ilka", "lives_in", "Tarnfold")
    seen.exporter.clear()
    await memory.search("Where does Ilka live?")
    roots = [span.name for span in seen.spans() if span.parent is None]
    assert roots == ["engram.search"]
    assert ["engram.search", "engram.embed"] in [seen.path(span) for span in seen.spans()]
    queries = [span for span in seen.spans() if span.kind is trace.SpanKind.CLIENT]
    known = {name for stem in ("read", "history", "entities") for name in load(stem)}
    assert queries
    for span in queries:
        told = dict(span.attributes or {})
        assert told.pop("db.response.returned_rows") >= 0
        assert told == {
            "db.system.name": "neo4j",
            "db.query.summary": span.name,
            "server.address": driver.urlsplit(memory.settings.neo4j_uri or "").hostname,
        }
    assert {span.name for span in queries} & known
    found = dict(seen.one("engram.search").attributes or {})
    assert found["engram.namespace"] == memory.namespace


async def test_a_blocking_call_stays_below_its_caller(sync_memory: Memory, seen: Seen) -> None:
    seen.exporter.clear()

    def work() -> None:
        with trace.get_tracer("caller").start_as_current_span("caller"):
            sync_memory.add("I live in Tarnfold.", speaker="Ilka")
            sync_memory.search("Where does Ilka live?")

    await asyncio.to_thread(work)
    assert seen.path(seen.one("engram.add")) == ["caller", "engram.add"]
    assert seen.path(seen.one("engram.search")) == ["caller", "engram.search"]
    assert {span.context.trace_id for span in seen.spans() if span.context} == {
        seen.one("caller").context.trace_id  # type: ignore[union-attr]
    }


async def test_what_is_written_later_belongs_to_its_own_add(make_memory: Make, seen: Seen) -> None:
    memory = make_memory()
    tracer = trace.get_tracer("caller")
    for name in ("first", "second"):
        with tracer.start_as_current_span(name):
            await memory.add(f"My {name} hobby is chess.", speaker="Ilka", wait=False)
    await memory.flush()
    assert sorted(seen.path(span) for span in seen.spans("engram.process")) == [
        ["first", "engram.add", "engram.process"],
        ["second", "engram.add", "engram.process"],
    ]


async def test_a_call_inside_another_has_no_span_of_its_own(make_memory: Make, seen: Seen) -> None:
    memory = make_memory()
    await memory.remember("Ilka", "lives_in", "Tarnfold")
    assert "engram.open" not in {span.name for span in seen.spans()}
    async for _ in memory.iter_facts():
        pass
    assert len(seen.spans("engram.facts")) == 1


async def test_an_error_is_told_by_its_type(make_memory: Make, seen: Seen) -> None:
    memory = make_memory()
    with pytest.raises(NotFoundError):
        await memory.get("Zorblatt")
    with pytest.raises(InputError):
        await memory.add("", speaker="Zorblatt")
    for name, code in (("engram.get", "not_found"), ("engram.add", "input")):
        span = seen.one(name)
        assert (span.attributes or {})["error.type"] == code
        assert span.status.status_code is trace.StatusCode.ERROR
        assert span.status.description is None
        assert not span.events
    graph = (await memory.open()).graph
    with pytest.raises(StoreError, match="Unknown function"):
        await graph.statement("CYPHER 25 RETURN nothing.of('Zorblatt')", "broken")
    status = (seen.one("broken").attributes or {})["db.response.status_code"]
    assert str(status).startswith("Neo.ClientError.Statement.")
    points = seen.points("engram.operation.duration")
    assert ("get", "not_found") in {
        (p.attributes["engram.operation"], p.attributes.get("error.type")) for p in points
    }


class BadReranker:
    """Repeats the question in its error."""

    name = "bad"
    window = 10

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        raise RerankError(f"cannot judge {query!r}")

    async def aclose(self) -> None:
        pass


class BadEmbedder(HashEmbedder):
    """Repeats the texts in its error, once it fails."""

    broken = False

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if self.broken:
            raise EmbeddingError(f"cannot embed {texts!r}")
        return await super().embed(texts, query=query)


async def _live(make_memory: Make, settings: Settings, llm: FakeLLM) -> None:
    """A memory's day, with everything that can go wrong in it, and a marked word everywhere."""
    decider, embedder = AwayDecider(), BadEmbedder()
    said = "I am Zorblatt, I live in Vexholm and fear the brumelow."
    extractor = ScriptedExtractor(
        ExtractionError(f"cannot read {said!r}"),
        ValueError(f"cannot read {said!r}"),
        [draft("Zorblatt lives in Vexholm", "Zorblatt|lives_in|Vexholm", quote=said)],
    )
    memory = make_memory(
        decider=decider, embedder=embedder, extractor=extractor, reranker=BadReranker()
    )
    failed = await memory.add(said, speaker="Zorblatt", source_id="Quindary")
    assert failed.message.error
    with pytest.raises(ValueError, match="cannot read"):
        await memory.add(said + " Really.", speaker="Zorblatt")
    await memory.resume()
    decider.away = False
    settled = await memory.resume()
    assert any(each.asked_again for each in settled)
    found = await memory.search("Does Zorblatt live in Vexholm with a brumelow?", mode="both")
    assert found.degraded
    embedder.broken = True
    assert (await memory.search("Who is Quindary?")).degraded
    embedder.broken = False
    moved = await memory.remember("Zorblatt", "lives_in", "Quindary", valid_from="2030-01-01")
    await memory.correct(moved.facts[0], object="Vexholm", reason="brumelow", speaker="Quindary")
    await memory.whatif()
    await memory.hygiene(apply=True)
    await memory.explain(moved.facts[0])
    with pytest.raises(InputError):
        await memory.facts(predicate="brumelow")
    llm.script(Reply(status=400, body=json.dumps({"error": {"message": said}})))
    llm.otherwise = Reply(status=400, body=json.dumps({"error": {"message": said}}))
    asked = make_memory(settings=with_llm(settings, llm))
    assert (await asked.add(said, speaker="Quindary")).message.status == "failed"
    llm.fail(3)
    assert (await asked.add(said + " Truly.", speaker="Quindary")).message.status == "failed"
    await asked.add(said + " Verily.", speaker="Quindary", wait=False)
    await asked.aclose()
    await memory.forget(entity="Zorblatt")


async def test_no_word_reaches_a_log_or_a_span(
    make_memory: Make,
    settings: Settings,
    llm: FakeLLM,
    seen: Seen,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "SLOW_SECONDS", 0.0)
    caplog.set_level(logging.INFO)  # of strangers; ours tell no word at any level
    caplog.set_level(logging.DEBUG, "engram_graph")
    before = {part: seen.total("engram.degraded", part=part) for part in PARTS}
    await _live(make_memory, settings, llm)
    lines = [logging.Formatter().format(record) for record in caplog.records]
    assert any(name in line for line in lines for name in ("extractor", "slow statement"))
    for mark in MARKS:
        hits = [line for line in lines if mark.lower() in line.lower()]
        assert not hits, hits
        spans = [span.to_json() for span in seen.spans()]
        assert not [text for text in spans if mark.lower() in text.lower()]
        points = [str(p.attributes) for name in telemetry.METRICS for p in seen.points(name)]
        assert not [text for text in points if mark.lower() in text.lower()]
    for part in PARTS:
        assert seen.total("engram.degraded", part=part) > before[part], part
    assert seen.total("engram.facts.closed") > 0
    ours = [each for each in caplog.records if each.name.startswith("engram_graph")]
    told = {each.getMessage().split(":")[0] for each in ours if each.levelno >= logging.WARNING}
    assert {
        "extractor scripted failed",
        "decider rules failed",
        "embedder failed",
        "reranker bad failed",
    } <= told


PARTS = ("extract", "embed", "decide", "rerank")


async def test_every_metric_and_span_is_in_the_catalogue(seen: Seen) -> None:
    """What the tests above made is named in ``telemetry``, and so in docs/observability.md."""
    data = seen.reader.get_metrics_data()
    assert data is not None
    made = {
        metric.name: metric
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        if scope.scope.name == telemetry.SCOPE
        for metric in scope.metrics
    }
    assert made.keys() <= telemetry.METRICS.keys()
    for name, metric in made.items():
        known = {*telemetry.METRICS[name].attributes, "error.type"}
        assert metric.unit == telemetry.METRICS[name].unit
        for point in metric.data.data_points:
            assert set(point.attributes or {}) <= known, name


WITHOUT = """
import sys
sys.modules["opentelemetry.sdk"] = None
from engram_graph import Memory
with Memory(sys.argv[1]) as memory:
    memory.remember("Ilka", "lives_in", "Tarnfold")
    print(memory.search("Where does Ilka live?").facts[0].fact.object)
"""


def test_nothing_is_needed_but_the_api(settings: Settings, namespace: str) -> None:
    env = os.environ | {
        "NEO4J_URI": str(settings.neo4j_uri),
        "NEO4J_USERNAME": settings.neo4j_username,
        "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
        "ENGRAM_EMBEDDER": "hash",
    }
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, namespace],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("Tarnfold\n", "")


async def test_stats_tell_how_long_each_question_takes(make_memory: Make) -> None:
    decider = AwayDecider()
    decider.away = False
    memory = make_memory(decider=decider)
    await memory.remember("Ilka", "lives_in", "Tarnfold", said_at="2025-01-10")
    decider.away = True
    await memory.remember("Ilka", "lives_in", "Ostwick", said_at="2025-03-04")
    stats = await memory.stats()
    assert stats.failed_requests == 1
    assert stats.failed_share == 1 / stats.requests
    first = next(iter(stats.questions.values()))  # the one asked most often
    assert (first.requests, first.failed_requests) == (2, 1)
    assert all(each.requests <= first.requests for each in stats.questions.values())
    times = (first.latency_ms_p50, first.latency_ms_p90, first.latency_ms_p99)
    assert None not in times
    assert list(times) == sorted(times, key=lambda ms: ms or 0.0)
    assert stats.latency_ms_p99 is not None
    assert stats.open + stats.closed == stats.facts
    everything = await memory.history("Ilka")
    assert stats.closed == sum(not fact.open for fact in everything.facts)
