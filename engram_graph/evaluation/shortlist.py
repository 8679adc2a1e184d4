"""``engram eval shortlist``: how much of LoCoMo's evidence is in the first k turns of a search.

Each conversation goes into a namespace of its own, turns only: no fact is extracted, and no
question or answer is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engram_graph.errors import InputError
from engram_graph.evaluation.recall import EvidenceRecall, evidence_recall
from engram_graph.formats.locomo import Conversation, load_locomo
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Draft, Message

NAMESPACE = "eval:shortlist:"
Progress = Callable[[int, int], None]
Row = dict[str, float | int | str]


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


async def store(
    memory: AsyncMemory,
    path: str | Path,
    conversation: Conversation,
    progress: Progress | None = None,
) -> int:
    """Store what is missing of a conversation's turns; how many were new.

    Args:
        memory: with ``NoFacts`` for its extractor.
    """
    namespace = NAMESPACE + conversation.id
    known = await memory.stats(namespace=namespace)
    if known.messages == len(conversation.turns) and not known.unfinished:
        return 0
    done = await memory.ingest(
        path, namespace=namespace, conversation=conversation.id, progress=progress
    )
    return done.messages


async def measure(
    memory: AsyncMemory,
    conversation: Conversation,
    k: int,
    progress: Progress | None = None,
) -> tuple[EvidenceRecall, tuple[str, ...]]:
    """Ask every scored question of a stored conversation; recall at k, and what fell back."""
    questions = conversation.scored
    lists: dict[str, list[str]] = {}
    degraded: dict[str, None] = {}
    for number, question in enumerate(questions, 1):
        found = await memory.search(
            question.text, namespace=NAMESPACE + conversation.id, mode="turns", limit=k
        )
        lists[question.id] = [hit.message.source_id for hit in found.turns]
        degraded |= dict.fromkeys(found.degraded)
        if progress:
            progress(number, len(questions))
    return evidence_recall(questions, lists, k), tuple(degraded)


def row(found: EvidenceRecall) -> Row:
    """A result as reported: rates, not counts."""
    numbers = found.as_dict()
    return {name: numbers[name] for name in ("questions", "all", "any", "k")}
