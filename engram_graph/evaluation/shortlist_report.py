"""What ``engram eval shortlist --report`` writes: tables in Markdown. Pure.

Nothing in them depends on the day or on ids: a second run on the same indexes writes the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engram_graph.evaluation.markdown import cell, table
from engram_graph.evaluation.recall import EvidenceRecall, evidence_recall
from engram_graph.evaluation.shortlist import ABLATION, BM25, COSINE, CURVE
from engram_graph.formats.locomo import CATEGORIES, SCORED, Conversation, Question

PAGE, PICTURE = "shortlist.md", "shortlist.svg"
SHIPPED = "hybrid, weights as shipped"
LEFT_OUT = "hybrid, each conversation by the others' weights"
METHODS = (COSINE, BM25, SHIPPED, LEFT_OUT)
ABLATION_AT = (30, 50)

Shortlists = Mapping[str, Sequence[str]]
"""Question → source ids, best first."""


@dataclass(frozen=True, slots=True)
class Results:
    """All that is told.

    Attributes:
        found: one of ``METHODS``, or a name out of ``ABLATION`` → its shortlists. ``LEFT_OUT`` is
            missing where only one conversation has questions.
        k: turns that the searches return whose pools were put in order.
        embedder: name of the model; None without one.
        degraded: what fell back.
    """

    conversations: Sequence[Conversation]
    found: Mapping[str, Shortlists]
    k: int
    embedder: str | None
    degraded: Sequence[str] = ()

    @property
    def questions(self) -> list[Question]:
        """Those that count."""
        return [question for each in self.conversations for question in each.scored]

    @property
    def methods(self) -> tuple[str, ...]:
        """Those of ``METHODS`` that were measured."""
        return tuple(name for name in METHODS if name in self.found)

    @property
    def hybrid(self) -> str:
        """The hybrid order by weights that have not seen the conversation, where there is one."""
        return LEFT_OUT if LEFT_OUT in self.found else SHIPPED

    def recall(
        self, method: str, k: int, questions: Sequence[Question] | None = None
    ) -> EvidenceRecall:
        """Of ``questions``, of all when None."""
        asked = self.questions if questions is None else questions
        return evidence_recall(asked, self.found[method], k)


def page(results: Results) -> str:
    """The page ``PAGE``; it shows the picture ``PICTURE`` beside it."""
    by = results.hybrid
    kinds = sorted({each.category for each in results.questions})
    by_category = {
        CATEGORIES[kind]: [each for each in results.questions if each.category == kind]
        for kind in kinds
    }
    by_conversation = {each.id: each.scored for each in results.conversations if each.scored}
    blocks = [
        "# How many turns it takes, as measured",
        f"Written by `engram eval shortlist FILE --k {results.k} --report FOLDER`.",
        _what(results),
        f"![Share of questions whose evidence is found, by length of the shortlist]({PICTURE})",
        "## By method",
        table(["order", *CURVE], ([name, *_curve(results, name)] for name in results.methods)),
        f"## By category\n\nOrder: {by}.",
        _groups(results, "category", by_category),
        f"## By conversation\n\nOrder: {by}.",
        _groups(results, "conversation", by_conversation),
        "## One part off\n\nThe others keep their weights as shipped. `all from …`: several parts "
        "off at once.",
        _ablation(results),
    ]
    return "\n\n".join(blocks) + "\n"


def left_out(conversations: Iterable[Conversation]) -> dict[str, int]:
    """Why questions do not count → how many."""
    counts = Counter(
        CATEGORIES.get(question.category, "of another category")
        if question.category not in SCORED
        else "without evidence or text"
        for each in conversations
        for question in each.questions
        if not question.scored
    )
    return dict(sorted(counts.items()))


def _what(results: Results) -> str:
    gone = ", ".join(f"{count} {why}" for why, count in left_out(results.conversations).items())
    said = [
        f"conversations: {', '.join(cell(each.id) for each in results.conversations)}",
        f"questions that count: {len(results.questions)}" + (f" (not: {gone})" if gone else ""),
        f"embedder: {results.embedder or 'none'}",
        "each cell: questions with all / any of their evidence among the first k turns, in percent",
        f"standard error of all at 30: {_error(results.recall(results.hybrid, 30)):.1f} points",
        *(f"fell back: {each}" for each in results.degraded),
    ]
    return "\n".join(f"- {each}" for each in said)


def _error(found: EvidenceRecall) -> float:
    """Standard error of ``all`` in points, each question a draw of its own."""
    return 100 * math.sqrt(found.all * (1 - found.all) / found.questions) if found.questions else 0


def _curve(results: Results, method: str, questions: Sequence[Question] | None = None) -> list[str]:
    return [_both(results.recall(method, k, questions)) for k in CURVE]


def _groups(results: Results, name: str, groups: Mapping[str, Sequence[Question]]) -> str:
    rows = (
        [group, len(asked), *_curve(results, results.hybrid, asked)]
        for group, asked in groups.items()
    )
    return table([name, "questions", *CURVE], rows)


def _ablation(results: Results) -> str:
    whole = results.recall(SHIPPED, ABLATION_AT[0])
    rows = [["none", *(_both(results.recall(SHIPPED, k)) for k in ABLATION_AT), ""]]
    for name in ABLATION:
        found = [results.recall(name, k) for k in ABLATION_AT]
        change = f"{100 * (found[0].all - whole.all):+.1f}"
        part = name if " " in name else f"`{name}`"
        rows.append([part, *map(_both, found), change.replace("-", "−")])
    head = ["off", *(f"at {k}" for k in ABLATION_AT), f"change of all at {ABLATION_AT[0]}"]
    return table(head, rows)


def _both(found: EvidenceRecall) -> str:
    return f"{100 * found.all:.1f} / {100 * found.any:.1f}"
