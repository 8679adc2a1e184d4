"""Selection: who is kept, in which order, and that nothing is lost or shown twice."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Fact, Message
from engram_graph.models.ranking import Ranking, Scale
from engram_graph.models.results import FactHit, Scores, TurnHit
from engram_graph.rules import ranking, selection
from engram_graph.rules.thresholds import DEFAULT
from engram_graph.rules.timeline import Span
from engram_graph.vocabulary import ClosedReason, Role

T0 = datetime(2024, 1, 1, tzinfo=UTC)
WEIGH = selection.weight(None)
P = st.none() | st.sampled_from([0.0, 0.3, 0.5, 0.51, 0.9, 1.0]) | st.floats(0, 1)


def fact(name: str, **values: Any) -> Fact:
    return Fact(
        **{
            "id": name,
            "namespace": "n",
            "subject": "Ann",
            "subject_key": "ann",
            "predicate": "owns",
            "object": name,
            "object_key": name,
            "text": f"Ann owns {name}",
            "valid_from": T0,
            "recorded_at": T0,
        }
        | values
    )


def ended(name: str, **values: Any) -> Fact:
    end = {"valid_until": T0 + timedelta(days=9), "closed_reason": ClosedReason.BELIEF}
    return fact(name, open=False, **end | values)


def hit(name: str, p: float | None = None, fused: float = 0.5, **values: Any) -> FactHit:
    return FactHit(fact=fact(name, **values), scores=Scores(fused=fused, relevance=p))


def turn(name: str, p: float | None = None, text: str | None = None) -> TurnHit:
    message = Message(
        id=name,
        namespace="n",
        conversation="c",
        speaker="Ann",
        role=Role.USER,
        text=text or f"about {name}",
        said_at=T0,
        recorded_at=T0,
        source_id=name,
    )
    return TurnHit(message=message, scores=Scores(fused=0.5, relevance=p))


def told(hits: Iterable[FactHit | TurnHit], scale: Scale = "probability") -> Ranking:
    """The ranking whose numbers stand in the hits' ``relevance``."""
    said = {selection.item_id(each): each.scores.relevance for each in hits}
    return Ranking(scale, {key: p for key, p in said.items() if p is not None}, asked=len(said))


def ids(hits: Any) -> list[str]:
    return [selection.item_id(each) for each in hits]


@st.composite
def shortlists(draw: st.DrawFn) -> list[FactHit]:
    names = draw(st.lists(st.sampled_from("abcdefghijklmnopqrst"), unique=True, max_size=20))
    return [
        hit(name, draw(P), draw(st.floats(0.1, 1)), belief=draw(st.floats(0.02, 0.98)))
        for name in names
    ]


# What is kept, and what follows all the same


@given(shortlists())
def test_kept_and_floor_are_apart_and_hold_the_first_ten(hits: list[FactHit]) -> None:
    kept, floor = (
        ids(selection.kept(hits, told(hits), WEIGH)),
        ids(selection.floor(hits, told(hits))),
    )
    assert set(kept).isdisjoint(floor)
    assert set(ids(hits[:10])) <= {*kept, *floor} <= set(ids(hits))
    assert {each.fact.id for each in hits if (each.scores.relevance or 0) > 0.5} == set(kept)
    assert floor == [each for each in ids(hits) if each in floor]


@given(shortlists(), st.randoms(use_true_random=False))
def test_kept_is_by_relevance_and_belief_whatever_the_shortlist_s_order(
    hits: list[FactHit], chance: random.Random
) -> None:
    kept = selection.kept(hits, told(hits), WEIGH)
    products = [(each.scores.relevance or 0) * each.fact.belief for each in kept]
    assert products == sorted(products, reverse=True)
    assert selection.kept(chance.sample(hits, len(hits)), told(hits), WEIGH) == kept


def test_kept_is_strictly_above_half_and_ties_go_by_text() -> None:
    hits = [hit("b", 0.8), hit("z", 0.5), hit("a", 0.8), hit("c", None), hit("d", 0.9)]
    assert ids(selection.kept(hits, told(hits), WEIGH)) == ["d", "a", "b"]
    assert [each.why for each in selection.floor(hits, told(hits))] == ["floor", "floor"]
    turns = [turn("b", 0.7), turn("a", 0.7)]
    assert ids(selection.kept(turns, told(turns), WEIGH)) == ["a", "b"]


