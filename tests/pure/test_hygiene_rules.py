"""Which facts upkeep compares, what an answer does to a link, what is archived: tables of cases."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.models.decisions import Answer, Ask
from engram_graph.models.facts import Fact, Message
from engram_graph.questions import build
from engram_graph.rules import questions as about
from engram_graph.rules.hygiene import (
    Ageing,
    Known,
    Pair,
    compared,
    count_pairs,
    expired,
    has_expired,
    is_stale,
    pairs,
    worth,
)
from engram_graph.rules.thresholds import DEFAULT
from engram_graph.vocabulary import ClosedReason, Outcome, Role

T0 = datetime(2025, 3, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def fact(number: int, text: str = "", **more: Any) -> Fact:
    values: dict[str, Any] = {
        "id": f"f{number}",
        "namespace": "n",
        "subject": "Odo",
        "subject_key": "odo",
        "predicate": "owns",
        "object": f"thing {number}",
        "object_key": f"thing {number}",
        "text": text or f"Odo owns thing {number}",
        "extractor": "patterns",
        "valid_from": T0,
        "recorded_at": T0 + timedelta(minutes=number),
    }
    return Fact(**values | more)


def ended(number: int, begin: datetime, end: datetime, reason: str = "belief") -> Fact:
    return fact(
        number,
        valid_from=begin,
        valid_until=end,
        open=False,
        closed_at=end,
        closed_reason=ClosedReason(reason),
    )


def ids(found: list[Pair]) -> set[tuple[str, str]]:
    return {(pair.newer.id, pair.older.id) for pair in found}


def known(*facts: Fact) -> list[Known]:
    return [Known(each) for each in facts]


# -- who is compared ------------------------------------------------------------------------------


def test_every_two_of_a_predicate_are_a_pair_newer_first() -> None:
    found = pairs(known(fact(2), fact(1), fact(3), fact(4, predicate="uses")), newest=30)
    assert ids(found) == {("f2", "f1"), ("f3", "f1"), ("f3", "f2")}
    assert len(found) == 3


def test_only_the_newest_of_a_group_are_compared() -> None:
    found = pairs(known(*(fact(number) for number in range(40))), newest=30)
    assert len(found) == 30 * 29 // 2
    assert {pair.older.id for pair in found} | {pair.newer.id for pair in found} == {
        f"f{number}" for number in range(10, 40)
    }


@pytest.mark.parametrize(
    ("one", "other", "compared_at_all"),
    [
        (fact(1), fact(2), True),
        (fact(1, negated=True), fact(2), False),
        (fact(1, negated=True), fact(2, negated=True), True),
        (ended(1, T0, T0 + DAY), fact(2, valid_from=T0 + DAY), False),  # half-open: they never meet
        (ended(1, T0, T0 + DAY), fact(2, valid_from=T0), True),
        (ended(1, T0, T0 + 2 * DAY), ended(2, T0 + DAY, T0 + 3 * DAY), True),
        (ended(1, T0, T0 + DAY), ended(2, T0 + DAY, T0 + 2 * DAY), False),
        (ended(1, T0, T0 + DAY, "corrected"), fact(2), False),
    ],
)
def test_pairs_that_could_not_be_linked_are_left_out(
    one: Fact, other: Fact, compared_at_all: bool
) -> None:
    assert bool(pairs(known(one, other), newest=30)) is compared_at_all
    assert count_pairs(known(one, other)) == 1


def test_a_link_counts_whichever_way_it_goes() -> None:
    linked = [Known(fact(1), frozenset({"f2"})), Known(fact(2), frozenset({"f1"})), Known(fact(3))]
    by_ids = {(pair.newer.id, pair.older.id): pair.linked for pair in pairs(linked, newest=30)}
    assert by_ids == {("f2", "f1"): True, ("f3", "f1"): False, ("f3", "f2"): False}


def test_a_pair_is_another_one_once_a_fact_reads_differently() -> None:
    pair = Pair(fact(2), fact(1), linked=False)
    end = {"valid_until": T0 + DAY, "open": False}
    same = [{"belief": 0.3, "version": 9, "read_at": T0, "archived_at": T0}]
    other = [{"text": "Odo owns a barge"}, {"object": "barge"}, {"subject": "Oda"}, end]
    assert all(pair.shown == Pair(fact(2, **c), fact(1), True).shown for c in same)
    assert all(pair.shown != Pair(fact(2, **c), fact(1), False).shown for c in other)
    assert all(pair.shown != Pair(fact(2), fact(1, **c), False).shown for c in other)


# -- what an answer does --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "linked", "change", "outcome", "chosen"),
    [
        (0.85, False, "link", Outcome.APPLIED, "yes"),
        (0.8499, False, None, Outcome.KEPT, "yes"),
        (0.85, True, None, Outcome.KEPT, "yes"),
        (0.15, True, "unlink", Outcome.APPLIED, "no"),
        (0.1501, True, None, Outcome.KEPT, "no"),
        (0.15, False, None, Outcome.KEPT, "no"),
        (0.5, True, None, Outcome.KEPT, "yes"),
    ],
)
def test_links_come_at_85_and_go_at_15(
    p: float, linked: bool, change: str | None, outcome: Outcome, chosen: str
) -> None:
    pair = Pair(fact(2), fact(1), linked)
    one = compared(pair, Answer("q", {"yes": p, "no": 1 - p}, "jev"), "d", "r", DEFAULT)
    judgement = one.judgement
    assert (one.change, judgement.outcome, judgement.chosen) == (change, outcome, chosen)
    assert judgement.p == (p if chosen == "yes" else 1 - p)
    assert (judgement.fact_id, judgement.candidate_id, judgement.belief) == ("f2", "f1", {})
    assert (judgement.request, judgement.backend) == ("r", "jev")
    link = one.link(T0)
    assert (link.type, link.source, link.target, link.p) == ("SAME_AS", "f2", "f1", p)


def test_the_question_names_both_facts_in_words_and_in_its_id() -> None:
    one, two, three = fact(1), fact(2), fact(3)
    questions = (
        about.same_fact(two, one),
        about.same_fact(three, one),
        about.same_fact(three, two),
    )
    assert [q.id for q in questions] == [
        "same_fact:f2:f1",
        "same_fact:f3:f1",
        "same_fact:f3:f2",
    ]
    ask = Ask(two.as_draft(), T0, "Odo", "user", "", questions)
    items = build.worded(ask)
    assert [(item.new, item.known) for item in items] == [
        ("known_1", "known_2"),
        ("known_3", "known_2"),
        ("known_3", "known_1"),
    ]
    assert items[1].instructions == "Do `known_3` and `known_2` state one and the same fact?"
    state = build.state(ask, items)
    texts = {path: part["text"] for path, part in state.items() if isinstance(part, dict)}
    assert texts == {"known_1": two.text, "known_2": one.text, "known_3": three.text}


def test_a_question_with_words_for_a_new_fact_only_is_not_put_about_two_known_ones() -> None:
    relation = about.question(about.RELATION, fact(1))
    known_pair = type(relation)(
        relation.name, relation.type, fact(1), relation.options, about=fact(2)
    )
    ask = Ask(fact(3).as_draft(), T0, "Odo", "user", "", (relation, known_pair))
    assert [item.question for item in build.worded(ask)] == [relation]


@pytest.mark.parametrize(
    ("newer", "older", "p"),
    [
        (fact(2, object="a barge", object_key="barge"), fact(1, object_key="barge"), 1.0),
        (fact(2, "Odo owns it"), fact(1, "Odo owns it."), 1.0),
        (fact(2), fact(1), 0.3),
        (fact(2, "Odo owns it", negated=True), fact(1, "Odo owns it"), 0.0),
    ],
)
def test_the_rules_decider_links_what_is_sure_and_unlinks_no_other_words(
    newer: Fact, older: Fact, p: float
) -> None:
    unlike = fact(9).as_draft()  # the draft of the request is not what is compared
    question = about.same_fact(newer, older)
    reply = asyncio.run(RulesDecider().ask(Ask(unlike, T0, "Odo", "user", "", (question,))))
    assert reply.answers[question.id].p("yes") == p


# -- what is archived -----------------------------------------------------------------------------


def ageing(makers: str = "patterns", told: datetime = T0, **more: Any) -> Ageing:
    message = Message(
        id="m",
        namespace="n",
        conversation="c",
        speaker="Odo",
        role=Role.USER,
        text="I own a thing.",
        said_at=T0,
        recorded_at=T0,
        source_id="s",
    )
    return Ageing(fact(0, **more), message, 1, frozenset(makers.split()), told)


@pytest.mark.parametrize(
    ("one", "days", "stale"),
    [
        (ageing(), 30, False),
        (ageing(), 31, True),
        (ageing(read_at=T0 + 10 * DAY), 31, False),
        (ageing(read_at=T0 + 10 * DAY), 41, True),
        (ageing(told=T0 + 10 * DAY), 31, False),  # said again
        (ageing("patterns caller"), 99, False),  # given as well: its worth is the caller's
        (ageing("import"), 99, False),
    ],
)
def test_worth_is_asked_again_after_30_quiet_days(one: Ageing, days: int, stale: bool) -> None:
    assert is_stale(one, T0 + days * DAY, DEFAULT) is stale


@pytest.mark.parametrize(
    ("one", "days", "over"),
    [
        (ageing(durability="short_lived"), 7, False),
        (ageing(durability="short_lived"), 8, True),
        (ageing(durability="short_lived", valid_from=T0 + 5 * DAY), 8, False),
        (ageing(durability="short_lived", valid_from=T0 - 90 * DAY), 5, False),
        (ageing(durability="short_lived", told=T0 + 5 * DAY), 8, False),
        (ageing(durability="long_term"), 99, False),
        (ageing("caller", durability="short_lived"), 99, False),
    ],
)
def test_short_lived_facts_have_a_week(one: Ageing, days: int, over: bool) -> None:
    assert has_expired(one, T0 + days * DAY, DEFAULT) is over


def test_worth_below_60_archives() -> None:
    def judged(p: float) -> tuple[Outcome, str, float]:
        answer = Answer("worth_remembering", {"yes": p, "no": 1 - p}, "jev")
        judgement = worth(ageing(), answer, "d", "r", DEFAULT)
        return judgement.outcome, judgement.chosen, judgement.p

    assert judged(0.60) == (Outcome.KEPT, "yes", 0.60)
    assert judged(0.59) == (Outcome.ARCHIVED, "yes", 0.59)
    assert judged(0.25) == (Outcome.ARCHIVED, "no", 0.75)
    rule = expired(ageing(), "d", DEFAULT)
    assert (rule.backend, rule.p, rule.request) == ("rule", 1.0, None)
    assert rule.outcome is Outcome.ARCHIVED
