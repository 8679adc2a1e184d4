"""The runner of scenarios itself: what it finds wrong, what it shows, what it leaves behind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation.scenarios import run
from engram_graph.evaluation.scenarios.database import Database
from engram_graph.evaluation.scenarios.format import Scenario
from engram_graph.graph.driver import Graph

pytestmark = pytest.mark.anyio
Act = Callable[..., Any]

HOME = {
    "do": "remember",
    "subject": "Ilka",
    "relation": "lives_in",
    "object": "Tarnfold",
    "said_at": "2025-01-10T09:00:00Z",
    "source_id": "m1",
    "metadata": {"a": 1},
}
AWAY = HOME | {"object": "Ostwick", "said_at": "2025-03-04T09:00:00Z", "source_id": "m2"}
MOVED = {
    "do": "decider",
    "answers": {
        "relation_to_candidate": [
            {"fact": "Ostwick", "candidate": "Tarnfold", "p": {"update": 0.97, "new": 0.03}}
        ]
    },
}
OLD, NEW = "Ilka|lives_in|Tarnfold", "Ilka|lives_in|Ostwick"


@pytest.fixture
def act(settings: Any, namespace: str) -> Act:
    """Runs the steps and checks; what is not as expected, by line."""

    async def acted(*steps: Any, expect: Any = (), **more: Any) -> list[str]:
        one = Scenario.model_validate(
            {"id": "x", "steps": list(steps), "expect": list(expect)} | more
        )
        found = await run.run_one(one, Database(settings), f"{namespace}/")
        assert found.passed is (not found.diff)
        return found.diff.splitlines()

    return acted


def check(name: str, **fields: Any) -> dict[str, Any]:
    return {"check": name} | fields


RIGHT = [
    check("open_facts", facts=[NEW]),
    check(
        "closed_facts", facts=[{"fact": OLD, "reason": "belief", "until": "2025-03-04T09:00:00Z"}]
    ),
    check("supersedes", pairs=[[NEW, OLD]]),
    check("refines", pairs=[]),
    check("same_as", pairs=[]),
    check("disputed", facts=[]),
    check("tentative", facts=[]),
    check("belief", values={OLD: 0.0448, NEW: 0.98}),
    check("valid_from", fact=NEW, **{"is": "2025-03-04T10:00:00+01:00"}),
    check("valid_from", fact=NEW, min="2025-03-04T09:00:00Z", max="2025-03-04T09:00:00Z"),
    check("counts", facts=2, open=1, closed=1, entities=3, messages=2, unfinished=0),
    check("sources", fact=NEW, speakers=["user"], messages=1),
    check("message", source_id="m1", text="Ilka lives in Tarnfold", length=22, ends_with="fold"),
    check("message", source_id="m1", metadata={"a": 1}),
    check("search", query="Where does Ilka live?", include=["Ostwick"], exclude=["Lissport"]),
    check("search", query="Ilka", as_of="2025-02-01", include=["Tarnfold"], exclude=["Ostwick"]),
    check("as_of", valid="2025-02-01T00:00:00Z", facts=[OLD]),
    check("as_of", facts=[NEW]),
    check(
        "history",
        subject="Ilka",
        relation="lives_in",
        intervals=[
            ["Tarnfold", "2025-01-10T09:00:00Z", "2025-03-04T09:00:00Z"],
            ["Ostwick", "2025-03-04T09:00:00Z", None],
        ],
    ),
    check(
        "decisions",
        fact=NEW,
        candidate=OLD,
        question="relation_to_candidate",
        chosen="update",
        outcome="applied",
        backend="scripted",
    ),
    check("decisions", fact=NEW, candidate=OLD, question="relation_second", chosen="update"),
    check("decisions", fact=NEW, question="temporal_status", chosen="current"),
    check("decisions", fact=OLD, question="relation_to_candidate", none=True),
    check("decisions", fact=NEW, question="edge_type", none=True),  # the caller's is final
    check("decisions", fact=NEW, question="worth_remembering", chosen="yes", backend="rule"),
    check("equal", a="main", b="main"),
    check("equal", a="empty", b="void"),
    check("invariants"),
]
WRONG = [
    (check("open_facts", facts=[]), f"not expected {NEW.lower()}#1"),
    (check("open_facts", facts=[NEW, OLD]), f"missing {OLD.lower()}#1"),
    (check("open_facts", facts=[f"{NEW}#2"]), f"missing {NEW.lower()}#2"),
    (check("closed_facts", facts=[]), f"not expected {OLD.lower()}#1"),
    (check("closed_facts", facts=[{"fact": OLD, "reason": "fulfilled"}]), "the reason of"),
    (check("closed_facts", facts=[{"fact": OLD, "until": "2025-03-04"}]), "the end of"),
    (check("supersedes", pairs=[]), "not expected ilka|lives_in|ostwick#1 > ilka"),
    (check("supersedes", pairs=[[OLD, NEW]]), "missing ilka|lives_in|tarnfold#1 > ilka"),
    (check("refines", pairs=[[NEW, OLD]]), "missing"),
    (check("same_as", pairs=[[NEW, OLD]]), "missing"),
    (check("disputed", facts=[OLD]), "missing"),
    (check("tentative", facts=[OLD]), "missing"),
    (check("belief", values={OLD: 0.0447}), f"{OLD} is 0.0448, expected 0.0447"),
    (check("belief", values={"Odo|owns|x": 0.5}), "no fact odo|owns|x#1 among ilka"),
    (check("valid_from", fact=NEW, **{"is": "2025-03-04"}), "expected 2025-03-04T00:00:00+00:00"),
    (check("valid_from", fact=NEW, min="2025-03-05"), "before 2025-03-05"),
    (check("valid_from", fact=NEW, max="2025-03-04"), "after 2025-03-04"),
    (check("counts", facts=3), "facts is 2, expected 3"),
    (check("counts", entities=2, messages=1), "entities is 3, expected 2"),
    (check("counts", ns="other", messages=1), "messages is 0, expected 1"),
    (check("sources", fact=NEW, speakers=["Odo"]), "not expected user"),
    (check("sources", fact=NEW, messages=2), "the number of messages is 1, expected 2"),
    (check("message", source_id="m3"), "0 messages with the source_id 'm3'"),
    (check("message", source_id="m1", text="Ilka"), "text is 'Ilka lives in Tarnfold', expected"),
    (check("message", source_id="m1", length=4), "length is 22, expected 4"),
    (check("message", source_id="m1", ends_with="x"), "the text ends with"),
    (check("message", source_id="m1", metadata={"a": 2}), "metadata is {'a': 1}, expected"),
    (check("search", query="Ilka", include=["Lissport"]), "'Lissport' is in none of"),
    (check("search", query="Ilka", exclude=["Ostwick"]), "'Ostwick' is in 'Ilka"),
    (check("as_of", valid="2025-02-01", facts=[NEW]), "missing"),
    (check("as_of", known="never", facts=[]), "no mark 'never'"),
    (check("history", subject="Ilka", relation="lives_in", intervals=[]), "the line is"),
    (check("decisions", fact=NEW, question="temporal_status", chosen="past"), "not among"),
    (check("decisions", fact=NEW, question="temporal_status", backend="rule"), "not among"),
    (check("decisions", fact=NEW, question="temporal_status", none=True), "there is among"),
    (check("decisions", fact=OLD, question="relation_second"), "not among []"),
    (check("error", step=1, **{"class": "InputError"}), "step 1 raised nothing"),
    (check("equal", a="main", b="void"), "only a holds: "),
]


async def test_what_is_right_passes(act: Act) -> None:
    assert await act(HOME, MOVED, AWAY, expect=RIGHT) == []


async def test_each_check_can_fail(act: Act) -> None:
    found = await act(HOME, MOVED, AWAY, expect=[one for one, _ in WRONG])
    for one, words in WRONG:
        name = one["check"] if "ns" not in one else f"{one['check']} in {one['ns']!r}"
        assert any(words in line and line.startswith(name) for line in found), (words, found)


async def test_a_check_on_the_way_names_its_step(act: Act) -> None:
    now = {"do": "check", "expect": [check("counts", facts=2)]}
    assert await act(HOME, now) == ["at step 2: counts: facts is 1, expected 2"]


async def test_a_step_that_raises_fails_the_scenario_in_words(act: Act) -> None:
    found = await act(HOME, HOME | {"relation": "flies", "source_id": "m2"}, {"do": "resume"})
    (line,) = found
    assert line.startswith("step 2 (remember) raised InputError: unknown predicate")


async def test_an_expected_error_is_compared(act: Act) -> None:
    blank = HOME | {"ns": " "}
    known = HOME | {"said_at": "never"}
    steps = (HOME, blank, known, {"do": "search", "query": "x", "mode": "odd"})
    right = [("ScopeError", 2), ("EngramError", 3), ("InputError", 4)]
    expect = [check("error", step=step, **{"class": name}) for name, step in right]
    assert await act(*steps, expect=expect) == []
    expect[1] = check("error", step=3, **{"class": "ScopeError"})
    (line,) = await act(*steps, expect=expect)
    assert "step 3 raised InputError" in line
    assert line.endswith("expected ScopeError")


async def test_an_error_of_a_step_done_at_once_is_seen(act: Act) -> None:
    together = {"do": "parallel", "steps": [HOME, AWAY | {"subject": ""}]}
    (line,) = await act(together, expect=[check("error", step=1, **{"class": "InputError"})])
    assert line == "error: step 1 raised InputError, and changed what is stored"


async def test_texts_that_should_be_gone_are_found(act: Act) -> None:
    told = HOME | {"metadata": {"deep": ["Qui\nll"]}, "text": "Ilka is at home in Tarnfold"}
    found = await act(told, expect=[check("absent", texts=["Tarnfold", "Qui\nll", "Ostwick"])])
    places = {line.removeprefix("absent: ") for line in found}
    assert {
        "'Tarnfold' is in Fact.text",
        "'Tarnfold' is in Message.text",
        "'Tarnfold' is in Entity.name",
        "'Tarnfold' is in Entity.key",
        "'Tarnfold' is in [LIVES_IN].text",
        "'Tarnfold' is in export 1",
        "'Tarnfold' is in what a search for it finds",
        "'Qui\\nll' is in Message.metadata",
        "'Qui\\nll' is in export 1",
    } <= places
    assert not any("Ostwick" in place for place in places)


async def test_digits_count_as_a_word_not_as_part_of_an_id(act: Act) -> None:
    told = HOME | {"metadata": {"ref": "a4821b 0.4821 is not it"}, "text": "It is 4821."}
    found = await act(told, expect=[check("absent", texts=["4821"])])
    places = {line.removeprefix("absent: ") for line in found}
    assert "'4821' is in Message.text" in places
    assert "'4821' is in export 1" in places
    assert not any("metadata" in place or ".id" in place for place in places)


async def test_a_text_in_the_log_is_found(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = logging.getLogger("engram_graph.flows.write")
    before = run.perform

    async def told(*args: Any) -> None:
        ours.debug("writing %s", "Zellmoor")
        await before(*args)

    monkeypatch.setattr(run, "perform", told)
    expect = [check("absent", texts=["Zellmoor"])]
    assert await act({"do": "resume"}, expect=expect) == ["absent: 'Zellmoor' is in a log line"]
    assert ours.getEffectiveLevel() > logging.DEBUG


async def test_hygiene_asks_the_scripted_decider(act: Act) -> None:
    words = {"speaker": "Bero", "source_id": "m2", "text": "Ilka has a home in Tarnfold"}
    rule = {"fact": "has a home", "candidate": "lives in", "p": 0.9}
    script = {"do": "decider", "answers": {"same_fact": [rule]}}
    linked = [check("same_as", pairs=[[f"{OLD}#2", OLD]])]
    asked = check("decisions", fact=f"{OLD}#2", candidate=OLD, question="same_fact", chosen="yes")
    assert await act(HOME, HOME | words, {"do": "hygiene"}, expect=linked) != []
    given = (HOME, HOME | words, script, {"do": "hygiene"})
    assert await act(*given, expect=[*linked, asked]) == []


async def test_the_decider_is_away_until_it_is_back(act: Act) -> None:
    down = {"do": "decider_down", "only": ["temporal_status"]}
    unsure = {"do": "check", "expect": [check("tentative", facts=[NEW])]}
    steps = (HOME, MOVED, down, AWAY, unsure, {"do": "resume"}, unsure)
    back = ({"do": "decider_up"}, {"do": "resume"})
    expect = [check("open_facts", facts=[NEW]), check("tentative", facts=[])]
    assert await act(*steps, *back, expect=expect) == []


async def test_what_was_recalled_can_be_pasted(act: Act) -> None:
    pasted = {"do": "add", "text": "So: {{context:Where?}}!", "repeat": 2, "source_id": "m3"}
    expect = [check("message", source_id="m3", ends_with="!"), check("counts", messages=2)]
    (line,) = await act(HOME, pasted, expect=[*expect, check("message", source_id="m3", text="")])
    assert line.count("Ilka lives in Tarnfold") >= 1
    assert "{{" not in line


async def test_nothing_is_left_behind(act: Act, graph: Graph, namespace: str) -> None:
    await act(HOME, AWAY | {"ns": "two"}, {"do": "remember"} | HOME | {"said_at": "never"})
    rows = await graph.statement(
        "CYPHER 25 MATCH (n) WHERE n.namespace STARTS WITH $prefix RETURN count(n) AS n",
        prefix=namespace,
    )
    assert rows[0]["n"] == 0


async def test_rules_can_be_asked_for(act: Act) -> None:
    fooled = {"do": "decider", "answers": {"relation_to_candidate": {"duplicate": 1}}}
    expect = [check("open_facts", facts=[NEW])]
    assert await act(HOME, fooled, AWAY, preset="rules", expect=expect) == []
    assert await act(HOME, fooled, AWAY, expect=expect) != []


async def test_a_repeated_run_gives_the_same(settings: Any) -> None:
    steps, expect = [HOME, MOVED, AWAY], [check("counts", facts=2, messages=2)]
    one = Scenario.model_validate({"id": "x", "steps": steps, "expect": expect})
    seen: list[tuple[int, int]] = []
    found = await run.run_all([one, one], Database(settings), progress=lambda *at: seen.append(at))
    assert [each.as_dict() for each in found] == [{"id": "x", "passed": True, "diff": ""}] * 2
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_scenarios_are_chosen_by_id() -> None:
    two = [Scenario.model_validate({"id": i, "steps": [], "expect": []}) for i in "ab"]
    assert run.chosen(two, []) == two
    assert [one.id for one in run.chosen(two, ["b"])] == ["b"]
    with pytest.raises(InputError, match="no scenario 'c'"):
        run.chosen(two, ["c"])
