"""Whole histories of a memory: what stays open, what closes and why, which beliefs result.

``World.check`` proves the invariants after every single write.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_world import AWAY, World

from engram_graph.rules import questions as ask
from engram_graph.vocabulary import Outcome


def moves(new: str, old: str, p: float, label: str = "update") -> tuple[str, str, Any]:
    return (new, old, {label: p, "new": 1 - p})


def test_two_strong_answers_close_a_one_valued_fact() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfold", "2025-01-10")
    w.script = {ask.RELATION: [moves("Ostwick", "Tarnfold", 0.97)]}
    b = w.remember("Ilka|lives_in|Ostwick", "2025-03-04")
    assert w.open() == {"ostwick"}
    assert w.closed() == {"tarnfold": ("belief", "2025-03-04")}
    assert w.pairs("SUPERSEDES") == {("ostwick", "tarnfold")}
    assert (w.belief(a), w.belief(b)) == (0.0448, 0.98)
    assert w.facts[a].against_count == 2
    close = w.judgements[-1]
    assert (close.question, close.outcome, close.fact_id, close.candidate_id) == (
        "close", "closed", a, b,
    )  # fmt: skip
    assert close.closing == ((None, None), (w.facts[b].valid_from, "belief"))
    assert w.facts[a].closed_at == w.plans[-1].decided_at


def test_the_second_phrasing_may_pick_another_superseding_label() -> None:
    w = World()
    a = w.remember("Odo|follows_diet|vegetarian", "2025-02-01")
    w.script = {
        ask.RELATION: {"contradiction": 0.96, "new": 0.04},
        ask.SECOND: {"update": 0.94, "new": 0.06},
    }
    b = w.remember("Odo|follows_diet|pescatarian", "2025-02-20")
    assert (w.belief(a), w.belief(b)) == (0.1153, 0.98)
    assert w.outcome(b, a) == "applied"
    assert not w.facts[a].disputed
    assert w.judgements[-2].request == w.plans[-1].requests[0].id
    assert [len(r.candidates) for r in w.plans[-1].requests] == [1, 1]


def test_a_refinement_supports_and_is_linked() -> None:
    w = World()
    w.script = {ask.WORTH: 0.7}
    a = w.remember("Ruo|works_at|Hollin", "2025-01-15", speaker="Bero", caller_relation=False)
    assert w.facts[a].tentative
    assert w.facts[a].confidence == 0.7
    w.script = {ask.RELATION: {"refinement": 0.9, "new": 0.1}}
    b = w.remember("Ruo|works_at|the bindery of Hollin", "2025-01-20", speaker="Senna")
    assert (w.belief(a), w.belief(b)) == (0.9, 0.9)
    assert w.pairs("REFINES") == {("bindery of hollin", "hollin")}
    assert w.closed() == {}


@pytest.mark.parametrize(
    ("second", "unsettled"), [({"update": 0.8, "new": 0.2}, False), (AWAY, True)]
)
def test_an_unconfirmed_update_is_no_evidence(second: Any, unsettled: bool) -> None:
    w = World()
    a = w.remember("Kester|uses|the Lark tablet", "2025-01-05")
    w.script = {ask.RELATION: {"update": 0.93, "new": 0.07}, ask.SECOND: second}
    b = w.remember("Kester|uses|the Plover tablet", "2025-06-05")
    assert w.outcome(b, a) == "unconfirmed"
    assert (w.belief(a), w.belief(b)) == (0.98, 0.93)
    assert w.facts[a].against_count == 0
    assert (w.facts[b].unsettled, w.outcome(b, a, ask.SECOND)) == (
        (True, "fallback") if unsettled else (False, "")
    )


def test_a_lost_confirmation_is_asked_for_again() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfold", "2025-01-10")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}, ask.SECOND: AWAY}
    b = w.remember("Ilka|lives_in|Ostwick", "2025-03-04")
    w.settle(b, "2025-03-04")  # away again
    assert (w.facts[b].unsettled, w.belief(a), w.open()) == (True, 0.98, {"tarnfold", "ostwick"})
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.settle(b, "2025-03-04")
    assert (w.facts[b].unsettled, w.belief(a), w.belief(b)) == (False, 0.0448, 0.98)
    assert w.open() == {"ostwick"}


def test_a_contradiction_blocked_by_structure_disputes_both() -> None:
    w = World()
    a = w.remember("Mirelle|dislikes|loud rooms", "2025-02-02")
    w.script = {ask.RELATION: {"contradiction": 0.92, "new": 0.08}}
    b = w.remember("Mirelle|prefers|dance halls", "2025-03-02")
    assert w.outcome(b, a) == "blocked_structure"
    assert w.facts[a].disputed
    assert w.facts[b].disputed
    assert w.pairs("CONTRADICTS") == {("dance halls", "loud rooms")}
    assert (w.belief(a), w.belief(b)) == (0.98, 0.92)
    assert ask.SECOND not in w.asked


def test_a_weak_contradiction_disputes_at_any_p_but_a_planned_one_never() -> None:
    for temporal, disputed in (({"current": 1.0}, True), ({"planned": 1.0}, False)):
        w = World()
        a = w.remember("Mirelle|dislikes|loud rooms", "2025-02-02")
        w.script = {
            ask.RELATION: {"contradiction": 0.45, "new": 0.3, "update": 0.25},
            ask.TEMPORAL: temporal,
        }
        b = w.remember("Mirelle|prefers|dance halls", "2025-03-02")
        assert w.outcome(b, a) == "ignored_weak"
        assert (w.facts[a].disputed, w.facts[b].disputed) == (disputed, disputed)


def test_the_same_attribute_lets_an_update_pass() -> None:
    w = World()
    a = w.remember("Bero|uses|a Lark 2 phone", "2024-09-01")
    d = w.remember("Bero|uses|a paper diary", "2024-09-02")
    w.script = {
        ask.RELATION: [moves("Wagtail", "Lark", 0.96), moves("Wagtail", "diary", 0.55)],
        ask.SECOND: [moves("Wagtail", "", 0.92)],
        ask.SAME_ATTRIBUTE: [("Wagtail", "Lark", 0.93), ("Wagtail", "diary", 0.10)],
    }
    b = w.remember("Bero|owns|a Wagtail phone", "2025-02-14")
    assert (w.belief(a), w.belief(d), w.belief(b)) == (0.1508, 0.97, 0.98)
    assert w.outcome(b, d) == "blocked_structure"
    assert w.asked.count(ask.SECOND) == 1  # not for the pair that structure blocks
    assert w.closed() == {"lark 2 phone": ("belief", "2025-02-14")}


def test_there_and_back_again_is_three_facts() -> None:
    w = World()
    w.remember("Senna|works_at|Dunmere", "2025-01-10")
    w.script = {ask.RELATION: [moves("Saltway", "Dunmere", 0.97)]}
    w.remember("Senna|works_at|Saltway", "2025-04-01")
    w.script = {
        ask.RELATION: [
            moves("Dunmere", "Saltway", 0.97),
            moves("Dunmere", "Dunmere", 0.96, "duplicate"),
        ]
    }
    c = w.remember("Senna|works_at|Dunmere", "2025-09-01")
    first = next(iter(w.facts))
    assert w.closed() == {
        "dunmere": ("belief", "2025-04-01"),
        "saltway": ("belief", "2025-09-01"),
    }
    assert w.outcome(c, first) == "new_interval"
    assert w.pairs("SUPERSEDES") == {("dunmere#2", "saltway"), ("saltway", "dunmere")}
    assert w.pairs("SAME_AS") == set()
    assert (w.belief(first), w.belief(c)) == (0.0448, 0.98)


def test_a_late_statement_closes_nothing_and_takes_its_place_before() -> None:
    w = World()
    a = w.remember("Mirelle|lives_in|Lissport", "2025-06-01")
    w.script = {
        ask.TEMPORAL: {"past": 0.95, "current": 0.05},
        ask.RELATION: {"update": 0.97, "new": 0.03},
    }
    b = w.remember("Mirelle|lives_in|Velden", "2025-06-10", valid_from="2023-03-01")
    assert w.open() == {"lissport"}
    assert w.closed() == {"velden": ("superseded", "2025-06-01")}
    assert w.pairs("SUPERSEDES") == {("lissport", "velden")}
    assert w.outcome(b, a) == "blocked_order"
    assert (w.belief(a), w.belief(b)) == (0.98, 0.97)
    assert w.plans[-1].changes == ()


def test_a_late_statement_on_a_many_valued_relation_stays_open() -> None:
    w = World()
    w.remember("Pia|uses|a Lark", "2025-06-01")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.remember("Pia|uses|a Plover", "2025-06-10", valid_from="2023-03-01")
    assert w.open() == {"lark", "plover"}
    assert w.pairs("SUPERSEDES") == set()


@pytest.mark.parametrize("order", ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"])
def test_three_homes_make_one_chain_in_any_order_of_arrival(order: str) -> None:
    since = {"A": "2020-01-01", "B": "2022-01-01", "C": "2024-01-01"}
    w = World()
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    for home in order:
        w.remember(f"Odo|lives_in|{home}", "2025-01-01", valid_from=since[home])
    assert w.open() == {"c"}
    assert {home: end for home, (_, end) in w.closed().items()} == {
        "a": "2022-01-01",
        "b": "2024-01-01",
    }
    assert w.pairs("SUPERSEDES") == {("b", "a"), ("c", "b")}
    came_late = {home for home in "ab" if order.index("C") < order.index(home.upper())}
    if "a" not in came_late and order.index("B") < order.index("A"):
        came_late.add("a")
    reasons = {home for home, (reason, _) in w.closed().items() if reason == "superseded"}
    assert reasons == came_late  # an end moved later keeps its reason


def test_of_one_instant_the_later_recorded_wins() -> None:
    w = World()
    w.remember("Bero|has_role|night porter", "2025-05-05")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.remember("Bero|has_role|front desk clerk", "2025-05-05")
    assert w.open() == {"front desk clerk"}
    assert w.closed() == {"night porter": ("belief", "2025-05-05")}


def test_one_weak_voice_weakens_and_a_second_tips_it_over() -> None:
    w = World()
    a = w.remember("Ruo|lives_in|Tarnfold", "2025-01-10", speaker="Ruo")
    w.script = {
        ask.RELATION: [
            moves("rents", "moved", 0.9, "duplicate"),
            moves("rents", "Tarnfold", 0.86),
            moves("moved", "Tarnfold", 0.9),
        ],
        ask.SECOND: [moves("moved", "Tarnfold", 0.85)],
    }
    b = w.remember("Ruo|lives_in|Ostwick", "2025-03-01", "Ruo has moved", speaker="Pia")
    assert w.belief(a) == 0.49
    assert w.open() == {"tarnfold", "ostwick"}
    c = w.remember("Ruo|lives_in|Ostwick", "2025-03-09", "Ruo rents", speaker="Senna")
    assert w.asked.count(ask.SECOND) == 1
    assert w.closed() == {"tarnfold": ("belief", "2025-03-09")}
    assert (w.belief(a), w.belief(b), w.belief(c)) == (0.1353, 0.98, 0.98)
    assert w.pairs("SAME_AS") == {("ostwick#2", "ostwick")}
    assert w.pairs("SUPERSEDES") == {("ostwick#2", "tarnfold")}


def test_support_for_the_same_interval_reopens() -> None:
    w = World()
    a = w.remember("Kester|works_at|Saltway", "2025-01-10")
    w.script = {ask.RELATION: {"negates": 0.97, "new": 0.03}}
    w.remember("Kester|related_to|Saltway", "2025-03-01", "Kester no longer works", speaker="Odo")
    assert w.closed() == {"saltway": ("belief", "2025-03-01")}
    w.script = {ask.RELATION: [moves("break", "Kester works", 0.97, "duplicate")]}
    c = w.remember(
        "Kester|works_at|Saltway", "2025-03-05", "without a break",
        valid_from="2025-01-20", speaker="Senna",
    )  # fmt: skip
    assert w.closed() == {}
    assert w.belief(a) == 0.6025
    assert w.pairs("SUPERSEDES") == set()
    assert len(w.pairs("SAME_AS")) == 1
    reopen = w.judgements[-1]
    assert (reopen.question, reopen.outcome, reopen.fact_id, reopen.candidate_id) == (
        "reopen", "reopened", a, c,
    )  # fmt: skip
    assert reopen.closing[1] == (None, None)


def test_repetition_counts_speakers_for_evidence() -> None:
    w = World()
    w.script = {ask.WORTH: 0.8}
    triple = "Mirelle|prefers|oat milk"
    a = w.remember(triple, "2025-04-01", speaker="Bero", caller_relation=False)
    asked = len(w.asked)
    assert w.remember(triple, "2025-04-02", speaker="Bero", caller_relation=False) == a
    assert w.belief(a) == 0.5
    assert w.judgements[-1].outcome == Outcome.SAME_SOURCE
    assert w.plans[-1].changes == ()
    w.remember(triple, "2025-04-03", speaker="Senna", caller_relation=False)
    assert w.belief(a) == 0.98
    w.remember(triple, "2025-04-04", speaker="Senna", caller_relation=False)
    assert len(w.facts) == 1
    assert w.plans[-1].changes == ()
    assert [p.repeats for p in w.plans] == [None, a, a, a]
    assert len(w.asked) == asked


def test_a_repetition_by_another_speaker_may_reopen() -> None:
    w = World()
    a = w.remember("Kester|works_at|Saltway", "2025-01-10")
    w.script = {ask.RELATION: {"negates": 0.97, "new": 0.03}}
    w.remember("Kester|related_to|Saltway", "2025-03-01", "he left")
    assert w.remember("Kester|works_at|Saltway", "2025-02-01", speaker="Pia") == a
    assert w.facts[a].open
    assert w.belief(a) == 0.6967


def test_words_after_the_end_of_a_fact_are_no_repetition() -> None:
    w = World()
    w.remember("Kester|works_at|Saltway", "2025-01-10")
    w.script = {ask.RELATION: {"negates": 0.97, "new": 0.03}}
    w.remember("Kester|related_to|Saltway", "2025-03-01", "he left")
    w.script = {}
    w.remember("Kester|works_at|Saltway", "2025-03-01")
    assert len(w.facts) == 3


def test_the_same_speaker_in_other_words_is_linked_and_no_evidence() -> None:
    w = World()
    a = w.remember("Tamsin|married_to|Jorun", "2025-05-02", speaker="Bero")
    w.script = {ask.RELATION: {"duplicate": 0.9, "new": 0.1}}
    before = w.belief(a)
    b = w.remember("Tamsin|married_to|Jorun", "2025-05-09", "her spouse", speaker="Bero")
    assert w.outcome(b, a) == "same_source"
    assert w.belief(a) == before
    assert w.pairs("SAME_AS") == {("jorun#2", "jorun")}


def test_support_counts_once_per_speaker_also_in_other_words() -> None:
    w = World()
    w.script = {ask.WORTH: 0.8}
    a = w.remember("Pia|member_of|Choir", "2025-05-01", speaker="Bero", caller_relation=False)
    w.script = {ask.RELATION: [moves("", "member of", 0.6, "duplicate")]}
    for words, speaker in (
        ("sings", "Odo"),
        ("alto", "Senna"),
        ("joined", "Jorun"),
        ("is in", "Odo"),
    ):
        w.remember("Pia|member_of|Choir", "2025-05-05", words, speaker=speaker)
    assert w.belief(a) == 0.7714
    assert w.pairs("SAME_AS") == set()  # .60 is below the .85 of a link
    assert sum(f.tentative for f in w.facts.values()) == 5


def test_a_plan_that_came_true_is_fulfilled() -> None:
    w = World()
    w.script = {ask.TEMPORAL: {"planned": 0.95, "current": 0.05}}
    a = w.remember("Tamsin|plans|row in the regatta", "2025-02-01")
    b = w.remember("Tamsin|plans|repaint the shed", "2025-02-02")
    w.script = {ask.PLAN_FULFILLED: [("part", "regatta", 0.91), ("part", "shed", 0.8)]}
    c = w.remember("Tamsin|attended|the regatta", "2025-06-14", "took part")
    assert w.closed() == {"row in the regatta": ("fulfilled", "2025-06-14")}
    assert w.pairs("SUPERSEDES") == {("regatta", "row in the regatta")}
    assert (w.belief(a), w.belief(b)) == (0.98, 0.97)
    assert w.outcome(c, a, ask.PLAN_FULFILLED) == "applied"
    assert w.outcome(c, b, ask.PLAN_FULFILLED) == ""


def test_an_event_before_the_plan_does_not_fulfil_it() -> None:
    w = World()
    a = w.remember("Tamsin|plans|row in the regatta", "2025-02-01")
    w.script = {ask.PLAN_FULFILLED: 0.95}
    c = w.remember("Tamsin|attended|the regatta", "2025-06-14", valid_from="2024-06-14")
    assert w.facts[a].open
    assert w.outcome(c, a, ask.PLAN_FULFILLED) == "blocked_order"


@pytest.mark.parametrize(
    "temporal",
    [{"planned": 0.9, "current": 0.1}, {"current": 0.6, "past": 0.24, "hypothetical": 0.16}, AWAY],
)
def test_plans_and_suppositions_close_nothing(temporal: Any) -> None:
    w = World()
    a = w.remember("Bero|lives_in|Lissport", "2025-01-01")
    w.script = {ask.TEMPORAL: temporal, ask.RELATION: {"update": 0.98, "new": 0.02}}
    b = w.remember("Bero|lives_in|Tarnfold", "2025-02-01")
    assert w.open() == {"lissport", "tarnfold"}
    assert w.outcome(b, a) == "blocked_temporal"
    assert ask.SECOND not in w.asked
    assert w.belief(a) == 0.98


def test_the_assistant_moves_nobody() -> None:
    w = World()
    a = w.remember("I|lives_in|Ostwick", "2025-01-01")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    more = {"role": "assistant", "speaker": "assistant", "caller_relation": False}
    b = w.remember("me|lives_in|Marrowby", "2025-01-04", **more)
    assert w.facts[b].subject == "user"
    assert w.open() == {"ostwick", "marrowby"}
    assert w.outcome(b, a) == "blocked_role"
    assert (w.belief(a), w.belief(b)) == (0.98, 0.5)
    assert w.facts[b].tentative
    assert ask.SECOND not in w.asked
    w.remember("user|lives_in|Ostwick", "2025-01-05", "I lives in Ostwick", **more)
    assert w.judgements[-1].outcome == Outcome.BLOCKED_ROLE
    assert w.plans[-1].repeats == a


def test_the_assistant_may_tell_of_others_but_supports_nothing() -> None:
    w = World()
    a = w.remember("Kester|works_at|Hollin", "2025-01-01")
    more = {"role": "assistant", "speaker": "assistant", "caller_relation": False}
    w.script = {ask.RELATION: {"duplicate": 0.6, "new": 0.4}}
    b = w.remember("Kester|works_at|Hollin", "2025-01-02", "At Hollin, as you said", **more)
    assert (w.outcome(b, a), w.belief(a)) == ("blocked_role", 0.98)
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    c = w.remember("Kester|works_at|Dunmere", "2025-02-01", **more)
    assert (w.outcome(c, a), w.facts[c].tentative) == ("applied", False)
    assert w.open() == {"dunmere"}


def test_the_assistant_does_not_overrule_who_spoke_for_himself() -> None:
    w = World()
    a = w.remember("I|works_at|Hollin", "2025-01-01", speaker="Kester")
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    more = {"role": "assistant", "speaker": "assistant", "caller_relation": False}
    b = w.remember("Kester|works_at|Dunmere", "2025-02-01", **more)
    assert (w.outcome(b, a), w.facts[b].tentative) == ("blocked_role", True)
    assert w.open() == {"hollin", "dunmere"}


def test_a_lost_decider_loses_no_fact_and_it_settles_once() -> None:
    w = World()
    a = w.remember("Ilka|has_role|apprentice", "2025-01-01")
    w.script = dict.fromkeys(
        [ask.WORTH, ask.KIND, ask.TEMPORAL, ask.EDGE_TYPE, ask.DURABILITY, ask.SENSITIVITY,
         ask.RELATION, ask.SAME_ATTRIBUTE], AWAY,
    )  # fmt: skip
    b = w.remember("Ilka|has_role|foreman", "2025-05-01")
    fact = w.facts[b]
    assert (fact.tentative, fact.confidence, w.belief(b), w.belief(a)) == (True, 0.0, 0.5, 0.98)
    assert w.outcome(b, a) == "fallback"
    lost = [j for j in w.judgements if j.outcome == Outcome.FALLBACK]
    assert lost[0].question == "belief_start"
    assert {j.backend for j in lost[1:]} == {"fallback"}
    w.script = {ask.RELATION: {"update": 0.97, "new": 0.03}}
    w.settle(b, "2025-05-01")
    assert w.open() == {"foreman"}
    assert (w.belief(a), w.belief(b)) == (0.0448, 0.98)
    assert (w.facts[b].tentative, w.facts[b].confidence) == (False, 0.97)
    assert [j.outcome for j in w.judgements if j.question == "settle"] == ["applied"]
    seconds = w.asked.count(ask.SECOND)
    w.settle(b, "2025-05-01")  # what counted once is not counted again, nor confirmed again
    assert w.belief(a) == 0.0448
    assert w.asked.count(ask.SECOND) == seconds == 1


def test_settling_keeps_what_others_have_said_meanwhile() -> None:
    w = World()
    w.script = {ask.WORTH: AWAY}
    a = w.remember("Odo|owns|a whistle", "2025-05-02", speaker="Odo", caller_relation=False)
    w.script = {ask.RELATION: {"duplicate": 0.6, "new": 0.4}}
    w.remember("Odo|owns|a whistle", "2025-05-03", "Odo has one", speaker="Pia")
    assert w.belief(a) == 0.6
    w.script = {ask.RELATION: {"new": 0.9, "refinement": 0.1}}
    w.settle(a, "2025-05-02")
    assert w.belief(a) == pytest.approx(0.9310, abs=5e-5)  # l(.60) + l(.90)


def test_one_lost_answer_about_a_pair_leaves_the_fact_unsure() -> None:
    w = World()
    a = w.remember("Odo|works_at|Hollin", "2025-01-01")
    w.script = {ask.RELATION: AWAY}
    b = w.remember("Odo|works_at|Dunmere", "2025-05-01")
    assert w.facts[b].tentative
    assert w.belief(a) == 0.98
    assert [(j.question, j.candidate_id) for j in w.judgements if j.outcome == "fallback"] == [
        ("belief_start", None),
        (ask.RELATION, a),
    ]


@pytest.mark.parametrize(
    ("p", "predicate"), [(0.85, "works_at"), (0.84, "related_to"), (AWAY, "related_to")]
)
def test_edge_type_decides_for_drafts_from_85(p: Any, predicate: str) -> None:
    w = World()
    rest = AWAY if p == AWAY else {"works_at": p, "has_role": 1 - p}
    w.script = {ask.EDGE_TYPE: rest}
    a = w.remember("Odo|related_to|Hollin", "2025-01-01", caller_relation=False)
    assert w.facts[a].predicate == predicate
    b = w.remember("Pia|related_to|Dunmere", "2025-01-02")
    assert w.facts[b].predicate == "related_to"  # the caller's is final, and not asked
    assert w.asked.count(ask.EDGE_TYPE) == 1


# -- statements with an end ------------------------------------------------------------------------

PERIOD = {"valid_from": "2019-01-01", "valid_until": "2022-01-01"}
SURE = {ask.RELATION: {"update": 0.97, "new": 0.03}}


def test_a_past_period_and_a_current_fact_leave_each_other_alone() -> None:
    w = World()
    w.remember("Ilka|lives_in|Tarnfold", "2024-01-01")
    w.script = SURE
    w.remember("Ilka|lives_in|Velden", "2025-01-01", **PERIOD)
    assert w.open() == {"tarnfold"}
    assert w.closed() == {"velden": ("stated", "2022-01-01")}
    assert w.pairs("SUPERSEDES") == set()


def test_a_past_period_does_not_end_what_outlives_it() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Tarnfold", "2015-01-01")
    w.script = SURE
    b = w.remember("Ilka|lives_in|Velden", "2025-01-01", **PERIOD)
    assert w.open() == {"tarnfold"}
    assert w.outcome(b, a) == "new_interval"
    assert w.belief(a) == 0.98


def test_where_they_overlap_the_newer_fact_ends_the_period() -> None:
    w = World()
    w.remember("Ilka|lives_in|Tarnfold", "2021-01-01")
    w.script = SURE
    w.remember("Ilka|lives_in|Velden", "2025-01-01", **PERIOD)
    assert w.closed() == {"velden": ("superseded", "2021-01-01")}
    assert w.pairs("SUPERSEDES") == {("tarnfold", "velden")}


def test_a_period_still_running_closes_what_was_so_before() -> None:
    w = World()
    w.remember("Ilka|lives_in|Tarnfold", "2015-01-01")
    w.script = SURE
    w.remember("Ilka|lives_in|Velden", "2020-01-01", **PERIOD)
    assert w.closed() == {
        "tarnfold": ("belief", "2019-01-01"),
        "velden": ("stated", "2022-01-01"),
    }


def test_a_stated_end_is_a_judgement_and_news() -> None:
    w = World()
    a = w.remember("Ilka|lives_in|Velden", "2018-01-01")
    w.script = {ask.RELATION: {"duplicate": 0.97, "new": 0.03}}
    b = w.remember("Ilka|lives_in|Velden", "2025-01-01", **PERIOD)
    assert a != b
    closes = [j for j in w.judgements if j.question == "close"]
    assert [(j.fact_id, j.chosen, j.candidate_id) for j in closes] == [(b, "stated", None)]
    assert w.remember("Ilka|lives_in|Velden", "2026-01-01", **PERIOD) == b
    assert len(w.facts) == 2


def test_support_from_a_period_over_before_a_fact_began_is_no_evidence() -> None:
    w = World()
    w.script = {ask.WORTH: 0.8}
    a = w.remember("Ilka|lives_in|Velden", "2024-01-01", caller_relation=False)
    w.script = {ask.RELATION: {"duplicate": 0.97, "new": 0.03}}
    b = w.remember("Ilka|lives_in|Velden", "2025-01-01", speaker="Pia", **PERIOD)
    assert w.outcome(b, a) == "new_interval"
    assert w.belief(a) == 0.5
    assert w.pairs("SAME_AS") == set()


def test_an_end_still_to_come_does_not_protect_a_fact() -> None:
    w = World()
    w.remember("Ilka|lives_in|Tarnfold", "2024-01-01", valid_until="2090-01-01")
    w.remember("Ilka|plans|sail", "2024-01-01", valid_until="2090-01-01")
    w.script = {**SURE, ask.RELATION: [moves("Velden", "Tarnfold", 0.97)], ask.PLAN_FULFILLED: 0.9}
    w.remember("Ilka|lives_in|Velden", "2025-01-01")
    assert w.closed() == {
        "tarnfold": ("belief", "2025-01-01"),
        "sail": ("fulfilled", "2025-01-01"),
    }


def test_a_stated_end_in_the_past_is_not_moved_by_evidence() -> None:
    w = World()
    w.remember("Ilka|lives_in|Velden", "2025-01-01", **PERIOD)
    w.script = SURE
    w.remember("Ilka|lives_in|Tarnfold", "2025-01-02", valid_from="2021-01-01")
    assert w.closed() == {"velden": ("stated", "2022-01-01")}
    assert w.pairs("SUPERSEDES") == set()


# -- what is not compared, and what is not undone --------------------------------------------------


def test_a_fact_that_is_over_is_not_disputed() -> None:
    w = World()
    a = w.remember("Pia|hobby|chess", "2024-01-01", valid_until="2024-06-01")
    w.script = {ask.RELATION: {"contradiction": 0.9, "new": 0.1}}
    b = w.remember("Pia|hobby|go", "2025-01-01")
    assert w.outcome(b, a) == "blocked_structure"
    assert not w.facts[a].disputed
    assert not w.facts[b].disputed


def test_a_negation_in_the_same_words_is_no_repetition() -> None:
    w = World()
    a = w.remember("Pia|hobby|chess", "2024-01-01", "chess?")
    b = w.remember("Pia|hobby|chess", "2024-01-02", "chess?", draft={"negated": True})
    assert a != b
    assert w.facts[b].negated


def test_a_sure_fact_asked_again_stays_sure_and_keeps_its_belief() -> None:
    w = World()
    w.remember("Odo|works_at|Hollin", "2025-01-01")
    w.script = {ask.TEMPORAL: AWAY}
    b = w.remember("Odo|uses|a Lark", "2025-05-01")
    assert (w.facts[b].tentative, w.belief(b)) == (False, 0.97)
    w.script = {ask.RELATION: {"new": 0.7, "refinement": 0.3}}
    w.settle(b, "2025-05-01")
    assert (w.facts[b].tentative, w.belief(b)) == (False, 0.97)


def test_what_counted_is_not_confirmed_again_when_another_answer_was_lost() -> None:
    w = World()
    a = w.remember("Pia|uses|a Lark", "2025-01-01")
    w.script = {**SURE, ask.KIND: AWAY}
    b = w.remember("Pia|uses|a Plover", "2025-02-01")
    assert w.belief(a) == 0.0448
    w.script = SURE
    w.settle(b, "2025-02-01")
    assert w.belief(a) == 0.0448
    assert w.asked.count(ask.SECOND) == 1
