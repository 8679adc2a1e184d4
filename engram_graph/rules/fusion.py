"""One order of facts out of several scores: normalised weighted sums. Pure.

Each part is stretched to [FLOOR, 1] over what it found, and the weighted mean is the fused score.
Stretching makes cosine and BM25 comparable, and drops whatever constant a part adds to every score
(the namespace clause of a full-text query does). Chosen on LoCoMo over reciprocal ranks and over
dividing by the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engram_graph.models.results import Scores

FLOOR = 0.1
"""What the worst item of a part gets: having been found at all is worth more than nothing."""
EQUAL: Mapping[str, float] = {"vector": 1.0, "text": 1.0}

Parts = Mapping[str, Mapping[str, float]]


def fuse(parts: Parts, weights: Mapping[str, float] = EQUAL) -> list[tuple[str, Scores]]:
    """All ids found by a part that counts, best first; ties by id.

    Args:
        parts: ``vector`` (cosine) and ``text`` (BM25), each id → score. Any may be
            missing or empty; NaN counts as not found.
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


def _score(parts: Parts, name: str, each: str) -> float | None:
    score = parts.get(name, {}).get(each)
    return score if score is not None and math.isfinite(score) else None
