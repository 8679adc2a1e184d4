"""What a study passes between its parts: conversations and questions, what an arm writes and reads.

Neutral towards datasets. Nothing here knows a file format, a model or a database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from engram_graph.formats.locomo import Turn
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import total_cost


@dataclass(frozen=True, slots=True)
class Task:
    """One question with its gold.

    Attributes:
        category: in words, as the dataset calls it (``multi-hop``, ``knowledge-update``).
        evidence: source ids of the turns that answer it; may be empty.
        abstention: right is to say that it was never told. Counted apart, never in accuracy.
        scored: whether it counts: for accuracy, or for abstention.
    """

    id: str
    conversation: str
    text: str
    answer: str
    category: str
    evidence: tuple[str, ...] = ()
    abstention: bool = False
    scored: bool = True


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: its turns in the order they were said, and the questions about it."""

    id: str
    turns: tuple[Turn, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of memory as the answering model is given it.

    Attributes:
        text: without a line break. source_id: of the turn it comes from, where the arm can tell.
        ended: the arm itself marks it as no longer true.
    """

    text: str
    source_id: str | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What writing a conversation left. Numbers that are the same in every replay, and no others.

    Attributes:
        facts, active, tentative, disputed, same_as: of the store, 0 for an arm without facts.
        counters: decisions by question and outcome, closes by reason, and what else the arm counts.
        closes: one row for each closed fact: its text, source ids of the turns that told the old
            and the new one, reason.
        beliefs: the belief trace: one row for each change of a belief, in order.
        cost_usd: part (``extraction``, ``decisions``, ``escalations``, ``embeddings``) → nominal
            cost; None when unknown.
        latency_ms: recorded latency of the models for each turn, in order; replayed, not measured.
        failed: turns that could not be written, with the reason.
    """

    turns: int
    facts: int = 0
    active: int = 0
    tentative: int = 0
    disputed: int = 0
    same_as: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    closes: tuple[Mapping[str, Any], ...] = ()
    beliefs: tuple[Mapping[str, Any], ...] = ()
    cost_usd: Mapping[str, float | None] = field(default_factory=dict)
    latency_ms: tuple[float, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What reading for one question gave.

    Attributes:
        lines: best first; the block for k is the first k of them.
        shortlist: source ids that were found before anything was judged or cut; empty if the arm
            cannot tell.
        cost_usd: nominal cost of the models asked; None when unknown.
        latency_ms: their recorded latency; replayed, not measured.
        degraded: what fell back, in words.
    """

    lines: tuple[Line, ...]
    shortlist: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    latency_ms: float = 0.0
    degraded: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """What the models asked within a context cost and took; the same in every replay.

    Attributes:
        cost_usd: part (``extraction``, ``decisions``, ``escalations``, ``reranking``,
            ``embeddings``, ``answer``, ``judge``) → nominal cost; None when unknown of one call.
        latency_ms: recorded latencies, added up: also of calls that were made side by side.
        calls: how many; a local embedder's are none.
    """

    cost_usd: dict[str, float | None] = field(default_factory=dict)
    latency_ms: float = 0.0
    calls: int = 0

    @property
    def usd(self) -> float | None:
        """All parts together; None when one is unknown."""
        return total_cost(self.cost_usd.values())


class Models(Protocol):
    """What a study gives its arms: clients whose every call to a model is recorded and counted."""

    def memory(self, namespace: str, **changes: Any) -> AbstractAsyncContextManager[AsyncMemory]:
        """A client on ``namespace``.

        Args:
            changes: of the settings, such as ``rerank="llm"``; and parts, such as ``extractor``.
        """
        ...

    def missing(self, *needs: str) -> str | None:
        """Why what an arm needs (``jev``, ``llm``) cannot be asked; None if all of it can."""
        ...

    def tally(self) -> AbstractContextManager[Tally]:
        """What is asked within the block, complete once it is left; blocks may nest."""
        ...

    def endpoint(self) -> Mapping[str, Any]:
        """For peers with clients of their own: ``base_url``, ``api_key``, ``model`` of the LLM.

        What they ask there is recorded and counted (part ``peer``) in the tallies open now.
        """
        ...


class Answered(Protocol):
    """What the answering model said. ``usd`` nominal, None when unknown; ``ms`` as recorded."""

    @property
    def text(self) -> str: ...
    @property
    def usd(self) -> float | None: ...
    @property
    def ms(self) -> float: ...


class Judged(Protocol):
    """What the judge said: ``CORRECT`` or ``WRONG``. ``usd`` and ``ms`` as in ``Answered``."""

    @property
    def label(self) -> Literal["CORRECT", "WRONG"]: ...
    @property
    def usd(self) -> float | None: ...
    @property
    def ms(self) -> float: ...


class AnsweringModels(Models, Protocol):
    """What a runner needs besides: a model that answers from memory lines, and one that judges."""

    async def answer(self, question: str, lines: Sequence[str]) -> Answered:
        """Answer from ``lines`` alone.

        Raises:
            EngramError: no answer; one of a cap or of a replay without the call ends the run.
        """
        ...

    async def judge(
        self, question: str, gold: str, answer: str, *, abstention: bool = False
    ) -> Judged:
        """Whether ``answer`` says what ``gold`` does; for an abstention, that it was never told.

        Raises:
            EngramError: as ``answer``.
        """
        ...

    def stage(self, stage: str, system: str) -> AbstractContextManager[None]:
        """A stage of an arm's run (``write``, ``read``, …): what it spends is a row in the ledger.

        Args:
            system: the arm's name.
        """
        ...

    def check(self) -> None:
        """Told after each write and read: flows fall back when a model fails, a study must not.

        Raises:
            EngramError: a cap was crossed, or a replay asked for what is not recorded, since the
                run began.
        """
        ...

    def named(self) -> Mapping[str, str]:
        """Purpose (``answer``, ``judge``, ``extraction``, …) → model."""
        ...

    def prompts(self) -> Mapping[str, str]:
        """Purpose → version of its prompt."""
        ...


class Arm(Protocol):
    """One way to remember and to find: over the public API, in a short file of its own.

    Attributes:
        name: as the command line and result files say it (``turns_jev``).
        about: one sentence: what is written, and how it is read.
        ks: sizes of the block that are answered unless others are asked for.
        limit: lines that ``read`` gives at most.
        needs: models it cannot do without: ``jev``, ``llm``.
        flags: its switches, for result files.
    """

    name: str
    about: str
    ks: tuple[int, ...]
    limit: int
    needs: tuple[str, ...]
    flags: Mapping[str, Any]

    def missing(self) -> str | None:
        """Why it cannot run here (a package that is not installed), with what to do; else None."""
        ...

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Store a conversation from scratch in ``namespace``; what is there of it is replaced.

        Raises:
            EngramError: it cannot be stored.
        """
        ...

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """The memory's lines for a question, best first.

        Raises:
            EngramError: it cannot be searched.
        """
        ...
