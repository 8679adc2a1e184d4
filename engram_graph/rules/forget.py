"""Forgetting: what goes with a fact or a message, and how what stays is mended. Pure.

Source: house rule 8. Nothing that stays may tell what went: a decision that had it for a partner
goes too, and where a fact owes its belief or its end to such a decision, one without content takes
its place. What was closed stays closed, and a chain closes over the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar

from engram_graph.models.decisions import Judgement
from engram_graph.models.facts import Draft, Extracted, Link
from engram_graph.vocabulary import FALLBACK, Outcome

QUESTION = "forgotten"
REASON = "decided by something that was forgotten"
BLANK = Draft(subject="", predicate=FALLBACK, object="", text="")
"""What is left of a draft: its place, from which the ids of the others derive."""

End = tuple[datetime | None, str | None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Source:
    """A message that goes, or that states a fact that goes.

    Attributes:
        states_more: a fact that stays is stated in it, too.
        done: its facts are all written.
        written: for each draft the id of the fact, or of the decision, that it became.
        before, after: ids of the turns next to it.
    """

    id: str
    conversation: str
    states_more: bool = False
    done: bool = True
    drafts: Extracted | None = None
    written: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What one decision did to one fact.

    Attributes:
        position: its place among the decisions of one moment.
        belief: of the fact after it; None if it moved none. ends: of the fact before and after it.
        disputes: it found the fact contradicted.
    """

    decision: str
    decided_at: datetime
    position: int = 0
    belief: float | None = None
    ends: tuple[End, End] | None = None
    disputes: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A fact that stays, and had to do with one that goes.

    Attributes:
        contradicted: by a fact that stays. quote_goes: the words it quotes go with their message.
        traces: the decisions that moved it, and those that found it disputed.
    """

    id: str
    subject_key: str
    disputed: bool = False
    contradicted: bool = False
    quote_goes: bool = False
    traces: tuple[Trace, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was about a fact that goes, or had it for a candidate.

    Attributes:
        rested_on: a decision that goes rests on it. kept: one that stays does.
    """

    id: str
    candidates: tuple[str, ...]
    answers: dict[str, Any]
    rested_on: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is to be forgotten, and all that touches it.

    Attributes:
        facts, messages, entities: ids (keys of entities) asked for.
        decisions: those that go. links: every SUPERSEDES with an end among ``facts``.
        touched: key of each entity around them → whether a fact that stays uses it.
    """

    facts: frozenset[str]
    messages: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    decisions: frozenset[str] = frozenset()
    links: tuple[Link, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    sources: tuple[Source, ...] = ()
    requests: tuple[Asked, ...] = ()
    touched: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Carried:
    """A decision without content in the place of those that went."""

    judgement: Judgement
    decided_at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """All that one ``forget`` changes, applied whole or not at all.

    Attributes:
        facts … requests: ids (keys of entities) of what goes.
        links, turns: SUPERSEDES and NEXT over the gaps, from each to each.
        carried: decisions that take the place of others. changes: fact id → new properties.
        asked: request id → its candidates and answers without what goes.
        drafts: message id → its drafts without what goes.
        conversations: those that messages leave.
    """

    facts: tuple[str, ...]
    messages: tuple[str, ...]
    entities: tuple[str, ...]
    decisions: tuple[str, ...]
    requests: tuple[str, ...]
    links: tuple[Link, ...]
    turns: tuple[tuple[str, str], ...]
    carried: tuple[Carried, ...]
    changes: dict[str, dict[str, Any]]
    asked: dict[str, tuple[list[str], dict[str, Any]]]
    drafts: dict[str, Extracted]
    conversations: tuple[str, ...]


def forget_plan(f: Forgetting, new_id: Callable[[], str]) -> ForgetPlan:
    """What goes, and what is written in its place."""
    gone = f.facts | f.decisions
    messages = leave(f.sources, f.messages, gone)
    leaving = {source.id for source in messages}
    asked = {request.id: without(request, f.facts) for request in f.requests}
    requests = {r.id for r in f.requests if not r.kept and (r.rested_on or not asked[r.id][0])}
    chain = [(link.source, link.target, link) for link in f.links if link.type == "SUPERSEDES"]
    return ForgetPlan(
        facts=tuple(sorted(f.facts)),
        messages=tuple(sorted(leaving)),
        entities=tuple(sorted(f.entities | {key for key, used in f.touched.items() if not used})),
        decisions=tuple(sorted(f.decisions)),
        requests=tuple(sorted(requests)),
        links=tuple(
            link.model_copy(update={"source": newer, "target": older})
            for newer, older, link in closed_over(chain, f.facts)
        ),
        turns=turns_over(messages),
        carried=tuple(c for n in f.neighbours for c in carried(n, f.decisions, new_id)),
        changes={n.id: _changes(n, f.decisions) for n in f.neighbours},
        asked={key: kept for key, kept in asked.items() if key not in requests},
        drafts=dict(_blanked(f.sources, leaving, gone)),
        conversations=tuple(sorted({source.conversation for source in messages})),
    )


def leave(
    sources: Iterable[Source], asked_for: Collection[str], gone: Collection[str]
) -> list[Source]:
    """The messages that were asked for, or state nothing else and never will.

    Args:
        gone: ids of the facts and decisions that go.
    """
    return [s for s in sources if s.id in asked_for or _says_nothing_else(s, gone)]


def turns_over(leaving: Sequence[Source]) -> tuple[tuple[str, str], ...]:
    """The turns that follow each other once ``leaving`` are gone."""
    steps = [(before, source.id, None) for source in leaving for before in source.before]
    steps += [(source.id, after, None) for source in leaving for after in source.after]
    gone = {source.id for source in leaving}
    return tuple((before, after) for before, after, _ in closed_over(dict.fromkeys(steps), gone))


def closed_over(
    steps: Iterable[tuple[str, str, T]], gone: Collection[str]
) -> list[tuple[str, str, T]]:
    """The steps that lead past what goes: one from each to each that stays, where every path
    between went through it. A step keeps what the last one of its path carried."""
    following: dict[str, list[tuple[str, T]]] = {}
    for source, target, carries in steps:
        following.setdefault(source, []).append((target, carries))
    found: dict[tuple[str, str], T] = {}
    for source in [s for s in following if s not in gone]:
        seen: set[str] = set()
        rest = [target for target, _ in following[source] if target in gone]
        while rest:
            here = rest.pop()
            if here in seen:
                continue
            seen.add(here)
            for target, carries in following.get(here, ()):
                if target in gone:
                    rest.append(target)
                else:
                    found.setdefault((source, target), carries)
    return [(source, target, carries) for (source, target), carries in found.items()]


def carried(
    neighbour: Neighbour, decisions: Collection[str], new_id: Callable[[], str]
) -> list[Carried]:
    """One decision for each unbroken run of ``decisions`` that moved a fact; mostly there is one.

    It stands where the run's last move of the end stood, so that what was known at any moment
    reads as before, and the latest belief is the present one.
    """
    moves = sorted(
        (t for t in neighbour.traces if t.belief is not None or t.ends is not None),
        key=lambda trace: (trace.decided_at, trace.position),
    )
    return [
        _carry(neighbour.id, list(run), new_id)
        for goes, run in groupby(moves, key=lambda trace: trace.decision in decisions)
        if goes
    ]


def _carry(fact_id: str, run: Sequence[Trace], new_id: Callable[[], str]) -> Carried:
    ends = [trace.ends for trace in run if trace.ends is not None]
    beliefs = [trace.belief for trace in run if trace.belief is not None]
    place = [trace for trace in run if trace.ends is not None or not ends][-1]
    judgement = Judgement(
        id=new_id(),
        question=QUESTION,
        outcome=Outcome.FORGOTTEN,
        reason=REASON,
        fact_id=fact_id,
        belief={fact_id: (beliefs[-1], beliefs[-1])} if beliefs else {},
        closing=(ends[0][0], ends[-1][1]) if ends else None,
    )
    return Carried(judgement, place.decided_at, place.position)


def without(request: Asked, facts: Collection[str]) -> tuple[list[str], dict[str, Any]]:
    """The candidates and answers of a request that are not about ``facts``."""
    answers = {
        key: answer
        for key, answer in request.answers.items()
        if not any(part in facts for part in key.split(":")[1:])
    }
    return [each for each in request.candidates if each not in facts], answers


def _says_nothing_else(source: Source, gone: Collection[str]) -> bool:
    if source.states_more:
        return False
    return source.done or (
        source.drafts is not None
        and all(
            draft.forgotten or became in gone
            for draft, became in zip(source.drafts.drafts, source.written, strict=True)
        )
    )


def _blanked(
    sources: Iterable[Source], leaving: Collection[str], gone: frozenset[str]
) -> Iterable[tuple[str, Extracted]]:
    for source in sources:
        if source.drafts is None or source.id in leaving or gone.isdisjoint(source.written):
            continue
        drafts = tuple(
            BLANK if became in gone else draft
            for draft, became in zip(source.drafts.drafts, source.written, strict=True)
        )
        yield source.id, source.drafts.model_copy(update={"drafts": drafts})


def _changes(neighbour: Neighbour, decisions: Collection[str]) -> dict[str, Any]:
    """New properties of a fact that stays; none but the version in most cases."""
    changes: dict[str, Any] = {}
    still = any(t.disputes and t.decision not in decisions for t in neighbour.traces)
    if neighbour.disputed and not neighbour.contradicted and not still:
        changes["disputed"] = False
    if neighbour.quote_goes:
        changes["source_quote"] = None
    return changes
