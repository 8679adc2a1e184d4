"""Labels on a real Neo4j: given, told, carried and forgotten; and what calibration says then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical, exact
from transfer_files import graph_of, lines_of, of, write

from engram_graph.errors import AmbiguousError, InputError, NotFoundError, ScopeError
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Decision
from engram_graph.models.facts import Fact
from engram_graph.models.feedback import Calibration, QuestionCalibration
from engram_graph.models.story import Labelled
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., AsyncMemory]
RELATION = "relation_to_candidate"


async def moved(
    memory: AsyncMemory, decider: ScriptedDecider, who: str, p: float, label: str = "update"
) -> tuple[Fact, Fact]:
    """Somebody lives in Bonn, and then (with probability ``p``) in Cork; both facts."""
    decider.script = {}
    old = (await memory.remember(who, "lives_in", "Bonn", said_at="2025-01-01")).facts[0]
    decider.script = {
        name: [{"candidate": f"{who} lives", "p": {label: p, "new": round(1 - p, 4)}}]
        for name in (RELATION, "relation_second")
    }
    new = (await memory.remember(who, "lives_in", "Cork", said_at="2025-02-01")).facts[0]
    return await memory.get(old.id), new


def question(found: Calibration, name: str) -> QuestionCalibration:
    return next(each for each in found.questions if each.question == name)


async def relation(memory: AsyncMemory, fact: Fact) -> Decision:
    behind = await memory.explain(fact.id)
    return next(each for each in behind.decisions if each.question == RELATION)


# -- giving ---------------------------------------------------------------------------------------


async def test_a_label_says_how_the_fact_stood_and_changes_nothing(
    make_memory: Make, namespace: str
) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, new = await moved(memory, decider, "Ann", 0.97)
    graph = await graph_of(memory)
    before = await canonical(graph, namespace)
    first = await memory.feedback(old, "right", why="She moved", by="Bo")
    second = await memory.feedback("Ann|lives_in|Cork", "wrong")
    assert (first.fact_id, first.decision_id, first.verdict) == (old.id, None, "right")
    assert (first.why, first.given_by, first.namespace) == ("She moved", "Bo", namespace)
    assert (first.open, first.closed_reason, first.belief) == (False, "belief", old.belief)
    assert (second.fact_id, second.open, second.why) == (new.id, True, None)
    assert first.given_at < second.given_at
    assert await canonical(graph, namespace) == before
    assert (await memory.get(old.id)) == old


async def test_the_story_tells_labels_of_the_fact_and_of_its_decisions(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, new = await moved(memory, decider, "Ann", 0.97)
    decided = await relation(memory, old)
    await memory.feedback(old, "right", why="She moved", by="Bo")
    given = await memory.feedback(None, "wrong", decision=decided.id)
    assert (given.decision_id, given.fact_id, given.open, given.belief) == (decided.id, *[None] * 3)
    behind = await memory.explain(old.id)
    assert [each.id for each in behind.feedback][1:] == [given.id]
    steps = [step for step in behind.story if isinstance(step, Labelled)]
    assert [step.lines for step in steps] == [
        ("The fact, then ended, was called right by Bo: She moved.",),
        ("The decision “relation to candidate: update” was called wrong.",),
    ]
    assert "was called right by Bo" in behind.text
    other = await memory.explain(new.id)
    assert [each.decision_id for each in other.feedback] == [decided.id]


async def test_a_credential_in_a_label_is_taken_out(make_memory: Make) -> None:
    memory = make_memory()
    fact = (await memory.remember("Ann", "owns", "a kite")).facts[0]
    given = await memory.feedback(fact, "right", why="my password is hunter2!x9")
    assert given.why is not None
    assert "hunter2" not in given.why


async def test_what_cannot_be_labelled_is_refused(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider())
    fact = (await memory.remember("Ann", "owns", "a kite")).facts[0]
    await memory.remember("Ann", "owns", "a kite", text="There is a kite that is Ann's")
    with pytest.raises(InputError, match="no verdict: 'maybe'"):
        await memory.feedback(fact, "maybe")
    with pytest.raises(InputError, match="one of them"):
        await memory.feedback(fact, "right", decision="d")
    with pytest.raises(InputError, match="one of them"):
        await memory.feedback(None, "right")
    with pytest.raises(InputError, match="why is blank"):
        await memory.feedback(fact, "right", why=" ")
    with pytest.raises(NotFoundError, match="no fact"):
        await memory.feedback("00000000-nothing", "right")
    with pytest.raises(NotFoundError, match="no decision 'd'"):
        await memory.feedback(None, "right", decision="d")
    with pytest.raises(NotFoundError):
        await memory.feedback(fact, "right", namespace=f"{memory.namespace}-other")
    with pytest.raises(AmbiguousError):
        await memory.feedback("Ann|owns|a kite", "right")
    with pytest.raises(ScopeError):
        await memory.feedback(fact, "right", namespace="")
    for bound in (0, 1, 0.0001, True, "x"):
        with pytest.raises(InputError, match="bound must be a share"):
            await memory.calibrate(bound=bound)  # type: ignore[arg-type]
    assert (await memory.calibrate()).labels == 0


# -- what passes through --------------------------------------------------------------------------


async def test_a_copy_has_the_labels(make_memory: Make, namespace: str, tmp_path: Path) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, _ = await moved(memory, decider, "Ann", 0.97)
    await memory.feedback(old, "right", why="She moved", by="Bo")
    await memory.feedback(None, "wrong", decision=(await relation(memory, old)).id)
    path, copy = tmp_path / "a.jsonl", f"{namespace}-copy"
    await memory.export(path)
    for _ in range(2):  # a second time nothing is added
        await memory.import_(path, namespace=copy)
        assert await exact(await graph_of(memory), copy) == await exact(
            await graph_of(memory), namespace
        )
    there = await memory.calibrate(namespace=copy)
    assert there == (await memory.calibrate()).model_copy(update={"namespace": copy})
    assert there.used == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision_id": None, "fact_id": None}, "about a fact or a decision"),
        ({"belief": None}, "says how it stood"),
        ({"verdict": "maybe"}, "verdict"),
        ({"fact_id": "00000000-0000-4000-8000-000000000000"}, "not in the file before it"),
    ],
)
async def test_a_file_with_a_wrong_label_is_refused(
    make_memory: Make, namespace: str, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    memory, path = make_memory(), tmp_path / "a.jsonl"
    await memory.feedback((await memory.remember("Ann", "owns", "a kite")).facts[0], "right")
    await memory.export(path)
    lines = lines_of(path)
    next(of(lines, "feedback"))["feedback"] |= change
    with pytest.raises(InputError, match=message):
        await memory.import_(write(path, lines), namespace=f"{namespace}-copy")


async def test_labels_are_forgotten_with_what_they_are_about(
    make_memory: Make, namespace: str
) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, new = await moved(memory, decider, "Ann", 0.97)
    await memory.feedback(old, "right", why="She moved to Cork")
    await memory.feedback(None, "right", decision=(await relation(memory, old)).id)
    await memory.feedback(new, "right")
    await memory.forget(fact=old)
    left = await memory.query("labels_given")
    assert [row["fact_id"] for row in left] == [new.id]
    await memory.forget(everything=True)
    assert await exact(await graph_of(memory), namespace) == []


async def test_what_is_labelled_while_it_is_forgotten(make_memory: Make, namespace: str) -> None:
    """Either the label goes with the fact, or it comes too late."""
    memory, other = make_memory(decider=ScriptedDecider()), make_memory(decider=ScriptedDecider())
    facts = [(await memory.remember("Ann", "owns", f"kite {n}")).facts[0] for n in range(6)]
    for fact in facts:
        gone, given = await asyncio.gather(
            memory.forget(fact=fact), other.feedback(fact, "right"), return_exceptions=True
        )
        assert not isinstance(gone, BaseException)
        assert not isinstance(given, BaseException) or isinstance(given, NotFoundError)
    assert await memory.query("labels_given") == []
    assert await exact(await graph_of(memory), namespace) == []


async def test_a_label_on_nothing_goes_with_the_namespace(
    make_memory: Make, namespace: str
) -> None:
    memory = make_memory()
    await memory.remember("Ann", "owns", "a kite")
    await (await graph_of(memory)).statement(
        "CREATE (:Feedback {id: $namespace, namespace: $namespace, verdict: 'right', "
        "given_at: datetime('2025-01-01T00:00Z')})",
        namespace=namespace,
    )
    await memory.forget(everything=True)
    assert await exact(await graph_of(memory), namespace) == []


# -- calibration ----------------------------------------------------------------------------------


async def test_the_figures_of_known_answers(make_memory: Make) -> None:
    """Ten closes of .97, of which one is wrong, and five refused answers of .4, all wrong."""
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    for number in range(10):
        old, _ = await moved(memory, decider, f"Ann {number}", 0.97)
        assert not old.open
        await memory.feedback(old, "wrong" if number == 0 else "right")
    for number in range(5):
        kept, _ = await moved(memory, decider, f"Bo {number}", 0.4)
        assert kept.open
    # .4 is no answer: "new" is likelier; a weak contradiction is one, and is refused.
    for number in range(5):
        decider.script = {}
        kept = (await memory.remember(f"Cy {number}", "lives_in", "Bonn")).facts[0]
        p = {"update": 0.45, "new": 0.4, "duplicate": 0.15}
        decider.script = {RELATION: [{"candidate": f"Cy {number} lives", "p": p}]}
        await memory.remember(f"Cy {number}", "lives_in", "Cork")
        await memory.feedback(kept, "right")
    found = await memory.calibrate(bound=0.2)
    asked = question(found, RELATION)
    assert (found.labels, found.used, asked.labelled, asked.enough) == (15, 15, 15, False)
    assert asked.accuracy == pytest.approx(9 / 15)
    assert asked.confidence == pytest.approx((10 * 0.97 + 5 * 0.45) / 15)
    assert asked.ece == pytest.approx(10 / 15 * abs(0.9 - 0.97) + 5 / 15 * 0.45)
    assert asked.brier == pytest.approx((9 * 0.03**2 + 0.97**2 + 5 * 0.45**2) / 15)
    assert [(b.low, b.n, b.accuracy) for b in asked.bins if b.n] == [(0.4, 5, 0), (0.9, 10, 0.9)]
    assert asked.meets is not None
    assert (asked.meets.value, asked.meets.kept, asked.meets.wrong) == (0.97, 10, 1)
    assert asked.shown is None  # ten labels show no 20 %
    closes = found.closes
    assert (closes.labelled, closes.wrong, closes.rate) == (10, 1, pytest.approx(0.1))
    assert closes.by_belief is not None
    assert closes.by_belief.kept == 10
    assert closes.by_belief.value < 0.25
    assert closes.by_probability is not None
    assert (closes.by_probability.value, closes.by_probability.wrong) == (0.97, 1)
    assert (await memory.calibrate(bound=0.05)).closes.by_probability is None
    assert question(found, "belief").labelled == 15


async def test_a_label_on_the_close_stays_after_it_was_taken_back(make_memory: Make) -> None:
    """Once the fact is open again a label on it tells of that; the close itself keeps its own."""
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, _ = await moved(memory, decider, "Ann", 0.97)
    behind = await memory.explain(old.id)
    close = next(each for each in behind.decisions if each.question == "close")
    decider.script = {RELATION: [{"candidate": "Bonn", "p": {"duplicate": 0.98, "new": 0.02}}]}
    await memory.remember(
        *("Ann", "lives_in", "Bonn"),
        text="Ann still lives in Bonn",
        speaker="Bo",
        said_at="2025-02-02",
        valid_from="2025-01-01",
    )
    assert (await memory.get(old.id)).open
    await memory.feedback(old, "right")
    assert question(await memory.calibrate(), RELATION).labelled == 0
    await memory.feedback(None, "wrong", decision=close.id)
    found = await memory.calibrate()
    assert (question(found, RELATION).labelled, question(found, RELATION).accuracy) == (1, 0)
    assert (found.closes.labelled, found.closes.wrong) == (1, 1)


async def test_a_decisions_own_label_comes_first(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old, _ = await moved(memory, decider, "Ann", 0.97)
    await memory.feedback(old, "wrong")
    assert question(await memory.calibrate(), RELATION).accuracy == 0
    await memory.feedback(None, "right", decision=(await relation(memory, old)).id)
    asked = question(await memory.calibrate(), RELATION)
    assert (asked.labelled, asked.accuracy) == (1, 1)
    await memory.feedback(old, "right")  # of two labels on one thing the last one counts
    assert (await memory.calibrate()).closes.wrong == 0


def test_blocking(sync_memory: Any) -> None:
    fact = sync_memory.remember("Ann", "owns", "a kite").facts[0]
    assert sync_memory.feedback(fact, "wrong").verdict == "wrong"
    found = sync_memory.calibrate()
    assert (found.labels, found.closes.labelled, found.needed) == (1, 0, 59)
