"""Which of the found items answer a question, and in which order. Pure. Source: decision_rules §11.

What comes in is a shortlist: hits in their own (hybrid) order, whatever made it. What goes out are
hits again, each with the reason it is there. Without a model the order is that of the shortlist
weighed with belief; with one its judgement decides, and the shortlist's order is the safety net.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from engram_graph.models.decisions import Answer, Reply
from engram_graph.models.facts import Fact
from engram_graph.models.results import FactHit, Scores, TurnHit
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import usable
from engram_graph.rules.names import normal_text
from engram_graph.rules.thresholds import DEFAULT, Thresholds

Hit = TypeVar("Hit", FactHit, TurnHit)
Weight = Callable[[FactHit | TurnHit], float]
NONE = "none"
"""The option of ``query_relation`` that names no relation."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model said about a shortlist.

    Attributes:
        relevance: id → probability that it helps; without those it gave no usable answer on.
        relation: the predicate that the question asks about, if it is sure of one.
    """

    relevance: Mapping[str, float] = field(default_factory=dict)
    relation: str | None = None


def item_id(hit: FactHit | TurnHit) -> str:
    """Of the fact or the message."""
    return hit.fact.id if isinstance(hit, FactHit) else hit.message.id


def weight(as_of: datetime | None) -> Weight:
    """How much of a hit's score counts: a fact's belief, all of a message's.

    What closed a fact says nothing against its own interval: looked at from within, it counts full.
    """

    def of(hit: FactHit | TurnHit) -> float:
        if isinstance(hit, TurnHit) or (as_of is not None and not hit.fact.open):
            return 1.0
        return hit.fact.belief

    return of


def judged(replies: Iterable[Reply], numbers: Thresholds = DEFAULT) -> Judged:
    """What the answers of one or several requests about one shortlist say."""
    relevance: dict[str, float] = {}
    relation: str | None = None
    for reply in replies:
        for key, answer in reply.answers.items():
            name, _, item = key.partition(":")
            if not usable(answer):
                continue
            if name == ask.RELEVANT:
                relevance[item] = answer.p("yes")
            elif name == ask.QUERY_RELATION:
                relation = asked_relation(answer, numbers)
    return Judged(relevance, relation)


def asked_relation(answer: Answer, numbers: Thresholds = DEFAULT) -> str | None:
    """The predicate that a ``query_relation`` names with enough certainty."""
    sure = answer.p(answer.chosen) >= numbers.act
    return answer.chosen if sure and answer.chosen != NONE else None


def scored(hits: Sequence[Hit], relevance: Mapping[str, float]) -> list[Hit]:
    """The same hits with what was judged of them."""
    if not relevance:
        return list(hits)
    return [
        hit.model_copy(update={"scores": _with_relevance(hit.scores, relevance.get(item_id(hit)))})
        for hit in hits
    ]


def _with_relevance(scores: Scores, p: float | None) -> Scores:
    return scores.model_copy(update={"relevance": p})


def unjudged(hits: Sequence[Hit], weigh: Weight, limit: int) -> list[Hit]:
    """The first ``limit`` by fused score × weight; ties keep the shortlist's order."""
    return sorted(hits, key=lambda hit: -hit.scores.fused * weigh(hit))[:limit]


def relevant(hit: FactHit | TurnHit, numbers: Thresholds = DEFAULT) -> bool:
    """Whether a model judged that it helps; what got no answer does not."""
    return hit.scores.relevance is not None and hit.scores.relevance > numbers.relevant_above


def kept(hits: Iterable[Hit], weigh: Weight, numbers: Thresholds = DEFAULT) -> list[Hit]:
    """The relevant ones by relevance × weight; ties by text, then id."""
    return sorted(
        (hit for hit in hits if relevant(hit, numbers)),
        key=lambda hit: (-(hit.scores.relevance or 0.0) * weigh(hit), _text(hit), item_id(hit)),
    )


def floor(hits: Sequence[Hit], numbers: Thresholds = DEFAULT) -> list[Hit]:
    """Of the shortlist's first, those that are not kept, in the shortlist's order."""
    first = (hit for hit in hits[: numbers.floor] if not relevant(hit, numbers))
    return [hit.model_copy(update={"why": "floor"}) for hit in first]


