"""A span round each method of the client."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from engram_graph import telemetry
from engram_graph.client.base import Connection

C = TypeVar("C", bound=type[Connection])
_inside: ContextVar[bool] = ContextVar("engram_graph_inside", default=False)


def observed(kind: C) -> C:
    """A class of clients with a span round each public coroutine method but ``aclose``."""
    for name, method in inspect.getmembers(kind, inspect.iscoroutinefunction):
        if not name.startswith("_") and name != "aclose":
            setattr(kind, name, _spanned(name.rstrip("_"), method))
    return kind


def _spanned(operation: str, method: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def call(self: Connection, /, *args: Any, **named: Any) -> Any:
        if _inside.get():
            return await method(self, *args, **named)
        measured = {"engram.operation": operation}
        attributes = dict(measured)
        if self.settings.trace_namespace:
            attributes["engram.namespace"] = str(named.get("namespace") or self.namespace or "")
        token = _inside.set(True)
        try:
            with telemetry.span(
                f"engram.{operation}",
                attributes,
                metric="engram.operation.duration",
                measured=measured,
            ) as one:
                result = await method(self, *args, **named)
                if degraded := getattr(result, "degraded", ()):
                    one.set_attribute("engram.degraded", len(degraded))
                return result
        finally:
            _inside.reset(token)

    return call
