"""Every fault of jevcompat's server, how it is brought out, and what our client makes of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jevcompat.mock import MockConfig, Running

from engram_graph.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from engram_graph.rules import questions as about

KEY = "ts-very-secret-key"


@contextmanager
def mock(*faults: str, key: str | None = None) -> Iterator[str]:
    running = Running(MockConfig(key=key, faults=frozenset(faults)))
    running.thread = threading.Thread(
        target=running.server.serve_forever, args=(0.01,), daemon=True
    )
    with running:
        yield running.url
    running.thread.join()


ODD = "mood"
FINE = "every answer stands"


@dataclass(frozen=True)
class Case:
    """How a fault is brought out, and what comes of it.

    Attributes:
        outcome: ``FINE``, the names of the questions that fall back, or an error.
        says: part of the error's message. options: of an additional choice.
        key: what the server wants; the client always sends ``KEY``.
        ties: near-ties among the mock's numbers hide the fault; some questions show it.
    """

    outcome: str | set[str] | type[DecisionError] = FINE
    says: str = ""
    options: tuple[str, ...] = ()
    model: str = "jev-1.13.0"
    key: str | None = None
    cost_known: bool = True
    ties: bool = False


REFUSED, UNAVAILABLE, INVALID = DecisionError, DecisionUnavailableError, DecisionInvalidError
NOULS = {about.WORTH, about.PLAN_FULFILLED}
CHOICES = {about.KIND, about.TEMPORAL, about.EDGE_TYPE, about.DURABILITY, about.RELATION}
MANY = tuple(f"o{n}" for n in range(65))
CASES = {
    "wrong-route": Case(UNAVAILABLE, "No route"),
    "xssi-200": Case(INVALID, "not JSON"),
    "plain-content-type": Case(),
    "text-errors": Case(REFUSED, "Unknown model: nope", model="nope"),
    "models-404": Case(),
    "auth-rejects-header": Case(UNAVAILABLE, "This server takes no key."),
    "auth-x-api-key": Case(UNAVAILABLE, "Must supply an API key!", key=KEY),
    "auth-plain": Case(UNAVAILABLE, "Cannot authenticate", key="other"),  # ours is never missing
    "auth-invalid-403-text": Case(UNAVAILABLE, "bad key", key="other"),
    "reject-array-state": Case(),  # ours is an object
    "reject-jev-latest": Case(UNAVAILABLE, "jev-latest", model="jev-latest"),
    "first-question-only": Case(CHOICES | NOULS - {about.WORTH}),
    "strict-ids": Case(),
    "nfd-keys": Case({ODD}, options=("caf\u00e9", "tea")),
    "forbid-extra": Case(),
    "string-only-text": Case(),
    "noul-two-sided": Case(),
    "noul-needs-instructions": Case(),
    "no-null-description": Case(),
    "cap-64": Case(REFUSED, "at most 64", options=MANY),
    "cap-5-levels": Case(),  # scores are never asked for, here and below
    "accept-map-score": Case(),
    "no-usage": Case(cost_known=False),
    "float-usage": Case(),
    "extra-answer": Case(),
    "boolean-type": Case(NOULS),
    "nan": Case(INVALID, "not JSON"),
    "unprefixed-extra": Case(),
    "noul-range": Case(NOULS),
    "choice-no-confidence": Case(),  # nothing rests on it: it could be had from probabilities
    "choice-key-case": Case({ODD}, options=("Tea", "Coffee")),
    "choice-sum": Case(CHOICES),
    "choice-second": Case(CHOICES, ties=True),
    "score-no-legend": Case(),
    "legend-1-based": Case(),
    "score-keys-1-based": Case(),
    "score-sum": Case(),
    "score-argmax": Case(),
    "confidence-over": Case(CHOICES),
    "confidence-margin": Case(),
    "500-on-unknown-type": Case(),  # only types that exist are sent
    "accept-boolean": Case(),
    "validation-400": Case(REFUSED, "at most 255", options=tuple(f"o{n}" for n in range(256))),
    "error-flat": Case(REFUSED, "Unknown model: nope", model="nope"),
    "id-leaks": Case(),
    "batch-leaks": Case(),
    "order-leaks": Case(),
}
