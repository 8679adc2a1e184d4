"""What the reference study recorded for its own arms. Copied as numbers; nothing of it is ours.

An arm here has the name of the one of ours that does the same work, not the same wording, models
or code; so equal figures are not to be expected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

CATEGORIES: Final = ("multi-hop", "temporal", "open-domain", "single-hop")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One row of the study's tables.

    Attributes:
        k: None for the whole conversation. questions: that counted for ``accuracy``.
        accuracy, categories, abstention: in percent. tokens: mean of the memory block.
        read_usd: for a question.
    """

    dataset: str
    split: str
    arm: str
    k: int | None
    questions: int
    accuracy: float
    tokens: int | None = None
    categories: dict[str, float] = field(default_factory=dict)
    abstention: float | None = None
    read_usd: float | None = None

    @property
    def read_ms(self) -> tuple[int, int] | None:
        """p50 and p90 of a read, by the clock."""
        return _READ_MS.get(self.arm)


_READ_MS: Final = {
    "turns_cosine": (219, 263),
    "turns_jev": (273, 359),
    "turns_llm": (816, 1107),
    "turns_jev_wide": (720, 776),
    "facts_v2": (276, 319),
    "mem0": (486, 718),
    "jevmem": (1329, 1622),
}
RECALL: Final = {
    ("locomo", "primary", 778): (76.9, 89.0, 10.4),
    ("locomo", "exploratory", 610): (76.9, 87.7, 10.3),
}
"""Dataset, split, questions → percent with all, with any evidence among 30 turns by cosine; lost to
Jev's cut."""


def _primary(
    arm: str,
    k: int | None,
    accuracy: float,
    tokens: int,
    categories: tuple[float, ...] = (),
    abstention: float | None = None,
    read_usd: float | None = None,
) -> Recorded:
    by = dict(zip(CATEGORIES, categories, strict=False))
    return Recorded("locomo", "primary", arm, k, 778, accuracy, tokens, by, abstention, read_usd)


def _long(
    arm: str, k: int | None, accuracy: float, abstention: float, tokens: int | None = None
) -> Recorded:
    return Recorded("longmemeval", "all", arm, k, 470, accuracy, tokens, abstention=abstention)


RECORDED: Final = (
    _primary("turns_cosine", 3, 59.9, 130, (54.3, 55.2, 42, 65.7), 63.6),
    _primary("turns_cosine", 6, 68.6, 254, (61.4, 60.6, 54, 75.9)),
    _primary("turns_cosine", 20, 76.1, 826, (68.6, 68.5, 58, 83.7), 47.8),
    _primary("turns_jev", 3, 77.2, 139, (75.7, 69.1, 58, 83.2), 54.1, 0.00020),
    _primary("turns_jev", 4, 77.0, 181, read_usd=0.00020),
    _primary("turns_jev", 6, 77.0, 265, (74.3, 72.1, 56, 82.3), read_usd=0.00020),
    _primary("turns_jev", 20, 77.6, 496, (75, 72.7, 58, 82.7), 49.3, 0.00020),
    _primary("turns_llm", 3, 77.6, 143, (73.6, 72.7, 58, 83.2), 48.8, 0.00023),
    _primary("turns_llm", 20, 78.0, 456, (72.9, 71.5, 60, 84.4), 53.1, 0.00023),
    _primary("turns_jev_wide", 47, 81.5, 2000, (78.6, 76.4, 64, 86.5), read_usd=0.00089),
    _primary("facts_v2", 3, 77.5, 251, (72.1, 77.6, 60, 81.3), 59.8, 0.00018),
    _primary("facts_v2", 20, 82.4, 1238, (77.9, 80, 64, 87), 52.2, 0.00018),
    _primary("mem0", 3, 68.5, 129, (56.4, 67.3, 56, 74.5), 59.8),
    _primary("mem0", 20, 78.7, 839, (74.3, 76.4, 54, 83.9), 53.6),
    _primary("jevmem", 3, 70.6, 162, (57.9, 64.2, 50, 79.7), read_usd=0.00120),
    _primary("jevmem", 40, 80.3, 1987, (76.4, 73.9, 54, 87.2), read_usd=0.00174),
    _primary("full_context", None, 78.3, 23631, (78.6, 57, 64, 88.2)),
    Recorded("locomo", "exploratory", "turns_cosine", 3, 610, 60.7, abstention=65.3),
    Recorded("locomo", "exploratory", "turns_cosine", 20, 610, 76.2, abstention=53.2),
    Recorded("locomo", "exploratory", "turns_jev", 3, 610, 77.2, abstention=54.2),
    Recorded("locomo", "exploratory", "turns_jev", 20, 610, 76.6, abstention=53.7),
    _long("turns_cosine", 3, 57.7, 43.3, 522),
    _long("turns_cosine", 20, 72.8, 70.0, 4352),
    _long("turns_jev", 3, 66.8, 43.3, 534),
    _long("turns_jev", 20, 73.8, 63.3, 2278),
    _long("full_context", None, 63.0, 70.0),
    Recorded("longmemeval", "sample", "turns_jev", 3, 70, 68.6),
    Recorded("longmemeval", "sample", "turns_jev", 20, 70, 77.1),
    Recorded("longmemeval", "sample", "turns_cosine", 3, 70, 65.7),
    Recorded("longmemeval", "sample", "turns_cosine", 20, 70, 71.4),
    Recorded("longmemeval", "sample", "full_context", None, 70, 62.9),
)


def recorded(dataset: str, split: str, arm: str, k: int, questions: int) -> Recorded | None:
    """The study's row for the same questions, arm and k; None if it has none."""
    for each in RECORDED:
        same = (each.dataset, each.split, each.arm) == (dataset, split, arm)
        if same and each.questions == questions and each.k in (None, k):
            return each
    return None
