"""Labels that a person wrote for a dataset: pairs of turns that end a fact, outdated answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engram_graph.errors import InputError
from engram_graph.evaluation.lines import numbered

_HINT = (
    'A line is {"earlier": SOURCE_ID, "later": SOURCE_ID}, or '
    '{"question": ID, "outdated": [ANSWER, …]}.'
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known about a dataset.

    Attributes:
        closes: source ids of (the turn that told a fact, the turn that ended it).
        outdated: question → answers that were right once.
    """

    closes: frozenset[tuple[str, str]]
    outdated: Mapping[str, tuple[str, ...]]


def load_labels(path: str | Path) -> Labels:
    """Labels from JSON lines.

    Raises:
        InputError: the file cannot be read, or a line is of another form.
    """
    closes: set[tuple[str, str]] = set()
    outdated: dict[str, tuple[str, ...]] = {}
    for number, row in numbered(path):
        match row:
            case {"earlier": str(earlier), "later": str(later)}:
                closes.add((earlier, later))
            case {"question": str(question), "outdated": [*answers]} if all(
                isinstance(each, str) for each in answers
            ):
                outdated[question] = (*outdated.get(question, ()), *answers)
            case _:
                raise InputError(
                    f"{Path(path).name}, line {number}: no label", hint=_HINT, line=number
                )
    return Labels(frozenset(closes), outdated)
