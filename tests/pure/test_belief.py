"""Belief in log-odds: the worked examples of the method, and what must hold for any evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.rules.belief import closes, logit, reopens, start, updated, weight
from engram_graph.vocabulary import ClosedReason

probability = st.floats(0.0, 1.0)
gentle = st.lists(st.floats(-1.5, 1.5), max_size=6)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.45, -0.2007),
        (0.55, 0.2007),
        (0.60, 0.4055),
        (0.83, 1.5856),
        (0.85, 1.7346),
        (0.86, 1.8153),
        (0.88, 1.9924),
        (0.90, 2.1972),
        (0.93, 2.5867),
        (0.95, 2.9444),
        (0.96, 3.1781),
        (0.97, 3.4761),
        (0.98, 3.8918),
        (0.99, 3.8918),
        (1.0, 3.8918),
        (0.0, -3.8918),
    ],
)
def test_logit(p: float, expected: float) -> None:
    assert logit(p) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("before", "against", "after", "closed"),
    [
        (0.98, (0.97, 0.97), 0.0448, True),
        (0.50, (0.83, 0.88), 0.0272, True),
        (0.50, (0.96, 0.92), 0.02, True),
        (0.98, (0.96, 0.92), 0.1508, True),
        (0.50, (0.86,), 0.14, True),
        (0.98, (0.86,), 0.8886, False),
        (0.50, (0.55, 0.85), 0.1262, True),
        (0.98, (0.55, 0.85), 0.8762, False),
        (0.98, (0.85, 0.85), 0.6041, False),
        (0.90, (0.85, 0.85), 0.2189, True),
        (0.98, (1.0,), 0.50, False),
        (0.93, (1.0,), 0.2133, True),
        (0.90, (1.0,), 0.1552, True),
        (0.50, (1.0,), 0.02, True),
        (0.98, (0.94, 0.96), 0.1153, True),
        (0.98, (0.90, 0.85), 0.49, False),
    ],
)
def test_evidence_against(
    before: float, against: tuple[float, ...], after: float, closed: bool
) -> None:
    belief = updated(before, -weight(against))
    assert belief == pytest.approx(after, abs=5e-5)
    assert closes(belief) is closed


@pytest.mark.parametrize(
    ("before", "support", "after", "reopened"),
    [
        (0.50, (0.90,), 0.90, True),
        (None, (0.90,), 0.90, True),
        (0.0448, (0.97,), 0.6025, True),
        (0.0272, (0.97,), 0.4745, False),
        (0.0272, (0.97, 0.85), 0.8365, True),
        (0.50, (0.60, 0.60, 0.60), 0.7714, True),
    ],
)
def test_support(
    before: float | None, support: tuple[float, ...], after: float, reopened: bool
) -> None:
    # The closed ones unrounded, as the method computes them.
    exact = {
        0.0448: updated(0.98, -weight((0.97, 0.97))),
        0.0272: updated(0.5, -weight((0.83, 0.88))),
    }
    belief = updated(exact.get(before, before) if before else None, weight(support))
    assert belief == pytest.approx(after, abs=5e-5)
    assert reopens(belief, ClosedReason.BELIEF) is reopened


def test_one_answer_alone_never_closes_a_sure_fact() -> None:
    assert not closes(updated(0.98, -weight((1.0,))))


def test_thresholds_are_strict() -> None:
    assert not closes(0.25)
    assert closes(0.2499)
    assert not reopens(0.60, ClosedReason.BELIEF)


@pytest.mark.parametrize("reason", [r for r in ClosedReason if r != ClosedReason.BELIEF])
def test_only_what_belief_closed_is_reopened(reason: ClosedReason) -> None:
    assert not reopens(0.98, reason)


def test_start() -> None:
    assert (start(True, 0.97), start(False, 0.97), start(False, 1.0)) == (0.50, 0.97, 0.98)


@given(probability, st.floats(-1e3, 1e3))
def test_belief_stays_within_the_clamp(before: float, delta: float) -> None:
    assert 0.02 <= updated(before, delta) <= 0.98


@given(probability, st.floats(0.0, 50.0))
def test_support_never_lowers_and_what_speaks_against_never_raises(
    before: float, delta: float
) -> None:
    inside = min(max(before, 0.02), 0.98)
    assert updated(before, delta) >= inside - 1e-12
    assert updated(before, -delta) <= inside + 1e-12


@given(gentle, st.randoms())
def test_order_of_evidence_does_not_matter_off_the_clamp(deltas: list[float], random) -> None:  # type: ignore[no-untyped-def]
    def after(order: list[float]) -> float | None:
        belief = 0.5
        for delta in order:
            belief = updated(belief, delta)
            if not 0.021 < belief < 0.979:  # the clamp forgets what goes beyond it
                return None
        return belief

    shuffled = list(deltas)
    random.shuffle(shuffled)
    one, other = after(deltas), after(shuffled)
    if one is not None and other is not None:
        assert one == pytest.approx(other, abs=1e-9)
        assert one == pytest.approx(updated(0.5, sum(deltas)), abs=1e-9)
