"""Belief: the probability that a fact holds, moved by evidence in log-odds.

Source: decision_rules §7. Support adds l(p), what speaks against subtracts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from engram_graph.rules.thresholds import DEFAULT, Thresholds
from engram_graph.vocabulary import ClosedReason


def clamp(p: float, thresholds: Thresholds = DEFAULT) -> float:
    """``p`` within [.02, .98]: nothing is ever certain, so everything can be revised."""
    return min(max(p, thresholds.belief_floor), thresholds.belief_ceiling)


def logit(p: float, thresholds: Thresholds = DEFAULT) -> float:
    """l(p) = ln(p / (1 - p)) of the clamped ``p``; at most 3.8918 either way."""
    inside = clamp(p, thresholds)
    return math.log(inside / (1.0 - inside))


def weight(pieces: Iterable[float], thresholds: Thresholds = DEFAULT) -> float:
    """Σ l(p) over answers that say the same; both phrasings are two pieces."""
    return sum(logit(p, thresholds) for p in pieces)


def updated(belief: float | None, delta: float, thresholds: Thresholds = DEFAULT) -> float:
    """b ← clamp(σ(l(b) + δ)); a missing belief counts as .50."""
    before = 0.5 if belief is None else belief
    log_odds = logit(before, thresholds) + delta
    sigma = 0.5 + 0.5 * math.tanh(log_odds / 2.0)  # σ, without overflow
    return clamp(round(sigma, 12), thresholds)  # people read it: .02, not .0200000000000000018


def start(tentative: bool, p_relation: float, thresholds: Thresholds = DEFAULT) -> float:
    """Belief of a fact when it is stored: .50 unsure, else how sure its relation is."""
    return thresholds.start_tentative if tentative else clamp(p_relation, thresholds)


def closes(belief: float, thresholds: Thresholds = DEFAULT) -> bool:
    """Whether a fact believed so little is to be closed (strictly below .25)."""
    return belief < thresholds.close_below


def reopens(
    belief: float, closed_reason: ClosedReason | None, thresholds: Thresholds = DEFAULT
) -> bool:
    """Whether a closed fact is to be reopened (strictly above .60).

    Only what belief closed, belief reopens; never a superseded or fulfilled fact.
    """
    return closed_reason == ClosedReason.BELIEF and belief > thresholds.reopen_above