def ranked(hits: Sequence[Hit], numbers: Thresholds = DEFAULT) -> list[Hit]:
    """All by relevance; ties keep the shortlist's order.

    One without an answer stands where the line between relevant and not is drawn: behind what was
    judged to help, before what was judged not to.
    """

    def p(hit: FactHit | TurnHit) -> float:
        found = hit.scores.relevance
        return numbers.relevant_above if found is None else found

    return sorted(hits, key=lambda hit: -p(hit))


def sufficient(hits: Iterable[FactHit | TurnHit], numbers: Thresholds = DEFAULT) -> bool | None:
    """Whether anything judged helps; None when nothing does but not all was judged."""
    judged_all = True
    for hit in hits:
        if relevant(hit, numbers):
            return True
        judged_all = judged_all and hit.scores.relevance is not None
    return False if judged_all else None


def added(hits: Sequence[FactHit], more: Iterable[FactHit]) -> list[FactHit]:
    """``more`` behind ``hits``, each fact once."""
    found = {hit.fact.id: hit for hit in hits}
    for hit in more:
        found.setdefault(hit.fact.id, hit)
    return list(found.values())


def with_history(
    hits: Sequence[FactHit], behind: Mapping[str, Sequence[FactHit]], *, chosen: bool = False
) -> list[FactHit]:
    """Each hit followed by the chain ``behind`` it (by id), each fact once.

    Args:
        chosen: what was chosen itself keeps its own place and reason. Else it moves behind its
            successor, and is history; what was not found takes that one's scores.
    """
    own = {hit.fact.id: hit for hit in hits}
    order: dict[str, FactHit] = {}
    for hit in hits:
        order.setdefault(hit.fact.id, hit)
        for old in behind.get(hit.fact.id, ()):
            if not chosen:
                scores = own.get(old.fact.id, hit).scores
                order.setdefault(old.fact.id, old.model_copy(update={"scores": scores}))
            elif old.fact.id not in own:
                order.setdefault(old.fact.id, old)
    return list(order.values())


def one_each(
    hits: Sequence[FactHit], links: Iterable[tuple[str, str]]
) -> list[tuple[FactHit, tuple[Fact, ...]]]:
    """Facts that are the same shown once, at the place of the first: (hit, the others).

    Of a cluster an open fact is shown before an ended one, then the one recorded first, then by
    text. The hit's score and reason stay those of the first found.
    """
    cluster = _clusters((hit.fact.id for hit in hits), links)
    members: dict[str, list[Fact]] = {}
    for hit in hits:
        members.setdefault(cluster[hit.fact.id], []).append(hit.fact)
    successors = {hit.fact.id: hit.successor for hit in hits}
    shown: list[tuple[FactHit, tuple[Fact, ...]]] = []
    done: set[str] = set()
    for hit in hits:
        root = cluster[hit.fact.id]
        if root in done:
            continue
        done.add(root)
        first, *others = sorted(members[root], key=_shown_first)
        changed = {
            "fact": first,
            "successor": successors[first.id],
            "also": tuple(fact.id for fact in others),
        }
        shown.append((hit.model_copy(update=changed) if others else hit, tuple(others)))
    return shown


def _shown_first(fact: Fact) -> tuple[bool, datetime, str, str]:
    return (not fact.open, fact.recorded_at, fact.text, fact.id)


def _clusters(ids: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Id → a name of its cluster; links to what is not among ``ids`` are left out."""
    parent = {each: each for each in ids}

    def root(each: str) -> str:
        while parent[each] != each:
            each = parent[each]
        return each

    for one, other in links:
        if one in parent and other in parent:
            parent[root(other)] = root(one)
    return {each: root(each) for each in parent}


def lasts(fact: Fact, moment: datetime) -> bool:
    """Whether a fact has not ended by ``moment``."""
    return fact.valid_until is None or fact.valid_until > moment


def untold(
    turns: Sequence[TurnHit], facts: Iterable[Fact], sources: frozenset[str]
) -> list[TurnHit]:
    """Turns that carry what the facts lack: none that states one of them, or has its very words."""
    words = {normal_text(said) for fact in facts for said in (fact.text, fact.source_quote) if said}
    return [
        hit
        for hit in turns
        if hit.message.id not in sources and normal_text(hit.message.text) not in words
    ]


def _text(hit: FactHit | TurnHit) -> str:
    return hit.fact.text if isinstance(hit, FactHit) else hit.message.text
