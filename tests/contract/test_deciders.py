"""One contract for both deciders; the decision API's one against every known fault."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from jevcompat.mock import FAULTS, MockConfig, Running

from engram_graph.adapters.http import BUDGET_S, Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.adapters.network_decider import MAX_REQUESTS
from engram_graph.adapters.recorder import RecordingDecider
from engram_graph.adapters.recording import Recording
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
)
from engram_graph.models.decisions import Ask, Question, Reply
from engram_graph.models.facts import Draft, Fact
from engram_graph.ports import Decider
from engram_graph.questions.wording import WORDINGS, Wording
from engram_graph.rules import questions as about
from engram_graph.rules.questions import NAMES, question
from tests.contract.jev_faults import CASES, KEY, ODD, mock
from tests.contract.jev_server import JevServer, Scripted, two_decimals
from tests.contract.recordings import ReplayedDecider

T0 = datetime(2025, 3, 4, 9, tzinfo=UTC)
SAID = "I moved to Ostwick, she whispered."
PAIR = {about.RELATION, about.SECOND, about.SAME_ATTRIBUTE, about.PLAN_FULFILLED, about.RELEVANT,
        about.SAME_FACT}  # fmt: skip
_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


def fact(number: int = 1) -> Fact:
    return Fact(
        id=f"0190-{number}", namespace="n", subject="Odo", subject_key="odo",
        predicate="lives_in", object="Marrowby", object_key="marrowby",
        text=f"Odo lives in Marrowby, house {number}", valid_from=T0, recorded_at=T0,
    )  # fmt: skip


def ask_of(*questions: Question) -> Ask:
    draft = Draft(
        subject="Odo", predicate="lives_in", object="Ostwick", text="Odo lives in Ostwick"
    )
    return Ask(draft, T0, "Odo", "user", SAID, questions)


def pairs(count: int) -> Ask:
    own = [question(about.WORTH), question(about.KIND)]
    return ask_of(*own, *(question(about.RELATION, fact(n)) for n in range(count)))


def usual() -> Ask:
    """What a write asks, about two candidates."""
    names = (about.WORTH, about.KIND, about.TEMPORAL, about.EDGE_TYPE, about.DURABILITY)
    of_pairs = [
        question(n, fact(k)) for k in (1, 2) for n in (about.RELATION, about.PLAN_FULFILLED)
    ]
    return ask_of(*(question(name) for name in names), *of_pairs)


@dataclass
class FakeTime:
    """A clock that only sleeping moves."""

    at: float = 1000.0
    slept: list[float] = field(default_factory=list)
    jitter: float = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.at += seconds

    @property
    def timing(self) -> Timing:
        return Timing(
            now=lambda: self.at,
            wall=lambda: T0.timestamp(),
            sleep=self.sleep,
            jitter=lambda: self.jitter,
        )


@pytest.fixture
def clock() -> FakeTime:
    return FakeTime()


@pytest.fixture
def server() -> JevServer:
    return JevServer()


@pytest.fixture
def jev(server: JevServer, clock: FakeTime) -> Callable[..., JevDecider]:
    def make(**options: Any) -> JevDecider:
        given: dict[str, Any] = {"api_key": KEY, "transport": server.transport}
        return JevDecider(**(given | {"timing": clock.timing, "rate_per_s": 1e6} | options))

    return make


async def once(decider: Decider, ask: Ask) -> Reply:
    try:
        return await decider.ask(ask)
    finally:
        await decider.aclose()


def refused(decider: Decider, ask: Ask) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        run(once(decider, ask))
    error = caught.value
    assert KEY not in repr(error) + str(error.as_dict())
    assert SAID not in repr(error) + str(error.as_dict())
    assert error.__cause__ is None
    return error


# The contract


@pytest.fixture(params=["rules", "jev", "rules recorded", "rules replayed", "jev replayed"])
def decider(
    request: pytest.FixtureRequest, jev: Callable[..., JevDecider], tmp_path: Path
) -> Decider:
    who, _, how = request.param.partition(" ")
    live: Decider = RulesDecider() if who == "rules" else jev()
    if how == "recorded":
        return RecordingDecider(live, Recording(tmp_path / "calls.sqlite"))
    return ReplayedDecider(live, tmp_path / "calls.jsonl") if how else live


def test_is_a_decider(decider: Decider) -> None:
    assert isinstance(decider, Decider)
    assert decider.name in ("rules", "jev")


@pytest.mark.parametrize("name", NAMES)
def test_each_question_gets_a_distribution_over_its_options(decider: Decider, name: str) -> None:
    asked = question(name, fact() if name in PAIR else None)
    reply = run(once(decider, ask_of(asked)))
    answer = reply.answers[asked.id]
    assert answer.question == asked.id
    assert not answer.fallback
    assert tuple(answer.probabilities) == (asked.options or ("yes", "no"))
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=0.13)
    assert answer.backend == decider.name


def test_every_question_asked_is_answered_and_no_other(decider: Decider) -> None:
    ask = usual()
    reply = run(once(decider, ask))
    assert list(reply.answers) == [q.id for q in ask.questions]
    assert (reply.backend, reply.error) == (decider.name, None)
    assert reply.model
    assert reply.latency_ms >= 0
    assert reply.cost_usd is not None


def test_what_it_does_not_know_is_a_fallback(decider: Decider) -> None:
    odd = (Question("mood", "choice", options=("good", "bad")), question(about.RELATION))
    answers = run(once(decider, ask_of(*odd, question(about.KIND)))).answers
    assert [answers[q.id].fallback for q in odd] == [True, True]
    assert answers[odd[0].id].probabilities == {}
    assert not answers[about.KIND].fallback


def test_nothing_asked_is_nothing_answered(decider: Decider, server: JevServer) -> None:
    assert run(once(decider, ask_of())).answers == {}
    assert server.requests == []


def test_it_can_be_closed_twice_and_used_again(decider: Decider) -> None:
    async def main() -> None:
        await decider.aclose()
        await once(decider, usual())
        await once(decider, usual())
        await decider.aclose()

    run(main())


# What is sent and taken


def test_one_request_asks_everything(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    server.usage = {"input_tokens": 2000, "output_tokens": 1}
    decider = jev(base_url="https://jev.example/", model="jev-1.14.0")
    reply = run(once(decider, usual()))
    assert server.urls == ["https://jev.example/v1/systemone"]
    assert server.requests[0]["model"] == "jev-1.14.0"
    assert len(server.requests[0]["questions"]) == len(usual().questions)
    sent = server.headers[0]
    assert sent["authorization"] == f"Bearer {KEY}"
    assert sent["content-type"] == sent["accept"] == "application/json"
    assert "content-encoding" not in sent
    assert reply.request_id == "req_1"
    assert reply.model == "jev-1.13.0"  # the one that answered
    assert reply.cost_usd == pytest.approx(2000 * 0.042e-6)
    assert decider.spent_usd == pytest.approx(2000 * 0.042e-6)


def test_answers_reach_their_questions(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    ask = usual()
    sixth = {"type": "choice", "criteria": dict.fromkeys(ask.questions[5].options, "")}
    server.answers["q6"] = two_decimals(sixth, "negates")
    server.answers["q1"] = {"type": "noul", "noul": 0.04}
    answers = run(once(jev(), ask)).answers
    assert answers[ask.questions[5].id].chosen == "negates"
    assert answers[ask.questions[7].id].chosen == "new"
    assert answers[about.WORTH].p("yes") == 0.04


def test_a_bad_answer_and_a_missing_one_leave_the_rest(
    server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.answers |= {"q1": None, "q2": {"type": "choice", "choice": "bio"}}
    server.extra = {"surprise": 1}
    reply = run(once(jev(), usual()))
    assert [key for key, answer in reply.answers.items() if answer.fallback] == [
        about.WORTH,
        about.KIND,
    ]
    assert reply.error is not None
    assert "worth_remembering: no answer" in reply.error


def test_odd_usage_is_said_once(
    server: JevServer, jev: Callable[..., JevDecider], caplog: pytest.LogCaptureFixture
) -> None:
    server.usage = None
    decider = jev()

    async def main() -> list[Reply]:
        replies = [await decider.ask(usual()), await decider.ask(usual())]
        await decider.aclose()
        return replies

    assert [reply.cost_usd for reply in run(main())] == [None, None]
    assert caplog.text.count("usage") == 1
    assert decider.spent_usd > 0


def test_openrouter(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    server.usage = {"input_tokens": 300, "cost": 0.125}
    server.extra = {"model": "typesafe/jev-1.13-20260917", "id": "gen-1", "provider": "x"}
    reply = run(once(jev(base_url="https://openrouter.ai/api/alpha"), usual()))
    assert server.urls == ["https://openrouter.ai/api/alpha/decisions"]
    assert server.requests[0]["model"] == "typesafe/jev-1.13"
    assert (reply.cost_usd, reply.model) == (0.125, "typesafe/jev-1.13-20260917")


# Too large


def test_a_request_too_large_is_parted(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    server.limit = 6_000
    ask = pairs(8)
    reply = run(once(jev(), ask))
    assert list(reply.answers) == [q.id for q in ask.questions]
    assert not any(answer.fallback for answer in reply.answers.values())
    answered = [r for r in server.requests if len(json.dumps(r, separators=(",", ":"))) <= 6_000]
    asked = [key for request in answered for key in request["questions"]]
    assert asked == [f"q{n}" for n in range(1, 11)]
    for request in answered:  # each part holds only the candidates it asks about
        known = {key for key in request["state"] if key.startswith("known_")}
        assert known == {f"known_{int(q[1:]) - 2}" for q in request["questions"] if int(q[1:]) > 2}
    assert reply.cost_usd == pytest.approx(len(answered) * 1000 * 0.042e-6)
    assert reply.error is None


def test_a_single_question_too_large_is_a_fallback(
    server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.script(Scripted(413, "too big"), Scripted(413, "too big"))
    reply = run(once(jev(), ask_of(question(about.WORTH), question(about.KIND))))
    assert [answer.fallback for answer in reply.answers.values()] == [True, False]
    assert "too large" in (reply.error or "")
    server.script(Scripted(400, {"detail": {"error_type": "max_tokens_exceeded"}}))
    reply = run(once(jev(), ask_of(question(about.WORTH))))
    assert reply.answers[about.WORTH].fallback
    assert "too large" in (reply.error or "")


def test_parting_ends(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    server.limit = 0
    ask = pairs(40)
    reply = run(once(jev(), ask))
    assert len(server.requests) == MAX_REQUESTS
    assert all(answer.fallback for answer in reply.answers.values())
    assert len(reply.answers) == len(ask.questions)


def test_a_part_that_fails_leaves_what_was_answered(
    server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.script(
        Scripted(413),
        Scripted(body={"answers": {"q1": {"type": "noul", "noul": 1}}}),
        Scripted(402, {"detail": {"error_type": "billing_error"}}),
    )
    reply = run(once(jev(), ask_of(question(about.WORTH), question(about.KIND))))
    assert [answer.fallback for answer in reply.answers.values()] == [False, True]
    assert "billing_error" in (reply.error or "")


# Failures, retries, pace


def fails(status: int, body: Any = "", **headers: str) -> Scripted:
    return Scripted(status, body, {name.replace("_", "-"): v for name, v in headers.items()})


@pytest.mark.parametrize(
    "failure",
    [
        fails(408), fails(429), fails(500), fails(502, "<html>Bad gateway</html>"), fails(503),
        fails(529, {"detail": {"error_type": "system_overloaded"}}),
        Scripted(fault=httpx.ConnectError), Scripted(fault=httpx.ReadTimeout),
        Scripted(fault=httpx.ConnectTimeout), Scripted(fault=httpx.ReadError),
        Scripted(fault=httpx.RemoteProtocolError),
    ],
    ids=lambda reply: str(reply.status) if reply.fault is None else reply.fault.__name__,
)  # fmt: skip
def test_what_may_pass_is_tried_again(
    failure: Scripted, server: JevServer, jev: Callable[..., JevDecider], clock: FakeTime
) -> None:
    server.script(failure, failure)
    assert run(once(jev(), usual())).error is None
    assert len(server.requests) == 3
    assert [s for s in clock.slept if s > 0.01] == [0.5, 1.0]
    server.script(failure, failure, failure)
    error = refused(jev(), usual())
    assert type(error) is DecisionUnavailableError
    assert error.hint
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (fails(400, {"detail": {"error_type": "api_usage_error", "message": "Unknown model: x"}}),
         DecisionError),
        (fails(400, {"detail": "Too many choices. Must have at most 255 choices."}), DecisionError),
        (fails(401, {"detail": {"error_type": "authentication_error"}}), DecisionUnavailableError),
        (fails(402, {"detail": {"error_type": "billing_error"}}), DecisionUnavailableError),
        (fails(403, {"error": f"not this key: {KEY}"}), DecisionUnavailableError),
        (fails(404, {"detail": "Not Found"}), DecisionUnavailableError),
        (fails(409), DecisionError),
        (fails(422, {"detail": [{"loc": ["body"], "msg": "Field required"}]}), DecisionError),
        (fails(425), DecisionError),
        (fails(200), DecisionInvalidError),
        (fails(200, '{"model": "jev-1.13.0", "answ'), DecisionInvalidError),
        (fails(200, "broken", content_encoding="gzip"), DecisionInvalidError),
        (fails(307, location="https://elsewhere.example/v1/systemone"), DecisionUnavailableError),
        (fails(301, location="/v2"), DecisionUnavailableError),
        (Scripted(fault=httpx.UnsupportedProtocol), DecisionUnavailableError),
        (Scripted(fault=httpx.DecodingError), DecisionInvalidError),
    ],
)  # fmt: skip
def test_what_stays_is_not_tried_again(
    reply: Scripted, kind: type[DecisionError], server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.script(reply)
    assert type(refused(jev(), usual())) is kind
    assert len(server.requests) == 1
    assert server.urls == ["https://api.typesafe.ai/v1/systemone"]


def http_date(seconds: float) -> str:
    return email.utils.formatdate(T0.timestamp() + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, [0.5]),
        ({"retry_after": "3"}, [3.0]),
        ({"retry_after": "0"}, []),
        ({"retry_after_ms": "1500"}, [1.5]),
        ({"retry_after_ms": "1500", "retry_after": "9"}, [1.5]),
        ({"retry_after_ms": "soon", "retry_after": "9"}, [9.0]),
        ({"retry_after": http_date(7)}, [7.0]),
        ({"retry_after": http_date(-7)}, []),
        ({"retry_after": "-4"}, [0.5]),
        ({"retry_after": "nan"}, [0.5]),
        ({"retry_after": "later"}, [0.5]),
    ],
)
def test_the_server_may_say_how_long_to_wait(
    headers: dict[str, str],
    waits: list[float],
    server: JevServer,
    jev: Callable[..., JevDecider],
    clock: FakeTime,
) -> None:
    server.script(fails(429, {"detail": "slow down"}, **headers))
    assert run(once(jev(), usual())).error is None
    assert [s for s in clock.slept if s > 0.01] == waits


@pytest.mark.parametrize("value", ["60", "1e9", http_date(60), "30"])
def test_a_wait_beyond_the_budget_is_not_taken(
    value: str, server: JevServer, jev: Callable[..., JevDecider], clock: FakeTime
) -> None:
    server.script(fails(429, retry_after=value))
    error = refused(jev(), usual())
    assert error.details["status"] == 429
    assert len(server.requests) == 1
    assert [s for s in clock.slept if s > 0.01] == []


def test_the_budget_holds_tries_and_waits(
    server: JevServer, jev: Callable[..., JevDecider], clock: FakeTime
) -> None:
    server.script(fails(503, retry_after="20"), fails(503, retry_after="20"))
    refused(jev(), usual())
    assert len(server.requests) == 2
    assert clock.at - 1000 < BUDGET_S


def test_waits_are_jittered(
    server: JevServer, jev: Callable[..., JevDecider], clock: FakeTime
) -> None:
    clock.jitter = 1.0
    server.script(fails(503), fails(503))
    run(once(jev(), usual()))
    assert [s for s in clock.slept if s > 0.01] == [0.375, 0.75]


def test_requests_keep_their_pace(
    server: JevServer, jev: Callable[..., JevDecider], clock: FakeTime
) -> None:
    decider = jev(rate_per_s=10)
    server.script(Scripted(), fails(429, retry_after="0"))

    async def main() -> None:
        with pytest.raises(DecisionInvalidError):
            await decider.ask(usual())
        await decider.ask(usual())  # tried twice
        clock.at += 5
        await decider.ask(usual())  # nothing is owed after a pause
        await decider.aclose()

    run(main())
    assert [s for s in clock.slept if s] == [0.1, 0.1]


# Spending


def test_a_cap_stops_asking(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    server.usage = {"input_tokens": 10_000_000}
    decider = jev(budget_usd=0.4)

    async def main() -> None:
        await decider.ask(usual())
        with pytest.raises(DecisionBudgetError) as caught:
            await decider.ask(usual())
        assert "0.4" in caught.value.message
        await decider.aclose()

    run(main())
    assert len(server.requests) == 1
    assert type(refused(jev(budget_usd=0), usual())) is DecisionBudgetError


def test_tries_without_a_reply_count(server: JevServer, jev: Callable[..., JevDecider]) -> None:
    free = jev()
    server.script(fails(500), fails(500), fails(500))
    refused(free, usual())
    capped = jev(budget_usd=free.spent_usd * 0.5)  # between one try and two
    server.script(fails(500), fails(500), fails(500))
    assert type(refused(capped, usual())) is DecisionBudgetError
    assert len(server.requests) == 4


# Set-up and secrecy


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": ""}, {"api_key": "  "}, {"api_key": "two words"}, {"api_key": "schlüssel"},
        {"base_url": "nowhere"}, {"model": ""}, {"rate_per_s": 0}, {"timeout_s": -1},
        {"timeout_s": float("nan")}, {"rate_per_s": float("inf")}, {"budget_usd": -1},
        {"budget_usd": float("nan")},
    ],
)  # fmt: skip
def test_unusable_settings(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        JevDecider(**({"api_key": KEY} | options))
    assert "words" not in repr(caught.value)
    assert "schl" not in repr(caught.value)


def test_the_key_is_trimmed_and_shown_nowhere(
    server: JevServer, jev: Callable[..., JevDecider], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    decider = jev(api_key=f" {KEY}\n")
    server.script(fails(500), Scripted(fault=httpx.ConnectError))
    run(once(decider, usual()))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(decider) + caplog.text
    assert SAID not in caplog.text


# Every fault of jevcompat's server: what our client makes of it (jev-api §13)


def test_every_known_fault_has_its_row() -> None:
    assert set(CASES) == set(FAULTS)


@pytest.mark.parametrize("fault", CASES)
def test_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[fault]
    ask = usual()
    if case.options:
        texts = dict.fromkeys(case.options, "Somebody says so.")
        monkeypatch.setitem(WORDINGS, ODD, Wording("Which one is `new_fact` about?", texts))
        odd = Question(ODD, "choice", options=case.options)
        ask = ask_of(*ask.questions, odd)
    with mock(fault, key=case.key) as url:
        decider = JevDecider(api_key=KEY, base_url=url, model=case.model, rate_per_s=1e6)
        if isinstance(case.outcome, type):
            error = refused(decider, ask)
            assert type(error) is case.outcome
            assert case.says in error.message
            return
        reply = run(once(decider, ask))
    fallen = {q.name for q in ask.questions if reply.answers[q.id].fallback}
    expected = set() if isinstance(case.outcome, str) else case.outcome
    assert fallen == expected or (case.ties and fallen and fallen < expected)
    assert (reply.error is None) == (not fallen)
    assert (reply.cost_usd is not None) == case.cost_known
    assert set(reply.answers) == {q.id for q in ask.questions}
    assert reply.request_id == "req_mock"


@pytest.mark.parametrize("fault", ["choice-sum", "boolean-type", "noul-range"])
def test_when_no_answer_is_left_it_fails(fault: str) -> None:
    asked = question(about.KIND if fault == "choice-sum" else about.WORTH)
    with mock(fault) as url:
        decider = JevDecider(api_key=KEY, base_url=url)
        assert type(refused(decider, ask_of(asked))) is DecisionInvalidError


def test_a_busy_server_over_real_connections() -> None:
    running = Running(MockConfig(key=KEY, busy_every=2))
    running.thread = threading.Thread(
        target=running.server.serve_forever, args=(0.01,), daemon=True
    )
    with running:
        decider = JevDecider(api_key=KEY, base_url=running.url, rate_per_s=1e6)

        async def main() -> list[Reply]:
            replies = await asyncio.gather(*(decider.ask(usual()) for _ in range(2)))
            await decider.aclose()
            return replies

        first, second = run(main())
    running.thread.join()
    assert first.answers == second.answers
    assert first.error is None


def test_nobody_listens(clock: FakeTime) -> None:
    with mock() as url:
        pass
    decider = JevDecider(api_key=KEY, base_url=url, timing=clock.timing)
    error = refused(decider, usual())
    assert type(error) is DecisionUnavailableError
    assert "ConnectError" in error.message
