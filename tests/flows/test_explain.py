"""``explain`` on a real Neo4j: the story of a fact from where it came to how it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flow_fakes import ScriptedExtractor, draft

from engram_graph.errors import AmbiguousError, InputError, NotFoundError
from engram_graph.graph.driver import Graph
from engram_graph.models.results import Explanation
from engram_graph.models.story import Decided, Ended, Linked, Now, Questions, Told
from engram_graph.testing.scripted import ScriptedDecider

pytestmark = pytest.mark.anyio
Make = Callable[..., Any]


def on(candidate: str, **p: float) -> list[dict[str, Any]]:
    """The answer about one candidate; others get the default."""
    return [{"candidate": candidate, "p": p}]


def of(kind: type[Any], behind: Explanation) -> list[Any]:
    return [step for step in behind.story if isinstance(step, kind)]


def sound(behind: Explanation) -> Explanation:
    """The story accounts for the belief, and each step can be read."""
    now = behind.story[-1]
    assert isinstance(now, Now)
    assert now.agrees, behind.text
    assert all(step.lines for step in behind.story)
    moments = [step.at for step in behind.story]
    assert moments == sorted(moments)
    return behind


def pair(behind: Explanation) -> Decided:
    (found,) = [s for s in of(Decided, behind) if s.question == "relation_to_candidate"]
    return found


async def test_a_chain_of_three_closed_by_belief(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    ids = []
    for city, before, year in (
        ("Bonn", "x", 2020),
        ("Cork", "Bonn", 2021),
        ("Dover", "Cork", 2022),
    ):
        decider.script = {
            "relation_to_candidate": on(before, update=0.97, new=0.03),
            "relation_second": on(before, contradiction=0.9, new=0.1),
        }
        said = await memory.remember("Ann", "lives_in", city, said_at=f"{year}-01-01", speaker="Bo")
        ids.append(said.facts[0].id)

    middle = sound(await memory.explain(ids[1]))
    assert middle.story[-1].chain == (
        "Ann lives in Bonn",
        "Ann lives in Cork",
        "Ann lives in Dover",
    )
    told, first, second, *_ = middle.story
    assert isinstance(told, Told)
    assert (told.speaker, told.quote, told.extractor) == ("Bo", "Ann lives in Cork", "caller")
    assert isinstance(first, Questions)
    assert (first.backend, first.model, first.of_text) == ("scripted", "scripted-1", None)
    names = [(q.question, q.about) for q in first.questions]
    assert names[:4] == [
        ("fact_kind", None),
        ("temporal_status", None),
        ("durability", None),
        ("sensitivity", None),
    ]
    assert ("relation_to_candidate", ids[0]) in names
    relation = next(q for q in first.questions if q.question == "relation_to_candidate")
    assert relation.options[:3] == ("new", "duplicate", "update")
    assert (relation.version, relation.chosen, relation.p) == (1, "update", 0.97)
    assert relation.about_text == "Ann lives in Bonn"
    assert [q.question for q in second.questions] == ["relation_second"]

    closing, closed = [s for s in of(Decided, middle) if s.question == "relation_to_candidate"]
    assert (closing.newer, closing.other, closed.newer, closed.other) == (
        True,
        ids[0],
        False,
        ids[2],
    )
    assert [gate.name for gate in closed.gates] == [
        "strength",
        "temporal",
        "structure",
        "agreement",
        "order",
    ]
    assert all(gate.passed for gate in closed.gates)
    assert [(p.question, p.label, p.p) for p in closed.change.pieces] == [
        ("relation_to_candidate", "update", 0.97),
        ("relation_second", "contradiction", 0.9),
    ]
    assert closed.change.delta == pytest.approx(-5.6733, abs=1e-4)
    assert closing.change.clamped
    assert "l(0.9800) − l(0.9700) − l(0.9000) = 3.8918 − 3.4761 − 2.1972 = −1.7815" in middle.text
    before, own = of(Ended, middle)
    assert (before.own, before.of_text, own.own) == (False, "Ann lives in Bonn", True)
    assert (own.by, own.reason_after) == (ids[2], "belief")
    assert own.valid_until_after == (await memory.get(ids[2])).valid_from
    assert "It ends 2022-01-01, by “Ann lives in Dover”: its belief fell below 0.25" in middle.text
    assert f"known since {own.at:%Y-%m-%d %H:%M:%S}Z" in middle.text

    first_home = sound(await memory.explain(ids[0]))
    about_it = of(Questions, first_home)[1:]
    assert {q.question for step in about_it for q in step.questions} == {
        "temporal_status",
        "relation_to_candidate",
        "same_attribute",
        "relation_second",
    }
    assert {step.of_text for step in about_it} == {"Ann lives in Cork"}


REFUSALS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "ignored_weak": (
        {"relation_to_candidate": on("Bonn", update=0.45, new=0.4, duplicate=0.15)},
        {},
        "strength",
        "refused: strength: 0.45, needs more than 0.50",
    ),
    "blocked_temporal": (
        {
            "relation_to_candidate": on("Bonn", update=0.97, new=0.03),
            "temporal_status": {"planned": 0.7, "current": 0.2, "past": 0.1},
        },
        {},
        "temporal",
        "refused: time: 0.30, needs 0.85; current 0.20 + past 0.10",
    ),
    "blocked_structure": (
        {"relation_to_candidate": on("kite", update=0.97, new=0.03), "same_attribute": 0.3},
        {},
        "structure",
        "refused: structure: owns has many values at a time; the two are not values of one "
        "relation of one subject; same attribute 0.30, which decides from 0.85",
    ),
    "unconfirmed": (
        {
            "relation_to_candidate": on("Bonn", update=0.97, new=0.03),
            "relation_second": on("Bonn", new=0.6, update=0.4),
        },
        {},
        "agreement",
        "needs 0.85; the second phrasing says new 0.60",
    ),
    "blocked_order": (
        {"relation_to_candidate": on("Bonn", update=0.97, new=0.03)},
        {"valid_from": "2019-03-01"},
        "order",
        "refused: order of dates: the new fact begins 2019-03-01, the old one 2020-01-01",
    ),
}


@pytest.mark.parametrize("outcome", REFUSALS)
async def test_a_refusal_says_which_gate_and_what_it_saw(make_memory: Make, outcome: str) -> None:
    script, more, gate, words = REFUSALS[outcome]
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    known = ("owns", "a kite") if outcome == "blocked_structure" else ("lives_in", "Bonn")
    old = (await memory.remember("Ann", *known, said_at="2020-01-01")).facts[0]
    decider.script = script
    new = (await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01", **more)).facts[0]
    for fact_id, newer in ((old.id, False), (new.id, True)):
        behind = sound(await memory.explain(fact_id))
        refused = pair(behind)
        assert (refused.outcome, refused.newer, refused.change) == (outcome, newer, None)
        assert (refused.gates[-1].name, refused.gates[-1].passed) == (gate, False)
        assert all(each.passed for each in refused.gates[:-1])
        assert words in behind.text
        assert "and changes nothing" in behind.text


async def test_a_dispute_is_told_from_both_sides(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old = (await memory.remember("Ann", "hobby", "chess", said_at="2020-01-01")).facts[0]
    decider.script = {"relation_to_candidate": on("chess", contradiction=0.9, new=0.1)}
    new = (await memory.remember("Ann", "hobby", "no games", said_at="2021-01-01")).facts[0]
    for fact_id, other in ((old.id, "Ann hobby no games"), (new.id, "Ann hobby chess")):
        behind = sound(await memory.explain(fact_id))
        assert f"Disputed: it and “{other}” contradict each other" in behind.text
        assert [(s.type, s.other_text) for s in of(Linked, behind)] == [("CONTRADICTS", other)]
        assert behind.story[-1].state[-1] == "disputed"


async def test_repetition_counts_once_for_each_speaker(make_memory: Make) -> None:
    decider = ScriptedDecider({"worth_remembering": 0.7})
    memory = make_memory(decider=decider)
    for speaker in ("Ann", "Ann", "Bo"):
        said = await memory.remember("Ann", "owns", "a kite", speaker=speaker)
    behind = sound(await memory.explain(said.repeated[0]))
    assert [(t.speaker, t.first) for t in of(Told, behind)] == [
        ("Ann", True),
        ("Ann", False),
        ("Bo", False),
    ]
    again = [s for s in of(Decided, behind) if s.question == "repetition"]
    assert [(s.outcome, s.change is None) for s in again] == [
        ("same_source", True),
        ("applied", False),
    ]
    assert again[1].change.delta == pytest.approx(3.8918, abs=1e-4)
    assert "an answer counts as 0.98 at most" in behind.text
    assert "one more source, no evidence: the same speaker has said so before" in behind.text


async def test_closed_and_reopened(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old = (await memory.remember("Kes", "works_at", "Acme", said_at="2025-01-01")).facts[0]
    decider.script = {"relation_to_candidate": on("works", negates=0.97, new=0.03)}
    await memory.remember(
        "Kes", "related_to", "Acme", said_at="2025-03-01", text="Kes left Acme", speaker="Bo"
    )
    decider.script = {"relation_to_candidate": on("Kes works", duplicate=0.97, new=0.03)}
    await memory.remember(
        "Kes", "works_at", "Acme", valid_from="2025-01-20", text="Kes is at Acme", speaker="Cy"
    )
    behind = sound(await memory.explain(old))
    closed, reopened = of(Ended, behind)
    assert (closed.outcome, reopened.outcome) == ("closed", "reopened")
    assert (reopened.valid_until_before, reopened.valid_until_after) == (
        closed.valid_until_after,
        None,
    )
    assert (reopened.reason_before, reopened.by_text) == ("belief", "Kes is at Acme")
    assert "“Kes left Acme” is taken as a denial of it (0.97)" in behind.text
    assert "belief rose above 0.60; it had ended 2025-03-01" in behind.text
    replayed = [f"{s.change.replayed:.4f}" for s in of(Decided, behind) if s.change]
    assert replayed == ["0.9800", "0.0448", "0.6025"]


async def test_a_fallback_says_what_was_not_answered(make_memory: Make) -> None:
    decider = ScriptedDecider()
    decider.down = None
    memory = make_memory(decider=decider)
    fact = (await memory.remember("Ann", "owns", "a kite")).facts[0]
    behind = sound(await memory.explain(fact))
    (asked,) = of(Questions, behind)
    assert (asked.error, {q.fallback for q in asked.questions}) == ("decision_unavailable", {True})
    assert "gave no answer: decision_unavailable" in behind.text
    assert "belief starts at 0.5000" in behind.text
    assert "No usable answer to fact_kind: decision_unavailable" in behind.text


async def test_asked_again_after_a_fallback(make_memory: Make) -> None:
    decider = ScriptedDecider()
    decider.down = None
    memory = make_memory(decider=decider)
    fact = (await memory.remember("Ann", "owns", "a kite")).facts[0]
    assert "unsettled" in sound(await memory.explain(fact)).story[-1].state
    decider.down = frozenset()
    await memory.resume()
    behind = sound(await memory.explain(fact))
    assert [asked.error for asked in of(Questions, behind)] == ["decision_unavailable", None]
    started, settled = [s for s in of(Decided, behind) if s.change]
    assert (started.question, started.change.replayed) == ("belief_start", 0.5)
    assert (settled.question, settled.chosen) == ("settle", "sure")
    assert "Asked again: worth 1.00, relation new 1.00" in behind.text
    assert "belief 0.50 → 0.98: l(0.5000) + l(1.0000) = 0.0000 + 3.8918 = 3.8918" in behind.text
    assert behind.story[-1].state == ()


async def test_a_correction_tells_its_reason(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider())
    wrong = (await memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")).facts[0]
    right = (await memory.correct(wrong, object="Bern", reason="misheard")).facts[0]
    old, new = sound(await memory.explain(wrong)), sound(await memory.explain(right))
    (end,) = of(Ended, old)
    assert (end.outcome, end.reason_after, end.by, end.why) == (
        "corrected",
        "corrected",
        right.id,
        "misheard",
    )
    assert "by “Ann lives in Bern”: corrected by hand" in old.text
    assert "(misheard)" in old.text
    assert of(Questions, new) == []
    assert "Stored: corrected by hand" in new.text
    assert [(s.own, s.of_text) for s in of(Ended, new)] == [(False, "Ann lives in Bonn")]


async def test_a_plan_that_came_true(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    plan = (await memory.remember("Ann", "plans", "a move to Cork", said_at="2020-01-01")).facts[0]
    decider.script = {"plan_fulfilled": 0.93}
    await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")
    behind = sound(await memory.explain(plan))
    assert "“Ann lives in Cork” says that the plan came true (0.93)" in behind.text
    assert "by “Ann lives in Cork”: the plan came true" in behind.text


async def test_pruned_requests_leave_the_arithmetic(
    make_memory: Make, graph: Graph, namespace: str
) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old = (await memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")).facts[0]
    decider.script = {"relation_to_candidate": on("Bonn", update=0.97, new=0.03)}
    await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")
    await graph.statement(
        "CYPHER 25 MATCH (q:Request) WHERE q.namespace = $n DETACH DELETE q", n=namespace
    )
    behind = sound(await memory.explain(old))
    assert of(Questions, behind) == []
    assert behind.text.count("the answers are no longer kept") >= 2
    assert "l(0.9800) − l(0.9700) − l(0.9700)" in behind.text
    assert pair(behind).kept is False


async def test_a_call_whose_answers_were_all_new_is_told_too(make_memory: Make) -> None:
    """The relation that was decided brings candidates of its own, asked about in a second call."""
    decider = ScriptedDecider({"edge_type": {"lives_in": 0.97, "related_to": 0.03}})
    extractor = ScriptedExtractor([draft("tea tea tea", "Ann|related_to|Cork")])
    memory = make_memory(decider=decider, extractor=extractor)
    home = (await memory.remember("Ann", "lives_in", "Bonn", text="A home by the Rhine")).facts[0]
    await memory.remember_many(
        (
            {"subject": "Zed", "predicate": "owns", "object": f"pot {n}", "text": f"tea tea {n}"}
            for n in range(12)
        ),
        decide=False,
    )
    (fact,) = (await memory.add("Tea!", speaker="Ann")).facts
    behind = sound(await memory.explain(fact))
    first, further = of(Questions, behind)
    assert home.id not in {question.about for question in first.questions}
    assert [(q.question, q.about_text) for q in further.questions] == [
        ("relation_to_candidate", "A home by the Rhine"),
        ("same_attribute", "A home by the Rhine"),
    ]
    assert "relation_to_candidate v1: new 0.97, refinement 0.03 → no evidence" in behind.text


async def test_what_was_forgotten_leaves_what_came_of_it(make_memory: Make) -> None:
    decider = ScriptedDecider()
    memory = make_memory(decider=decider)
    old = (await memory.remember("Ann", "lives_in", "Bonn", said_at="2020-01-01")).facts[0]
    decider.script = {"relation_to_candidate": on("Bonn", update=0.97, new=0.03)}
    new = (await memory.remember("Ann", "lives_in", "Cork", said_at="2021-01-01")).facts[0]
    await memory.forget(fact=new.id)
    behind = sound(await memory.explain(old))
    assert "Cork" not in behind.text
    assert "What moved it is forgotten, what came of that stays" in behind.text
    assert f"belief stays at {behind.fact.belief:.4f}" in behind.text
    (end,) = of(Ended, behind)
    assert (end.outcome, end.reason_after, end.by) == ("forgotten", "belief", None)


async def test_a_fact_is_found_by_id_by_its_start_and_by_what_it_says(
    make_memory: Make, namespace: str
) -> None:
    memory = make_memory(decider=ScriptedDecider())
    gone = (
        await memory.remember(
            "Ann", "lives_in", "Bonn", valid_from="2018-01-01", valid_until="2019-01-01"
        )
    ).facts[0]
    back = (await memory.remember("Ann", "lives_in", "Bonn", valid_from="2021-01-01")).facts[0]
    for reference in (back, back.id, back.id[:8], " ann | lives in|Bonn."):
        assert (await memory.explain(reference)).fact.id == back.id
    assert (await memory.explain(gone.id[:-1])).fact.id == gone.id

    other = (
        await memory.remember(
            "Ann", "lives_in", "Bonn", valid_from="2022-01-01", text="Ann is back"
        )
    ).facts[0]
    with pytest.raises(AmbiguousError, match="several") as found:
        await memory.explain("Ann|lives_in|Bonn")
    assert set(found.value.details["ids"]) == {back.id, other.id}
    assert back.id in found.value.hint

    elsewhere = make_memory(f"{namespace}-other", decider=ScriptedDecider())
    for reference in (back.id, back.id[:8], back.id[:7], "Ann|lives_in|Bonn", "nothing"):
        with pytest.raises(NotFoundError):
            await elsewhere.explain(reference)
    with pytest.raises(NotFoundError):
        await memory.explain(back.id[:7])
    for wrong in ("Ann|lives_in", "a|b|c|d", "Ann|orbits|Bonn", " |lives_in|Bonn", ""):
        with pytest.raises(InputError):
            await memory.explain(wrong)


async def test_only_ended_ones_give_the_last(make_memory: Make) -> None:
    memory = make_memory(decider=ScriptedDecider())
    for year in (2010, 2015, 2012):
        await memory.remember(
            "Ann", "owns", "a kite", valid_from=f"{year}-01-01", valid_until=f"{year + 1}-01-01"
        )
    found = await memory.explain("Ann|owns|a kite")
    assert found.fact.valid_from.year == 2015


async def test_the_story_is_part_of_the_json(memory: Any) -> None:
    fact = (await memory.remember("Ann", "owns", "a kite")).facts[0]
    behind = await memory.explain(fact)
    again = Explanation.model_validate_json(behind.model_dump_json())
    assert again.story == behind.story
    assert {step.kind for step in again.story} == {"told", "questions", "decided", "now"}
