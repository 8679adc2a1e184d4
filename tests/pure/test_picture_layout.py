"""Places in a picture: no captions overlap, lines run from name to name, each run is the same."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engram_graph
from engram_graph.models.facts import Fact
from engram_graph.pictures.colours import colour_of
from engram_graph.pictures.layout import Box, Layout, Line, caption, place
from engram_graph.pictures.view import View, legend
from engram_graph.vocabulary import PREDICATES

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=40
) | st.sampled_from(["Maya", "Lisbon", "北京市朝阳区", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"])


def fact(number: int, subject: str, predicate: str, obj: str, **more: object) -> Fact:
    given: dict[str, object] = {
        "id": f"fact-{number}",
        "namespace": "n",
        "subject": subject,
        "subject_key": subject.lower(),
        "predicate": predicate,
        "object": obj,
        "object_key": obj.lower(),
        "text": f"{subject} {predicate} {obj}",
        "valid_from": START + timedelta(days=number),
        "recorded_at": START,
    }
    return Fact.model_validate(given | more)


@st.composite
def worlds(draw: st.DrawFn) -> list[Fact]:
    names = draw(st.lists(NAMES, min_size=1, max_size=8, unique_by=str.lower))
    one = st.sampled_from(names)
    triples = draw(st.lists(st.tuples(one, st.sampled_from(list(PREDICATES)), one), max_size=24))
    denied = draw(st.lists(st.booleans(), min_size=len(triples), max_size=len(triples)))
    return [fact(i, *triple, negated=denied[i]) for i, triple in enumerate(triples)]


def star(count: int) -> list[Fact]:
    predicates = list(PREDICATES)
    return [
        fact(i, "Maya", predicates[i % len(predicates)], f"something number {i}")
        for i in range(count)
    ]


def boxes(layout: Layout) -> list[Box]:
    return [*layout.entities.values(), *layout.facts.values()]


def overlap(a: Box, b: Box) -> bool:
    return (
        abs(a.x - b.x) < (a.width + b.width) / 2 - 0.01
        and abs(a.y - b.y) < (a.height + b.height) / 2 - 0.01
    )


def check(facts: list[Fact]) -> Layout:
    layout = place(facts)
    assert set(layout.facts) == set(layout.lines) == {each.id for each in facts}
    ends = {key for each in facts for key in (each.subject_key, each.object_key)}
    assert set(layout.entities) == ends
    for one, other in combinations(boxes(layout), 2):
        assert not overlap(one, other)
    for box in boxes(layout):
        assert box.width / 2 <= box.x <= layout.width - box.width / 2
        assert box.height / 2 <= box.y <= layout.height - box.height / 2
        assert len(box.label) <= 26
    for each in facts:
        line = layout.lines[each.id]
        values = [v for p in (line.start, line.first, line.second, line.end) for v in p]
        assert all(map(math.isfinite, values))
        assert layout.entities[each.subject_key].holds(line.start, 12)
        assert layout.entities[each.object_key].holds(line.end, 12)
        near = [math.dist(line.at(i / 200), (b.x, b.y)) for b in [layout.facts[each.id]]
                for i in range(201)]  # fmt: skip
        assert min(near) < 6  # it runs through its caption
    return layout


@settings(deadline=None, max_examples=40)
@given(worlds())
def test_no_two_captions_overlap_and_lines_run_through_them(facts: list[Fact]) -> None:
    check(facts)


@pytest.mark.parametrize("count", [1, 30, 150])
def test_many_facts_about_one(count: int) -> None:
    layout = check(star(count))
    area = sum(box.width * box.height for box in boxes(layout))
    assert layout.width * layout.height < 30 * area + 50_000  # it is no desert either


def test_nothing_has_an_empty_layout() -> None:
    assert place([]) == Layout(0.0, 0.0, {}, {}, {})


def test_each_run_gives_the_same_places() -> None:
    """Also where sets of text come in another order."""
    code = (
        "import json; from tests.pure.test_picture_layout import *\n"
        "found = place([*star(12), fact(98, 'Jonas', 'speaks', 'German'), "
        "fact(99, 'Jonas', 'lives_in', 'Bremen')])\n"
        "print(json.dumps([[b.x, b.y] for b in boxes(found)]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(engram_graph.__file__).parents[1],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert len(json.loads(found.pop())) > 20


@given(
    st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), min_size=4, max_size=4),
    st.floats(0.05, 0.45),
    st.floats(0.55, 0.95),
    st.floats(0, 1),
)
def test_a_part_of_a_line_lies_on_it(
    points: list[tuple[float, float]], low: float, high: float, t: float
) -> None:
    line = Line(*points)
    assert math.dist(line.part(low, high).at(t), line.at(low + (high - low) * t)) < 1e-6


def test_captions_and_colours() -> None:
    plain = fact(1, "Maya", "lives_in", "Lisbon")
    denied = fact(2, "Maya", "lives_in", "Porto", negated=True)
    assert [caption(plain), caption(denied)] == ["lives in", "not: lives in"]
    assert colour_of(plain) == "#1565C0"  # as in Neo4j Browser
    colours = {colour_of(fact(1, "a", name, "b")) for name in PREDICATES} | {colour_of(denied)}
    assert len(colours) == len(PREDICATES) + 1


def test_a_view_tells_what_holds_when() -> None:
    day = timedelta(days=1)
    known = fact(1, "Maya", "lives_in", "Lisbon", valid_until=START + 5 * day, open=False)
    later = fact(9, "Maya", "lives_in", "Porto")
    never = fact(2, "Maya", "lives_in", "Faro", valid_until=START + 2 * day, open=False)
    shown = {
        days: [
            View("n", (known, later, never), 3, START + days * day).state(each)
            for each in (known, later, never)
        ]
        for days in (0, 1, 2, 5, 9)
    }
    assert shown == {
        0: ["coming", "coming", "coming"],
        1: ["holds", "coming", "coming"],
        2: ["holds", "coming", "ended"],
        5: ["ended", "coming", "ended"],
        9: ["ended", "holds", "ended"],
    }
    view = View("n", (known, later, never), 7, START)
    assert view.moments() == [START + n * day for n in (0, 1, 2, 5, 9)]
    assert view.capped
    assert legend(view.facts) == [
        ("lives in", "#1565C0", False),
        ("has ended", "#5B6573", True),
    ]
