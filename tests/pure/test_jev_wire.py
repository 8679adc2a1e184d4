"""What is sent to the decision API, and which replies are believed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jevcompat.client import Response
from jevcompat.mock import MockConfig, respond, validate_request
from jevcompat.validate import validate_success

from engram_graph.adapters import jev_wire as wire
from engram_graph.adapters.jev import endpoint
from engram_graph.adapters.network_decider import TooLargeError
from engram_graph.errors import (
    ConfigurationError,
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
)
from engram_graph.models.decisions import Ask, Question
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Draft, Entity, Fact
from engram_graph.questions import build
from engram_graph.questions.build import Worded
from engram_graph.questions.wording import WORDINGS
from engram_graph.rules import questions as about
from engram_graph.rules.questions import NAMES, question, same_entity

T0 = datetime(2025, 3, 4, 9, tzinfo=UTC)
PAIR = {about.RELATION, about.SECOND, about.SAME_ATTRIBUTE, about.PLAN_FULFILLED, about.RELEVANT,
        about.SAME_FACT}  # fmt: skip


def fact(number: int = 1, text: str = "Odo lives in Marrowby", **more: Any) -> Fact:
    return Fact(
        id=f"0190-{number}", namespace="n", subject="Odo", subject_key="odo",
        predicate="lives_in", object="Marrowby", object_key="marrowby", text=text,
        valid_from=T0, recorded_at=T0, **more,
    )  # fmt: skip


def ask_of(*questions: Question, message: str = "I moved to Ostwick.", **draft: Any) -> Ask:
    made = {"subject": "Odo", "predicate": "lives_in", "object": "Ostwick"}
    made |= {"text": "Odo lives in Ostwick"} | draft
    return Ask(Draft(**made), T0, "Odo", "user", message, questions)


def everything() -> Ask:
    return ask_of(*(question(name, fact() if name in PAIR else None) for name in NAMES))


def choice_of(*options: str) -> Worded:
    asked = Question("colour", "choice", options=options)
    return Worded("q1", asked, "Which?", dict.fromkeys(options, "it"), "", ())


NOUL = Worded("q1", Question("rain", "noul"), "Rain?", {"true": "y", "false": "n"}, "", ())
THREE = choice_of("a", "b", "c")


def reply(answer: Any, **more: Any) -> bytes:
    return json.dumps({"model": "m", "answers": {"q1": answer}} | more).encode()


def chosen(probabilities: dict[str, Any], choice: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "choice", "choice": choice, "probabilities": probabilities} | more


# Wording and building


def test_every_question_has_a_wording_for_each_of_its_options() -> None:
    assert set(WORDINGS) == {*NAMES, about.SAME_ENTITY}
    for name in NAMES:
        asked, worded = question(name), WORDINGS[name]
        options = ("true", "false") if asked.type == "noul" else asked.options
        assert set(worded.criteria) == set(options), name
        assert worded.version == asked.version
        assert ("{known}" in worded.instructions) == (name in PAIR)
        instructions, criteria = worded.filled("known_1")
        for part in worded.reads:
            assert any(f"`{part}" in text for text in (instructions, *criteria.values()))


def test_both_phrasings_of_the_relation_share_their_rubrics() -> None:
    first, second = WORDINGS[about.RELATION], WORDINGS[about.SECOND]
    assert first.criteria == second.criteria
    assert first.instructions != second.instructions


def test_a_request_is_valid_portable_and_in_fixed_order() -> None:
    ask = everything()
    items = build.worded(ask)
    body = json.loads(wire.request_body("jev-1.13.0", build.state(ask, items), items))
    strict = {"strict-ids", "forbid-extra", "string-only-text", "noul-two-sided", "cap-64",
              "noul-needs-instructions", "no-null-description"}  # fmt: skip
    assert validate_request(body, MockConfig(faults=frozenset(strict))) == []
    assert [item.question for item in items] == list(ask.questions)
    for item in items:
        sent = body["questions"][item.id]
        options = ("true", "false") if item.question.type == "noul" else item.question.options
        assert tuple(sent["criteria"]) == options
        texts = [sent["instructions"], *sent["criteria"].values()]
        assert all(isinstance(text, str) and text and "{" not in text for text in texts)
        assert item.question.name not in item.id
    assert json.dumps(body["state"]).count("Marrowby") == 2  # one candidate, once: text and object


def test_the_state_holds_what_is_asked_about_and_only_that() -> None:
    query = ask_of(question(about.RELEVANT, fact(valid_until=T0)), message="Where is home?")
    assert build.state(query, build.worded(query)) == {
        "query": "Where is home?",
        "known_1": {
            "text": "Odo lives in Marrowby", "subject": "Odo", "object": "Marrowby",
            "valid_from": "2025-03-04", "valid_until": "2025-03-04",
        },
    }  # fmt: skip
    sentence = ask_of(question(about.WORTH_SENTENCE))
    assert set(build.state(sentence, build.worded(sentence))) == {"message"}


def test_two_entities_are_told_with_their_names_and_some_facts() -> None:
    odo = Entity(id="e1", namespace="n", key="odo", name="Odo", aliases=("The Boss",))
    other = Entity(id="e2", namespace="n", key="odo kern", name="Odo Kern")
    facts = tuple(fact(text=f"Odo owns hat {n}") for n in range(build.PAIR_FACTS + 1))
    asked = same_entity(Profile(odo, facts), Profile(other))
    ask = ask_of(
        question(about.SAME_FACT, fact()), asked, same_entity(Profile(other), Profile(odo))
    )
    items = build.worded(ask)
    assert [item.known for item in items] == ["known_1", "known_2", "known_3"]
    assert asked.id == "same_entity:e1:e2"
    assert "`first` and `second` of `known_2`" in items[1].instructions
    state = build.state(ask, items)
    assert state["known_2"] == {
        "first": "Odo, also called The Boss",
        "known_of_first": "; ".join(f"Odo owns hat {n}" for n in range(build.PAIR_FACTS)),
        "second": "Odo Kern",
        "known_of_second": "",
    }
    body = json.loads(wire.request_body("jev-1.13.0", state, items))
    assert validate_request(body, MockConfig()) == []
    assert build.worded(ask_of(Question(about.SAME_ENTITY, "noul"))) == ()
    assert [len(half) for half in build.halves(items)] == [2, 1]


def test_unknown_questions_have_no_wording() -> None:
    odd = (
        Question("mood", "choice", options=("good", "bad")),
        Question("rain", "noul"),
        question(about.RELATION),  # with no candidate
        replace(question(about.KIND), options=("bio", "nonsense")),
        replace(question(about.WORTH), version=99),
    )
    assert build.worded(ask_of(*odd)) == ()


def test_long_and_broken_text_is_cut_and_mended() -> None:
    quote = "I moved to Ostwick"
    message = "x" * 50_000 + quote + "y" * 50_000
    ask = ask_of(question(about.WORTH), message=message, quote=quote, text="\ud800" * 9_000)
    state = build.state(ask, build.worded(ask))
    sent = state["message"]
    assert isinstance(sent, dict)
    assert quote in sent["text"]
    assert len(sent["text"]) == build.MAX_MESSAGE_CHARS
    assert len(wire.request_body("m", state, build.worded(ask))) < 25_000
    for where in ("start", "end"):
        text = quote + "x" * 9_000 if where == "start" else "x" * 9_000 + quote
        ask = ask_of(question(about.WORTH), message=text, quote=quote)
        assert quote in str(build.state(ask, build.worded(ask))["message"])


def test_halves_keep_the_questions_on_a_candidate_together() -> None:
    pairs = [question(name, fact(n)) for n in range(3) for name in (about.RELATION, about.SECOND)]
    items = build.worded(ask_of(question(about.WORTH), question(about.KIND), *pairs))
    first, second = build.halves(items)
    assert [*first, *second] == list(items)
    assert [item.known for item in first] == ["", "", "known_1", "known_1"]
    assert [len(part) for part in build.halves(second[:2])] == [1, 1]
    assert [len(part) for part in build.halves(first[:2])] == [1, 1]


# Replies


@given(data=st.data(), count=st.integers(2, 255), confident=st.booleans())
def test_any_valid_reply_rounded_to_two_decimals_is_accepted(
    data: st.DataObject, count: int, confident: bool
) -> None:
    seed = data.draw(st.randoms(use_true_random=False))
    power = data.draw(st.sampled_from([0.1, 1, 8]))
    weights = [seed.random() ** power + 1e-9 for _ in range(count)]
    options = [f"o{number}" for number in range(count)]
    exact = {key: weight / sum(weights) for key, weight in zip(options, weights, strict=True)}
    choice = max(exact, key=exact.__getitem__)
    answer = chosen({key: round(p, 2) for key, p in exact.items()}, choice)
    if confident:
        answer["confidence"] = round(max(exact.values()), 2)
    read = wire.read_reply(reply(answer), [choice_of(*options)])
    assert read.faults == {}
    assert list(read.answers["colour"].probabilities) == options


@given(st.floats(0, 1))
def test_any_noul_is_accepted_as_it_is(p: float) -> None:
    answer = wire.read_reply(reply({"type": "noul", "noul": p}), [NOUL]).answers["rain"]
    assert answer.probabilities == {"yes": p, "no": 1.0 - p}
    assert (answer.backend, answer.fallback) == ("jev", False)


@given(st.integers(0, 10_000))
def test_the_mock_and_its_own_checker_agree(seed: int) -> None:
    ask = ask_of(*(question(name) for name in (about.WORTH, about.KIND, about.EDGE_TYPE)),
                 message=str(seed))  # fmt: skip
    items = build.worded(ask)
    body = json.loads(wire.request_body("mock", build.state(ask, items), items))
    raw = json.dumps(respond(MockConfig(), body)).encode()
    assert wire.read_reply(raw, items).faults == {}
    response = Response(200, {"content-type": "application/json"}, raw, 0.0, json.loads(raw))
    assert validate_success(body, response) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "boolean", "noul": 0.5},
        {"noul": 0.5},
        {"type": "noul"},
        {"type": "noul", "noul": 1.01},
        {"type": "noul", "noul": -0.01},
        {"type": "noul", "noul": True},
        {"type": "noul", "noul": "0.5"},
        {"type": "noul", "noul": None},
        {"type": "noul", "noul": 10**400},
        0.5,
        None,
    ],
)
def test_a_broken_noul_is_a_fallback(answer: Any) -> None:
    read = wire.read_reply(reply(answer), [NOUL])
    assert read.answers["rain"].fallback
    assert read.answers["rain"].probabilities == {}
    assert "rain" in read.faults


@pytest.mark.parametrize(
    "answer",
    [
        chosen({"a": 0.9, "b": 0.1}),
        chosen({"a": 0.9, "b": 0.1, "c": 0.0, "d": 0.0}),
        chosen({"A": 0.9, "b": 0.1, "c": 0.0}),
        chosen({"a": 0.9, "b": 0.2, "c": 0.1}),
        chosen({"a": 0.6, "b": 0.1, "c": 0.1}),
        chosen({"a": 0.931, "b": 0.1, "c": 0.0201}),
        chosen({"a": 0.4, "b": 0.5, "c": 0.1}),
        chosen({"a": 0.9, "b": 0.1, "c": 0.0}, "d"),
        chosen({"a": 0.9, "b": 0.1, "c": 0.0}, ["a"]),  # type: ignore[arg-type]
        chosen({"a": 1.1, "b": -0.1, "c": 0.0}),
        chosen({"a": True, "b": False, "c": False}),
        chosen({"a": "0.9", "b": 0.1, "c": 0.0}),
        chosen({"a": 0.9, "b": 0.1, "c": 0.0}, confidence=1.5),
        chosen({"a": 0.9, "b": 0.1, "c": 0.0}, confidence=None),
        chosen([0.9, 0.1, 0.0]),  # type: ignore[arg-type]
        {"type": "choice", "choice": "a"},
        {"type": "noul", "noul": 0.5},
    ],
)
def test_a_broken_choice_is_a_fallback(answer: Any) -> None:
    assert wire.read_reply(reply(answer), [THREE]).answers["colour"].fallback


@pytest.mark.parametrize(
    "answer",
    [
        chosen({"c": 0.05, "a": 0.9, "b": 0.1}),  # a sum of 1.05, in another order
        chosen({"a": 0.495, "b": 0.5, "c": 0.005}),  # a tie before rounding
        chosen({"a": 1, "b": 0, "c": 0}, note="ignored"),
    ],
)
def test_what_rounding_does_is_allowed(answer: Any) -> None:
    read = wire.read_reply(reply(answer), [THREE])
    assert read.answers["colour"].probabilities == {k: answer["probabilities"][k] for k in "abc"}


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b"null", b"{}", b'{"answers": []}', b"\xff\xfe", b"<html>",
        b")]}'\n{\"answers\": {}}", b'{"answers": {"q1": {"type": "noul", "noul": NaN}}}',
        b'{"answers": {}, "x": Infinity}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_broken_envelope_rejects_all(raw: bytes) -> None:
    with pytest.raises(DecisionInvalidError):
        wire.read_reply(raw, [NOUL])


def test_one_fault_leaves_the_other_answers_standing() -> None:
    ask = everything()
    items = build.worded(ask)
    body = json.loads(wire.request_body("mock", build.state(ask, items), items))
    given = respond(MockConfig(), body)
    given["answers"]["q2"]["probabilities"]["lives_in"] = 2
    del given["answers"]["q3"]
    given["answers"]["nobody_asked"] = {"type": "noul", "noul": 1}
    read = wire.read_reply(json.dumps(given).encode(), items)
    assert list(read.faults) == [items[1].question.id, items[2].question.id]
    assert read.extra == 1
    assert list(read.answers) == [item.question.id for item in items]


@pytest.mark.parametrize(
    ("usage", "tokens", "cost"),
    [
        ({"input_tokens": 1_000_000, "output_tokens": 5}, 1_000_000, 0.042),
        ({"input_tokens": 1000.0}, 1000, 0.000042),
        ({"input_tokens": 1000.5}, None, None),
        ({"input_tokens": -1}, None, None),
        ({"input_tokens": True}, None, None),
        ({"input_tokens": "9"}, None, None),
        ({"input_tokens": 1000, "cost": 0.5}, 1000, 0.5),
        ({"input_tokens": 1000, "cost": -1}, 1000, 0.000042),
        ({"cost": 0.25}, None, 0.25),
        ({}, None, None),
        ([], None, None),
        (None, None, None),
    ],
)
def test_usage(usage: Any, tokens: int | None, cost: float | None) -> None:
    read = wire.read_reply(reply({"type": "noul", "noul": 1}, usage=usage), [NOUL])
    assert read.tokens == tokens
    assert read.cost_usd == (None if cost is None else pytest.approx(cost))
    assert not read.faults


# Failures


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (400, {"detail": {"error_type": "api_usage_error", "message": "Unknown model: x"}},
         DecisionError, "Unknown model: x"),
        (400, {"detail": "Too many choices."}, DecisionError, "Too many choices."),
        (401, {"detail": {"error_type": "authentication_error"}}, DecisionUnavailableError,
         "authentication_error"),
        (401, {"error": "bad key"}, DecisionUnavailableError, "bad key"),
        (401, "Unauthorized", DecisionUnavailableError, "Unauthorized"),
        (402, {"error": {"message": "no credit", "code": 402}}, DecisionUnavailableError,
         "no credit"),
        (403, {"message": "no key", "detail": "later"}, DecisionUnavailableError, "no key"),
        (404, {"detail": "Not Found"}, DecisionUnavailableError, "Not Found"),
        (422, {"detail": [{"loc": ["body", "state"], "msg": "Field required", "type": "missing"},
                          {"msg": "and more"}, 7]}, DecisionError,
         "body.state: Field required; and more"),
        (429, {}, DecisionUnavailableError, "{}"),
        (502, "<html>\n<p>Bad gateway", DecisionUnavailableError, "<html> <p>Bad gateway"),
        (529, {"detail": {"error_type": "system_overloaded"}}, DecisionUnavailableError,
         "system_overloaded"),
        (418, "x" * 900, DecisionError, "x" * 200),
        (307, "", DecisionUnavailableError, "redirects"),
        (204, "", DecisionInvalidError, "204"),
        (400, [1], DecisionError, "[1]"),
    ],
)  # fmt: skip
def test_failures_are_read(status: int, body: Any, kind: type[Exception], said: str) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    error = wire.failure(status, raw, request_id="req_1")
    assert type(error) is kind
    assert said in error.message
    assert "x" * 201 not in error.message
    assert error.details["status"] == status
    assert error.details["request_id"] == "req_1"
    if status in (401, 402, 403, 404):
        assert error.hint


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"detail": {"error_type": "max_tokens_exceeded"}}),
        (400, {"detail": {"error_type": "max_tokens_exceeded", "message": "too long"}}),
        (413, "<html>"),
        (400, {"error": {"message": 'HTTP 400: {"detail":{"error_type":"max_tokens_exceeded"}}'}}),
    ],
)
def test_too_large_is_told_apart(status: int, body: Any) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    with pytest.raises(TooLargeError):
        wire.failure(status, raw, request_id=None)


def test_a_key_that_a_server_repeats_is_taken_out() -> None:
    error = wire.failure(401, b'{"error": "wrong: sk-1"}', request_id=None, secret="sk-1")
    assert error.message.endswith("wrong: ***")
    error = wire.failure(500, b" " * 796 + b"sk-1", request_id=None, secret="sk-1")
    assert error.message.endswith("500: ***")


# Addresses


@pytest.mark.parametrize(
    ("base", "model", "url", "name"),
    [
        ("https://api.typesafe.ai/", "jev-1.13.0",
         "https://api.typesafe.ai/v1/systemone", "jev-1.13.0"),
        ("http://127.0.0.1:8787/v1", "mock", "http://127.0.0.1:8787/v1/systemone", "mock"),
        ("https://jev.example/x/v1/systemone", "m", "https://jev.example/x/v1/systemone", "m"),
        ("https://openrouter.ai/api", "jev-1.13.0",
         "https://openrouter.ai/api/v1/systemone", "jev-1.13"),
        ("https://openrouter.ai", "jev-latest",
         "https://openrouter.ai/api/v1/systemone", "jev-latest"),
        ("https://openrouter.ai/api/v1", "jev-1.13",
         "https://openrouter.ai/api/v1/systemone", "jev-1.13"),
        ("https://openrouter.ai/api/alpha", "jev-1.13.0",
         "https://openrouter.ai/api/alpha/decisions", "typesafe/jev-1.13"),
        ("https://openrouter.ai/api/alpha/decisions/", "jev-latest",
         "https://openrouter.ai/api/alpha/decisions", "~typesafe/jev-latest"),
        ("https://openrouter.ai/api/alpha", "typesafe/jev-1.13",
         "https://openrouter.ai/api/alpha/decisions", "typesafe/jev-1.13"),
    ],
)  # fmt: skip
def test_addresses_and_models(base: str, model: str, url: str, name: str) -> None:
    assert endpoint(base, model) == (url, name)


@pytest.mark.parametrize(
    ("base", "model"),
    [("", "m"), ("api.typesafe.ai", "m"), ("ftp://x", "m"), ("https://", "m"), ("https://x", " "),
     ("https://user:pw@x", "m"), ("https://x?key=1", "m"), ("https://x:port", "m")],
)  # fmt: skip
def test_unusable_addresses(base: str, model: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        endpoint(base, model)
    assert "pw" not in str(caught.value)
