"""What a namespace's records tell of how it came about: one event after the other. Pure.

A draft's fact, or the decision that stands for it, has an id that derives from its message's id
and the draft's place; its moment is when it was decided. What people did (corrections, aliases,
merges), upkeep and imports did is read off the decisions it left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from engram_graph.models.decisions import Answer, Decision, RequestLog
from engram_graph.models.export import DecisionRecord, MessageRecord
from engram_graph.models.facts import Draft, Fact, Link
from engram_graph.rules.answers import Decided, deciding
from engram_graph.rules.forget import QUESTION as FORGOTTEN
from engram_graph.rules.hygiene import RESTORE, SHORT_LIVED
from engram_graph.rules.names import entity_key
from engram_graph.rules.questions import REDACTED, RELATION, SAME_ENTITY, SAME_FACT, WORTH
from engram_graph.rules.replay_log import (
    Corrected,
    Event,
    Given,
    Log,
    Merged,
    Named,
    Noted,
    Settled,
    Told,
)
from engram_graph.vocabulary import SUPERSEDING, Outcome

_AS_THEY_WERE = frozenset({SAME_FACT, SHORT_LIVED, RESTORE, FORGOTTEN, REDACTED})
_EQUAL = 1e-9
CALLER, IMPORTED = "caller", "import"
"""The ``extractor`` of given facts, and of those from a bulk import."""
Derive = Callable[[str, str], str]


def events(log: Log, derive: Derive) -> list[Event]:
    """Everything that happened, in its order.

    Args:
        derive: the id that follows from a message's id and a place.
    """
    history = _History(log)
    told = list(_told(log, history, derive))
    corrected = list(_corrected(log, history))
    explained = {each.fact_id for each in told} | {each.fact.id for each in corrected}
    found: list[Event] = [*told, *corrected, *_given(log, history, explained)]
    found += [
        Settled(d.decision.decided_at, d.decision.fact_id)
        for d in log.decisions
        if d.decision.question == "settle" and d.decision.fact_id
    ]
    found += [*_named(log), *_merged(log), *_noted(log), *_over_gaps(log)]
    return sorted(found, key=lambda each: (each.at, isinstance(each, Noted)))


def incomplete(log: Log, found: Iterable[Event]) -> tuple[str, ...]:
    """Ids of the facts that lost something to ``forget``.

    The answers about what a fact was compared with are gone: those that are left make another start
    than it had. Or the message that it was decided by is gone, and another one states it.
    """
    lost = {
        fact.id
        for event in found
        if isinstance(event, Given)
        for fact, _ in event.facts
        if fact.extractor != IMPORTED
    }
    for each in log.decisions:
        decision = each.decision
        if decision.question != "belief_start" or decision.fact_id is None:
            continue
        requests = log.asked(decision.fact_id, decision.decided_at)
        if requests and not any(_is_told(decision, each) for each in _relations(requests)):
            lost.add(decision.fact_id)
    return tuple(sorted(lost))


def _is_told(decision: Decision, relation: Decided) -> bool:
    told = f"relation {relation.verdict} {relation.p:.2f}"
    return told in decision.reason and abs(relation.p - decision.p) <= _EQUAL


def _relations(requests: Sequence[RequestLog]) -> Iterator[Decided]:
    """What the relation to what is known may have been: that of any logged answer, or none.

    Rules that were applied later may have used some of the answers only.
    """
    answers: dict[str, Answer] = {}
    for request in requests:
        for key, row in request.answers.items():
            if key.split(":")[0] == RELATION and (not row["fallback"] or key not in answers):
                answers[key] = Answer(key, row["probabilities"], row["backend"], row["fallback"])
    yield deciding([])
    for answer in answers.values():
        yield deciding([answer])


class _History:
    """How facts stood at earlier moments."""

    def __init__(self, log: Log) -> None:
        self._names = {e.entity.id: e.entity.name for e in log.entities}
        self._names |= {a.merged.id: a.name for a in log.aliases if a.merged}
        self._of: dict[str, list[DecisionRecord]] = {}
        for each in sorted(log.decisions, key=_place):
            if each.decision.fact_id:
                self._of.setdefault(each.decision.fact_id, []).append(each)

    def of(self, fact_id: str) -> list[DecisionRecord]:
        """The decisions about a fact, in their order."""
        return self._of.get(fact_id, [])

    def ends(self, fact: Fact) -> dict[str, str]:
        """Its subject and object as they were called before any merge."""
        found = {}
        for end in ("subject", "object"):
            name = getattr(fact, end)
            for each in self.of(fact.id):
                more = each.more
                if each.decision.question == SAME_ENTITY and end in _strings(more.get("moved")):
                    was = "gone_id" if each.decision.outcome == Outcome.MERGED else "kept_id"
                    name = self._names.get(str(more.get(was)), name)
                    break
            found[end] = name
            found[f"{end}_key"] = entity_key(name)
        return found

    def start(self, fact_id: str) -> Decision:
        """The decision that gave a fact its first belief."""
        started = (d.decision for d in self.of(fact_id) if d.decision.question == "belief_start")
        return next(started)

    def first(self, fact: Fact) -> Fact:
        """The fact as it was recorded, if no question was asked about it."""
        moves = [each for each in self.of(fact.id) if each.moves_end]
        early = [m.decision for m in moves if m.decision.decided_at <= fact.recorded_at]
        until, reason = fact.valid_until, fact.closed_reason
        if early:
            until, reason = early[-1].valid_until_after, early[-1].reason_after
        elif moves:
            until, reason = moves[0].decision.valid_until_before, moves[0].decision.reason_before
        started = self.start(fact.id).belief_after
        return fact.model_copy(
            update=self.ends(fact)
            | {
                "valid_until": until,
                "closed_reason": reason,
                "open": until is None,
                "closed_at": None if until is None else fact.recorded_at,
                "belief": fact.belief if started is None else started,
                "against_count": 0,
                "disputed": False,
                "archived_at": None,
                "changed_at": None,
                "version": 1,
            }
        )


def _told(log: Log, history: _History, derive: Derive) -> Iterator[Told]:
    decided = {d.decision.id: d.decision.decided_at for d in log.decisions}
    for message_id, record in log.messages.items():
        extracted = record.drafts
        for index, draft in enumerate(extracted.drafts if extracted else ()):
            fact_id = derive(message_id, str(index))
            stored = log.facts.get(fact_id)
            at = stored.fact.recorded_at if stored else decided.get(fact_id)
            if at is None or draft.forgotten or extracted is None:
                continue
            if stored:
                draft = _under_names(draft, history.ends(stored.fact))
            yield Told(at, message_id, index, draft, extracted.extractor, fact_id)


def _under_names(draft: Draft, ends: dict[str, str]) -> Draft:
    """A draft about the entities its fact was about: an alias may be gone since."""
    return draft.model_copy(
        update={
            end: ends[end]
            for end in ("subject", "object")
            if entity_key(getattr(draft, end)) != ends[f"{end}_key"]
        }
    )


def _corrected(log: Log, history: _History) -> Iterator[Corrected]:
    for each in log.decisions:
        decision = each.decision
        new = log.facts.get(decision.candidate_id or "")
        if decision.question != "correction" or new is None or decision.fact_id is None:
            continue
        message = next((m for m in new.sources if _is_bare(log.messages[m])), None)
        if message is None:
            continue
        fact = history.first(new.fact)
        stated = [
            d.decision.valid_until_after
            for d in history.of(fact.id)
            if d.moves_end
            and d.decision.decided_at == decision.decided_at
            and d.decision.reason_after == "stated"
            and not d.decision.reason
        ]
        until = stated[0] if stated else None
        yield Corrected(
            decision.decided_at, message, decision.fact_id, fact, until, decision.reason
        )


def _is_bare(record: MessageRecord) -> bool:
    """Whether a message is that of a correction, which has no drafts."""
    kept = record.drafts
    return kept is not None and not kept.drafts and kept.extractor == CALLER


def _given(log: Log, history: _History, explained: set[str]) -> Iterator[Given]:
    """Facts of a bulk import; and those of which the message or what they correct is forgotten."""
    left = [r for r in log.facts.values() if r.fact.id not in explained and r.sources]
    left.sort(key=lambda r: (r.fact.recorded_at, r.sources[0]))
    for (at, message), group in groupby(left, key=lambda r: (r.fact.recorded_at, r.sources[0])):
        yield Given(
            at,
            message,
            tuple((history.first(record.fact), history.start(record.fact.id)) for record in group),
        )


def _named(log: Log) -> Iterator[Named]:
    own = {e.entity.key: e.entity.name for e in log.entities}
    left = sorted(
        (a for a in log.aliases if a.merged and a.created_at), key=lambda a: (a.created_at, a.key)
    )
    for alias in log.aliases:
        if alias.merged or alias.created_at is None:
            continue
        holders = (
            a.name
            for a in left
            if a.merged
            and a.created_at
            and a.created_at > alias.created_at
            and alias.key in a.merged.alias_keys
        )
        entity = next(holders, own.get(alias.entity))
        if entity is not None:
            yield Named(alias.created_at, entity, alias.name)


def _merged(log: Log) -> Iterator[Merged]:
    names = {e.entity.id: e.entity.name for e in log.entities}
    names |= {a.merged.id: a.name for a in log.aliases if a.merged}
    done: dict[str, list[DecisionRecord]] = {}
    for each in sorted(log.decisions, key=_place):
        if each.decision.question == SAME_ENTITY and "merge_id" in each.more:
            done.setdefault(str(each.more["merge_id"]), []).append(each)
    for group in done.values():
        first = group[0]
        apart = first.decision.outcome == Outcome.UNMERGED
        kept, gone = (names.get(str(first.more.get(k)), "") for k in ("kept_id", "gone_id"))
        why = f"{gone} is {'not ' if apart else ''}{kept}: "
        reason = max((each.decision.reason for each in group), key=len)
        yield Merged(
            first.decision.decided_at,
            kept,
            gone,
            apart,
            reason.removeprefix(why) if reason.startswith(why) else "",
            first.decision.p,
            first.decision.backend,
        )


def _noted(log: Log) -> Iterator[Noted]:
    kept = {(link.decided_at, frozenset((link.source, link.target))): link for link in log.links}
    found = [each for each in log.decisions if _is_as_it_was(each)]
    for at, group in groupby(sorted(found, key=_place), key=lambda d: d.decision.decided_at):
        decisions = tuple(group)
        links = []
        for each in decisions:
            one = each.decision
            if one.question != SAME_FACT or one.outcome != Outcome.APPLIED:
                continue
            if one.fact_id and one.candidate_id and one.chosen == "yes":
                ends = frozenset((one.fact_id, one.candidate_id))
                links.append(
                    kept.get((at, ends))
                    or Link(
                        type="SAME_AS",
                        source=one.fact_id,
                        target=one.candidate_id,
                        p=one.p,
                        decided_at=at,
                    )
                )
        forgotten = {d.decision.fact_id for d in decisions if d.decision.question == FORGOTTEN}
        against = {each: _against(log, each, at) for each in forgotten if each in log.facts}
        yield Noted(at, decisions, tuple(links), against)


def _against(log: Log, fact_id: str, at: datetime) -> int:
    """How much evidence a fact has against it at a moment, what was forgotten included."""
    pieces = [
        (each.decision.decided_at, len(each.decision.pieces))
        for each in log.decisions
        if each.decision.candidate_id == fact_id
        and each.decision.question == RELATION
        and each.decision.chosen in SUPERSEDING
    ]
    forgotten = log.facts[fact_id].fact.against_count - sum(count for _, count in pieces)
    return forgotten + sum(count for when, count in pieces if when <= at)


def _is_as_it_was(record: DecisionRecord) -> bool:
    decision = record.decision
    asked_again = decision.question == WORTH and decision.outcome in (
        Outcome.ARCHIVED,
        Outcome.KEPT,
    )
    return decision.question in _AS_THEY_WERE or asked_again


def _over_gaps(log: Log) -> Iterator[Noted]:
    """The steps of a chain that lead over what was forgotten."""
    ended: dict[str, set[str | None]] = {}
    gaps: dict[str, datetime] = {}
    for each in log.decisions:
        decision = each.decision
        if each.moves_end and decision.fact_id:
            ended.setdefault(decision.fact_id, set()).add(decision.candidate_id)
            if decision.question == FORGOTTEN:
                gaps[decision.fact_id] = decision.decided_at
    for link in log.links:
        if link.type != "SUPERSEDES" or link.target not in gaps:
            continue
        if link.source not in ended[link.target]:
            source = log.facts[link.source].fact
            yield Noted(max(gaps[link.target], source.recorded_at), links=(link,))


def _place(record: DecisionRecord) -> tuple[datetime, int, str]:
    return record.decision.decided_at, record.position, record.decision.id


def _strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
