"""Scores of a store's facts against gold windows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram_graph.evaluation.validity.form import Conversation, GoldFact
from engram_graph.evaluation.validity.reading import holds_form, plain
from engram_graph.intake import sentence
from engram_graph.models.facts import Fact
from engram_graph.rules.names import entity_key
from engram_graph.vocabulary import TemporalStatus

NEAR = timedelta(days=1)
PREFIX = "validity:"


@dataclass(frozen=True, slots=True)
class StoreScore:
    """Counts over facts and moments.

    Attributes:
        open_right: gold facts that hold at the end and are stored as open. open_kept: facts stored
            as open. open_gold: gold facts that hold at the end.
        moments_right, moments: (subject, relation, middle of a gold window) whose stored values
            are exactly those that were true then; all of them.
        starts_right, ends_right: gold facts whose stored interval begins, ends within a day of
            theirs. starts, ends: gold facts; those with an end.
    """

    open_right: int = 0
    open_kept: int = 0
    open_gold: int = 0
    moments_right: int = 0
    moments: int = 0
    starts_right: int = 0
    starts: int = 0
    ends_right: int = 0
    ends: int = 0

    def counters(self) -> dict[str, int]:
        """As a run keeps them for each conversation."""
        return {f"{PREFIX}{name}": getattr(self, name) for name in self.__slots__}

    def as_dict(self) -> dict[str, float]:
        """Rates in [0, 1] to four places, 0 of nothing."""
        precision = _share(self.open_right, self.open_kept)
        recall = _share(self.open_right, self.open_gold)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        found = {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "moments": _share(self.moments_right, self.moments),
            "starts": _share(self.starts_right, self.starts),
            "ends": _share(self.ends_right, self.ends),
        }
        return {name: round(value, 4) for name, value in found.items()}


def summed(counters: Sequence[Mapping[str, int]]) -> StoreScore | None:
    """The sum over conversations; None if an arm keeps no facts."""
    kept = [each for each in counters if f"{PREFIX}open_gold" in each]
    if not kept:
        return None
    names = StoreScore().counters()
    total = {name.removeprefix(PREFIX): sum(each[name] for each in kept) for name in names}
    return StoreScore(**total)


def compared(conversation: Conversation, facts: Sequence[Fact]) -> StoreScore:
    """A store's facts against the gold ones. Denials and suppositions are no values."""
    values = [
        fact
        for fact in facts
        if not fact.negated and fact.temporal_status is not TemporalStatus.HYPOTHETICAL
    ]
    end = conversation.end + NEAR  # what is told in the last session holds by then
    kept = [fact for fact in values if fact.valid_until is None or fact.valid_until > end]
    holding = [gold for gold in conversation.facts if gold.holds(end)]
    moments = {(gold.triple[:2], _middle(gold, end)) for gold in conversation.facts}
    ended = [gold for gold in conversation.facts if gold.valid_until is not None]
    gone = [gold for gold in conversation.facts if not gold.holds(end)]
    distinct = {(fact.subject_key, fact.predicate, fact.object_key): fact for fact in kept}
    return StoreScore(
        open_right=_pairs(
            [
                [at for at, gold in enumerate(holding) if _same(fact, gold)]
                for fact in distinct.values()
                if not _names_other(fact, holding, gone)
            ]
        ),
        open_kept=len(distinct),
        open_gold=len(holding),
        moments_right=sum(
            _values_match(conversation, values, about, moment) for about, moment in moments
        ),
        moments=len(moments),
        starts_right=sum(
            any(_same(f, gold) and _near(f.valid_from, gold.valid_from) for f in values)
            for gold in conversation.facts
        ),
        starts=len(conversation.facts),
        ends_right=sum(
            any(
                _same(f, gold)
                and _near(f.valid_from, gold.valid_from)
                and _near(f.valid_until, gold.valid_until)
                for f in values
            )
            for gold in ended
        ),
        ends=len(ended),
    )


def _values_match(
    conversation: Conversation, facts: Sequence[Fact], about: tuple[str, str], moment: datetime
) -> bool:
    """Each value true then is stored as true then, and no other of that subject and relation."""
    subject, relation = entity_key(about[0]), about[1]
    stored = [
        fact
        for fact in facts
        if (fact.subject_key, fact.predicate) == (subject, relation)
        and fact.valid_from <= moment
        and (fact.valid_until is None or moment < fact.valid_until)
    ]
    known = [g for g in conversation.facts if g.triple[:2] == about]
    gold = [g for g in known if g.holds(moment)]
    others = [g for g in known if not g.holds(moment)]
    return all(any(_same(fact, g) for fact in stored) for g in gold) and all(
        any(_same(fact, g) for g in gold) and not _names_other(fact, gold, others)
        for fact in stored
    )


def _middle(gold: GoldFact, end: datetime) -> datetime:
    return gold.valid_from + ((gold.valid_until or end) - gold.valid_from) / 2


def _same(fact: Fact, gold: GoldFact) -> bool:
    """The same subject and relation, and an object or text that states the gold value."""
    if (fact.subject_key, fact.predicate) != (entity_key(gold.subject), gold.predicate):
        return False
    said = sentence(gold.subject, fact.predicate, fact.object, False)
    return any(holds_form(plain(text), gold.forms) for text in (said, fact.text))


def _names_other(fact: Fact, true: Sequence[GoldFact], others: Sequence[GoldFact]) -> bool:
    """Whether its object names, beside what is true, a value that is not."""
    said = plain(sentence(fact.subject, fact.predicate, fact.object, False))
    return any(
        holds_form(said, gold.forms)
        for gold in others
        if (fact.subject_key, fact.predicate) == (entity_key(gold.subject), gold.predicate)
        and not any(gold.triple == each.triple for each in true)
    )


def _pairs(fits: Sequence[Sequence[int]]) -> int:
    """The most pairs of a fact and a gold one, each in one pair: a fact with two values is one.

    Args:
        fits: of each fact, the gold ones that it states.
    """
    taken: dict[int, int] = {}

    def place(fact: int, tried: set[int]) -> bool:
        for gold in fits[fact]:
            if gold not in tried:
                tried.add(gold)
                if gold not in taken or place(taken[gold], tried):
                    taken[gold] = fact
                    return True
        return False

    return sum(place(fact, set()) for fact in range(len(fits)))


def _near(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= NEAR


def _share(right: int, of: int) -> float:
    return right / of if of else 0.0
