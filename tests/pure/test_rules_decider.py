"""The decider without a model: certain, and honest about what it cannot tell."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from plan_world import World, day

from engram_graph.adapters.rules_decider import RulesDecider, fulfils, relation
from engram_graph.models.decisions import Ask, Question
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Draft, Entity, Fact
from engram_graph.ports import Decider
from engram_graph.rules.names import entity_key
from engram_graph.rules.questions import NAMES, question, same_entity

T0 = day("2025-01-01")


def draft(triple: str, **more: Any) -> Draft:
    subject, predicate, obj = triple.split("|")
    text = more.pop("text", f"{subject} {predicate} {obj}")
    return Draft(subject=subject, predicate=predicate, object=obj, text=text, **more)


def fact(triple: str, **more: Any) -> Fact:
    d = draft(triple, **more)
    return Fact(
        id="f1",
        namespace="n",
        subject=d.subject,
        subject_key=entity_key(d.subject),
        predicate=d.predicate,
        object=d.object,
        object_key=entity_key(d.object),
        text=d.text,
        negated=d.negated,
        temporal_status=d.temporal_status,
        valid_from=T0,
        recorded_at=T0,
    )


NOT = {"negated": True}
PAST = {"temporal_status": "past"}
PLANNED = {"temporal_status": "planned"}
OVER = {"text": "Odo no longer plays chess."}
MOVED = {"text": "Odo no longer lives in Marrowby but in Ostwick"}


@pytest.mark.parametrize(
    ("new", "new_more", "old", "old_more", "verdict"),
    [
        ("Odo|lives_in|Ostwick", {}, "odo|lives_in|the Ostwick", {}, "duplicate"),
        ("Odo|lives_in|Ostwick", {}, "Odo|lives_in|Marrowby", {}, "update"),
        ("Odo|uses|Ostwick", {}, "Odo|uses|Marrowby", {}, "new"),
        ("Pia|lives_in|Ostwick", {}, "Odo|lives_in|Marrowby", {}, "new"),
        ("Pia|lives_in|Ostwick", {}, "Odo|lives_in|Ostwick", {}, "new"),
        ("Odo|works_at|Ostwick", {}, "Odo|lives_in|Marrowby", {}, "new"),
        (
            "Odo|related_to|X",
            {"text": "Odo sings"},
            "Odo|hobby|Y",
            {"text": "odo sings."},
            "duplicate",
        ),
        ("Odo|hobby|chess", NOT, "Odo|hobby|chess", {}, "negates"),
        ("Odo|hobby|chess", {}, "Odo|hobby|chess", NOT, "negates"),
        ("Odo|hobby|chess", NOT, "Odo|hobby|chess", NOT, "duplicate"),
        ("Odo|hobby|chess", NOT, "Odo|hobby|go", {}, "new"),
        ("Odo|lives_in|Ostwick", NOT, "Odo|lives_in|Marrowby", {}, "new"),
        ("Odo|lives_in|Ostwick", {}, "Odo|lives_in|Marrowby", NOT, "new"),
        ("Odo|lives_in|Ostwick", PLANNED, "Odo|lives_in|Marrowby", {}, "new"),
        ("Odo|lives_in|Ostwick", {}, "Odo|lives_in|Marrowby", PLANNED, "new"),
        ("Odo|lives_in|Ostwick", {}, "Odo|lives_in|Ostwick", PLANNED, "new"),
        ("Odo|lives_in|Ostwick", PAST, "Odo|lives_in|Marrowby", {}, "new"),
        ("Odo|related_to|chess", OVER, "Odo|hobby|chess", {}, "negates"),
        ("Odo|hobby|chess", {}, "Odo|related_to|chess", OVER, "negates"),
        ("Odo|hobby|chess", OVER, "Odo|hobby|chess", {}, "negates"),
        ("Odo|related_to|chess", OVER, "Odo|hobby|go", {}, "new"),
        ("Odo|related_to|chess", {}, "Odo|hobby|chess", {}, "new"),
        ("Odo|lives_in|Ostwick", MOVED, "Odo|lives_in|Marrowby", {}, "update"),
        ("Odo|works_at|the bindery of Hollin", {}, "Odo|works_at|Hollin", {}, "refinement"),
        ("Odo|works_at|Hollin", {}, "Odo|works_at|the bindery of Hollin", {}, "new"),
        ("Odo|lives_in|New York", {}, "Odo|lives_in|York", {}, "update"),
        ("Odo|lives_in|Ostwick", PAST, "Odo|lives_in|Ostwick", {}, "new"),
    ],
)
def test_relation(
    new: str, new_more: dict[str, Any], old: str, old_more: dict[str, Any], verdict: str
) -> None:
    assert relation(draft(new, **new_more), fact(old, **old_more)) == verdict


def test_a_past_value_with_an_earlier_start_takes_its_place() -> None:
    bygone, now = draft("Odo|lives_in|Ostwick", **PAST), fact("Odo|lives_in|Marrowby")
    assert relation(bygone, now, late=True) == "update"


@pytest.mark.parametrize(
    ("new", "plan", "true"),
    [
        ("Odo|lives_in|Ostwick", "Odo plans to move to Ostwick in May", True),
        ("Odo|lives_in|Ostwick", "Odo plans to leave Ostwick", False),
        ("Odo|lives_in|Tarnfold", "Odo plans to move to Ostwick", False),
        ("Pia|lives_in|Ostwick", "Odo plans to move to Ostwick", False),
        (
            "Odo|attended|the Velden Quay regatta",
            "Odo wants to row in the Velden Quay regattas",
            True,
        ),
        ("Odo|attended|the regatta", "Odo plans to repaint the boat shed", False),
        ("Odo|owns|a red barge", "Odo plans to buy a red barge", True),
        ("Odo|owns|a red barge", "Odo plans to sell the red barge", False),
        ("Odo|dislikes|Ostwick", "Odo plans to move to Ostwick", False),
    ],
)
def test_fulfils(new: str, plan: str, true: bool) -> None:
    assert fulfils(draft(new), fact("Odo|plans|it", text=plan, **PLANNED)) is true


def test_what_is_only_planned_or_negated_fulfils_nothing() -> None:
    plan = fact("Odo|plans|move", text="Odo plans to move to Ostwick")
    assert not fulfils(draft("Odo|lives_in|Ostwick", **PLANNED), plan)
    assert not fulfils(draft("Odo|lives_in|Ostwick", **NOT), plan)


def test_the_planned_triple_itself_comes_true() -> None:
    planned = fact("Odo|lives_in|Ostwick", text="Odo will be there", **PLANNED)
    assert fulfils(draft("Odo|lives_in|Ostwick"), planned)


def asked(d: Draft, *questions: Question, message: str = "") -> Ask:
    return Ask(d, T0 + timedelta(days=1), "user", "user", message, questions)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Odo will move to Ostwick", "planned"),
        ("Odo is going to live in Ostwick", "planned"),
        ("I will move to Ostwick", "planned"),
        ("Odo might move to Ostwick", "hypothetical"),
        ("Odo May lives in Ostwick", "current"),
        ("Odo lives in Ostwick, and will stay", "current"),
    ],
)
def test_words_behind_the_subject_tell_of_another_time(text: str, status: str) -> None:
    question_of = asked(draft("Odo|lives_in|Ostwick", text=text), question("temporal_status"))
    (answer,) = asyncio.run(RulesDecider().ask(question_of)).answers.values()
    assert answer.chosen == status


def test_every_question_gets_a_whole_answer() -> None:
    decider = RulesDecider()
    assert isinstance(decider, Decider)
    d, old = draft("Odo|lives_in|Ostwick", kind="event"), fact("Odo|lives_in|Marrowby")
    questions = tuple(question(name, old) for name in NAMES)
    reply = asyncio.run(decider.ask(asked(d, *questions)))
    assert (reply.backend, reply.model) == ("rules", "rules-1")
    for q in questions:
        answer = reply.answers[q.id]
        assert not answer.fallback
        assert tuple(answer.probabilities) == (q.options or ("yes", "no"))
        assert sum(answer.probabilities.values()) == pytest.approx(1.0)
    chosen = {q.name: reply.answers[q.id].chosen for q in questions}
    assert (chosen["fact_kind"], chosen["edge_type"]) == ("event", "lives_in")
    assert (chosen["relation_to_candidate"], chosen["relation_second"]) == ("update", "update")
    assert (chosen["worth_remembering"], chosen["same_attribute"]) == ("yes", "yes")
    assert (chosen["same_fact"], chosen["query_relation"]) == ("no", "none")


def test_two_entities_are_one_as_far_as_their_names_tell() -> None:
    odo, kern, other = (
        Profile(Entity(id=name, namespace="n", key=entity_key(name), name=name))
        for name in ("Odo Kern", "Kern, Odo", "Odo")
    )
    pairs = (same_entity(odo, kern), same_entity(odo, other))
    reply = asyncio.run(RulesDecider().ask(asked(draft("Odo|owns|x"), *pairs)))
    assert [reply.answers[q.id].p("yes") for q in pairs] == [0.95, 0.6]


def test_an_unknown_question_is_a_fallback() -> None:
    d = draft("Odo|lives_in|Ostwick")
    unknown = (Question("mood", "choice", options=("good", "bad")), Question("rain", "noul"))
    reply = asyncio.run(RulesDecider().ask(asked(d, *unknown)))
    assert [reply.answers[q.id].fallback for q in unknown] == [True, True]


@pytest.mark.parametrize(
    ("query", "p"),
    [("Where does Odo live?", 0.75), ("red barge", 0.5), ("Odo in Marrowby", 1.0), ("the", 0.5)],
)
def test_relevance_is_a_share_of_words(query: str, p: float) -> None:
    q = question("relevant_to_query", fact("Odo|lives_in|Marrowby", text="Odo lives in Marrowby"))
    reply = asyncio.run(RulesDecider().ask(asked(draft("x|related_to|y"), q, message=query)))
    assert reply.answers[q.id].p("yes") == p


def test_there_and_back_again_without_a_model() -> None:
    w = World(RulesDecider())
    w.remember("Odo|lives_in|Marrowby", "2024-02-01")
    w.remember("Odo|lives_in|Ostwick", "2024-07-01")
    third = w.remember("Odo|lives_in|Marrowby", "2025-01-01")
    assert w.remember("Odo|lives_in|Marrowby", "2025-01-02") == third
    assert w.open() == {"marrowby#2"}
    assert w.closed() == {
        "marrowby": ("belief", "2024-07-01"),
        "ostwick": ("belief", "2025-01-01"),
    }
    assert w.pairs("SUPERSEDES") == {("marrowby#2", "ostwick"), ("ostwick", "marrowby")}
    assert len(w.facts) == 3


def test_a_hobby_given_up_and_taken_up_again_without_a_model() -> None:
    w = World(RulesDecider())
    w.remember("Jorun|hobby|chess", "2024-05-01")
    w.remember("Jorun|hobby|chess", "2025-02-01", "Jorun gave up chess", draft=NOT)
    w.remember("Jorun|hobby|chess", "2025-08-01", "Jorun plays again")
    assert w.open() == {"chess#3"}
    assert w.pairs("SUPERSEDES") == {("chess#2", "chess"), ("chess#3", "chess#2")}