def test_an_ended_fact_counts_whole_within_its_own_interval() -> None:
    old = hit("old", 0.8).model_copy(update={"fact": ended("old", belief=0.04)})
    hits = [hit("new", 0.7, belief=0.9), old]
    assert ids(selection.kept(hits, told(hits), selection.weight(None))) == ["new", "old"]
    assert ids(selection.kept(hits, told(hits), selection.weight(Span.at(T0)))) == ["old", "new"]


# Wide, and without a model


@given(shortlists())
def test_wide_ranks_all_and_loses_none(hits: list[FactHit]) -> None:
    ranked = selection.ranked(hits, told(hits))
    assert sorted(ids(ranked)) == sorted(ids(hits))
    place = {name: at for at, name in enumerate(ids(hits))}

    def key(one: FactHit) -> tuple[bool, bool, float]:
        p = one.scores.relevance
        return (p or 0) <= 0.5, p is not None and p <= 0.5, -(p or 0)

    for before, after in pairwise(ranked):
        assert (key(before), place[before.fact.id]) < (key(after), place[after.fact.id])


def test_what_nobody_judged_stands_between_yes_and_no() -> None:
    hits = [hit("no", 0.4), hit("first", None), hit("second", None), hit("yes", 0.6)]
    assert ids(selection.ranked(hits, told(hits))) == ["yes", "first", "second", "no"]


@given(shortlists(), st.integers(1, 25))
def test_without_a_model_it_is_score_times_belief(hits: list[FactHit], limit: int) -> None:
    found = selection.unjudged(hits, WEIGH, limit)
    products = [each.scores.fused * each.fact.belief for each in found]
    assert products == sorted(products, reverse=True)
    assert len(found) == min(limit, len(hits))


@given(shortlists())
def test_sufficient_is_whether_anything_was_kept(hits: list[FactHit]) -> None:
    said = ranking.sufficient(selection.verdicts(hits, told(hits)))
    assert (said is True) == bool(selection.kept(hits, told(hits), WEIGH))
    assert (said is None) == (
        said is not True and any(each.scores.relevance is None for each in hits)
    )


# Places and scores


