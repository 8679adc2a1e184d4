"""Which of the found items answer a question, and in which order. Pure. Source: decision_rules §11.

What comes in is a shortlist: hits in their own (hybrid) order, whatever made it. What goes out are
hits again, each with the reason it is there. Without a model the order is that of the shortlist
weighed with belief; with one its ranking decides, and the shortlist's order is the safety net.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
from engram_graph.models.results import FactHit, TurnHit
from engram_graph.rules.ranking import helps
from engram_graph.rules.thresholds import DEFAULT, Thresholds
from engram_graph.rules.timeline import Span

Hit = TypeVar("Hit", FactHit, TurnHit)
Weight = Callable[[FactHit | TurnHit], float]


def item_id(hit: FactHit | TurnHit) -> str:
    """Of the fact or the message."""
    return hit.fact.id if isinstance(hit, FactHit) else hit.message.id


def weight(about: Span | None) -> Weight:
    """How much of a hit's score counts: a fact's belief, all of a message's.

    What closed a fact says nothing against its own interval: asked about from within, it counts
    whole.

    Args:
        about: the time asked about.
    """

    def of(hit: FactHit | TurnHit) -> float:
        if isinstance(hit, TurnHit) or _within(hit.fact, about):
            return 1.0
        return hit.fact.belief

    return of


def _within(ended: Fact, about: Span | None) -> bool:
    return not ended.open and about is not None and about.touches(ended)


def scored(hits: Sequence[Hit], ranking: Ranking) -> list[Hit]:
    """The same hits with the numbers they were given."""
    if not ranking.numbers:
        return list(hits)
    name = "relevance" if ranking.scale == "probability" else "rerank"
    return [
        hit.model_copy(
            update={"scores": hit.scores.model_copy(update={name: _number(hit, ranking)})}
        )
        for hit in hits
    ]


def unjudged(hits: Sequence[Hit], weigh: Weight, limit: int) -> list[Hit]:
    """The first ``limit`` by fused score × weight; ties keep the shortlist's order."""
    return sorted(hits, key=lambda hit: -hit.scores.fused * weigh(hit))[:limit]


def verdicts(
    hits: Iterable[FactHit | TurnHit], ranking: Ranking, numbers: Thresholds = DEFAULT
) -> list[bool | None]:
    """Of each hit, whether it was judged to help; None where that is not known."""
    return [helps(_number(hit, ranking), ranking.scale, numbers) for hit in hits]


def kept(
    hits: Iterable[Hit], ranking: Ranking, weigh: Weight, numbers: Thresholds = DEFAULT
) -> list[Hit]:
    """Those that lead, best first; ties by text, then id.

    Of probabilities those above the threshold, by probability × weight. Of places those that help,
    in the order given: it counts as it is. Of scores all, by score × weight: no number says that an
    item does not help.
    """

    def key(hit: FactHit | TurnHit) -> tuple[float, str, str]:
        number = _number(hit, ranking) or 0.0
        weighed = number if ranking.scale == "place" else number * weigh(hit)
        return -weighed, _text(hit), item_id(hit)

    return sorted((hit for hit in hits if _leads(hit, ranking, numbers)), key=key)


def floor(hits: Sequence[Hit], ranking: Ranking, numbers: Thresholds = DEFAULT) -> list[Hit]:
    """Of the shortlist's first, those that are not kept, in the shortlist's order."""
    first = (hit for hit in hits[: numbers.floor] if not _leads(hit, ranking, numbers))
    return [hit.model_copy(update={"why": "floor"}) for hit in first]


def ranked(hits: Sequence[Hit], ranking: Ranking, numbers: Thresholds = DEFAULT) -> list[Hit]:
    """All by their numbers; ties keep the shortlist's order.

    One without an answer stands behind what leads, before what was judged not to help.
    """

    def key(hit: FactHit | TurnHit) -> tuple[int, float]:
        number = _number(hit, ranking)
        if _leads(hit, ranking, numbers):
            return 0, -(number or 0.0)
        return (1, 0.0) if number is None else (2, -number)

    return sorted(hits, key=key)


def _leads(hit: FactHit | TurnHit, ranking: Ranking, numbers: Thresholds) -> bool:
    number = _number(hit, ranking)
    if ranking.scale == "score":
        return number is not None
    return helps(number, ranking.scale, numbers) is True


def _number(hit: FactHit | TurnHit, ranking: Ranking) -> float | None:
    return ranking.numbers.get(item_id(hit))


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


def _text(hit: FactHit | TurnHit) -> str:
    return hit.fact.text if isinstance(hit, FactHit) else hit.message.text
