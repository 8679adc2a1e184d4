"""``engram eval pairs``: labelled pairs with recorded answers, through the real planning code.

A pair is a known fact and a new one. What nobody recorded is answered by rule: the second phrasing
says what the first did, and both tell the same attribute.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from engram_graph.errors import InputError
from engram_graph.evaluation.lines import numbered
from engram_graph.models.decisions import Answer, Question, Reply, Round
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.models.plans import WritePlan
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import chosen_verdict, likeliest
from engram_graph.rules.belief import clamp
from engram_graph.rules.method import DEFAULT, Method
from engram_graph.rules.names import entity_key
from engram_graph.rules.plan import (
    Candidate,
    Situation,
    first_questions,
    make_plan,
    second_questions,
)
from engram_graph.vocabulary import FALLBACK, PREDICATES, Outcome, Role, TemporalStatus, Verdict

ANSWERS = "jev_v2"
START = 0.98
_BACKEND = "recorded"
_OLD, _NEW = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC)
_P = Annotated[float, Field(ge=0, le=1)]


class _Form(BaseModel):
    """Fields that say nothing here are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Expected(_Form):
    """What is right for a pair; without ``accepted`` only ``relation`` itself is."""

    relation: Verdict
    accepted: tuple[Verdict, ...] = ()
    temporal_status: TemporalStatus
    action: Literal["close", "keep"]


class EdgeTypes(_Form):
    """The predicates of the two facts."""

    old: str = FALLBACK
    new: str = FALLBACK

    @field_validator("old", "new")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in PREDICATES:
            raise ValueError(f"unknown predicate: {name!r}")
        return name


class Recorded(_Form):
    """A model's answers: label → probability, a label that is missing is 0."""

    relation_to_candidate: dict[Verdict, _P]
    temporal_status: dict[TemporalStatus, _P]
    relation_second: dict[Verdict, _P] | None = None
    same_attribute: _P = 1.0


class Pair(_Form):
    """One line of the file. ``recorded``: name of a model → its answers."""

    id: str
    subject: str = "user"
    old_fact: str
    new_fact: str
    message: str = ""
    expected: Expected
    edge_types: EdgeTypes = Field(
        EdgeTypes(), validation_alias=AliasChoices("edge_types", "edge_types_ours")
    )
    recorded: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a pair. ``why``: what kept the old fact open; empty when it was closed."""

    id: str
    closes: bool
    expected: str
    relation: str
    p: float
    accepted: bool
    temporal: bool
    belief: float
    why: str

    @property
    def right(self) -> bool:
        """The old fact ends, and should."""
        return self.closes and self.expected == "close"


def load_pairs(path: str | Path, answers: str = ANSWERS) -> list[tuple[Pair, Recorded]]:
    """The pairs of a file, each with the recorded answers called ``answers``.

    Raises:
        InputError: no such file, or a line that is no such pair, with its number.
    """
    found: list[tuple[Pair, Recorded]] = []
    name = Path(path).name
    for number, value in numbered(path):
        try:
            pair = Pair.model_validate(value)
            if answers not in pair.recorded:
                raise InputError(
                    f"{name}, line {number} ({pair.id}): no recorded answers {answers!r}",
                    hint=f"There are: {', '.join(pair.recorded) or 'none'}",
                    line=number,
                )
            told = Recorded.model_validate(pair.recorded[answers])
            if any(pair.id == other.id for other, _ in found):
                raise InputError(
                    f"{name}, line {number}: two pairs are called {pair.id!r}",
                    hint="Each pair counts once: take one out.",
                    line=number,
                )
            found.append((pair, told))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"{name}, line {number}: {where}: {first['msg']}",
                hint="Each line is one pair: old_fact, new_fact, expected, recorded answers.",
                line=number,
            ) from None
    return found


def decide(
    pairs: Sequence[tuple[Pair, Recorded]], method: Method = DEFAULT, start: float = START
) -> list[Row]:
    """Plan each pair by ``method``; the old fact is believed with ``start`` before."""
    return [_row(pair, recorded, method, start) for pair, recorded in pairs]


def summary(rows: Sequence[Row]) -> dict[str, int]:
    """The counts over ``rows``; ``to_close`` of them should close."""
    return {
        "pairs": len(rows),
        "right_closes": sum(row.right for row in rows),
        "false_closes": sum(row.closes and not row.right for row in rows),
        "accepted": sum(row.accepted for row in rows),
        "temporal": sum(row.temporal for row in rows),
        "to_close": sum(row.expected == "close" for row in rows),
    }


def as_dicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For reports."""
    return [asdict(row) for row in rows]


