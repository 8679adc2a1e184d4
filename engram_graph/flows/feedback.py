"""Labels from people, and what they say about the probabilities in the log."""

from __future__ import annotations

from engram_graph.clock import new_id
from engram_graph.flows import explain
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import feedback as store
from engram_graph.models.feedback import Calibration, Feedback, Label
from engram_graph.rules.calibrate import report
from engram_graph.rules.labels import derive
from engram_graph.rules.secrets import redact


async def give(
    runtime: Runtime,
    namespace: str,
    verdict: Label,
    *,
    fact: str | None,
    decision: str | None,
    why: str | None,
    given_by: str | None,
) -> Feedback:
    """Label the fact that a reference names, or a decision by its id.

    Raises:
        NotFoundError, AmbiguousError: as of ``explain``; no such decision.
    """
    properties = {
        "id": new_id(),
        "verdict": verdict,
        "why": _safe(why),
        "given_by": _safe(given_by),
    }
    if decision is not None:
        return await store.label_decision(
            runtime.graph, namespace, decision, properties, runtime.now()
        )
    found = await explain.find(runtime, namespace, fact or "")
    return await store.label_fact(runtime.graph, namespace, found.id, properties, runtime.now())


async def calibrate(runtime: Runtime, namespace: str, bound: float) -> Calibration:
    """What the labels of a namespace tell."""
    labels, log, answers = await store.labelled(runtime.graph, namespace)
    return report(namespace, derive(labels, log), answers, len(labels), bound)


def _safe(text: str | None) -> str | None:
    return None if text is None else redact(text)[0]
