"""One order of facts out of several scores: normalised weighted sums. Pure.

Each part is stretched to [FLOOR, 1] over what it found, and the weighted mean is the fused score.
Stretching makes cosine and BM25 comparable, and drops whatever constant a part adds to every score
(the namespace clause of a full-text query does). Chosen on LoCoMo over reciprocal ranks and over
dividing by the maximum. A question that names a time adds one more part: ``dated``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from engram_graph.models.results import Scores

FLOOR = 0.1
"""What the worst item of a part gets: having been found at all is worth more than nothing."""
EQUAL: Mapping[str, float] = {"vector": 1.0, "text": 1.0}

DATE = 1.0
"""What a fact that was true at the time named gains over one that was not: so much once more."""
PARTS = (*EQUAL, "date")
"""All parts of the order of facts."""

Parts = Mapping[str, Mapping[str, float]]


def fuse(
    parts: Parts, weights: Mapping[str, float] = EQUAL, ties: Mapping[str, Any] | None = None
) -> list[tuple[str, Scores]]:
    """All ids found by a part that counts, best first; ties by ``ties``, then by id.

    Args:
        parts: ``vector`` (cosine) and ``text`` (BM25), each id → score. Any may be
            missing or empty; NaN counts as not found.
        weights: part → weight, 0 switches it off; only their proportions matter.
        ties: id → what equal scores are put in order by. Ids may be random: where the same memory
            is built twice, they are no order.

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
    order = sorted(sums, key=lambda each: (-sums[each], ties[each] if ties else each, each))
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


def dated(
    order: Sequence[tuple[str, Scores]],
    then: Mapping[str, float],
    rivals: Mapping[str, Hashable],
    weight: float = DATE,
) -> list[tuple[str, Scores]]:
    """The order for a question that names a time: facts that were true then gain.

    Nothing is left out, and what was not true then keeps its order. Of a relation that has one
    value at a time, the value of then stands where the best of all its values stood: they differ
    in time alone, and likeness to the question says nothing about that. The rest of the gain is a
    factor, so that what has nothing to do with the question stays behind.

    Args:
        then: id → how well it fits the time named, in [0, 1]; 0 for what is missing.
        rivals: id → its subject and relation, where that has one value at a time.
        weight: of the part; 0 switches it off.

    Returns:
        (id, scores) with ``parts["date"]``: what it added to ``fused``, which stays in (0, 1].

    Raises:
        ValueError: a weight that is negative or not finite.
    """
    if not math.isfinite(weight) or weight < 0:
        raise ValueError("weights are finite and not negative")
    if weight == 0 or not any(then.get(each, 0.0) > 0 for each, _ in order):
        return list(order)
    best: dict[Hashable, float] = {}
    for each, scores in order:
        if each in rivals:
            best[rivals[each]] = max(best.get(rivals[each], 0.0), scores.fused)
    found = []
    for each, scores in order:
        fit = then.get(each, 0.0)
        likeness = scores.fused
        if each in rivals:
            likeness += fit * (best[rivals[each]] - likeness)
        plain = scores.fused / (1 + weight)
        gain = likeness * (1 + weight * fit) / (1 + weight) - plain
        fused = min(plain + gain, 1.0)
        changed = {"fused": fused, "parts": {**scores.parts, "date": fused - plain}}
        found.append((scores.fused, each, scores.model_copy(update=changed)))
    found.sort(key=lambda row: (-row[2].fused, -row[0]))  # ties stay in the order given
    return [(each, scores) for _, each, scores in found]


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
