"""``engram eval shortlist``: how much of LoCoMo's evidence is in the first k turns of a search.

Each conversation goes into a namespace of its own, turns only: no fact is extracted, and no
question or answer is stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engram_graph.errors import InputError
from engram_graph.evaluation.recall import EvidenceRecall, evidence_recall
from engram_graph.evaluation.study.records import Talk
from engram_graph.flows import shortlists
from engram_graph.formats.locomo import Conversation, Question, load_locomo
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Draft, Message
from engram_graph.rules import turns

NAMESPACE = "eval:shortlist:"
Progress = Callable[[int, int], None]
Row = dict[str, float | int | str]
Orders = Mapping[str, Mapping[str, float]]
"""Name of an order → its weights."""
Found = dict[str, dict[str, list[str]]]
"""Name of an order → question → source ids, best first."""

CURVE = (5, 10, 20, 30, 50)
WHOLE: Orders = {"": turns.WEIGHTS}
"""The order of a search."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all from vectors": ("cosine", "content", "near", "answers"),
    "all from words": ("words", "words_near"),
    "all from neighbours": ("near", "words_near", "answers"),
}
"""Parts that stand in for one another; what a group is worth shows only without all of it."""
ABLATION: Orders = {
    name: {part: weight for part, weight in turns.WEIGHTS.items() if part not in off}
    for name, off in {**{part: (part,) for part in turns.WEIGHTS}, **GROUPS}.items()
}
"""Each part off in turn, and each group; the others keep their weights."""
COSINE, BM25 = "cosine alone", "BM25 alone"
"""Orders by one index each, for comparison."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A question with the standardised parts of its pool.

    Attributes:
        rows: message id → part → value. sources: message id → source id.
        cosine: message id → likeness to the question. bm25: the same of full text, for what it
            found.
        degraded: why there are no vectors, if there are none.
    """

    question: Question
    rows: dict[str, dict[str, float]]
    sources: dict[str, str]
    degraded: str | None = None
    cosine: Mapping[str, float] = field(default_factory=dict)
    bm25: Mapping[str, float] = field(default_factory=dict)

    def best(self, weights: Mapping[str, float], k: int) -> list[str]:
        """Source ids of the first ``k`` by ``weights``."""
        return [self.sources[each] for each in turns.order(self.rows, weights)[:k]]

    def alone(self, name: str, k: int) -> list[str]:
        """Source ids of the first ``k`` by one index alone: ``COSINE`` or ``BM25``."""
        scores = self.cosine if name == COSINE else self.bm25
        best = sorted(scores, key=lambda each: (-scores[each], each))
        return [self.sources[each] for each in best[:k]]


class NoFacts:
    """An extractor for turns that are only to be stored and found."""

    name = "none"

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """Nothing."""
        return []

    async def aclose(self) -> None:
        """Nothing to release."""


def chosen(path: str | Path, conversation: str | None = None) -> tuple[Conversation, ...]:
    """The conversations of a LoCoMo file, or the one called ``conversation``.

    Raises:
        InputError: no such file, another format, or no such conversation in it.
    """
    found = load_locomo(path)
    if conversation is None:
        return found
    one = tuple(each for each in found if each.id == conversation)
    if not one:
        raise InputError(
            f"no conversation {conversation!r} in {Path(path).name}",
            hint="It has " + ", ".join(each.id for each in found),
            field="conversation",
        )
    return one


def namespace_of(conversation: Conversation | Talk) -> str:
    """Where its turns are kept; another text under the same name goes elsewhere."""
    digest = hashlib.sha256()
    for turn in conversation.turns:
        said = [turn.source_id, turn.speaker, turn.text, turn.said_at.isoformat()]
        digest.update(json.dumps(said).encode())
    return f"{NAMESPACE}{conversation.id}:{digest.hexdigest()[:8]}"


async def store(
    memory: AsyncMemory,
    path: str | Path,
    conversation: Conversation,
    progress: Progress | None = None,
) -> int:
    """Store what is missing of a conversation's turns; how many were new.

    Args:
        memory: with ``NoFacts`` for its extractor.

    Raises:
        InputError: a turn that cannot be stored.
    """
    namespace = namespace_of(conversation)
    known = await memory.stats(namespace=namespace)
    if known.messages == len(conversation.turns) and not known.unfinished:
        return 0
    done = await memory.ingest(
        path, namespace=namespace, conversation=conversation.id, progress=progress
    )
    if done.failed:
        position, reason = done.failed[0]
        raise InputError(
            f"{conversation.id}: {len(done.failed)} turns cannot be stored; {position}: {reason}",
            field="file",
        )
    return done.messages


async def pools(
    memory: AsyncMemory, conversation: Conversation, k: int, progress: Progress | None = None
) -> AsyncIterator[Pool]:
    """What a search for ``k`` turns looks through, for every scored question."""
    runtime = await memory.open()
    questions = conversation.scored
    for number, question in enumerate(questions, 1):
        asked, reason = await shortlists.ask(
            runtime, namespace_of(conversation), question.text, None
        )
        found = await shortlists.pool(runtime, asked, k)
        rows = turns.standard(turns.measured(question.text, [each.turn for each in found]))
        yield Pool(
            question,
            rows,
            {each.turn.id: each.source_id for each in found},
            reason,
            {each.turn.id: each.turn.cosine for each in found if each.turn.cosine is not None},
            {each.turn.id: each.text for each in found if each.text is not None},
        )
        if progress:
            progress(number, len(questions))


async def measure(
    memory: AsyncMemory,
    conversation: Conversation,
    k: int,
    orders: Orders,
    progress: Progress | None = None,
    *,
    look: Callable[[Pool], None] | None = None,
) -> tuple[Found, tuple[str, ...]]:
    """Put the turns for every question in each of ``orders``; and what fell back.

    Args:
        look: is shown each pool.

    Returns:
        The orders by one index alone are there, too.
    """
    most = max(k, *CURVE)
    found: Found = {name: {} for name in (*orders, COSINE, BM25)}
    degraded: dict[str, None] = {}
    async for pool in pools(memory, conversation, k, progress):
        for name, weights in orders.items():
            found[name][pool.question.id] = pool.best(weights, most)
        for name in (COSINE, BM25):
            found[name][pool.question.id] = pool.alone(name, most)
        if pool.degraded:
            degraded[pool.degraded] = None
        if look:
            look(pool)
    return found, tuple(degraded)


def row(found: EvidenceRecall) -> Row:
    """A result as reported: rates, not counts."""
    numbers = found.as_dict()
    return {name: numbers[name] for name in ("questions", "all", "any", "k")}


def rates(
    conversations: Sequence[Conversation], found: Mapping[str, Found], name: str, k: int
) -> EvidenceRecall:
    """Recall by one order over all conversations together."""
    first, *others = (evidence_recall(c.scored, found[c.id][name], k) for c in conversations)
    return sum(others, first)
