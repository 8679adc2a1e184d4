"""Spans and metrics by the OpenTelemetry API; without an SDK nothing happens.

Names follow the semantic conventions of databases and of generative AI where those have one; the
rest begins with ``engram.``. No text of a message, fact, name, question or error is an attribute:
an error is recorded by its type alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from opentelemetry import context, metrics, trace
from opentelemetry.context import Context as Context
from opentelemetry.trace import Span as Span
from opentelemetry.trace import SpanKind, StatusCode

from engram_graph.errors import EngramError

SCOPE = "engram_graph"
"""Name of the instrumentation scope."""
Value = str | bool | int | float
_QUICK = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
_MODEL = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
_TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]

SPANS = {
    "engram.METHOD": "a call of a client's method, such as `engram.add`; one inside another has "
    "no span of its own",
    "engram.process": "the facts of a message added with `wait=False`; its parent is that `add`",
    "engram.extract": "the extractor reads one message",
    "engram.embed": "the embedder makes vectors",
    "engram.decide": "the decider answers the questions about one fact",
    "engram.rerank": "the reranker judges what a search found",
    "engram.transaction": "a transaction of several statements, with its retries and its commit",
    "QUERY": "one Neo4j statement, named as in `cypher/`, such as `store_message`",
    "chat MODEL": "a request to a language model, with its retries",
    "embeddings MODEL": "a request to a server of embeddings, with its retries",
    "decide MODEL": "a request to the decision API, with its retries",
}
"""Name → what it covers."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One instrument.

    Attributes:
        attributes: the names that every point may have; ``error.type`` on top where a call failed.
    """

    kind: Literal["histogram", "counter"]
    unit: str
    help: str
    attributes: tuple[str, ...]
    buckets: tuple[float, ...] = ()


METRICS = {
    "engram.operation.duration": Metric(
        "histogram", "s", "calls of a client's methods", ("engram.operation",), tuple(_MODEL)
    ),
    "db.client.operation.duration": Metric(
        "histogram",
        "s",
        "Neo4j statements",
        ("db.system.name", "db.query.summary"),
        tuple(_QUICK),
    ),
    "gen_ai.client.operation.duration": Metric(
        "histogram",
        "s",
        "requests to models over a network",
        ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"),
        tuple(_MODEL),
    ),
    "gen_ai.client.token.usage": Metric(
        "histogram",
        "{token}",
        "tokens of such a request, where the server tells them",
        (
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.token.type",
        ),
        tuple(_TOKENS),
    ),
    "engram.model.duration": Metric(
        "histogram",
        "s",
        "calls of extractor, embedder, decider and reranker, also those without a network",
        ("engram.part", "engram.backend"),
        tuple(_MODEL),
    ),
    "engram.cost": Metric(
        "counter", "USD", "what deciders and rerankers cost, where known", ("engram.part",)
    ),
    "engram.degraded": Metric(
        "counter", "{call}", "calls answered without a model that failed", ("engram.part",)
    ),
    "engram.decisions": Metric(
        "counter",
        "{decision}",
        "decisions written",
        ("engram.question", "engram.outcome", "engram.backend"),
    ),
    "engram.facts.stored": Metric("counter", "{fact}", "facts stored", ("engram.tentative",)),
    "engram.facts.closed": Metric("counter", "{fact}", "facts that got an end", ()),
    "engram.plans.stale": Metric(
        "counter", "{plan}", "plans made again because another writer came between", ()
    ),
}
"""Name → instrument."""

_tracer = trace.get_tracer(SCOPE)
_meter = metrics.get_meter(SCOPE)
_histograms = {
    name: _meter.create_histogram(
        name, each.unit, each.help, explicit_bucket_boundaries_advisory=list(each.buckets)
    )
    for name, each in METRICS.items()
    if each.kind == "histogram"
}
_counters = {
    name: _meter.create_counter(name, each.unit, each.help)
    for name, each in METRICS.items()
    if each.kind == "counter"
}


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, Value] | None = None,
    *,
    outward: bool = False,
    metric: str | None = None,
    measured: Mapping[str, Value] | None = None,
) -> Iterator[Span]:
    """A span round what is done inside; what is raised there is noted by its type.

    Args:
        outward: it asks another system.
        metric, measured: the histogram that gets its seconds, and the attributes of that point.
    """
    began = time.perf_counter()
    failed: dict[str, Value] = {}
    one = _tracer.start_span(
        name, kind=SpanKind.CLIENT if outward else SpanKind.INTERNAL, attributes=attributes
    )
    # Without an SDK there is nothing to stand below.
    valid = one.get_span_context().is_valid
    token = context.attach(trace.set_span_in_context(one)) if valid else None
    try:
        yield one
    except BaseException as error:
        # By its type alone: its text may hold what was said.
        failed["error.type"] = error_type(error)
        one.set_attribute("error.type", error_type(error))
        one.set_status(StatusCode.ERROR)
        raise
    finally:
        if token is not None:
            context.detach(token)
        one.end()
        if metric is not None:
            seconds = time.perf_counter() - began
            _histograms[metric].record(seconds, {**(measured or {}), **failed})


def error_type(error: BaseException) -> str:
    """An error without its words: the code of one of ours, else the name of its class."""
    if isinstance(error, EngramError):
        return error.code
    kind = type(error)
    name = kind.__qualname__
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"


@contextmanager
def part(part: str, backend: str, **attributes: Value) -> Iterator[Span]:
    """A span round a call of ``part`` (``extract``, ``embed``, ``decide``, ``rerank``)."""
    measured = {"engram.part": part, "engram.backend": backend}
    noted = {f"engram.{name}": value for name, value in attributes.items()}
    with span(
        f"engram.{part}",
        {"engram.backend": backend, **noted},
        metric="engram.model.duration",
        measured=measured,
    ) as one:
        yield one


class Request:
    """A request to a model that is under way."""

    def __init__(self, one: Span, measured: Mapping[str, Value]) -> None:
        self._span = one
        self._measured = measured

    def answered(
        self, model: str = "", input_tokens: int | None = None, output_tokens: int | None = None
    ) -> None:
        """Note which model answered, and the tokens that its server told."""
        if model:
            self._span.set_attribute("gen_ai.response.model", model)
        for kind, tokens in (("input", input_tokens), ("output", output_tokens)):
            if tokens is not None:
                self._span.set_attribute(f"gen_ai.usage.{kind}_tokens", tokens)
                _histograms["gen_ai.client.token.usage"].record(
                    tokens, {**self._measured, "gen_ai.token.type": kind}
                )


@contextmanager
def request(operation: str, model: str, provider: str, server: str | None) -> Iterator[Request]:
    """A span round a request to a model.

    Args:
        operation: ``chat``, ``embeddings``, or ``decide``, for which there is no convention.
        server: its host; None when it is the provider's own.
    """
    measured: dict[str, Value] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
    }
    with span(
        f"{operation} {model}",
        measured | ({"server.address": server} if server else {}),
        outward=True,
        metric="gen_ai.client.operation.duration",
        measured=measured,
    ) as one:
        yield Request(one, measured)


def count(metric: str, amount: float = 1, **attributes: Value) -> None:
    """Add to a counter; attributes without their ``engram.``."""
    _counters[metric].add(amount, {f"engram.{name}": value for name, value in attributes.items()})


def here() -> Context:
    """The context that spans begun now get as their parent."""
    return context.get_current()


@contextmanager
def continued(where: Context) -> Iterator[None]:
    """Begin spans under ``where``, from another task."""
    token: Any = context.attach(where)
    try:
        yield
    finally:
        context.detach(token)
