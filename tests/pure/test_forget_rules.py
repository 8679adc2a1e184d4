"""Rules of forgetting: what goes, how gaps close, and what is carried in the place of others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import Any

import networkx
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Draft, Extracted, Link
from engram_graph.rules.forget import (
    BLANK,
    Asked,
    Forgetting,
    Neighbour,
    Source,
    Trace,
    carried,
    closed_over,
    forget_plan,
    leave,
    turns_over,
    without,
)
from engram_graph.vocabulary import Outcome

T0 = datetime(2025, 1, 1, tzinfo=UTC)
NODES = "abcdefgh"
# A step leads from a later letter to an earlier one: no circle.
STEPS = st.sets(
    st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)).filter(lambda pair: pair[0] > pair[1])
)
GONE = st.frozensets(st.sampled_from(NODES))


def ids() -> Any:
    numbers = count(1)
    return lambda: f"n{next(numbers)}"


def plan(**parts: Any) -> Any:
    return forget_plan(Forgetting(**{"facts": frozenset({"gone"})} | parts), ids())


# -- chains ---------------------------------------------------------------------------------------


@given(STEPS, GONE)
def test_what_was_joined_through_the_gap_is_joined_past_it(
    steps: set[tuple[str, str]], gone: frozenset[str]
) -> None:
    touching = [(a, b, None) for a, b in sorted(steps) if a in gone or b in gone]
    before = networkx.DiGraph(sorted(steps))
    before.add_nodes_from(NODES)
    after = before.copy()
    after.remove_nodes_from(gone)
    after.add_edges_from((a, b) for a, b, _ in closed_over(touching, gone))
    assert set(after) == set(NODES) - gone
    for node in after:
        assert networkx.descendants(after, node) == networkx.descendants(before, node) - gone
    assert networkx.is_directed_acyclic_graph(after)


@given(STEPS, GONE)
def test_only_paths_through_what_goes_get_a_new_step(
    steps: set[tuple[str, str]], gone: frozenset[str]
) -> None:
    inside = networkx.DiGraph(sorted(steps))
    inside.add_nodes_from(NODES)
    found = closed_over([(a, b, None) for a, b in sorted(steps)], gone)
    assert len({(a, b) for a, b, _ in found}) == len(found)
    for newer, older, _ in found:
        between = inside.subgraph(gone | {newer, older}).copy()
        if between.has_edge(newer, older):
            between.remove_edge(newer, older)
        assert networkx.has_path(between, newer, older)


def test_a_step_keeps_what_closed_the_older_one() -> None:
    steps = [("d", "c", "superseded"), ("c", "b", "fulfilled"), ("b", "a", "belief")]
    assert closed_over(steps, {"b", "c"}) == [("d", "a", "belief")]
    assert closed_over(steps, {"d"}) == closed_over(steps, {"a"}) == []


def test_only_chains_are_closed() -> None:
    links = (
        Link(type="SUPERSEDES", source="new", target="gone", reason="superseded"),
        Link(type="SUPERSEDES", source="gone", target="old", reason="belief", decided_at=T0),
        Link(type="CONTRADICTS", source="other", target="gone"),
        Link(type="CONTRADICTS", source="gone", target="another"),
    )
    assert plan(links=links).links == (
        Link(type="SUPERSEDES", source="new", target="old", reason="belief", decided_at=T0),
    )


@given(st.integers(0, 8), st.data())
def test_the_turns_left_are_one_chain(length: int, data: st.DataObject) -> None:
    names = [f"m{number}" for number in range(length)]
    gone = data.draw(st.sets(st.sampled_from(names))) if names else set()
    sources = [
        Source(
            name, "talk", before=tuple(names[max(at - 1, 0) : at]), after=tuple(names[at + 1 :][:1])
        )
        for at, name in enumerate(names)
        if name in gone
    ]
    kept = [name for name in names if name not in gone]
    steps = {(a, b) for a, b in pairwise(names) if not gone & {a, b}}
    made = turns_over(sources)
    assert steps.isdisjoint(made)
    assert steps | set(made) == set(pairwise(kept))


# -- messages and drafts --------------------------------------------------------------------------


def drafts(*names: str) -> Extracted:
    made = tuple(Draft(subject="Ann", predicate="owns", object=n, text=f"a {n}") for n in names)
    return Extracted(extractor="patterns", drafts=made)


def test_a_message_goes_with_the_last_fact_it_states() -> None:
    said = drafts("kite", "lamp")
    written = ("f1", "f2")
    alone = Source("alone", "c")
    more = Source("more", "c", states_more=True)
    unread = Source("unread", "c", done=False)
    pending = Source("pending", "c", done=False, drafts=said, written=written)
    sources = [alone, more, unread, pending]
    assert leave(sources, (), {"f1"}) == [alone]
    assert leave(sources, (), {"f1", "f2"}) == [alone, pending]
    assert leave(sources, {"more"}, {"f1"}) == [alone, more]


def test_a_draft_leaves_its_place_behind() -> None:
    more = Source("more", "c", True, drafts=drafts("kite", "lamp"), written=("gone", "stays"))
    told = Source("told", "c", True, drafts=drafts("kite"), written=("decision",))
    other = Source("other", "c", True, drafts=drafts("hat"), written=("hat",))
    made = plan(sources=(more, told, other), decisions=frozenset({"decision"}))
    assert made.messages == ()
    assert set(made.drafts) == {"more", "told"}
    assert made.drafts["more"].drafts == (BLANK, more.drafts.drafts[1])
    assert made.drafts["told"].drafts == (BLANK,)
    assert BLANK.forgotten
    assert Extracted.model_validate_json(made.drafts["more"].model_dump_json(exclude_defaults=True))


# -- decisions ------------------------------------------------------------------------------------


def trace(name: str, day: int, belief: float | None = None, end: int | None = None) -> Trace:
    at = T0 + timedelta(days=day)
    ends = ((None, None), (T0 + timedelta(days=end), "belief")) if end is not None else None
    return Trace(name, at, belief=belief, ends=ends)


def test_what_is_owed_is_carried_where_the_end_was_decided() -> None:
    traces = (
        trace("start", 0, 0.98),
        trace("against", 3, 0.1),
        trace("close", 3, end=2),
        trace("later", 5, 0.05),
    )
    (one,) = carried(Neighbour("f", "ann", traces=traces), {"against", "close", "later"}, ids())
    assert one.decided_at == T0 + timedelta(days=3)
    assert one.judgement.belief == {"f": (0.05, 0.05)}
    assert one.judgement.closing == ((None, None), (T0 + timedelta(days=2), "belief"))
    assert one.judgement.outcome == Outcome.FORGOTTEN
    assert (one.judgement.candidate_id, one.judgement.request, one.judgement.chosen) == (
        None,
        None,
        "",
    )


def test_nothing_is_carried_for_what_moved_nothing() -> None:
    traces = (trace("start", 0, 0.98), trace("weak", 1))
    assert carried(Neighbour("f", "ann", traces=traces), {"weak"}, ids()) == []


MOVES = st.lists(
    st.tuples(st.sampled_from([None, 0.2, 0.5, 0.8]), st.none() | st.integers(1, 9), st.booleans()),
    max_size=8,
)


def latest(moves: list[tuple[datetime, Any]], when: datetime) -> Any:
    """What the last of ``moves`` by ``when`` left; nothing before the first."""
    done = [value for at, value in moves if at <= when]
    return done[-1] if done else None


@given(MOVES)
def test_what_is_left_and_carried_says_what_all_said(
    moves: list[tuple[float | None, int | None, bool]],
) -> None:
    """Of the belief now, and of the end at every moment outside a run that was forgotten."""
    all_of = [trace("start", 0, 0.98)]
    all_of += [trace(f"d{n}", n + 1, belief, end) for n, (belief, end, _) in enumerate(moves)]
    gone = {f"d{n}" for n, (*_, goes) in enumerate(moves) if goes}
    made = carried(Neighbour("f", "ann", traces=tuple(all_of)), gone, ids())
    kept = [each for each in all_of if each.decision not in gone]
    left = sorted(
        [(t.decided_at, t.belief, t.ends) for t in kept]
        + [
            (c.decided_at, c.judgement.belief.get("f", (None, None))[1], c.judgement.closing)
            for c in made
        ]
    )
    now = T0 + timedelta(days=99)
    beliefs = [(t.decided_at, t.belief) for t in all_of if t.belief is not None]
    assert latest([(at, b) for at, b, _ in left if b is not None], now) == latest(beliefs, now)
    ends = [(t.decided_at, t.ends[1]) for t in all_of if t.ends is not None]
    left_ends = [(at, e[1]) for at, _, e in left if e is not None]
    assert latest(left_ends, now) == latest(ends, now)
    for each in kept:  # at each moment that still has a decision, the end reads as it did
        if each.ends is not None:
            assert latest(left_ends, each.decided_at) == latest(ends, each.decided_at)


# -- requests, disputes, entities -----------------------------------------------------------------


def asked(name: str, *candidates: str, rested_on: bool, kept: bool) -> Asked:
    answers = {f"relation:{c}": {"p": 1} for c in candidates} | {"durability": {"p": 1}}
    return Asked(name, candidates, answers, rested_on, kept)


def test_requests_lose_what_they_asked_about_the_forgotten() -> None:
    request = asked("r", "gone", "stays", rested_on=False, kept=True)
    assert without(request, {"gone"}) == (
        ["stays"],
        {"relation:stays": {"p": 1}, "durability": {"p": 1}},
    )
    pair = Asked("r", ("a", "b"), {"same_fact:a:b": 1, "same_fact:b:c": 2}, False, True)
    assert without(pair, {"a"}) == (["b"], {"same_fact:b:c": 2})


def test_a_request_goes_when_nothing_that_stays_rests_on_it() -> None:
    requests = (
        asked("own", "stays", rested_on=True, kept=False),
        asked("shared", "gone", rested_on=True, kept=True),
        asked("bare", "gone", rested_on=False, kept=False),
        asked("many", "gone", "stays", rested_on=False, kept=False),
    )
    made = plan(requests=requests)
    assert made.requests == ("bare", "own")
    assert {name: kept[0] for name, kept in made.asked.items()} == {"shared": [], "many": ["stays"]}


def test_a_dispute_is_over_when_nothing_keeps_it_up() -> None:
    def changes(**parts: Any) -> Any:
        neighbour = Neighbour("f", "ann", **{"disputed": True} | parts)
        return plan(neighbours=(neighbour,), decisions=frozenset({"d1"})).changes["f"]

    old, other = Trace("d1", T0, disputes=True), Trace("d2", T0, disputes=True)
    assert changes(traces=(old,)) == {"disputed": False}
    assert changes(traces=(old, other)) == {}
    assert changes(traces=(old,), contradicted=True) == {}
    assert changes(disputed=False) == {}
    assert changes(disputed=False, quote_goes=True) == {"source_quote": None}


def test_entities_go_that_nothing_uses_and_those_asked_for() -> None:
    touched = {"ann": True, "kite": False, "boat": True}
    assert plan(touched=touched).entities == ("kite",)
    assert plan(touched=touched, entities=frozenset({"boat"})).entities == ("boat", "kite")