def _row(pair: Pair, recorded: Recorded, method: Method, start: float) -> Row:
    old = _old_fact(pair, clamp(start, method.thresholds))
    situation = _situation(pair, old, method)
    questions = first_questions(situation)
    rounds = [Round(questions, _reply(questions, recorded))]
    if again := second_questions(situation, rounds[0].reply):
        rounds.append(Round(again, _reply(again, recorded)))
    ids = itertools.count(1)
    plan = make_plan(situation, rounds, lambda: f"d{next(ids)}")
    change = next((each for each in plan.changes if each.id == old.id), None)
    closes = change is not None and change.valid_until is not None
    relation = rounds[0].reply.answers[ask.question_id(ask.RELATION, old.id)]
    temporal = rounds[0].reply.answers[ask.TEMPORAL]
    verdict = chosen_verdict(relation)
    belief = change.belief if change else old.belief
    expected = pair.expected
    return Row(
        id=pair.id,
        closes=closes,
        expected=expected.action,
        relation=verdict.value,
        p=relation.p(verdict),
        accepted=verdict in (expected.accepted or (expected.relation,)),
        temporal=likeliest(temporal, TemporalStatus) == expected.temporal_status,
        belief=round(belief, 4),
        why="" if closes else _why(plan, verdict, belief),
    )


def _why(plan: WritePlan, verdict: Verdict, belief: float) -> str:
    judged = [each for each in plan.judgements if each.question == ask.RELATION]
    refused = next((each for each in judged if each.outcome != Outcome.APPLIED), None)
    if refused is not None:
        return f"{refused.outcome}{f' ({refused.reason})' if refused.reason else ''}"
    return f"belief stays at {belief:.2f}" if judged else f"the answer is {verdict}"


def _old_fact(pair: Pair, belief: float) -> Fact:
    return Fact(
        id="old",
        namespace="pairs",
        subject=pair.subject,
        subject_key=entity_key(pair.subject),
        predicate=pair.edge_types.old,
        object=pair.old_fact,
        object_key=entity_key(pair.old_fact),
        text=pair.old_fact,
        belief=belief,
        valid_from=_OLD,
        recorded_at=_OLD,
    )


def _situation(pair: Pair, old: Fact, method: Method) -> Situation:
    return Situation(
        namespace=old.namespace,
        message=Message(
            id="message",
            namespace=old.namespace,
            conversation="pairs",
            speaker="the second speaker",
            role=Role.USER,
            text=pair.message or pair.new_fact,
            said_at=_NEW,
            recorded_at=_NEW,
            source_id=pair.id,
        ),
        draft=Draft(
            subject=pair.subject,
            predicate=pair.edge_types.new,
            object=pair.new_fact,
            text=pair.new_fact,
        ),
        valid_from=_NEW,
        valid_from_stated=False,
        valid_until=None,
        fact_id="new",
        extractor="caller",
        caller_relation=True,
        subject_version=1,
        candidates=(Candidate(old, frozenset({"the first speaker"})),),
        decided_at=_NEW,
        method=method,
    )


def _reply(questions: Sequence[Question], recorded: Recorded) -> Reply:
    """The recorded answers to ``questions``; what is neither recorded nor ruled stays open."""
    relation = recorded.relation_to_candidate
    given: dict[str, Mapping[Any, float]] = {
        ask.RELATION: relation,
        ask.SECOND: relation if recorded.relation_second is None else recorded.relation_second,
        ask.TEMPORAL: recorded.temporal_status,
        ask.SAME_ATTRIBUTE: {"yes": recorded.same_attribute, "no": 1 - recorded.same_attribute},
    }
    answers = {}
    for question in questions:
        known = given.get(question.name)
        options = question.options or ("yes", "no")
        answers[question.id] = Answer(
            question.id,
            {} if known is None else {option: known.get(option, 0.0) for option in options},
            _BACKEND,
            fallback=known is None,
        )
    return Reply(answers, backend=_BACKEND, model="")
