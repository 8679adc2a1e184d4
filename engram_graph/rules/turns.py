"""The order of turns for a question: eleven parts of each turn of a pool, one weighted sum. Pure.

The pool comes from one statement (nearest by vector, best by full text, their neighbours), and all
numbers here are made from its rows alone: no other namespace can change an order.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from engram_graph.models.results import Scores
from engram_graph.rules.cues import (
    QUESTION_MARKS,
    asks_when,
    date_match,
    lowered,
    named_dates,
    names,
    tells_time,
)
from engram_graph.rules.text import places, query_terms

WEIGHTS: Mapping[str, float] = {
    "cosine": 0.41,
    "content": 0.17,
    "near": 0.57,
    "words": 0.18,
    "words_near": 0.45,
    "named": 2.34,
    "length": 0.34,
    "asks": -0.63,
    "date": 3.0,
    "time": 1.5,
    "answers": 0.19,
}
"""What each part counts; docs/retrieval.md says what each is.

Fitted as a conditional logit (each piece of evidence against the rest of its pool, ridge 1) on 760
questions of five LoCoMo conversations with the packaged MiniLM; ``engram eval fit-shortlist`` does
it again. ``date`` and ``time`` are held below what the fit gives: LoCoMo's questions take their
dates from the clock of its turns, and not every memory's do.
"""
HELD = ("date", "time")
"""Parts whose weights are not fitted."""

SPREAD: Mapping[str, float] = {
    "cosine": 0.13,
    "content": 0.10,
    "near": 0.10,
    "words": 0.10,
    "words_near": 0.16,
    "length": 0.60,
    "answers": 0.08,
}
"""The usual standard deviation of each measured part within a pool; the others are 0 to 1."""
REACH = 2
"""Turns before and after that belong to a turn's window."""
PRIOR = 30
"""How many imagined turns of usual spread join a pool: five turns give no wild scale."""
_SLOPE, _SHIFT = 0.84, 8.55  # a sum as a chance to be evidence, fitted on the same questions
_MOST = 700.0  # e to this is still a float
_NONE: frozenset[str] = frozenset()

Parts = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class PoolTurn:
    """A turn of the pool.

    Attributes:
        indexed: what the full-text index holds for it (``search_text``).
        cosine: with the question as asked. content: with the question without speakers' names.
            None: no vector on one of the two sides.
        previous: id of the turn before it, in the pool or not.
    """

    id: str
    speaker: str
    text: str
    indexed: str
    said_on: date
    cosine: float | None = None
    content: float | None = None
    previous: str | None = None


def rank(
    question: str,
    pool: Sequence[PoolTurn],
    limit: int | None = None,
    weights: Mapping[str, float] = WEIGHTS,
) -> list[tuple[str, Scores]]:
    """The best ``limit`` of the pool (all when None), best first; ties by id.

    Args:
        weights: part → weight; a part that is not there is switched off.

    Returns:
        (id, scores) without ``text``, which plays no role here; ``parts`` holds what each part
        added to the sum, and ``fused`` grows with the sum, in (0, 1].

    Raises:
        ValueError: an unknown part, or a weight that is not finite.
    """
    raw = measured(question, pool)
    rows = standard(raw)
    return [
        (each, _scores(raw[each], rows[each], weights)) for each in order(rows, weights)[:limit]
    ]


def _scores(
    raw: Mapping[str, float | None], row: Mapping[str, float], weights: Mapping[str, float]
) -> Scores:
    parts = {name: weights[name] * value for name, value in row.items() if name in weights}
    fused = chance(math.fsum(parts.values()))
    return Scores(vector=raw["cosine"], window=raw["near"], fused=fused, parts=parts)


def order(
    rows: Mapping[str, Mapping[str, float]], weights: Mapping[str, float] = WEIGHTS
) -> list[str]:
    """Ids of ``standard`` rows, best first; ties by id."""
    _check(weights)
    used = [name for name in next(iter(rows.values()), {}) if name in weights]
    factors = [weights[name] for name in used]
    sums = {
        each: math.fsum(map(operator.mul, factors, [row[name] for name in used]))
        for each, row in rows.items()
    }
    return sorted(sums, key=lambda each: (-sums[each], each))


