"""What differs between a store and its replay, and other numbers for a method."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Fact, Link
from engram_graph.rules.method import PRESETS
from engram_graph.rules.whatif import SETTABLE, adjusted, fact_diffs, link_diffs

DAY = datetime(2025, 1, 1, tzinfo=UTC)


def fact(name: str, **more: Any) -> Fact:
    ends = {"subject": "Ilka", "subject_key": "ilka", "object": name, "object_key": name}
    values = {"namespace": "n", "predicate": "owns", "text": name, "recorded_at": DAY}
    return Fact(id=name, valid_from=DAY, **ends | values | more)


SOME = st.builds(
    fact,
    st.sampled_from("abc"),
    belief=st.sampled_from([0.5, 0.98]),
    valid_until=st.sampled_from([None, DAY]),
    version=st.integers(1, 3),
)
FACTS = st.lists(SOME, max_size=3, unique_by=lambda each: each.id).map(
    lambda facts: [f.model_copy(update={"open": f.valid_until is None}) for f in facts]
)
OPPOSITE = {"stored": "left_out", "left_out": "stored", "closed": "reopened", "reopened": "closed"}


@given(FACTS, FACTS)
def test_both_ways(before: list[Fact], after: list[Fact]) -> None:
    there, back = fact_diffs(before, after), fact_diffs(after, before)
    assert {d.fact.id: OPPOSITE.get(d.change, d.change) for d in there} == {
        d.fact.id: d.change for d in back
    }
    assert all((d.before, d.after) != (None, None) for d in there)
    assert {d.fact.id for d in there} >= {f.id for f in before} ^ {f.id for f in after}


@given(FACTS)
def test_how_often_a_fact_was_written_is_no_difference(facts: list[Fact]) -> None:
    written = [f.model_copy(update={"version": 9, "read_at": DAY}) for f in facts]
    assert fact_diffs(facts, written) == ()


def test_the_direction_counts_but_for_same_as() -> None:
    def links(kind: str, *ends: str) -> list[Link]:
        return [Link.model_validate({"type": kind, "source": ends[0], "target": ends[1]})]

    assert link_diffs(links("SAME_AS", "a", "b"), links("SAME_AS", "b", "a")) == ()
    turned = link_diffs(links("SUPERSEDES", "a", "b"), links("SUPERSEDES", "b", "a"))
    assert [(d.change, d.link.source) for d in turned] == [("added", "b"), ("dropped", "a")]


def test_every_number_can_be_set_to_what_it_is() -> None:
    for method in PRESETS.values():
        numbers = {name: getattr(method.thresholds, name) for name in SETTABLE}
        assert adjusted(method, numbers) == method
