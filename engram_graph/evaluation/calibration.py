"""``engram eval calibration``: recorded probabilities against labels, by the study's protocol.

Intervals need scipy (the extra ``eval``). Formulas: docs/calibration.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engram_graph.errors import InputError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.lines import numbered
from engram_graph.evaluation.pairs import ANSWERS, load_pairs
from engram_graph.rules import calibration as rules
from engram_graph.rules.calibration import Bin, Escalation, Item, Point
from engram_graph.vocabulary import Verdict

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
COST_FIRST, COST_SECOND = 1.64149e-5, 0.00734884
"""USD of one of Jev's decisions, and of one escalation to a language model, as the study paid."""
RELATION, TEMPORAL, ESCALATED = "relation", "temporal status", "relation, escalated"


@dataclass(frozen=True, slots=True)
class Figures:
    """One question's answers against what is right.

    Attributes:
        accepted: share with any of the accepted answers; None where only one is.
        ece: with each probability at least 1e-4, as the study records it. ece_plain: without.
        temperature: of the least NLL. cross_fitted: ECE with that of the other half.
        intervals: figure → percentiles 2.5 and 97.5 of item resamples; empty for a single item.
        bins: the reliability diagram of ``ece_plain``.
    """

    question: str
    n: int
    accuracy: float
    accepted: float | None
    confidence: float
    ece: float
    ece_plain: float
    brier: float
    nll: float
    temperature: float
    cross_fitted: float
    intervals: dict[str, tuple[float, float]]
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All questions, and what sending the relations below a threshold on would cost and leave."""

    questions: tuple[Figures, ...]
    curve: tuple[Escalation, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON; figures to six decimals."""
        return {
            "questions": [_rounded(asdict(each)) for each in self.questions],
            "curve": [_rounded(asdict(each)) for each in self.curve],
        }


class _Row(BaseModel):
    """An escalated answer: what the first decider said, and the label the second gave."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    llm_label: Verdict
    jev_relation_to_candidate: Annotated[
        dict[Verdict, Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)
    ]


def report(
    pairs: str | Path | None = None,
    escalations: str | Path | None = None,
    answers: str = ANSWERS,
) -> Report:
    """The figures of labelled pairs, of escalated answers, or of both.

    Args:
        answers: which of the pairs' recorded answers.

    Raises:
        InputError: neither file is given, or one cannot be read.
        MissingExtraError: scipy is not installed.
    """
    if pairs is None and escalations is None:
        raise InputError(
            "calibration of what?", hint="Pass labelled pairs, or --escalations with its rows."
        )
    questions: list[Figures] = []
    curve: tuple[Escalation, ...] = ()
    if pairs is not None:
        relation, temporal, decided = _of_pairs(pairs, answers)
        accepted = rules.accuracy(decided)
        questions += [figures(RELATION, relation, accepted), figures(TEMPORAL, temporal)]
        curve = tuple(
            rules.escalation(decided, threshold, COST_FIRST, COST_SECOND)
            for threshold in THRESHOLDS
        )
    if escalations is not None:
        questions.append(figures(ESCALATED, _of_rows(escalations)))
    return Report(tuple(questions), curve)


def figures(question: str, items: Sequence[Item], accepted: float | None = None) -> Figures:
    """All figures of one question; see ``Figures``."""
    plain, floored = rules.points(items), rules.points(rules.heated(items, 1.0))
    return Figures(
        question=question,
        n=len(items),
        accuracy=rules.accuracy(plain),
        accepted=accepted,
        confidence=rules.mean([confidence for confidence, _ in plain]),
        ece=rules.ece(floored),
        ece_plain=rules.ece(plain),
        brier=rules.brier(items),
        nll=rules.nll(items),
        temperature=rules.temperature_of(items),
        cross_fitted=rules.ece(rules.points(rules.cross_fitted(items))),
        intervals=_intervals(items, plain, floored) if len(items) > 1 else {},
        bins=tuple(rules.reliability(plain)),
    )


def _intervals(
    items: Sequence[Item], plain: Sequence[Point], floored: Sequence[Point]
) -> dict[str, tuple[float, float]]:
    means = {
        "accuracy": [float(right) for _, right in plain],
        "confidence": [confidence for confidence, _ in plain],
        "brier": [rules.brier([item]) for item in items],
        "nll": [rules.nll([item]) for item in items],
    }
    return {
        **{name: statistics.interval(_mean, values) for name, values in means.items()},
        "ece": statistics.interval(resampled_ece, *zip(*floored, strict=True)),
    }


def resampled_ece(confidence: Any, right: Any, axis: int = -1) -> Any:
    """``rules.calibration.ece`` of many draws at once: arrays whose ``axis`` runs over items."""
    import numpy as np

    place = np.minimum(rules.BINS - 1, (rules.BINS * confidence).astype(int))
    gap = right - confidence
    gaps = [np.abs(np.where(place == b, gap, 0).sum(axis=axis)) for b in range(rules.BINS)]
    return sum(gaps) / confidence.shape[axis]


def _mean(values: Any, axis: int) -> Any:
    return values.mean(axis=axis)


def _of_pairs(path: str | Path, answers: str) -> tuple[list[Item], list[Item], list[Point]]:
    """Relations and temporal statuses with the expected label; relations by the accepted set."""
    relation: list[Item] = []
    temporal: list[Item] = []
    decided: list[Point] = []
    for pair, recorded in load_pairs(path, answers):
        expected = pair.expected
        told = recorded.relation_to_candidate
        if not told or not recorded.temporal_status:
            raise InputError(
                f"{pair.id}: no probabilities of {answers}", hint="Both questions need some."
            )
        relation.append((_plain(told), expected.relation))
        temporal.append((_plain(recorded.temporal_status), expected.temporal_status))
        chosen = max(told, key=told.__getitem__)
        decided.append((told[chosen], chosen in (expected.accepted or (expected.relation,))))
    return relation, temporal, decided


def _of_rows(path: str | Path) -> list[Item]:
    found: list[Item] = []
    for number, value in numbered(path):
        try:
            row = _Row.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"{Path(path).name}, line {number}: {where}: {first['msg']}",
                hint="Each line is one row: llm_label, jev_relation_to_candidate.",
                line=number,
            ) from None
        found.append((_plain(row.jev_relation_to_candidate), row.llm_label))
    return found


def _plain(probabilities: Mapping[Any, float]) -> dict[str, float]:
    return {str(option): p for option, p in probabilities.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value
