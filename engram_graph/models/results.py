"""What the public methods return."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from engram_graph.models.decisions import Decision
from engram_graph.models.facts import Fact, Link, Message, Record
from engram_graph.models.feedback import Feedback
from engram_graph.models.story import Step
from engram_graph.vocabulary import ClosedReason

Mode = Literal["facts", "turns", "both"]
Lines = Literal["compact", "full", "lean", "nodates"]
Clock = Literal["valid", "recorded"]


class Added(Record):
    """What became of one message.

    Attributes:
        facts: the stored facts it gave rise to. repeated: known facts it repeats.
            About one that is ``unsettled`` some questions went unanswered: ``resume`` asks again.
        closed, reopened: older facts whose end changed because of it.
        duplicate: this ``source_id`` was known; nothing was changed.
        asked_again: nothing was added; ``resume`` asked again about the one of ``facts``.
        degraded: steps that fell back, such as ``decider`` or ``embedder``.
    """

    message: Message
    facts: tuple[Fact, ...] = ()
    repeated: tuple[Fact, ...] = ()
    closed: tuple[Fact, ...] = ()
    reopened: tuple[Fact, ...] = ()
    duplicate: bool = False
    asked_again: bool = False
    degraded: tuple[str, ...] = ()


class Imported(Record):
    """Counts of a bulk import or an ingest.

    Attributes:
        failed: (position, reason) of each refused item; positions count from 1.
        degraded: steps that fell back, such as ``embedder``.
    """

    messages: int = 0
    facts: int = 0
    skipped: int = 0
    failed: tuple[tuple[int, str], ...] = ()
    degraded: tuple[str, ...] = ()


class Forgotten(Record):
    """What went, or would go, with one ``forget``.

    Attributes:
        facts, messages, entities, decisions, requests: how many of each. items: of a whole
            namespace only.
        fact_ids: of the facts, in no order; empty when a whole namespace went.
        dry_run: only counted, nothing is gone.
    """

    facts: int = 0
    messages: int = 0
    entities: int = 0
    decisions: int = 0
    requests: int = 0
    items: int = 0
    fact_ids: tuple[str, ...] = ()
    dry_run: bool = False


class Scores(Record):
    """The parts of a hit's score; None where a part did not find it.

    Attributes:
        vector: cosine similarity in [-1, 1]. text: BM25, unbounded. window (turns): the best cosine
            within two turns, its own included, with the question without speakers' names.
        fused: the order's score in (0, 1]. relevance: the decider's probability that it helps.
        rerank: another reranker's number: a cross-encoder's score in (0, 1), or 1 / place in a
            language model's order and 0 where it saw no use.
        parts (turns): name → what that part added to the sum that ``fused`` grows with;
            docs/retrieval.md says what each is. Facts have ``date``, and only for a question that
            names a time: what it added to ``fused``.
    """

    vector: float | None = None
    text: float | None = None
    window: float | None = None
    fused: float = 0.0
    relevance: float | None = None
    rerank: float | None = None
    parts: dict[str, float] = Field(default_factory=dict)


class FactHit(Record):
    """A fact found.

    Attributes:
        why: ``shortlist``: found, and kept where a model judged. ``floor``: among the first found,
            though the model saw no use in it. ``relation``: of the relation the question asks
            about. ``history``: behind another in its supersedes chain. ``neighbour``: one hop from
            a kept one.
        successor: id of the fact that superseded this one, if any.
        also: ids of facts that say the same (SAME_AS) and stand behind this one; ``scores`` and
            ``why`` are those of the first found of them.
        line: the fact in the form asked for; empty where that form has none for it.
        shown: whether the line stands in ``Recall.context``, as it is here. What did not fit there
            is a hit all the same.
    """

    fact: Fact
    scores: Scores
    why: Literal["shortlist", "floor", "relation", "history", "neighbour"] = "shortlist"
    successor: str | None = None
    also: tuple[str, ...] = ()
    line: str = ""
    shown: bool = False


class TurnHit(Record):
    """A message found. ``why``, ``line`` and ``shown`` as of a fact."""

    message: Message
    scores: Scores
    why: Literal["shortlist", "floor"] = "shortlist"
    line: str = ""
    shown: bool = False


class Recall(Record):
    """The answer to a search.

    Attributes:
        context: lines for a prompt, marked as data, within the token budget: those of the hits
            that are ``shown``, in their order. Of a first line that is longer than the budget its
            beginning.
        context_tokens: of ``context``, as counted by ``counted_by``: ``o200k_base`` (the extra
            ``tokens``) or ``estimate``.
        sufficient: whether a model saw something in it that helps to answer. False: it judged all
            that was found, and nothing does; ``context`` then begins by saying so. None: nobody
            judged, not all of it, or a cross-encoder did, whose scores do not tell.
        degraded: what fell back, in words (``embedder: none installed, full text only``).
        cost_usd, latency_ms: of the model that judged; 0 when none did. A cost may be unknown.
    """

    query: str
    namespace: str
    mode: Mode
    facts: tuple[FactHit, ...] = ()
    turns: tuple[TurnHit, ...] = ()
    context: str = ""
    context_tokens: int = 0
    counted_by: str = "estimate"
    sufficient: bool | None = None
    degraded: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    latency_ms: float = 0.0


class Timeline(Record):
    """All facts of a subject (and predicate), by valid_from, then recording order.

    ``links`` holds the SUPERSEDES among them (source is the newer fact).
    """

    subject: str
    predicate: str | None
    facts: tuple[Fact, ...] = ()
    links: tuple[Link, ...] = ()


class DiffEntry(Record):
    """One change.

    Attributes:
        kind: by the clock ``valid``: ``began``, ``ended``. By ``recorded``: ``recorded`` (a new
            fact); ``closed``, ``moved``, ``reopened`` (an end set, moved, taken away);
            ``disputed``; ``archived``, ``restored`` (whether search gives it).
        at: when, on that clock.
        fact: by ``valid`` as it is known now; by ``recorded`` with the end it had at the end of
            the time looked at.
        by, by_text: the fact that superseded it, that its end came of, or that it disagrees with.
        reason: why it has an end (None: it has none). why: in words, where there are any.
        valid_until_before, valid_until_after: its end before and after the change; of ``recorded``
            the end it came with.
    """

    kind: Literal[
        "began",
        "ended",
        "recorded",
        "closed",
        "moved",
        "reopened",
        "disputed",
        "archived",
        "restored",
    ]
    at: datetime
    fact: Fact
    by: str | None = None
    by_text: str | None = None
    reason: ClosedReason | None = None
    why: str = ""
    valid_until_before: datetime | None = None
    valid_until_after: datetime | None = None


class Diff(Record):
    """What changed in [start, end), oldest first.

    Attributes:
        clock: ``valid``: in the world, as far as is known now. ``recorded``: in the memory.
        complete: whether these are all; else they are the first of more.
    """

    namespace: str
    start: datetime
    end: datetime
    clock: Clock
    changes: tuple[DiffEntry, ...] = ()
    complete: bool = True


class Page(Record):
    """One page of facts. ``cursor``: pass it on to get the next page; None on the last."""

    facts: tuple[Fact, ...] = ()
    cursor: str | None = None


class Explanation(Record):
    """Everything behind one fact.

    Attributes:
        messages: its sources. decisions: all that touched it, oldest first.
        older, newer: its supersedes chain in both directions, nearest first.
        links: SAME_AS, CONTRADICTS and REFINES around it.
        requests: each decider call with its answers unfolded; ``fact_id``: what it was made for.
        others: the facts that its decisions and questions speak of, by id.
        feedback: labels on it and on its decisions, oldest first.
        story: all of it in order, step by step. text: the same as lines for a person.
    """

    fact: Fact
    messages: tuple[Message, ...] = ()
    decisions: tuple[Decision, ...] = ()
    older: tuple[Fact, ...] = ()
    newer: tuple[Fact, ...] = ()
    links: tuple[Link, ...] = ()
    requests: tuple[dict[str, Any], ...] = ()
    others: tuple[Fact, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    story: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        """The story as lines, under the moments (UTC) at which the memory took each step."""
        lines: list[str] = []
        last = ""
        for step in self.story:
            if step.kind == "now":
                lines.append("now")
            elif (moment := f"{step.at:%Y-%m-%d %H:%M:%S}Z") != last:
                lines.append(moment)
                last = moment
            lines += [f"  {line}" for line in step.lines]
        return "\n".join(lines)


class NamespaceInfo(Record):
    """A namespace and what it holds."""

    namespace: str
    messages: int
    facts: int
    open: int
    entities: int
    last_recorded_at: datetime | None = None


class Finding(Record):
    """A broken invariant: which, where (ids), and in words."""

    invariant: str
    ids: tuple[str, ...] = ()
    message: str = ""


class Report(Record):
    """What ``doctor`` found; sound when ``findings`` is empty.

    ``checked``: invariant → number of things looked at.
    """

    namespace: str | None = None
    findings: tuple[Finding, ...] = ()
    checked: dict[str, int] = Field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether every invariant holds."""
        return not self.findings


