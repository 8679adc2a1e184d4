"""Scores of lines and stores against gold windows: cases by hand, and rules that always hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.evaluation.study.records import Line
from engram_graph.evaluation.validity import form
from engram_graph.evaluation.validity.form import Conversation, GoldFact, GoldQuestion
from engram_graph.evaluation.validity.reading import over_sentence
from engram_graph.evaluation.validity.scoring import (
    Verdict,
    bounds,
    fitting,
    overall,
    rates,
    verdict,
)
from engram_graph.evaluation.validity.store import StoreScore, compared, summed
from engram_graph.intake import sentence
from engram_graph.models.facts import Fact
from engram_graph.rules.names import entity_key

SHIPPED = form.shipped()
BY_ID = {each.id: each for each in SHIPPED}
ASKED = [(each, question) for each in SHIPPED for question in each.questions]


def line(fact: GoldFact, ended: bool = False) -> Line:
    return Line(sentence(*fact.triple, False), ended=ended)


def judged(id_: str, question: int, *lines: Line, room: int | None = None) -> Verdict:
    conversation = BY_ID[id_]
    return verdict(conversation, conversation.questions[question], lines, room)


# change-01: Ilse lives in Brenvik, then in Kalmora; asked about now, and about March.
OLD, NEW = Line("Ilse lives in Brenvik"), Line("Ilse lives in Kalmora")
OLD_ENDED = Line("Ilse lives in Brenvik (no longer true since 2024-05-11)", ended=True)
CHATTER = Line("Tomasz: You can always shower at my gym.")

CASES: dict[str, tuple[tuple[Line, ...], Verdict]] = {
    "nothing": ((), Verdict(False, False, False, False)),
    "chatter": ((CHATTER,), Verdict(False, False, False, False)),
    "current": ((CHATTER, NEW), Verdict(True, False, True, True)),
    "stale alone": ((OLD,), Verdict(False, True, False, False)),
    "stale above": ((OLD, NEW), Verdict(True, True, False, False)),
    "stale below": ((NEW, OLD), Verdict(True, True, True, False)),
    "stale marked": ((OLD_ENDED, NEW), Verdict(True, False, True, True)),
    "stale marked alone": ((OLD_ENDED,), Verdict(False, False, False, False)),
    "current marked": ((Line(NEW.text, ended=True),), Verdict(False, False, False, False)),
    "both in one": (
        (Line("Ilse moved from Brenvik to Kalmora"),),
        Verdict(True, False, True, True),
    ),
    "part of a word": ((Line("Ilse likes Kalmoran bread"),), Verdict(False, False, False, False)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_question_about_now(name: str) -> None:
    lines, expected = CASES[name]
    assert judged("change-01", 0, *lines) == expected


def test_a_question_about_the_past_wants_the_value_of_then_on_top() -> None:
    assert judged("change-01", 1, OLD_ENDED, NEW) == Verdict(True, None, True, True)
    assert judged("change-01", 1, OLD, NEW) == Verdict(True, None, True, True)
    assert judged("change-01", 1, NEW, OLD_ENDED) == Verdict(True, None, False, False)
    assert judged("change-01", 1, NEW) == Verdict(False, None, False, False)


def glued(*texts: str) -> Line:
    return Line(" ".join(texts))


def test_a_line_that_mixes_old_and_current_values_is_not_right() -> None:
    """Else one line with all that was ever told would answer everything."""
    conversation = BY_ID["change-01"]
    told = [f"{turn.speaker}: {turn.text}" for turn in conversation.turns.values()]
    assert judged("change-01", 0, glued(*told)) == Verdict(True, True, False, False)
    assert judged("change-01", 1, glued(*told)) == Verdict(True, None, False, False)
    assert judged("change-01", 0, Line("Brenvik, Kalmora")) == Verdict(True, True, False, False)
    assert judged("change-01", 0, Line("Ilse left Brenvik for Kalmora")).right
    assert judged("change-01", 0, Line("Ilse lives in Kalmora, no longer in Brenvik")).right
    # A value that came back is no mixture, and a turn may name what ends and what stays.
    assert judged("return-04", 0, Line("Marguerite partner of Lev")).right
    thora = "Thora: For my notes I use Scribblepad, and for the photos I use Lumenbox."
    assert judged("negation-07", 0, Line(thora)).right


def test_no_arm_gains_by_putting_all_it_was_told_into_one_line() -> None:
    one, each = ([], [])  # type: tuple[list[Verdict], list[Verdict]]
    for conversation, question in ASKED:
        lines = [Line(turn.text) for turn in conversation.turns.values()]
        one.append(verdict(conversation, question, [glued(*(at.text for at in lines))], 20))
        each.append(verdict(conversation, question, lines, 20))
    as_one, as_lines = rates(one), rates(each)
    assert as_one is not None
    assert as_lines is not None
    assert as_one.right < 0.5
    assert abs(as_one.right - as_lines.right) < 0.05


def test_where_nothing_holds_the_end_must_be_said() -> None:
    job = Line("Fenna works at Barlow Freight")
    over = Line("Fenna: I quit Barlow Freight on Monday, no plan, no parachute.")
    assert judged("negation-01", 0, over) == Verdict(True, False, True, True)
    assert judged("negation-01", 0, Line(job.text, ended=True)) == Verdict(True, False, True, True)
    assert judged("negation-01", 0, Line("Fenna no longer works at Barlow Freight")).right
    assert judged("negation-01", 0, over, job) == Verdict(True, True, True, False)
    assert judged("negation-01", 0) == Verdict(False, False, False, False)
    assert judged("negation-01", 0, job) == Verdict(False, True, False, False)


def test_a_distractor_above_is_not_first_but_nothing_stale() -> None:
    boar = Line("Rosalba: I'm a strict carnivore since this morning, didn't you hear?")
    vegan = Line("Rosalba follows diet vegan")
    assert judged("trap-03", 0, boar, vegan) == Verdict(True, False, False, True)
    assert judged("trap-03", 0, vegan, boar) == Verdict(True, False, True, True)


def test_a_value_that_came_back_is_current_unless_it_is_marked() -> None:
    back = Line("Ebba lives in Mossley Gate")
    assert judged("return-01", 0, back).right
    assert not judged("return-01", 0, Line(back.text, ended=True)).reached
    assert judged("return-01", 0, Line(back.text, ended=True), back).right


def test_several_values_need_room() -> None:
    all_three = [line(each) for each in BY_ID["several-01"].facts]
    assert judged("several-01", 0, *all_three, room=3).right
    assert judged("several-01", 0, *all_three[:2], room=6).right is False
    assert judged("several-01", 0, all_three[0], room=1).right is None


def perfect(conversation: Conversation, question: GoldQuestion) -> list[Line]:
    """What an ideal memory shows: what holds first, then what ended, marked so."""
    now = [line(conversation.gold[name]) for name in question.current]
    names = {conversation.gold[name].triple for name in question.current}
    gone = [
        Line(over_sentence(fact), ended=True)
        for fact in conversation.facts
        if fact.id in question.stale and fact.triple not in names
    ]
    return now + gone


def test_an_ideal_memory_gets_every_question_right() -> None:
    for conversation, question in ASKED:
        assert verdict(conversation, question, perfect(conversation, question)).right, question.id


def test_a_memory_that_never_ends_anything_is_wrong_wherever_something_ended() -> None:
    for conversation, question in ASKED:
        if question.as_of is None and question.stale:
            stale = {conversation.gold[name].triple for name in question.stale}
            current = {conversation.gold[name].triple for name in question.current}
            if stale <= current:
                continue  # the value came back: without windows it looks the same
            everything = [line(fact) for fact in conversation.facts]
            found = verdict(conversation, question, everything)
            assert found.stale, question.id
            assert not found.right, question.id


def test_turns_that_tell_a_fact_are_read_as_telling_it() -> None:
    for conversation, question in ASKED:
        told = [Line(conversation.turns[turn].text) for turn in question.evidence]
        assert verdict(conversation, question, told).reached, question.id


blocks = st.sampled_from(ASKED).flatmap(
    lambda asked: st.tuples(
        st.just(asked),
        st.lists(
            st.one_of(
                st.builds(line, st.sampled_from(asked[0].facts), st.booleans()),
                st.sampled_from([Line(turn.text) for turn in asked[0].turns.values()]),
            ),
            max_size=6,
        ),
    )
)
Block = tuple[tuple[Conversation, GoldQuestion], list[Line]]


@given(blocks)
def test_more_lines_below_undo_nothing_that_was_reached_or_stale(block: Block) -> None:
    (conversation, question), lines = block
    before = [verdict(conversation, question, lines[:n]) for n in range(len(lines) + 1)]
    for less, more in pairwise(before):
        assert more.reached >= less.reached
        assert less.stale is None or bool(more.stale) >= bool(less.stale)
    assert not before[0].right


@given(blocks, st.randoms(use_true_random=False))
def test_order_decides_only_what_is_first(block: Block, random: object) -> None:
    (conversation, question), lines = block
    mixed = list(lines)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (verdict(conversation, question, each) for each in (lines, mixed))
    assert (one.reached, one.stale) == (other.reached, other.stale)


@given(blocks)
def test_right_means_reached_and_nothing_stale_or_first(block: Block) -> None:
    (conversation, question), lines = block
    found = verdict(conversation, question, lines)
    past = question.as_of is not None
    assert found.right == (found.first if past else found.reached and not found.stale)
    assert found.reached or not found.first


def test_lines_that_fit() -> None:
    lines = [Line("a"), Line("b"), Line("c")]
    assert fitting(lines, [10, 60, 61], 60) == lines[:2]
    assert fitting(lines, [70, 90, 95], 60) == []


def test_rates_and_the_mean_over_kinds() -> None:
    good, bad = Verdict(True, False, True, True), Verdict(False, True, False, False)
    past, uncounted = Verdict(True, None, True, True), Verdict(True, False, True, None)
    found = rates([good, bad, past, uncounted])
    assert found is not None
    assert (found.questions, found.stale) == (3, 0.5)
    assert found.right == found.reached == found.first == pytest.approx(2 / 3)
    assert rates([uncounted]) is None
    one, none = rates([good]), rates([bad] * 9)
    assert one is not None
    assert none is not None
    assert overall({"change": one, "trap": none}) == 0.5


def test_bounds_draw_whole_conversations() -> None:
    sure = {("change", str(n)): [True] for n in range(5)}
    assert bounds(sure) == (1.0, 1.0)
    mixed = {("change", str(n)): [n % 2 == 0] * 3 for n in range(10)}
    found = bounds(mixed)
    assert found is not None
    low, high = found
    assert low < 0.5 < high
    many = {("change", f"{n}.{m}"): [n % 2 == 0] for n in range(10) for m in range(3)}
    narrower = bounds(many)
    assert narrower is not None
    assert narrower[1] - narrower[0] < high - low
    assert bounds({("change", "1"): [True]}) is None


# -- stores ---------------------------------------------------------------------------------------


def kept(gold: GoldFact, **changes: object) -> Fact:
    values: dict[str, object] = {
        "id": gold.id,
        "namespace": "n",
        "subject": gold.subject,
        "subject_key": entity_key(gold.subject),
        "predicate": gold.predicate,
        "object": gold.object,
        "object_key": entity_key(gold.object),
        "text": sentence(*gold.triple, False),
        "valid_from": gold.valid_from,
        "valid_until": gold.valid_until,
        "recorded_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Fact.model_validate(values | changes)


def test_a_perfect_store_has_every_rate_at_one() -> None:
    for conversation in SHIPPED:
        score = compared(conversation, [kept(gold) for gold in conversation.facts])
        rates_ = score.as_dict()
        ended = any(gold.valid_until for gold in conversation.facts)
        assert rates_.pop("ends") == float(ended), conversation.id
        open_gold = rates_ if score.open_gold else {k: rates_[k] for k in ("moments", "starts")}
        assert set(open_gold.values()) == {1.0}, conversation.id


def test_what_is_wrong_in_a_store_shows_in_its_own_rate() -> None:
    conversation = BY_ID["change-01"]
    old, new = conversation.gold["home1"], conversation.gold["home2"]
    never_closed = compared(conversation, [kept(old, valid_until=None), kept(new)])
    assert (never_closed.open_right, never_closed.open_kept, never_closed.open_gold) == (1, 2, 1)
    assert (never_closed.moments_right, never_closed.moments) == (1, 2)
    assert (never_closed.ends_right, never_closed.ends) == (0, 1)
    late = old.valid_until + timedelta(days=3) if old.valid_until else None
    moved = compared(conversation, [kept(old, valid_until=late), kept(new, valid_from=late)])
    assert (moved.starts_right, moved.ends_right, moved.open_right) == (1, 0, 1)
    lost = compared(conversation, [kept(old)])
    assert (lost.open_right, lost.open_kept, lost.moments_right) == (0, 0, 1)
    denied = compared(conversation, [kept(old), kept(new, negated=True)])
    assert denied.open_kept == 0
    other = compared(conversation, [kept(new, subject_key="tomasz")])
    assert (other.open_right, other.open_kept) == (0, 1)


def test_one_fact_with_several_values_counts_once() -> None:
    conversation = BY_ID["trap-06"]
    one, two = conversation.facts
    both = kept(one, object="Swahili and Finnish", object_key="swahili and finnish", text="x")
    found = compared(conversation, [both])
    assert (found.open_right, found.open_kept, found.open_gold) == (1, 1, 2)
    shared = compared(conversation, [both, kept(one)])  # each has one to itself
    assert (shared.open_right, shared.open_kept) == (2, 2)
    assert compared(conversation, [both, kept(one), kept(two)]).as_dict()["precision"] < 1


def test_a_fact_that_names_an_old_value_too_is_not_right() -> None:
    conversation = BY_ID["change-01"]
    old, new = conversation.gold["home1"], conversation.gold["home2"]
    all_of_it = "Brenvik and Kalmora"
    found = compared(conversation, [kept(old, object=all_of_it, valid_until=None)])
    assert (found.open_right, found.open_kept, found.moments_right) == (0, 1, 0)
    told = kept(new, text="Ilse moved from Brenvik to Kalmora")
    assert compared(conversation, [kept(old), told]).moments_right == 2


def test_counts_are_summed_over_conversations_that_have_some() -> None:
    one = StoreScore(open_right=1, open_kept=2, open_gold=1)
    found = summed([one.counters(), one.counters() | {"other": 3}, {"other": 1}])
    assert found is not None
    assert (found.open_right, found.open_kept) == (2, 4)
    assert found.as_dict()["precision"] == 0.5
    assert found.as_dict()["f1"] == pytest.approx(2 / 3, abs=1e-4)
    assert summed([{"other": 1}]) is None
