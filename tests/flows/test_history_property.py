"""Random statements, corrections and forgetting, against a model of a few lines, on both clocks."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engram_graph import clock
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Held = dict[str, tuple[datetime, datetime | None]]
"""City → since when, until when someone lived there."""
WHO = ("Ann", "Bo")
YEARS = range(2001, 2010)
CITIES = [f"Town{letter}" for letter in "ABCDEFGHIJKLMNOP"]
# A newer home replaces an older one of the same person; the order of dates does the rest.
SCRIPT = {
    "relation_to_candidate": [
        {"fact": who, "candidate": who, "p": {"update": 0.97, "new": 0.03}} for who in WHO
    ],
    "relation_second": [
        {"fact": who, "candidate": who, "p": {"contradiction": 0.9, "new": 0.1}} for who in WHO
    ],
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "tell", "tell", "correct", "forget"]),
        st.sampled_from(WHO),
        st.integers(0, 8),
    ),
    min_size=2,
    max_size=9,
)


def start(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


@dataclass
class Model:
    """What is to be expected. ``states``: after each step, what was known then."""

    now: dict[str, Held] = field(default_factory=lambda: {who: {} for who in WHO})
    states: list[dict[str, Held]] = field(default_factory=list)

    def tell(self, who: str, city: str, since: datetime) -> None:
        held = self.now[who]
        begun = {c: at for c, (at, end) in held.items() if end != at}
        later = [at for at in begun.values() if at > since]
        for other, at in begun.items():
            end = held[other][1]
            if at < since and (end is None or end > since):
                held[other] = (at, since)
        held[city] = (since, min(later, default=None))

    def correct(self, who: str, city: str, right: str) -> None:
        held = self.now[who]
        held[right] = held[city]
        held[city] = (held[city][0], held[city][0])

    def forget(self, who: str, city: str) -> None:
        """Gone as if it had never been known; what it ended stays ended."""
        for state in (*self.states, self.now):
            state[who].pop(city, None)

    def note(self) -> None:
        self.states.append({who: dict(held) for who, held in self.now.items()})


# Derandomised: the same examples each time, so that a failure is one for everybody.
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # no shrinking: a failing example is short enough
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
async def test_what_was_true_and_known_when(
    make_memory: Callable[..., Any], namespace: str, steps: list[tuple[str, str, int]]
) -> None:
    memory = make_memory(f"{namespace}-{uuid.uuid4().hex}", decider=ScriptedDecider(SCRIPT))
    try:
        await replay(memory, steps)
    finally:
        await memory.aclose()


async def replay(memory: Any, steps: list[tuple[str, str, int]]) -> None:
    model, moments = Model(), [clock.now()]
    ids: dict[str, str] = {}
    model.note()
    for number, (what, who, pick) in enumerate(steps):
        city = CITIES[number]
        free = [year for year in YEARS if start(year) not in begins(model.now[who])]
        real = [c for c, (at, end) in model.now[who].items() if end != at]
        if what == "tell" or not real:
            since = start(free[pick % len(free)])
            added = await memory.remember(who, "lives_in", city, valid_from=since)
            ids[city] = added.facts[0].id
            model.tell(who, city, since)
        elif what == "correct":
            old = real[pick % len(real)]
            added = await memory.correct(ids[old], object=city, reason="misheard")
            ids[city] = added.facts[0].id
            model.correct(who, old, city)
        else:
            gone = real[pick % len(real)]
            await memory.forget(fact=ids[gone])
            model.forget(who, gone)
        moments.append(clock.now())
        model.note()
    await check(memory, model, moments)


def begins(held: Held) -> set[datetime]:
    return {at for at, _ in held.values()}


async def check(memory: Any, model: Model, moments: list[datetime]) -> None:
    for who in WHO:
        for moment, state in zip(moments, model.states, strict=True):
            for year in (2000, 2003, 2005, 2008, 2020):
                page = await memory.facts(subject=who, as_of=start(year), known_at=moment)
                wanted = {c for c, (a, e) in state[who].items() if overlaps(a, e, year, year)}
                assert {f.object for f in page.facts} == wanted, (who, year, moment)
            for first, last in ((2000, 2001), (2002, 2004), (2004, 2009)):
                stretch = (start(first), start(last))
                page = await memory.facts(subject=who, between=stretch, known_at=moment)
                wanted = {c for c, (a, e) in state[who].items() if overlaps(a, e, first, last)}
                assert {f.object for f in page.facts} == wanted, (who, first, last)
        for first, last in ((2000, 2005), (2003, 2004), (2001, 2020)):
            found = await memory.diff(start(first), start(last), subject=who)
            assert changes(found) == expected(model.now[who], start(first), start(last))
        for place in (0, len(moments) // 2):
            known = dict(model.states[place][who])
            done = await memory.diff(moments[place], clock="recorded", subject=who)
            assert applied(known, done) == model.now[who]


def overlaps(at: datetime, end: datetime | None, first: int, last: int) -> bool:
    """Whether [at, end) and [first, last) share a moment; one moment if the years are equal."""
    if end is not None and end <= max(at, start(first)):
        return False
    return at < start(last) or at == start(first)


def changes(found: Any) -> list[tuple[datetime, str, str]]:
    assert found.complete
    assert [c.at for c in found.changes] == sorted(c.at for c in found.changes)
    return sorted((c.at, c.kind, c.fact.object) for c in found.changes)


def expected(held: Held, first: datetime, end: datetime) -> list[tuple[datetime, str, str]]:
    real = {city: ends for city, ends in held.items() if ends[0] != ends[1]}
    all_of_them = [(at, "began", city) for city, (at, _) in real.items()]
    all_of_them += [(at, "ended", city) for city, (_, at) in real.items() if at]
    return sorted(each for each in all_of_them if first <= each[0] < end)


def applied(known: Held, done: Any) -> Held:
    """What was known, with all that the memory did since."""
    for each in done.changes:
        assert each.kind in ("recorded", "closed", "moved", "reopened")
        assert (each.kind == "recorded") is (each.fact.object not in known)
        known[each.fact.object] = (each.fact.valid_from, each.valid_until_after)
    return known
