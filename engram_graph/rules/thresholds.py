"""Every number of the method, in one frozen record. Source: decision_rules §2 and §6."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Probabilities unless said otherwise.

    Attributes:
        act: a verdict acts at or above it; also worth, second phrasing, same attribute,
            plan fulfilled and the temporal mass.
        escalate_below: a superseding verdict below it goes to a stronger decider.
        worth_drop: a draft worth less is not stored, where that filter is on; a fact worth less,
            asked again, is archived.
        evidence_above: an answer is evidence only above it (belief rule v3, strict).
        belief_floor, belief_ceiling: the clamp of belief and of an answer's logit.
        start_tentative: belief of a fact stored unsure.
        close_below, reopen_above: strict.
        near, related: most candidates by vector and by graph.
        rare_entity_share, rare_entity_min: an entity on more facts than both is no hint.
        relevant_above: an item judged above it is kept when reading (strict).
        shortlist, wide: items judged for a question; per_request: of those in one request.
        floor: of the first so many, those not kept follow all the same.
        pull: most facts of the relation asked about. neighbours: most facts one hop away.
        hub: an entity on more facts leads nowhere.
        history_depth, tolerance_days: of the chain behind a fact.
        context_messages: earlier turns an extractor sees.
        unlink_at: two facts that are the same with this probability or less lose their link.
        same_group, same_batch: hygiene compares the newest of a group, so many pairs a request.
        stale_days: unread for so long, worth is asked again. short_lived_days: until archived.
    """

    act: float = 0.85
    escalate_below: float = 0.60
    worth_drop: float = 0.60
    evidence_above: float = 0.50
    belief_floor: float = 0.02
    belief_ceiling: float = 0.98
    start_tentative: float = 0.50
    close_below: float = 0.25
    reopen_above: float = 0.60
    near: int = 10
    related: int = 10
    rare_entity_share: float = 0.20
    rare_entity_min: int = 3
    relevant_above: float = 0.50
    shortlist: int = 30
    wide: int = 150
    per_request: int = 30
    floor: int = 10
    pull: int = 10
    neighbours: int = 15
    hub: int = 25
    history_depth: int = 5
    tolerance_days: int = 1
    context_messages: int = 10
    unlink_at: float = 0.15
    same_group: int = 30
    same_batch: int = 50
    stale_days: int = 30
    short_lived_days: int = 7


DEFAULT = Thresholds()
