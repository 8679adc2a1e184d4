"""One order out of several scores: normalised weighted sums. Pure.

Each part is stretched to [FLOOR, 1] over what it found, and the weighted mean is the fused score.
Stretching makes cosine and BM25 comparable, and drops whatever constant a part adds to every score
(the namespace clause of a full-text query does). Chosen on LoCoMo over reciprocal ranks and over
dividing by the maximum; a turn's window counts the best turn near it, not their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from engram_graph.models.results import Scores

FLOOR = 0.1
"""What the worst item of a part gets: having been found at all is worth more than nothing."""
REACH = 2
"""Turns before and after that belong to a turn's window."""
EQUAL: Mapping[str, float] = {"vector": 1.0, "text": 1.0, "window": 1.0}

Parts = Mapping[str, Mapping[str, float]]


def fuse(parts: Parts, weights: Mapping[str, float] = EQUAL) -> list[tuple[str, Scores]]:
    """All ids found by a part that counts, best first; ties by id.

    Args:
        parts: ``vector`` (cosine), ``text`` (BM25) and ``window`` (see there), each id → score.
            Any may be missing or empty; NaN counts as not found.
        weights: part → weight, 0 switches it off; only their proportions matter.

    Returns:
        (id, scores); ``fused`` lies in (0, 1]. Parts that are switched off still show up in
        ``scores``, for information.

    Raises:
        ValueError: an unknown part, or a weight that is negative or not finite.
    """
    unknown = (set(parts) | set(weights)) - set(EQUAL)
    if unknown:
        raise ValueError(f"unknown parts: {sorted(unknown)}")
    if any(not math.isfinite(weight) or weight < 0 for weight in weights.values()):
        raise ValueError("weights are finite and not negative")
    sums = weighted(parts, weights)
    order = sorted(sums, key=lambda each: (-sums[each], each))
    return [
        (
            each,
            Scores(
                vector=_score(parts, "vector", each),
                text=_score(parts, "text", each),
                window=_score(parts, "window", each),
                fused=sums[each],
            ),
        )
        for each in order
    ]


def weighted(parts: Parts, weights: Mapping[str, float] = EQUAL) -> dict[str, float]:
    """id → weighted mean of its stretched scores, in (0, 1]; a part that missed it counts 0.

    Only parts that are there and found something share the weight: with full text alone the best
    match still gets 1.
    """
    used = {}
    for name in sorted(parts):  # a fixed order: sums of floats depend on it
        found = stretch(parts[name])
        if found and weights.get(name, 0.0) > 0:
            used[name] = found
    # Scaled by the largest, so that tiny or huge weights neither vanish nor overflow.
    largest = max((weights[name] for name in used), default=1.0)
    shares = {name: weights[name] / largest for name in used}
    total = sum(shares.values())
    sums: dict[str, float] = {}
    for name, found in used.items():
        for each, value in found.items():
            sums[each] = sums.get(each, 0.0) + shares[name] * value
    return {each: min(value / total, 1.0) for each, value in sums.items() if value > 0}


def stretch(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved linearly to [FLOOR, 1]; all 1 when they are equal. NaN and infinities go."""
    finite = {each: score for each, score in scores.items() if math.isfinite(score)}
    if not finite:
        return {}
    low, high = min(finite.values()), max(finite.values())
    span = high - low
    if not 0 < span < math.inf:
        return dict.fromkeys(finite, 1.0)
    return {each: FLOOR + (1 - FLOOR) * ((s - low) / span) for each, s in finite.items()}


def windows(
    scores: Mapping[str, float], neighbours: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """id → the best score among the turns near it; also for turns that were not found themselves.

    Args:
        scores: turn → its own score. neighbours: turn → the turns up to ``REACH`` before and after
            it in its conversation. Nearness goes both ways, so the found turns' lists are enough.
    """
    best: dict[str, float] = {}
    for each, score in scores.items():
        for near in neighbours.get(each, ()):
            if near != each and score > best.get(near, -math.inf):
                best[near] = score
    return best


def fuse_turns(
    vector: Mapping[str, float],
    text: Mapping[str, float],
    neighbours: Mapping[str, Sequence[str]],
    weights: Mapping[str, float] = EQUAL,
) -> list[tuple[str, Scores]]:
    """Turns by vector, text and window; the window is made from the other two, fused."""
    own = {name: weight for name, weight in weights.items() if name != "window"}
    parts = {"vector": vector, "text": text}
    near = windows(weighted(parts, own), neighbours)
    return fuse(parts | {"window": near}, weights)


def neighbours_of(conversation: Iterable[str], reach: int = REACH) -> dict[str, list[str]]:
    """id → ids up to ``reach`` places before and after it, for one conversation in its order."""
    ids = list(conversation)
    return {
        each: ids[max(0, at - reach) : at] + ids[at + 1 : at + 1 + reach]
        for at, each in enumerate(ids)
    }


def _score(parts: Parts, name: str, each: str) -> float | None:
    score = parts.get(name, {}).get(each)
    return score if score is not None and math.isfinite(score) else None