def measured(question: str, pool: Sequence[PoolTurn]) -> dict[str, Parts]:
    """Id → part → value as measured, None where unknown."""
    by_id = {turn.id: turn for turn in pool}
    cosines = {turn.id: _known(turn.cosine) for turn in pool}
    contents = {turn.id: _known(turn.content) for turn in pool}
    heights = {each: -math.inf if value is None else value for each, value in contents.items()}
    low, when, dates = lowered(question), asks_when(question), named_dates(question)
    named = {speaker: float(names(low, speaker)) for speaker in {t.speaker for t in pool}}
    terms = query_terms(question)
    held = {turn.id: _held(turn.indexed, terms) for turn in pool}
    rarity = _rarity(terms, held)
    total = math.fsum(rarity.values())

    @functools.cache  # most turns of a pool hold the same few terms, or none
    def share(found: frozenset[str]) -> float:
        return math.fsum(rarity[term] for term in found) / total if total else 0.0

    around_of = windows(pool)
    rows: dict[str, Parts] = {}
    for turn in pool:
        window = around_of[turn.id]
        near = max(map(heights.__getitem__, window))
        previous = by_id.get(turn.previous) if turn.previous else None
        rows[turn.id] = {
            "cosine": cosines[turn.id],
            "content": contents[turn.id],
            "near": near if near > -math.inf else None,
            "words": share(held[turn.id]),
            "words_near": share(_NONE.union(*map(held.__getitem__, window))),
            "named": named[turn.speaker],
            "length": math.log1p(len(turn.text)),
            "asks": float(turn.text.rstrip().endswith(QUESTION_MARKS)),
            "date": date_match(turn.said_on, dates) if dates else 0.0,
            "time": float(when and tells_time(turn.text)),
            "answers": max(contents[previous.id] or 0.0, 0.0)
            if previous and _asks(previous.text)
            else 0.0,
        }
    return rows


def windows(pool: Iterable[PoolTurn]) -> dict[str, list[str]]:
    """Id → it and the turns up to ``REACH`` before and after it, as far as the pool leads there."""
    previous = {turn.id: turn.previous for turn in pool}
    found = {each: [each] for each in previous}
    for each in previous:
        at = each
        for _ in range(REACH):
            before = previous[at]
            if before is None or before not in previous:
                break
            found[each].append(before)
            found[before].append(each)
            at = before
    return found


def standard(rows: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """Measured parts as deviations from the pool's mean (unknown: the mean); others as they are.

    The scale is the pool's own, drawn towards the usual one while the pool is small.
    """
    out: dict[str, dict[str, float]] = {each: {} for each in rows}
    for name in next(iter(rows.values()), {}):
        if name not in SPREAD:
            for each, row in rows.items():
                out[each][name] = row[name] or 0.0
            continue
        values = [row[name] for row in rows.values()]
        known = [value for value in values if value is not None]
        mean = math.fsum(known) / len(known) if known else 0.0
        squares = math.fsum([(value - mean) ** 2 for value in known])
        scale = math.sqrt((squares + PRIOR * SPREAD[name] ** 2) / (len(known) + PRIOR))
        for made, value in zip(out.values(), values, strict=True):
            made[name] = 0.0 if value is None else (value - mean) / scale
    return out


def chance(total: float) -> float:
    """A sum as a number in (0, 1] that grows with it."""
    return 1 / (1 + math.exp(max(-_MOST, min(_SHIFT - _SLOPE * total, _MOST))))


def _check(weights: Mapping[str, float]) -> None:
    unknown = weights.keys() - WEIGHTS.keys()
    if unknown:
        raise ValueError(f"unknown parts: {sorted(unknown)}")
    if not all(math.isfinite(weight) for weight in weights.values()):
        raise ValueError("weights are finite")


def _known(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


def _held(indexed: str, terms: Sequence[str]) -> frozenset[str]:
    low = indexed.lower()
    there = [term for term in terms if term in low]  # few: most need no closer look
    if not there:
        return _NONE
    return frozenset([term for term in there if next(places(low, term), None) is not None])


def _asks(text: str) -> bool:
    for mark in QUESTION_MARKS:  # noqa: SIM110  (a generator takes three times as long)
        if mark in text:
            return True
    return False


def _rarity(terms: Iterable[str], held: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Term → weight by how few of the pool hold it; what none holds weighs nothing."""
    counts = dict.fromkeys(terms, 0)
    for found in held.values():
        for term in found:
            counts[term] += 1
    return {t: math.log1p(len(held) / (n + 0.5)) if n else 0.0 for t, n in counts.items()}
