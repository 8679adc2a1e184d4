"""What the upkeep methods return."""

from __future__ import annotations

from typing import Literal

from engram_graph.models.facts import Fact, Record


class SameAs(Record):
    """Two facts that became, or ceased to be, linked as the same.

    Attributes:
        fact: the one recorded later. p: probability that the two are the same.
    """

    change: Literal["link", "unlink"]
    fact: Fact
    other: Fact
    p: float


class Archived(Record):
    """A fact that search gives no longer.

    Attributes:
        question: ``worth_remembering``, with ``p`` that it is worth keeping; or ``short_lived``, a
            rule, with p = 1.
    """

    fact: Fact
    question: str
    p: float
    reason: str = ""


class ReembedReport(Record):
    """How all vectors were made anew, or (``applied`` False) what that would take.

    Attributes:
        embedder, dimension: what makes the vectors. before, dimension_before: what made them.
        switched: other vectors are in use since this run.
        facts, messages, items: stored ones, of all namespaces; of items the texts they are found
            by. missing: those without a vector of this embedder when the run began.
        seconds, tokens: of a dry run, what making the missing ones may take, from a sample.
    """

    embedder: str
    dimension: int
    before: str | None = None
    dimension_before: int | None = None
    applied: bool
    switched: bool = False
    facts: int = 0
    messages: int = 0
    items: int = 0
    missing: int = 0
    seconds: float | None = None
    tokens: int | None = None


class HygieneReport(Record):
    """What a pass of upkeep did, or (``applied`` False) what it would do.

    Attributes:
        pairs: pairs of facts, of one subject and predicate, that could be the same.
        asked: of those, put to the decider now; the others were decided before.
        skipped: asked and left undecided: no usable answer, or a fact changed meanwhile.
        same_as: links that changed. archived: facts that search gives no longer.
        stale: facts whose worth was asked again.
        requests, cost_usd: calls to the decider; the cost is None when it is not known.
        degraded: why the pass broke off or left something out; the next one goes on from there.
    """

    namespace: str
    applied: bool
    pairs: int = 0
    asked: int = 0
    skipped: int = 0
    same_as: tuple[SameAs, ...] = ()
    stale: int = 0
    archived: tuple[Archived, ...] = ()
    requests: int = 0
    cost_usd: float | None = 0.0
    degraded: tuple[str, ...] = ()
