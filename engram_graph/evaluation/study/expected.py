"""What a run is expected to cost, from the unit costs of the reference study. Pure.

Its stack: gpt-4o-mini extracts, answers and judges, text-embedding-3-small embeds, jev-1.13.0
decides. Figures are those of its protocol (section 7, costs of a write per 1,000 turns and of a
read; section 5, prices) unless a comment says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engram_graph.evaluation.study.blocks import tokens
from engram_graph.evaluation.study.datasets import Dataset
from engram_graph.rules.tokens import Counter

INPUT_USD = 0.15e-6
"""Of a token that the answering model reads."""
ANSWER_USD = 0.000076
"""Of an answer besides its memory block: what is left of the study's totals, of turns + Jev
(.00030) and of full context (.00362) alike."""
JUDGE_USD = ANSWER_USD  # no figure is recorded; its prompt is about as long


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit costs of an arm in USD.

    Attributes:
        write: of a turn. read: of a question. line: tokens of a line of its block.
        most: tokens that its block does not exceed, as far as was seen.
    """

    write: float
    read: float
    line: float
    most: float = float("inf")


_TURNS = 0.00061e-3
_FACTS = 1.865e-3
UNITS: dict[str, Unit] = {
    "turns_cosine": Unit(_TURNS, 0.0, 43),
    "turns_hybrid": Unit(_TURNS, 0.0, 43),  # the same calls
    "turns_jev": Unit(_TURNS, 0.00020, 45, 500),
    "turns_hybrid_jev": Unit(_TURNS, 0.00020, 45, 500),  # the same calls
    "turns_llm": Unit(_TURNS, 0.00023, 47, 500),
    "turns_jev_wide": Unit(_TURNS, 0.00089, 43, 2000),
    "facts_v1": Unit(_FACTS, 0.00018, 84, 1461),  # its questions as those of v2
    "facts_v2": Unit(_FACTS, 0.00018, 84, 1238),
    "facts_v3": Unit(_FACTS, 0.00018, 84, 1238),
    "facts": Unit(_FACTS, 0.00018, 84, 1238),
    "both": Unit(_FACTS, 0.00018 + 0.00020, 84, 1238 + 500),  # both reads of the study
    # Extraction and embeddings as of v2; decisions as the first article's models cost, which are
    # dearer than gpt-4o-mini: an upper bound.
    "facts_llm": Unit((1.3184 + 8.782 + 0.0015) * 1e-3, 0.00023, 84, 1238),
    "mem0": Unit(1.321e-3, 0.0, 43),
    "jevmem": Unit(0.212e-3, 0.00174, 50),
}
WHOLE = "full_context"
"""The arm whose block is the conversation itself, and can be counted."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected USD of an arm over a dataset; None where nothing is recorded."""

    arm: str
    write: float | None
    read: float | None
    answer: float | None
    judge: float

    @property
    def total(self) -> float | None:
        """All of it."""
        if self.write is None or self.read is None or self.answer is None:
            return None
        return self.write + self.read + self.answer + self.judge


def expected(dataset: Dataset, arm: str, ks: Sequence[int], count: Counter) -> Expected:
    """What an arm is expected to cost, each question answered and judged at each of ``ks``.

    Args:
        count: counts the tokens of whole conversations, for ``full_context``.
    """
    questions = sum(len(talk.tasks) for talk in dataset.talks)
    turns = sum(len(talk.turns) for talk in dataset.talks)
    asked = questions * len(ks)
    judge, fixed = asked * JUDGE_USD, asked * ANSWER_USD
    if arm == WHOLE:
        read = sum(
            len(talk.tasks)
            * tokens(
                [f"{turn.said_at:%Y-%m-%d} {turn.speaker}: {turn.text}" for turn in talk.turns],
                count,
            )
            for talk in dataset.talks
        )
        return Expected(arm, 0.0, 0.0, fixed + len(ks) * read * INPUT_USD, judge)
    unit = UNITS.get(arm)
    if unit is None:
        return Expected(arm, None, None, None, judge)
    blocks = questions * sum(min(k * unit.line, unit.most) for k in ks)
    return Expected(
        arm, turns * unit.write, questions * unit.read, fixed + blocks * INPUT_USD, judge
    )
