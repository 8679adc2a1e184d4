"""The gates: temporal, structure, agreement; and the candidate that decides."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engram_graph.models.decisions import Answer, Question, Reply
from engram_graph.models.facts import Fact
from engram_graph.rules.answers import (
    chosen_verdict,
    deciding,
    failed,
    fallback_reply,
    label,
    request_log,
    yes,
    zone,
)
from engram_graph.rules.gates import agrees, needs_second, passes_structure, passes_temporal
from engram_graph.rules.method import PRESETS
from engram_graph.rules.questions import NAMES, question
from engram_graph.vocabulary import PREDICATES, FactKind, Verdict

T0 = datetime(2025, 1, 1, tzinfo=UTC)
S2_V3 = PRESETS["s2_v3"]
LOST = Answer("q", {}, "fallback", fallback=True)


def fact(subject: str, predicate: str, obj: str = "x", against_count: int = 0) -> Fact:
    return Fact(
        id=f"{subject}-{predicate}-{obj}",
        namespace="n",
        subject=subject,
        subject_key=subject,
        predicate=predicate,
        object=obj,
        object_key=obj,
        text="t",
        valid_from=T0,
        recorded_at=T0,
        against_count=against_count,
    )


def says(**p: float) -> Answer:
    return Answer("q", p, "jev")


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        (says(current=0.97, past=0.03), True),
        (says(past=0.95, current=0.05), True),
        (says(current=0.55, past=0.30, planned=0.15), True),  # .8500000000000001
        (says(current=0.60, past=0.24, hypothetical=0.16), False),
        (says(planned=0.9, current=0.1), False),
        (says(current=0.84), False),
        (LOST, False),
        (None, False),
    ],
)
def test_temporal(answer: Answer | None, passes: bool) -> None:
    assert passes_temporal(answer, Verdict.UPDATE, S2_V3) is passes


@pytest.mark.parametrize(
    ("verdict", "new", "old", "same_attribute", "passes"),
    [
        # a negation always
        ("negates", ("pia", "related_to"), ("pia", "hobby"), 0.0, True),
        # an update: one-valued (a sibling is not needed), sibling, or the same attribute
        ("update", ("pia", "lives_in"), ("pia", "lives_in"), 0.0, True),
        ("update", ("pia", "related_to"), ("pia", "works_at"), 0.0, True),
        ("update", ("pia", "uses"), ("pia", "uses"), 0.0, True),
        ("update", ("pia", "owns"), ("pia", "uses"), 0.10, False),
        ("update", ("pia", "owns"), ("pia", "uses"), 0.84, False),
        ("update", ("pia", "owns"), ("pia", "uses"), 0.85, True),
        ("update", ("odo", "uses"), ("pia", "uses"), 0.0, False),
        # a contradiction: one-valued siblings only
        ("contradiction", ("pia", "follows_diet"), ("pia", "follows_diet"), 0.0, True),
        ("contradiction", ("odo", "works_at"), ("pia", "works_at"), 0.99, False),
        ("contradiction", ("pia", "prefers"), ("pia", "prefers"), 0.99, False),
        ("contradiction", ("pia", "prefers"), ("pia", "lives_in"), 0.99, False),
    ],
)
def test_structure(
    verdict: str, new: tuple[str, str], old: tuple[str, str], same_attribute: float, passes: bool
) -> None:
    found = passes_structure(Verdict(verdict), fact(*new), fact(*old), same_attribute, S2_V3)
    assert found is passes


@pytest.mark.parametrize(
    ("verdict", "predicate", "count", "needed"),
    [
        ("update", "lives_in", 0, True),
        ("update", "lives_in", 2, False),
        ("update", "uses", 0, True),
        ("update", "uses", 2, True),  # every time on a many-valued relation
        ("negates", "uses", 0, True),
        ("negates", "uses", 1, False),
        ("contradiction", "lives_in", 1, False),
    ],
)
def test_needs_second(verdict: str, predicate: str, count: int, needed: bool) -> None:
    old = fact("pia", predicate, against_count=count)
    assert needs_second(says(), Verdict(verdict), old, S2_V3) is needed


@pytest.mark.parametrize(
    ("second", "confirms"),
    [
        (says(update=0.85, new=0.15), True),
        (says(contradiction=0.94, new=0.06), True),  # another label, superseding all the same
        (says(update=0.80, new=0.20), False),
        (says(update=0.45, negates=0.45, new=0.10), False),
        (says(duplicate=0.97), False),
        (LOST, False),
        (None, False),
    ],
)
def test_agreement(second: Answer | None, confirms: bool) -> None:
    assert agrees(second, S2_V3) is confirms


def test_eight_relations_hold_one_value() -> None:
    assert {name for name, p in PREDICATES.items() if p.single} == {
        "lives_in", "born_in", "works_at", "has_role", "studies_at", "married_to", "partner_of",
        "follows_diet",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "verdict", "p", "candidate"),
    [
        ([], "new", 1.0, None),
        ([LOST], "new", 0.0, None),
        ([LOST, says(new=0.9, update=0.1)], "new", 0.9, 1),
        ([says(new=0.97, refinement=0.03), says(new=0.4, update=0.6)], "update", 0.6, 1),
        ([says(duplicate=0.9, new=0.1), says(update=0.9, new=0.1)], "duplicate", 0.9, 0),
        # the largest probability on one label decides, although its answer says new
        ([says(new=0.55, update=0.45), says(new=0.2, update=0.4, negates=0.4)], "new", 0.55, 0),
    ],
)
def test_deciding(answers: list[Answer], verdict: str, p: float, candidate: int | None) -> None:
    decided = deciding(answers)
    assert (decided.verdict, decided.p, decided.candidate) == (verdict, p, candidate)


def test_ties_go_to_the_first_verdict_whatever_the_order_of_the_reply() -> None:
    assert chosen_verdict(says(negates=0.5, update=0.5)) == Verdict.UPDATE


@pytest.mark.parametrize(
    ("verdict", "p", "expected"),
    [
        ("update", 0.85, "act"),
        ("update", 0.60, "tentative"),
        ("update", 0.59, "escalate"),
        ("duplicate", 0.59, "tentative"),
        ("new", 0.30, "tentative"),
    ],
)
def test_zone(verdict: str, p: float, expected: str) -> None:
    assert zone(Verdict(verdict), p) == expected


def test_a_fallback_is_no_and_leaves_the_hint() -> None:
    assert yes(LOST) == 0.0
    assert yes(says(yes=0.9, no=0.1)) == 0.9
    assert label(LOST, FactKind.TASK) == FactKind.TASK
    assert label(says(event=0.6, bio=0.4), FactKind.TASK) == FactKind.EVENT


def test_a_lost_request_is_told_from_one_lost_answer() -> None:
    asked = (question("worth_remembering"), question("fact_kind"))
    reply = fallback_reply(asked, "timeout")
    assert failed(reply)
    assert reply.error == "timeout"
    assert not failed(Reply(reply.answers | {"fact_kind": says(bio=1.0)}, "jev", "m"))


def test_the_log_keeps_every_answer_and_the_candidates_in_order() -> None:
    old, other = fact("pia", "uses", "b"), fact("pia", "uses", "a")
    asked: tuple[Question, ...] = (
        question("fact_kind"),
        question("relation_to_candidate", old),
        question("same_attribute", old),
        question("relation_to_candidate", other),
    )
    answers = {q.id: says(new=0.25, update=0.75) for q in asked[:3]} | {asked[3].id: LOST}
    log = request_log(Reply(answers, "jev", "m", 12.5, 0.001, "req_1"), asked, "r1", T0)
    assert log.candidates == (old.id, other.id)
    assert set(log.question_versions) == {"fact_kind", "relation_to_candidate", "same_attribute"}
    assert log.answers[asked[1].id]["probabilities"] == {"new": 0.25, "update": 0.75}
    assert log.answers[asked[3].id]["fallback"] is True
    assert (log.latency_ms, log.cost_usd, log.request_id, log.sent_at) == (12.5, 0.001, "req_1", T0)


def test_every_question_has_its_options_in_a_fixed_order() -> None:
    for name in NAMES:
        q = question(name)
        assert (q.type == "noul") == (q.options == ())
    assert question("relation_second").options == question("relation_to_candidate").options
    assert question("relation_to_candidate").options[-1] == "negates"
    assert len(question("edge_type").options) == 25
    assert len(question("query_relation").options) == 25
    assert "related_to" not in question("query_relation").options
