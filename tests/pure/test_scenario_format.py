"""The form of scenario files, their scripted models, and when two graphs are the same."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import DecisionUnavailableError, ExtractionError, InputError
from engram_graph.evaluation.scenarios import step_form as form
from engram_graph.evaluation.scenarios.equality import differences
from engram_graph.evaluation.scenarios.format import Scenario, load_scenarios
from engram_graph.evaluation.scenarios.scripted import (
    ScriptedDecider,
    ScriptedExtractor,
    rendered,
)
from engram_graph.evaluation.scenarios.world import reference
from engram_graph.graph.inspect import Leaving, Stored
from engram_graph.models.decisions import Answer, Ask
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.rules import questions
from engram_graph.vocabulary import Role

NOW = datetime(2025, 1, 1, tzinfo=UTC)
SAID = {"do": "remember", "subject": "Odo", "relation": "owns", "object": "a kite"}


def scenario(*steps: Any, expect: Any = (), **more: Any) -> dict[str, Any]:
    return {"id": "x", "steps": list(steps), "expect": list(expect)} | more


def test_the_shared_file_is_read_whole() -> None:
    file = Path(__file__).parents[1] / "data" / "scenarios.jsonl"
    found = load_scenarios(file)
    assert [one.id for one in found] == [f"s{number:02}" for number in range(1, 49)]


def test_what_a_step_leaves_out_has_its_default() -> None:
    one = Scenario.model_validate(
        scenario(SAID, {"do": "add", "text": "Hi"}, expect=[{"check": "invariants"}], note="mine")
    )
    remember, add = one.steps
    assert isinstance(remember, form.Remember)
    assert isinstance(add, form.Add)
    assert (remember.ns, remember.speaker, remember.said_at) == ("main", "user", None)
    assert (add.repeat, add.role, add.speaker) == (1, "user", "user")


def test_what_a_call_is_given_is_not_judged() -> None:
    odd = SAID | {"subject": 5, "said_at": [], "metadata": "none", "text": None, "speaker": None}
    (step,) = Scenario.model_validate(scenario(odd)).steps
    assert isinstance(step, form.Remember)
    assert (step.subject, step.said_at, step.metadata, step.text) == (5, [], "none", None)


def test_namespaces_are_found_wherever_they_stand() -> None:
    one = Scenario.model_validate(
        scenario(
            {"do": "parallel", "steps": [SAID | {"ns": "a"}]},
            {"do": "check", "expect": [{"check": "open_facts", "ns": "b", "facts": []}]},
            {"do": "export_import", "ns": "a", "into": "c"},
            expect=[{"check": "equal", "a": "d", "b": "a"}],
        )
    )
    assert one.namespaces() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: no JSON"),
        ("[]", "line 2: no JSON object"),
        (scenario({"do": "fly"}), r"line 2 \(x\): steps.0: .*fly"),
        (scenario(SAID | {"said": "now"}), r"line 2 \(x\): steps.0.remember.said: Extra"),
        (scenario({"do": "remember", "subject": "Odo"}), "steps.0.remember.relation: Field req"),
        (scenario(expect=[{"check": "open_facts"}]), "expect.0.open_facts.facts"),
        (scenario(expect=[{"check": "search", "query": "x", "exlude": []}]), "exlude"),
        (scenario(expect=[{"check": "error", "step": 1, "class": "InputError"}]), "there is none"),
        (
            scenario(SAID, expect=[{"check": "error", "step": 1, "class": "NoError"}]),
            "no such error",
        ),
        (scenario(expect=[{"check": "valid_from", "fact": "a|owns|b"}]), "is, or min and max"),
        (scenario({"do": "decider", "answers": {"worth": 0.5}}), "no such question: worth"),
        (scenario({"do": "decider", "answers": {"fact_kind": 0.5}}), "option: probability"),
        (scenario({"do": "decider", "answers": {"same_fact": {"yes": 1}}}), "is a number"),
        (scenario({"do": "decider", "answers": {"same_fact": 1.5}}), "less than or equal to 1"),
        (scenario({"do": "decider", "answers": {"fact_kind": {"odd": 1}}}), "no option of fact_k"),
        (scenario({"do": "decider", "malformed": {"fact_kind": "odd"}}), "malformed.fact_kind"),
        (scenario({"do": "decider_down", "only": ["worth"]}), "no such question: worth"),
        (scenario({"do": "forget", "fact": "a|owns|b", "entity": "a"}), "forget takes one of"),
        (scenario({"do": "forget"}), "forget takes one of"),
        (scenario(preset="guesses"), "no such preset: guesses"),
        (scenario(id=None), "line 2: id"),
        (scenario(id="first"), "the id 'first' is there twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any, message: str) -> None:
    file = tmp_path / "scenarios.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    file.write_text(json.dumps(scenario(SAID, id="first")) + "\n" + text + "\n")
    with pytest.raises(InputError, match=message) as raised:
        load_scenarios(file)
    assert raised.value.details["line"] == 2


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("Odo|owns|the Kite", "odo|owns|kite#1"),
        ("Odo|owns|kite#2", "odo|owns|kite#2"),
        ("I|owns|C#", "user|owns|c##1"),
        ("Odo|owns|C##3", "odo|owns|c##3"),
        ("a|b|owns|c|d", "a|b|owns|c|d#1"),
    ],
)
def test_references(name: str, normal: str) -> None:
    assert reference(name) == normal


# --- scripted models ---


def fact(text: str) -> Fact:
    return Fact(
        id=text,
        namespace="n",
        subject="Odo",
        subject_key="odo",
        predicate="owns",
        object=text,
        object_key=text,
        text=text,
        valid_from=NOW,
        recorded_at=NOW,
    )


def ask(text: str, *names: str, old: str = "", predicate: str = "owns") -> Ask:
    pairs = {questions.RELATION, questions.SECOND, questions.SAME_ATTRIBUTE}
    return Ask(
        draft=Draft(subject="Odo", predicate=predicate, object="x", text=text),
        valid_from=NOW,
        speaker="Odo",
        role="user",
        message=text,
        questions=tuple(questions.question(n, fact(old) if n in pairs else None) for n in names),
    )


def decider(answers: Any = None, **more: Any) -> ScriptedDecider:
    made = ScriptedDecider(form.Decider(do="decider", answers=answers or {}).answers)
    for name, value in more.items():
        setattr(made, name, value)
    return made


async def answer(made: ScriptedDecider, asked: Ask) -> Answer:
    (found,) = (await made.ask(asked)).answers.values()
    return found


@pytest.mark.anyio
async def test_the_first_rule_that_matches_answers() -> None:
    made = decider(
        {
            "relation_to_candidate": [
                {"fact": "kite", "candidate": "boat", "p": {"update": 0.9, "new": 0.1}},
                {"fact": "kite", "p": {"duplicate": 1}},
            ],
            "worth_remembering": 0.3,
        }
    )
    new, relation = "a red kite", questions.RELATION
    assert (await answer(made, ask(new, relation, old="a boat"))).p("update") == 0.9
    assert (await answer(made, ask(new, relation, old="a cart"))).chosen == "duplicate"
    assert (await answer(made, ask("a drum", relation, old="a boat"))).p("new") == 0.97
    assert (await answer(made, ask("a drum", questions.WORTH))).p("yes") == 0.3


@pytest.mark.anyio
async def test_the_second_phrasing_follows_the_first_unless_scripted() -> None:
    first = {"relation_to_candidate": {"update": 1}}
    rule = [{"fact": "kite", "p": {"new": 1}}]
    both = decider(first | {"relation_second": rule})
    asked = ask("a drum", questions.SECOND, old="a boat")
    assert (await answer(decider(), asked)).chosen == "new"
    assert (await answer(decider(first), asked)).chosen == "update"
    assert (await answer(both, asked)).chosen == "update"
    assert (await answer(both, ask("a kite", questions.SECOND, old="a boat"))).chosen == "new"


@pytest.mark.anyio
@pytest.mark.parametrize("predicate", ["owns", "related_to"])
async def test_the_given_relation_is_likeliest(predicate: str) -> None:
    found = await answer(decider(), ask("x", questions.EDGE_TYPE, predicate=predicate))
    assert found.chosen == predicate
    assert sum(found.probabilities.values()) == pytest.approx(1)


@pytest.mark.anyio
@pytest.mark.parametrize("fault", ["sum", "missing", "nan", "unknown_option"])
@pytest.mark.parametrize("name", [questions.TEMPORAL, questions.WORTH, questions.RELATION])
async def test_a_malformed_answer_falls_back_alone(name: str, fault: str) -> None:
    made = decider(malformed={name: fault})
    asked = ask("a kite", name, questions.KIND, old="a boat")
    spoilt, whole = (await made.ask(asked)).answers.values()
    assert (spoilt.fallback, spoilt.backend, spoilt.probabilities) == (True, "fallback", {})
    assert (whole.fallback, whole.p("bio")) == (False, 0.97)


@pytest.mark.anyio
async def test_a_decider_is_down_for_some_questions_or_all() -> None:
    made = decider(down=frozenset({questions.TEMPORAL}))
    assert await made.ask(ask("x", questions.KIND))
    with pytest.raises(DecisionUnavailableError):
        await made.ask(ask("x", questions.KIND, questions.TEMPORAL))
    made.down = None
    with pytest.raises(DecisionUnavailableError):
        await made.ask(ask("x", questions.KIND))


MESSAGE = Message(
    id="m",
    namespace="n",
    conversation="c",
    speaker="Odo",
    role=Role.USER,
    text="I own a kite.",
    said_at=NOW,
    recorded_at=NOW,
    source_id="m",
)
KITE = {"text": "Odo owns a kite", "subject": "Odo", "relation": "owns", "object": "a kite"}


def replies(*given: Any) -> ScriptedExtractor:
    made = ScriptedExtractor()
    made.script(form.Extractor(do="extractor", replies=given).replies)
    return made


@pytest.mark.anyio
async def test_replies_come_in_turn_and_the_last_again() -> None:
    made = replies([KITE], [KITE | {"object": "a drum"}])
    found = [[d.object for d in await made.extract(MESSAGE, [])] for _ in range(3)]
    assert found == [["a kite"], ["a drum"], ["a drum"]]
    assert await replies().extract(MESSAGE, []) == []


@pytest.mark.anyio
async def test_a_raw_reply_is_read_as_a_models() -> None:
    raw = {"raw": "Well:\n```json\n{{drafts}}\n```", "drafts": [KITE | {"when": "yesterday"}]}
    (draft,) = await replies(raw).extract(MESSAGE, [])
    assert (draft.predicate, draft.object, draft.when) == ("owns", "a kite", "yesterday")
    (draft,) = await replies(raw | {"replace": [["kite", "lamp"]]}).extract(MESSAGE, [])
    assert draft.object == "a lamp"
    with pytest.raises(ExtractionError):
        await replies(raw | {"drop_last": 12}).extract(MESSAGE, [])
    assert await replies([{"subject": "Odo", "text": "x"}]).extract(MESSAGE, []) == []


def test_the_end_is_cut_after_replacing() -> None:
    reply = form.RawReply(raw="abcd", replace=(("cd", "xyz"),), drop_last=1)
    assert rendered(reply) == "abxy"


# --- the same graph ---

ONE, TWO, THREE = (f"0000000{n}-0000-7000-8000-000000000000" for n in (1, 2, 3))


def graph(first: str, second: str, text: str = "b", reason: str = "belief") -> list[Stored]:
    """Two facts, one after the other, and a decision that tells of both by their ids."""
    return [
        Stored("1", "Fact", {"id": first, "namespace": first, "text": "a"}, ()),
        Stored(
            "2",
            "Fact",
            {"id": second, "namespace": first, "text": text},
            (Leaving("SUPERSEDES", "1", {"reason": reason}),),
        ),
        Stored("3", "Request", {"id": first[::-1], "answers": json.dumps({f"q:{second}": 1})}, ()),
    ]


def test_graphs_that_differ_in_ids_and_namespace_are_equal() -> None:
    assert differences(graph(ONE, TWO), graph(TWO, THREE)) == []
    assert differences(graph(ONE, TWO), list(reversed(graph(TWO, THREE)))) == []


@pytest.mark.parametrize(
    "other",
    [
        graph(TWO, THREE, text="c"),
        graph(TWO, THREE, reason="superseded"),
        graph(TWO, THREE)[:2],
        [*graph(TWO, THREE)[:2], replace(graph(TWO, TWO)[2], properties={"answers": "{}"})],
    ],
)
def test_anything_else_tells_graphs_apart(other: list[Stored]) -> None:
    assert differences(graph(ONE, TWO), other)
    assert differences(other, graph(ONE, TWO))


def test_what_an_id_stands_for_tells_graphs_apart() -> None:
    other = graph(TWO, THREE)
    other[2] = replace(other[2], properties={"answers": json.dumps({f"q:{TWO}": 1})})
    assert [line.partition(" {")[0] for line in differences(graph(ONE, TWO), other)] == [
        "only a joins otherwise: Request",
        "only b joins otherwise: Request",
    ]
