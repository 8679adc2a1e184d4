"""Every question there is, with its labels in their fixed order (decision_rules §3).

The order of options is part of a question: models lean on it. Wording lives elsewhere.
"""

from __future__ import annotations

from enum import StrEnum

from engram_graph.models.decisions import Question, Turn
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Fact
from engram_graph.vocabulary import (
    FALLBACK,
    PREDICATES,
    Durability,
    FactKind,
    Sensitivity,
    TemporalStatus,
    Verdict,
)

WORTH = "worth_remembering"
KIND = "fact_kind"
TEMPORAL = "temporal_status"
EDGE_TYPE = "edge_type"
DURABILITY = "durability"
SENSITIVITY = "sensitivity"
RELATION = "relation_to_candidate"
SECOND = "relation_second"
SAME_ATTRIBUTE = "same_attribute"
PLAN_FULFILLED = "plan_fulfilled"
RELEVANT = "relevant_to_query"
QUERY_RELATION = "query_relation"
SAME_FACT = "same_fact"
WORTH_SENTENCE = "worth_sentence"
SAME_ENTITY = "same_entity"
REDACTED = "redact_credentials"
"""No question: the decision that a secret was taken out."""


def _labels(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


_OPTIONS: dict[str, tuple[str, ...]] = {
    KIND: _labels(FactKind),
    TEMPORAL: _labels(TemporalStatus),
    EDGE_TYPE: tuple(PREDICATES),
    DURABILITY: _labels(Durability),
    SENSITIVITY: _labels(Sensitivity),
    RELATION: _labels(Verdict),
    SECOND: _labels(Verdict),
    QUERY_RELATION: (*(name for name in PREDICATES if name != FALLBACK), "none"),
}
_NOULS = (WORTH, SAME_ATTRIBUTE, PLAN_FULFILLED, RELEVANT, SAME_FACT, WORTH_SENTENCE)
NAMES: tuple[str, ...] = (*_OPTIONS, *_NOULS)
"""Of the questions on facts; ``same_entity`` is the one on entities."""


def question(
    name: str, candidate: Fact | None = None, told_by: frozenset[str] = frozenset()
) -> Question:
    """The question ``name``, about ``candidate`` (stated by ``told_by``) when it is on a pair."""
    if name in _NOULS:
        return Question(name, "noul", candidate, told_by=told_by)
    return Question(name, "choice", candidate, _OPTIONS[name], told_by=told_by)


def same_fact(newer: Fact, older: Fact) -> Question:
    """Whether two known facts are one and the same."""
    return Question(SAME_FACT, "noul", older, about=newer)


def same_entity(first: Profile, second: Profile) -> Question:
    """Whether two entities are one."""
    return Question(SAME_ENTITY, "noul", pair=(first, second))


def relevant(item: Fact | Turn) -> Question:
    """Whether a fact or a message helps to answer the query."""
    if isinstance(item, Turn):
        return Question(RELEVANT, "noul", turn=item)
    return Question(RELEVANT, "noul", item)


def question_id(name: str, candidate_id: str) -> str:
    """Under which id a reply holds the answer about a pair."""
    return f"{name}:{candidate_id}"
