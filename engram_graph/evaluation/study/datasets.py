"""Datasets of a study as conversations and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engram_graph.adapters.recording import canonical_hash
from engram_graph.evaluation.study import splits
from engram_graph.evaluation.study.records import Talk, Task
from engram_graph.formats.locomo import CATEGORIES, SCORED, Conversation, Question, load_locomo
from engram_graph.formats.longmemeval import Item, load_longmemeval

LOCOMO, LONGMEMEVAL = "locomo", "longmemeval"
NOT_TOLD = "Not in the conversation: it was never told."
"""The right answer to an adversarial question of LoCoMo."""
_ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations to run.

    Attributes:
        name: ``locomo``, ``longmemeval``. split: its name, or the ids asked for.
        held_out: some of them are kept for the final test.
    """

    name: str
    split: str
    talks: tuple[Talk, ...]
    held_out: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of all that is written and asked."""
        return canonical_hash([talk_form(each) for each in self.talks])


def locomo(
    path: str | Path,
    split: str | None = None,
    only: Sequence[str] = (),
    questions: int | None = None,
) -> Dataset:
    """LoCoMo: text only, one turn a write; adversarial questions are abstentions.

    Args:
        split: None for ``development``; with ``only``, for those alone.
        only: ids of conversations, of the split. questions: the first so many of each.

    Raises:
        InputError: as ``load_locomo`` and ``splits.locomo_ids``.
    """
    found = {each.id: each for each in load_locomo(path)}
    name, within = _split(split, only, splits.DEVELOPMENT)
    ids = splits.locomo_ids(tuple(found), within, only)
    talks = _first((_from_locomo(found[each]) for each in ids), questions)
    held_out = not set(ids).isdisjoint(splits.LOCOMO[splits.HELD_OUT])
    return Dataset(LOCOMO, name, talks, held_out)


def longmemeval(
    path: str | Path,
    split: str | None = None,
    only: Sequence[str] = (),
    questions: int | None = None,
) -> Dataset:
    """LongMemEval: a conversation a question; of the sample only what the user said.

    Args:
        split: None for ``sample``; with ``only``, for those alone.
        only: ids of questions, of the split. questions: the first so many of the file.

    Raises:
        InputError: as ``load_longmemeval`` and ``splits.longmemeval_ids``.
    """
    name, within = _split(split, only, splits.SAMPLE)
    items = load_longmemeval(path, user_only=within == splits.SAMPLE)
    found = {each.id: each for each in items}
    kinds = {each.id: "" if each.abstention else each.kind for each in items}
    ids = splits.longmemeval_ids(kinds, within, only)[:questions]
    return Dataset(LONGMEMEVAL, name, tuple(_from_longmemeval(found[each]) for each in ids))


def talk_form(talk: Talk) -> object:
    """A conversation as plain JSON values, for hashing."""
    turns = [asdict(each) | {"said_at": each.said_at.isoformat()} for each in talk.turns]
    return [talk.id, turns, [asdict(each) for each in talk.tasks]]


def _split(split: str | None, only: Sequence[str], default: str) -> tuple[str, str]:
    """What a split is called, and the one that ids are looked for in."""
    if split is None and only:
        return ",".join(only), splits.ALL
    return split or default, split or default


def _first(talks: Iterable[Talk], questions: int | None) -> tuple[Talk, ...]:
    return tuple(replace(each, tasks=each.tasks[:questions]) for each in talks)


def _from_locomo(conversation: Conversation) -> Talk:
    # A question without words, or of no category, is a mistake in a file: it tells nothing.
    asked = [
        each
        for each in conversation.questions
        if each.text.strip() and each.category in SCORED | {_ADVERSARIAL}
    ]
    return Talk(conversation.id, conversation.turns, tuple(map(_task, asked)))


def _task(question: Question) -> Task:
    abstention = question.category == _ADVERSARIAL
    return Task(
        id=question.id,
        conversation=question.conversation,
        text=question.text,
        answer=NOT_TOLD if abstention else question.answer,
        category=CATEGORIES[question.category],
        # What an adversarial question points to does not answer it.
        evidence=() if abstention else question.evidence,
        abstention=abstention,
    )


def _from_longmemeval(item: Item) -> Talk:
    task = Task(
        id=item.id,
        conversation=item.id,
        text=f"{item.text} (Asked on {item.asked_on}.)",
        answer=item.answer,
        category=item.kind,
        evidence=item.evidence,
        abstention=item.abstention,
    )
    return Talk(item.id, item.turns, (task,))