class QuestionStats(Record):
    """The requests to deciders that put one question; they put others as well.

    Attributes:
        failed_requests: of them, those that ended in an error.
        latency_ms_p50, latency_ms_p90, latency_ms_p99: of the whole request, in milliseconds.
    """

    requests: int
    failed_requests: int = 0
    latency_ms_p50: float | None = None
    latency_ms_p90: float | None = None
    latency_ms_p99: float | None = None


class Stats(Record):
    """Counts of one namespace, and what the decider cost.

    Attributes:
        unfinished: messages whose facts are not written yet. unsettled: facts some questions about
            which went unanswered. ``resume`` takes up both.
        failed_requests: requests to deciders that ended in an error; unpriced_requests: those
            whose cost is unknown, and not part of ``cost_usd``.
        predicates: predicate → open facts.
        latency_ms_p50, latency_ms_p90, latency_ms_p99: of requests to deciders, in milliseconds.
        questions: name → the requests that put it, the most frequent first.
    """

    namespace: str
    messages: int = 0
    unfinished: int = 0
    facts: int = 0
    open: int = 0
    closed: int = 0
    disputed: int = 0
    tentative: int = 0
    unsettled: int = 0
    entities: int = 0
    decisions: int = 0
    requests: int = 0
    failed_requests: int = 0
    unpriced_requests: int = 0
    cost_usd: float = 0.0
    latency_ms_p50: float | None = None
    latency_ms_p90: float | None = None
    latency_ms_p99: float | None = None
    predicates: dict[str, int] = Field(default_factory=dict)
    questions: dict[str, QuestionStats] = Field(default_factory=dict)

    @property
    def failed_share(self) -> float | None:
        """Share of requests to deciders that ended in an error; None without any."""
        return self.failed_requests / self.requests if self.requests else None
