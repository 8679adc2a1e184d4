"""How much of the evidence a shortlist holds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Asked(Protocol):
    """A question with the ids that answer it."""

    @property
    def id(self) -> str: ...
    @property
    def evidence(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class EvidenceRecall:
    """Counts over the questions that have evidence, and the same as rates in [0, 1].

    Attributes:
        k: the longest part of a shortlist that was looked at.
        all_found: questions with all their evidence in it. any_found: with at least one piece.
    """

    questions: int
    all_found: int
    any_found: int
    k: int

    @property
    def all(self) -> float:
        """Share of questions with all their evidence; 0 when none was asked."""
        return self.all_found / self.questions if self.questions else 0.0

    @property
    def any(self) -> float:
        """Share of questions with some of their evidence; 0 when none was asked."""
        return self.any_found / self.questions if self.questions else 0.0

    def __add__(self, other: EvidenceRecall) -> EvidenceRecall:
        """Both taken together, question by question (not a mean of rates)."""
        return EvidenceRecall(
            self.questions + other.questions,
            self.all_found + other.all_found,
            self.any_found + other.any_found,
            max(self.k, other.k),
        )

    def as_dict(self) -> dict[str, float | int]:
        """For reports: questions, k, counts, and rates to four places."""
        return {
            "questions": self.questions,
            "k": self.k,
            "all": round(self.all, 4),
            "any": round(self.any, 4),
            "all_found": self.all_found,
            "any_found": self.any_found,
        }


def evidence_recall(
    questions: Iterable[Asked], shortlists: Mapping[str, Sequence[str]], k: int | None = None
) -> EvidenceRecall:
    """Recall of evidence by the first ``k`` of each shortlist (whole lists when None).

    Args:
        questions: those without evidence are left out.
        shortlists: question id → ids, best first; a question without one found nothing.
    """
    asked = all_found = any_found = longest = 0
    for question in questions:
        wanted = set(question.evidence)
        if not wanted:
            continue
        found = list(shortlists.get(question.id, ()))[:k]
        longest = max(longest, len(found))
        asked += 1
        all_found += wanted <= set(found)
        any_found += bool(wanted & set(found))
    return EvidenceRecall(asked, all_found, any_found, longest if k is None else k)