@given(shortlists(), st.randoms(use_true_random=False))
def test_a_list_keeps_its_order_whatever_the_belief(
    hits: list[FactHit], chance: random.Random
) -> None:
    names = ids(hits)
    order = chance.sample(range(len(names)), len(names) // 2)
    listed = Ranking("place", ranking.places(names, order), asked=len(names))
    chosen = [names[index] for index in order]
    assert ids(selection.kept(hits, listed, WEIGH)) == chosen
    assert ids(selection.floor(hits, listed)) == [n for n in names[:10] if n not in chosen]
    rest = [name for name in names if name not in chosen]
    assert ids(selection.ranked(hits, listed)) == chosen + rest
    assert ranking.sufficient(selection.verdicts(hits, listed)) is bool(chosen)
    scored = selection.scored(hits, listed)
    assert {each.scores.relevance for each in scored} <= {each.scores.relevance for each in hits}
    assert [each.scores.rerank for each in scored] == [listed.numbers[name] for name in names]


def test_what_a_list_was_not_asked_about_stands_between() -> None:
    hits = [hit("no"), hit("lost"), hit("yes")]
    listed = Ranking("place", {"no": 0.0, "yes": 1.0}, asked=3)
    assert ids(selection.ranked(hits, listed)) == ["yes", "lost", "no"]
    assert selection.verdicts(hits, listed) == [False, None, True]


@given(shortlists())
def test_a_score_keeps_all_and_judges_none(hits: list[FactHit]) -> None:
    scores = told(hits, "score")
    kept = selection.kept(hits, scores, WEIGH)
    products = [(each.scores.relevance or 0) * each.fact.belief for each in kept]
    assert products == sorted(products, reverse=True)
    assert set(ids(kept)) == set(scores.numbers)
    assert set(selection.verdicts(hits, scores)) <= {None}
    lost = [name for name in ids(hits) if name not in scores.numbers]
    assert ids(selection.ranked(hits, scores))[len(kept) :] == lost
    assert ids(selection.floor(hits, scores)) == [n for n in ids(hits[:10]) if n in lost]


@given(shortlists())
def test_scores_take_the_answer_and_keep_their_parts(hits: list[FactHit]) -> None:
    given_p = {each.fact.id: 0.25 for each in hits[::2]}
    found = selection.scored(hits, Ranking(numbers=given_p, asked=len(hits)))
    assert [each.scores.relevance for each in found] == [given_p.get(one) for one in ids(hits)]
    assert [each.scores.fused for each in found] == [each.scores.fused for each in hits]


# What comes along


def history(name: str) -> FactHit:
    return FactHit(fact=ended(name), scores=Scores(), why="history")


def test_a_chain_stands_behind_its_head() -> None:
    hits = [hit("new", 0.9), hit("other", 0.8), hit("old", 0.6)]
    behind = {"new": [history("old"), history("older")], "other": [history("older")]}
    chosen = selection.with_history(hits, behind, chosen=True)
    assert ids(chosen) == ["new", "older", "other", "old"]
    assert [each.why for each in chosen] == ["shortlist", "history", "shortlist", "shortlist"]
    assert chosen[1].scores.relevance is None  # nobody judged it
    moved = selection.with_history(hits, behind)
    assert ids(moved) == ["new", "old", "older", "other"]
    assert moved[1].why == "history"


def test_more_never_takes_a_place_or_comes_twice() -> None:
    more = [hit("b"), hit("c"), hit("c")]
    assert ids(selection.added([hit("a"), hit("b", 0.9)], more)) == ["a", "b", "c"]


LINKS = st.lists(st.tuples(*[st.sampled_from("abcdefghijklmnopqrstXY")] * 2), max_size=15)


@given(shortlists(), LINKS)
def test_same_facts_are_shown_once_at_the_first_place(
    hits: list[FactHit], links: list[tuple[str, str]]
) -> None:
    shown = selection.one_each(hits, links)
    members = [(each.fact.id, *each.also) for each, _ in shown]
    assert sorted(one for group in members for one in group) == sorted(ids(hits))
    place = {name: at for at, name in enumerate(ids(hits))}
    firsts = [min(place[one] for one in group) for group in members]
    assert firsts == sorted(firsts)
    group_of = {one: at for at, group in enumerate(members) for one in group}
    for one, other in links:
        if one in group_of and other in group_of:
            assert group_of[one] == group_of[other]
    for (each, others), first in zip(shown, firsts, strict=True):
        assert each.scores == hits[first].scores
        assert each.also == tuple(fact.id for fact in others)


def test_the_open_one_speaks_for_its_cluster_then_the_one_recorded_first() -> None:
    later = T0 + timedelta(days=1)
    hits = [
        FactHit(fact=ended("gone"), scores=Scores(relevance=0.9)),
        hit("late", 0.8, recorded_at=later),
        hit("early", 0.7),
        hit("alone", 0.6),
    ]
    (first, others), (last, none) = selection.one_each(hits, [("gone", "late"), ("early", "late")])
    assert (first.fact.id, first.also) == ("early", ("late", "gone"))
    assert [each.id for each in others] == ["late", "gone"]
    assert first.scores.relevance == 0.9
    assert (last.fact.id, last.also, none) == ("alone", (), ())


def test_an_end_that_lies_ahead_is_no_end_yet() -> None:
    assert selection.lasts(fact("a"), T0)
    assert selection.lasts(ended("a"), T0 + timedelta(days=8))
    assert not selection.lasts(ended("a"), T0 + timedelta(days=9))


def test_the_floor_is_the_number_of_the_method() -> None:
    hits = [hit(f"{n:02}", 0.1) for n in range(30)]
    assert len(selection.floor(hits, told(hits))) == DEFAULT.floor == 10
