"""Views by valid time and the difference between two."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Fact
from engram_graph.rules.timeline import as_of, diff, order
from engram_graph.vocabulary import ClosedReason

T0 = datetime(2024, 1, 1, tzinfo=UTC)


def fact(
    name: str, start: int = 0, end: int | None = None, recorded: int = 0, **more: object
) -> Fact:
    return Fact(
        id=name,
        namespace="n",
        subject="Ann",
        subject_key="ann",
        predicate="lives_in",
        object=name,
        object_key=name,
        text=f"Ann lives in {name}",
        valid_from=T0 + timedelta(days=start),
        valid_until=None if end is None else T0 + timedelta(days=end),
        open=end is None,
        recorded_at=T0 + timedelta(days=recorded),
        **more,
    )


FACTS = st.lists(
    st.builds(
        lambda name, start, length, recorded: fact(
            name, start, None if length is None else start + length, recorded
        ),
        st.sampled_from("abcdef"),
        st.integers(0, 9),
        st.none() | st.integers(0, 5),
        st.integers(0, 9),
    ),
    unique_by=lambda each: each.id,
)


def test_order_is_valid_time_then_recording_then_id() -> None:
    made = order([fact("d", 2, recorded=0), fact("c", 1, recorded=5), fact("b", 1, recorded=3)])
    assert [each.id for each in made] == ["b", "c", "d"]
    assert [each.id for each in order([fact("z"), fact("y")])] == ["y", "z"]


def test_intervals_are_half_open() -> None:
    facts = [fact("oslo", 0, 10), fact("bergen", 10)]
    assert [each.id for each in as_of(facts, T0 - timedelta(seconds=1))] == []
    assert [each.id for each in as_of(facts, T0)] == ["oslo"]
    assert [each.id for each in as_of(facts, T0 + timedelta(days=10))] == ["bergen"]
    assert as_of([fact("never", 3, 3)], T0 + timedelta(days=3)) == ()


@given(FACTS, st.integers(-1, 16))
def test_as_of_is_the_interval_alone(facts: list[Fact], days: int) -> None:
    moment = T0 + timedelta(days=days)
    assert set(as_of(facts, moment)) <= set(facts)
    assert {each.id for each in as_of(facts, moment)} == {
        each.id
        for each in facts
        if each.valid_from <= moment and (each.valid_until is None or moment < each.valid_until)
    }


def test_diff_names_each_kind_of_change() -> None:
    before = [fact("oslo"), fact("rome", belief=0.9), fact("gone"), fact("back", 0, 5)]
    after = [
        fact("oslo", 0, 4, closed_reason=ClosedReason.BELIEF),
        fact("rome", belief=0.5, version=2),
        fact("back"),
        fact("new", 1),
    ]
    made = diff(before, after)
    assert [each.id for each in made.added] == ["new"]
    assert [each.id for each in made.removed] == ["gone"]
    assert [(each.after.id, each.fields) for each in made.closed] == [
        ("oslo", ("valid_until", "open", "closed_reason"))
    ]
    assert [each.after.id for each in made.reopened] == ["back"]
    assert [(each.before.belief, each.after.belief, each.fields) for each in made.changed] == [
        (0.9, 0.5, ("belief",))
    ]
    assert made


@given(FACTS)
def test_no_difference_to_itself(facts: list[Fact]) -> None:
    assert not diff(facts, reversed(facts))
    touched = [each.model_copy(update={"read_at": T0, "version": 9}) for each in facts]
    assert not diff(facts, touched)


@given(FACTS, FACTS)
def test_the_way_back_is_the_mirror(before: list[Fact], after: list[Fact]) -> None:
    there, back = diff(before, after), diff(after, before)
    assert there.added == back.removed
    assert {each.after.id for each in there.closed} == {each.after.id for each in back.reopened}
    assert len(there.changed) == len(back.changed)
