"""Which names are alike, what their facts say to it, and what a merge moves there and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engram_graph.models.entities import Profile
from engram_graph.models.facts import Entity, Fact
from engram_graph.rules.entities import (
    candidate_pairs,
    kept_first,
    likeness,
    opposed,
    same_entity,
    words,
)
from engram_graph.rules.merge import Around, Step, back, conflicts, forth, twice
from engram_graph.rules.names import entity_key


def entity(name: str, *aliases: str, facts: int = 1) -> Entity:
    key = entity_key(name)
    return Entity(id=f"id {key}", namespace="n", key=key, name=name, aliases=aliases, facts=facts)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fact(triple: str, *, id: str = "", begins: str = "2024-01-01", **more: Any) -> Fact:  # noqa: A002
    subject, predicate, obj = triple.split("|")
    values: dict[str, Any] = {
        "id": id or triple,
        "namespace": "n",
        "subject": subject,
        "subject_key": entity_key(subject),
        "predicate": predicate,
        "object": obj,
        "object_key": entity_key(obj),
        "text": triple,
        "valid_from": day(begins),
        "recorded_at": day("2024-01-01"),
    }
    return Fact(**values | more)


def profile(name: str, *triples: str, **more: Any) -> Profile:
    return Profile(entity(name), tuple(fact(triple) for triple in triples), **more)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Maya Lindqvist", "Lindqvist, Maya", ["same words"]),
        ("e-mail", "E mail", ["same words"]),
        ("Maya Lindqvist", "Lindqvist Maya", ["same words in another order"]),
        ("Maya", "Maya Lindqvist", ["one name within the other"]),
        ("Lindqvist", "Maya Lindqvist", ["one name within the other"]),
        ("M. Lindqvist", "Maya Lindqvist", ["initials"]),
        ("IBM", "International Business Machines", ["initials"]),
        ("Alex", "Alexander", ["one word begins the other"]),
        ("Alex Kern", "Alexander Kern", ["one word begins the other"]),
        ("Jonas", "Jonass", ["one letter differs", "one word begins the other"]),
        ("Matthew", "Mathew", ["one letter differs"]),
        ("Steven Kerr", "Stevne Kerr", ["one letter differs"]),
        ("José Ávila", "Jose Avila", ["one letter differs"]),
        ("山田太郎", "山田太郎さん", ["one word begins the other"]),
        # what is not alike
        ("Maya", "Jonas", []),
        ("kite 1", "kite 2", []),
        ("Route 66", "Route 6", []),
        ("C", "C++", []),
        ("C#", "C++", []),
        ("cat", "black cat", []),
        ("Maya", "Maya's bike", []),
        ("Porto", "University of Porto", []),
        ("Ann", "Anna", ["one word begins the other"]),
        ("Bo", "Bob", []),
        ("Ann", "Amn", []),
        ("M", "M. Lindqvist", []),
        ("user", "users", []),
    ],
)
def test_what_two_names_have_in_common(one: str, other: str, why: list[str]) -> None:
    assert list(likeness(entity(one), entity(other))) == why
    assert list(likeness(entity(other), entity(one))) == why


def test_words_are_read_as_they_are_spoken() -> None:
    assert words("Lindqvist, Maya") == ("maya", "lindqvist")
    assert words("Bonn, Cork, Rome") == ("bonn", "cork", "rome")
    assert words("…") == ()


def test_an_alias_is_a_name_as_well() -> None:
    assert likeness(entity("Maya", "Lindqvist, M."), entity("M. Lindqvist"))
    assert not likeness(entity("Maya"), entity("M. Lindqvist"))


def test_pairs_meet_wherever_their_names_are_alike() -> None:
    names = ["Maya", "Maya Lindqvist", "Lindqvist, Maya", "M. Lindqvist", "Jonas", "Jonaz", "IBM"]
    names += ["International Business Machines", "kite 1", "kite 2", "Alexander", "Alex"]
    everybody = [entity(name) for name in names]
    every_pair = {
        frozenset((a.name, b.name))
        for i, a in enumerate(everybody)
        for b in everybody[i + 1 :]
        if likeness(a, b)
    }
    found = candidate_pairs(everybody, 100)
    assert {frozenset((p.first.name, p.second.name)) for p in found} == every_pair
    assert len(every_pair) == 8
    assert {found[0].first.name, found[0].second.name} == {"Maya Lindqvist", "Lindqvist, Maya"}
    assert candidate_pairs(everybody, 1) == found[:1]
    assert candidate_pairs(everybody[::-1], 100)[0].why == found[0].why


def test_what_very_many_share_joins_nobody() -> None:
    crowd = [
        entity(f"Ada {4 * letter}{4 * other}") for letter in "abcdefgh" for other in "abcdefgh"
    ]
    assert candidate_pairs([entity("Ada"), *crowd], 100) == []


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (profile("Maya Lindqvist"), profile("Lindqvist, Maya"), 0.95),
        (profile("Maya"), profile("Maya Lindqvist"), 0.6),
        (
            profile("Maya", "Maya|works_at|Norte", "Maya|owns|a kite"),
            profile("Maya Lindqvist", "Maya Lindqvist|owns|kite"),
            0.7,
        ),
        (
            profile("Maya", *(f"Maya|owns|thing {n}" for n in range(9))),
            profile("Maya L", *(f"Maya L|owns|thing {n}" for n in range(9))),
            0.8,
        ),
        (  # two homes
            profile("Maya Lindqvist", "Maya Lindqvist|lives_in|Bonn"),
            profile("Lindqvist, Maya", "Lindqvist, Maya|lives_in|Cork"),
            0.1,
        ),
        (  # who is a friend of Maya is not Maya
            profile("Maya", "Maya|friend_of|Maya L"),
            profile("Maya L", "Maya|friend_of|Maya L"),
            0.05,
        ),
        (profile("Maya"), profile("Jonas"), 0.05),
    ],
)
def test_how_sure_the_rules_are(first: Profile, second: Profile, p: float) -> None:
    assert same_entity(first, second) == pytest.approx(p)
    assert same_entity(second, first) == pytest.approx(p)


@pytest.mark.parametrize(
    ("more", "is_opposed"),
    [
        ({}, True),
        ({"open": False, "valid_until": day("2024-02-01")}, False),
        ({"negated": True}, False),
        ({"temporal_status": "planned"}, False),
    ],
)
def test_only_two_values_that_hold_now_oppose(more: dict[str, Any], is_opposed: bool) -> None:
    maya = profile("Maya", "Maya|lives_in|Bonn")
    other = Profile(entity("Maya L"), (fact("Maya L|lives_in|Cork", **more),))
    assert opposed(maya, other) is is_opposed
    assert not opposed(maya, profile("Maya L", "Maya L|owns|Cork"))
    # somebody else's home is not one's own
    assert not opposed(maya, profile("Cork", "Ann|lives_in|Cork"))


def test_the_one_with_more_facts_stays() -> None:
    few, many = entity("Maya Lindqvist", facts=1), entity("Maya", facts=4)
    assert kept_first(few, many) == kept_first(many, few) == (many, few)
    assert kept_first(entity("Maya"), entity("Maya L"))[0].name == "Maya L"


def test_forth_and_back_is_where_it_was() -> None:
    around = [
        Around("1", "other", "x"),
        Around("2", "ann", "other"),
        Around("3", "keep", "other"),
        Around("4", "other", "other"),
        Around("5", "ann", "x"),  # only mentions it
    ]
    steps = forth(around, "keep", "other")
    assert steps == [
        Step("1", "keep", "x", ("subject",)),
        Step("2", "ann", "keep", ("object",)),
        Step("3", "keep", "keep", ("object",)),
        Step("4", "keep", "keep", ("subject", "object")),
        Step("5", "ann", "x", ()),
    ]
    merged = [Around(step.id, step.subject, step.object) for step in steps]
    undone = back(merged, {step.id: step.ends for step in steps}, "keep", "other")
    assert [Around(step.id, step.subject, step.object) for step in undone] == around
    assert [step.ends for step in undone] == [step.ends for step in steps]


def test_what_was_written_since_or_moved_on_stays() -> None:
    log = {"1": ("subject",), "2": ("subject",), "gone": ("subject",)}
    now = [Around("1", "keep", "x"), Around("2", "third", "keep"), Around("new", "keep", "x")]
    assert back(now, log, "keep", "other") == [
        Step("1", "other", "x", ("subject",)),
        Step("2", "third", "keep", ()),
    ]


def test_the_same_twice_is_one_triple_at_one_time() -> None:
    home = fact("Maya|lives_in|Bonn", id="1")
    again = fact("Maya|lives_in|the Bonn", id="2", begins="2024-03-01")
    assert twice([again, home], frozenset({"2"})) == [("2", "1")]
    assert twice([again, home], frozenset()) == []
    unlike = [
        fact("Maya|lives_in|Bonn", id="2", negated=True),
        fact("Maya|lives_in|Bonn", id="2", temporal_status="planned"),
        fact("Maya|works_at|Bonn", id="2"),
        fact("Maya|lives_in|Bonn", id="2", begins="2020-01-01", valid_until=day("2024-01-01")),
    ]
    for other in unlike:
        assert twice([home, other], frozenset({"2"})) == []


def test_several_open_values_conflict_when_the_merge_brought_them_together() -> None:
    bonn, cork = fact("Maya|lives_in|Bonn", id="1"), fact("Maya|lives_in|Cork", id="2")
    assert conflicts([cork, bonn], frozenset({"2"})) == ((bonn, cork),)
    assert conflicts([bonn, cork], frozenset({"1", "2"})) == ()  # they did so before
    assert conflicts([bonn, cork], frozenset()) == ()
    assert conflicts([bonn, fact("Maya|lives_in|Bonn", id="2")], frozenset({"2"})) == ()
    assert conflicts([bonn, fact("Jo|lives_in|Cork", id="2")], frozenset({"2"})) == ()
    for predicate in ("owns", "speaks"):
        many = [fact(f"Maya|{predicate}|{n}", id=n) for n in "12"]
        assert conflicts(many, frozenset({"2"})) == ()
    ended = cork.model_copy(update={"open": False})
    assert conflicts([bonn, ended], frozenset({"2"})) == ()
