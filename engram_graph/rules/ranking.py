"""A reranker's numbers: read from answers, put together, and what they mean. Pure.

Source: decision_rules §11 for probabilities and for the order of a language model; a cross-encoder
is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engram_graph.models.decisions import Answer, Reply, Turn, total_cost
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking, Scale
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import usable
from engram_graph.rules.thresholds import DEFAULT, Thresholds

NONE = "none"
"""The option of ``query_relation`` that names no relation."""


def id_of(item: Fact | Turn) -> str:
    """Of the fact or the message."""
    return item.message.id if isinstance(item, Turn) else item.id


def judged(reply: Reply, asked: int, numbers: Thresholds = DEFAULT) -> Ranking:
    """What a decider's answers about ``asked`` items say."""
    relevance: dict[str, float] = {}
    relation: str | None = None
    for key, answer in reply.answers.items():
        name, _, item = key.partition(":")
        if not usable(answer):
            continue
        if name == ask.RELEVANT:
            relevance[item] = answer.p("yes")
        elif name == ask.QUERY_RELATION:
            relation = asked_relation(answer, numbers)
    return Ranking(
        scale="probability",
        numbers=relevance,
        relation=relation,
        asked=asked,
        problems=(reply.error,) if reply.error else (),
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
    )


def asked_relation(answer: Answer, numbers: Thresholds = DEFAULT) -> str | None:
    """The predicate that a ``query_relation`` names with enough certainty."""
    sure = answer.p(answer.chosen) >= numbers.act
    return answer.chosen if sure and answer.chosen != NONE else None


def places(ids: Sequence[str], order: Sequence[int]) -> dict[str, float]:
    """The numbers of a list: 1 / place for ``order`` (indexes into ``ids``, best first), else 0."""
    listed = {ids[index]: 1 / place for place, index in enumerate(order, 1)}
    return {each: listed.get(each, 0.0) for each in ids}


def merged(rankings: Sequence[Ranking]) -> Ranking:
    """Several requests about one shortlist, in its order, as one.

    Probabilities and scores stand as they are. Of places the firsts of all requests come first,
    then the seconds, and so on; of equals that of the earlier request.
    """
    scale: Scale = next((each.scale for each in rankings if each.numbers), "probability")
    numbers = {item: number for each in rankings for item, number in each.numbers.items()}
    if scale == "place":
        listed = sorted((item for item in numbers if numbers[item] > 0), key=lambda i: -numbers[i])
        numbers |= {item: 1 / place for place, item in enumerate(listed, 1)}
    return Ranking(
        scale=scale,
        numbers=numbers,
        relation=next((each.relation for each in rankings if each.relation), None),
        asked=sum(each.asked for each in rankings),
        problems=tuple(dict.fromkeys(why for each in rankings for why in each.problems)),
        cost_usd=total_cost(each.cost_usd for each in rankings),
        latency_ms=max((each.latency_ms for each in rankings), default=0.0),
    )


def helps(number: float | None, scale: Scale, numbers: Thresholds = DEFAULT) -> bool | None:
    """Whether an item was judged to help; None without an answer, and of a score always."""
    if number is None or scale == "score":
        return None
    return number > (numbers.relevant_above if scale == "probability" else 0.0)


def sufficient(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether anything found helps; None when nothing is known to and not all was judged.

    Where nothing was found there is nothing to judge: False.
    """
    found = set(verdicts)
    if True in found:
        return True
    return None if None in found else False
