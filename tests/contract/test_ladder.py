"""Ladders of deciders, and the rest a decider gets that is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from engram_graph.adapters.cooldown import Cooldown
from engram_graph.adapters.http import Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.adapters.ladder import LadderDecider
from engram_graph.adapters.llm_decider import LLMDecider
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
)
from engram_graph.graph.records import judgement_parameters
from engram_graph.models.decisions import Answer, Ask, Question, Reply, Round
from engram_graph.ports import Decider
from engram_graph.rules import questions as about
from engram_graph.rules.plan import first_questions, make_plan
from engram_graph.rules.questions import NAMES, question
from engram_graph.testing.fake_llm import FakeLLM, asked, decisions
from engram_graph.vocabulary import Outcome
from tests.contract.jev_server import JevServer, Scripted
from tests.contract.test_deciders import PAIR, FakeTime, ask_of, fact, usual
from tests.pure.plan_world import World

T0 = datetime(2025, 3, 4, 9, tzinfo=UTC)
_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


async def once(decider: Decider, ask: Ask) -> Reply:
    try:
        return await decider.ask(ask)
    finally:
        await decider.aclose()


@dataclass
class Step:
    """A decider that gives each question the probability it has for it, or fails."""

    name: str
    p: dict[str, float | None] = field(default_factory=dict)
    otherwise: float | None = 0.99
    error: DecisionError | None = None
    cost_usd: float | None = 0.5
    asked: list[list[str]] = field(default_factory=list)
    closed: int = 0

    async def ask(self, ask: Ask) -> Reply:
        self.asked.append([q.id for q in ask.questions])
        if self.error is not None:
            raise self.error
        answers = {q.id: self._answer(q) for q in ask.questions}
        said = None if all(not a.fallback for a in answers.values()) else "some fell back"
        return Reply(
            answers, self.name, f"{self.name}-1", 10.0, self.cost_usd, f"req-{self.name}", said
        )

    async def aclose(self) -> None:
        self.closed += 1

    def _answer(self, q: Question) -> Answer:
        p = self.p.get(q.name, self.otherwise)
        if p is None:
            return Answer(q.id, {}, self.name, fallback=True)
        options = q.options or ("yes", "no")
        rest = (1 - p) / (len(options) - 1)
        told = dict.fromkeys(options, rest) | {options[0]: p}
        return Answer(q.id, told, self.name)


def away(name: str = "away") -> Step:
    return Step(name, error=DecisionUnavailableError("nobody answers", status=503))


def three() -> Ask:
    return ask_of(question(about.WORTH), question(about.KIND), question(about.TEMPORAL))


# The contract, with the true parts


@pytest.fixture
def jev_server() -> JevServer:
    return JevServer()


@pytest.fixture
def llm_server() -> Iterator[FakeLLM]:
    with FakeLLM() as running:
        running.answers = decisions
        yield running


@pytest.fixture
def full(jev_server: JevServer, llm_server: FakeLLM) -> Callable[[], LadderDecider]:
    async def no_wait(seconds: float) -> None:
        pass

    def make() -> LadderDecider:
        jev = JevDecider(
            api_key="test-key",
            transport=jev_server.transport,
            timing=Timing(sleep=no_wait),
            rate_per_s=1e6,
        )
        llm = LLMDecider("tiny", api_key="test-key", base_url=llm_server.url, max_retries=0)
        return LadderDecider([RulesDecider(guesses=False), Cooldown(jev), Cooldown(llm)])

    return make


def test_is_a_decider_named_after_its_steps(full: Callable[[], LadderDecider]) -> None:
    assert isinstance(full(), Decider)
    assert full().name == "rules>jev>llm"


@pytest.mark.parametrize("name", NAMES)
def test_each_question_gets_a_distribution_over_its_options(
    full: Callable[[], LadderDecider], name: str
) -> None:
    put = question(name, fact() if name in PAIR else None)
    answer = run(once(full(), ask_of(put))).answers[put.id]
    assert (answer.question, answer.fallback) == (put.id, False)
    assert tuple(answer.probabilities) == (put.options or ("yes", "no"))
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=0.13)
    assert answer.backend in ("rules", "jev", "llm")


def test_every_question_asked_is_answered_in_its_order(full: Callable[[], LadderDecider]) -> None:
    ask = usual()
    reply = run(once(full(), ask))
    assert list(reply.answers) == [q.id for q in ask.questions]
    assert (reply.backend, reply.error) == ("rules>jev>llm", None)


def test_what_it_does_not_know_is_a_fallback(full: Callable[[], LadderDecider]) -> None:
    odd = (Question("mood", "choice", options=("good", "bad")), question(about.RELATION))
    answers = run(once(full(), ask_of(*odd, question(about.KIND)))).answers
    assert [answers[q.id].fallback for q in odd] == [True, True]
    assert not answers[about.KIND].fallback


def test_nothing_asked_is_nothing_answered(
    full: Callable[[], LadderDecider], jev_server: JevServer, llm_server: FakeLLM
) -> None:
    assert run(once(full(), ask_of())).answers == {}
    assert jev_server.requests == llm_server.requests == []


def test_it_can_be_closed_twice_and_used_again(full: Callable[[], LadderDecider]) -> None:
    ladder = full()
    run(once(ladder, usual()))
    run(once(ladder, usual()))
    run(ladder.aclose())


def test_each_step_is_asked_what_those_before_left_open(
    full: Callable[[], LadderDecider], jev_server: JevServer, llm_server: FakeLLM
) -> None:
    moved = question(about.RELATION, fact(1))  # another home: rules are certain
    worth, kind = question(about.WORTH), question(about.KIND)
    jev_server.answers["q1"] = {"type": "noul", "noul": 0.7}  # unsure
    reply = run(once(full(), ask_of(worth, moved, kind)))
    assert [len(body["questions"]) for body in jev_server.requests] == [2]
    assert [len(asked(body)) for body in llm_server.requests] == [1]
    assert {key: answer.backend for key, answer in reply.answers.items()} == {
        worth.id: "llm", moved.id: "rules", kind.id: "jev",
    }  # fmt: skip
    assert reply.answers[moved.id].chosen == "update"
    assert reply.answers[worth.id].p("yes") == 0.9


def test_rules_guess_alone_only() -> None:
    other = fact(1).model_copy(update={"subject": "Pia", "subject_key": "pia"})
    guesses = ask_of(*(question(name, other if name in PAIR else None) for name in NAMES))
    alone = run(RulesDecider().ask(guesses)).answers
    assert not any(answer.fallback for answer in alone.values())
    step = run(RulesDecider(guesses=False).ask(guesses)).answers
    assert all(answer.fallback for answer in step.values())
    certain = (about.RELATION, about.SECOND, about.SAME_ATTRIBUTE)
    known = ask_of(*(question(name, fact()) for name in certain))
    sure = run(RulesDecider(guesses=False).ask(known)).answers
    assert sure == run(RulesDecider().ask(known)).answers
    assert [sure[q.id].chosen for q in known.questions] == ["update", "update", "yes"]


# Steps


def test_what_is_settled_stays_and_the_rest_goes_on() -> None:
    first = Step("a", {about.KIND: 0.84, about.TEMPORAL: None})
    second = Step("b", {about.KIND: 0.85})
    third = Step("c")
    reply = run(once(LadderDecider([first, second, third]), three()))
    assert first.asked == [[about.WORTH, about.KIND, about.TEMPORAL]]
    assert second.asked == [[about.KIND, about.TEMPORAL]]
    assert third.asked == []
    assert [answer.backend for answer in reply.answers.values()] == ["a", "b", "b"]
    assert (reply.model, reply.request_id, reply.error) == ("b-1", "req-b", None)
    assert (reply.latency_ms, reply.cost_usd) == (20.0, 1.0)
    assert [step.backend for step in reply.steps] == ["a", "b"]
    assert reply.steps[0].answers[about.KIND].p("preference") == 0.84
    assert reply.steps[1].answers.keys() == {about.KIND, about.TEMPORAL}
    assert (first.closed, second.closed, third.closed) == (1, 1, 1)


@pytest.mark.parametrize(("p", "goes_on"), [(0.86, False), (0.14, False), (0.5, True), (0.2, True)])
def test_a_sure_no_is_sure(p: float, goes_on: bool) -> None:
    second = Step("b")
    run(once(LadderDecider([Step("a", otherwise=p), second]), ask_of(question(about.WORTH))))
    assert bool(second.asked) is goes_on


def test_the_last_answer_there_is_stands_though_unsure() -> None:
    steps = [Step("a", otherwise=0.7), Step("b", {about.KIND: None}, otherwise=0.6), away()]
    reply = run(once(LadderDecider(steps), three()))
    assert [answer.backend for answer in reply.answers.values()] == ["b", "a", "b"]
    assert not any(answer.fallback for answer in reply.answers.values())


def test_a_threshold_of_its_own() -> None:
    second = Step("b")
    run(once(LadderDecider([Step("a", otherwise=0.7), second], sure=0.7), three()))
    assert second.asked == []


def test_a_step_that_fails_is_passed_over_and_told(caplog: pytest.LogCaptureFixture) -> None:
    steps = [away(), Step("b", cost_usd=0.25)]
    reply = run(once(LadderDecider(steps), three()))
    assert [answer.backend for answer in reply.answers.values()] == ["b", "b", "b"]
    assert reply.error == "away: decision_unavailable (HTTP 503)"
    assert reply.cost_usd == 0.25
    assert reply.broke_off
    failed, _ = reply.steps
    assert (failed.backend, failed.error) == ("away", "decision_unavailable (HTTP 503)")
    assert all(answer.fallback for answer in failed.answers.values())
    assert list(failed.answers) == [q.id for q in three().questions]
    assert "decider away failed" in caplog.text


def test_an_unusable_reply_is_passed_over_too() -> None:
    bad = Step("a", error=DecisionInvalidError("not JSON"))
    reply = run(once(LadderDecider([bad, Step("b")]), three()))
    assert reply.error == "a: decision_invalid"
    assert not reply.broke_off  # it was asked


def test_when_no_step_answers_the_last_failure_counts() -> None:
    budget = DecisionBudgetError("the cap is reached")
    none = Step("b", otherwise=None)
    for steps in ([away(), Step("x", error=budget)], [away(), none, Step("x", error=budget)],
                  [none, Step("x", error=budget), Step("c", otherwise=None)]):  # fmt: skip
        with pytest.raises(DecisionBudgetError) as caught:
            run(once(LadderDecider(steps), three()))
        assert caught.value is budget
    silent = run(once(LadderDecider([none, Step("c", otherwise=None)]), three()))
    assert all(answer.fallback for answer in silent.answers.values())
    assert silent.error == "b: some fell back; c: some fell back"


def test_what_was_answered_stays_when_the_rest_is_not_to_be_had() -> None:
    reply = run(once(LadderDecider([Step("a", {about.KIND: None}), away()]), three()))
    assert [answer.fallback for answer in reply.answers.values()] == [False, True, False]
    assert reply.error == "a: some fell back; away: decision_unavailable (HTTP 503)"
    assert (reply.model, reply.broke_off) == ("a-1", True)


def test_costs_nobody_knows_are_unknown() -> None:
    steps = [Step("a", otherwise=0.5, cost_usd=None), Step("b")]
    assert run(once(LadderDecider(steps), three())).cost_usd is None
    steps[0].otherwise = None  # it gave nothing
    assert run(once(LadderDecider(steps), three())).cost_usd == 0.5


def test_other_errors_are_not_swallowed() -> None:
    class Broken(Step):
        async def ask(self, ask: Ask) -> Reply:
            raise RuntimeError("a fault of ours")

    with pytest.raises(RuntimeError):
        run(once(LadderDecider([Broken("a"), Step("b")]), three()))


@pytest.mark.parametrize(("steps", "sure"), [([], 0.85), ([Step("a")], 0), ([Step("a")], 1.1)])
def test_an_unusable_ladder(steps: list[Step], sure: float) -> None:
    with pytest.raises(ConfigurationError):
        LadderDecider(steps, sure)


# The log


def test_every_step_is_a_request_in_the_log() -> None:
    world = World()
    world.remember("Odo|lives_in|Ostwick", "2025-03-04")
    s = world.situations[-1]
    questions = first_questions(s)
    steps = [Step("a", {about.KIND: None}), Step("b", otherwise=0.6), away("c")]
    reply = run(once(LadderDecider(steps), ask_of(*questions)))
    again = run(steps[0].ask(ask_of(question(about.KIND))))
    rounds = [Round(questions, reply), Round((question(about.KIND),), again)]
    ids = iter(f"id{n}" for n in range(1, 99))
    plan = make_plan(s, rounds, lambda: next(ids))
    assert [(log.id, log.backend, log.ladder) for log in plan.requests] == [
        ("id1", "a", "id2"), ("id2", "b", "id2"), ("id3", "c", "id2"), ("id4", "a", None),
    ]  # fmt: skip
    first, second, third, _ = plan.requests
    assert second.question_versions == {about.KIND: 1}
    assert list(second.answers) == list(third.answers) == [about.KIND]
    assert set(first.answers) == {q.id for q in questions}
    assert (third.error, third.cost_usd) == ("decision_unavailable (HTTP 503)", None)
    assert (first.latency_ms, first.cost_usd, first.request_id) == (10.0, 0.5, "req-a")
    start = next(j for j in plan.judgements if j.question == "belief_start")
    assert start.request == "id2"  # the last that had an answer
    dropped = replace(start, question=about.WORTH, outcome=Outcome.NOT_STORED)
    for judgement, rests_on in (
        (start, ["id1", "id2", "id3", "id4"]),
        (dropped, ["id2", "id1", "id3"]),  # no step is left without a decision
    ):
        told = judgement_parameters(judgement, "n", T0, 0, plan.requests)
        assert told["requests"] == rests_on


# The rest of a decider that is away


@dataclass
class Resting:
    """A decider in a cool-down, on a clock that only the test moves."""

    step: Step
    clock: FakeTime = field(default_factory=FakeTime)

    def __post_init__(self) -> None:
        self.decider = Cooldown(self.step, failures=3, rest_s=30, timing=self.clock.timing)

    def fails(self, kind: type[DecisionError] = DecisionUnavailableError) -> DecisionError:
        with pytest.raises(DecisionError) as caught:
            run(self.decider.ask(three()))
        assert type(caught.value) is kind
        return caught.value

    @property
    def tries(self) -> int:
        return len(self.step.asked)


def test_it_rests_after_failures_in_a_row_and_is_tried_again() -> None:
    one = Resting(away("jev"))
    for tries in (1, 2, 3, 3, 3):
        error = one.fails()
        assert one.tries == tries
    assert "jev is not asked: away 3 times" in error.message
    assert "30 s" in error.hint
    one.clock.at += 29.5
    assert "1 s" in one.fails().hint
    assert one.tries == 3
    one.clock.at += 1
    one.fails()  # asked, away again: the next rest
    assert one.tries == 4
    one.fails()
    assert one.tries == 4
    one.clock.at += 31
    one.step.error = None
    assert run(one.decider.ask(three())).backend == "jev"
    one.step.error = DecisionUnavailableError("away")
    one.fails()
    one.fails()
    assert one.tries == 7  # the count began anew


@pytest.mark.parametrize("kind", [DecisionInvalidError, DecisionError])
def test_a_reply_of_any_kind_ends_the_count(kind: type[DecisionError]) -> None:
    one = Resting(away())
    gone = one.step.error
    for error in (gone, gone, kind("odd"), gone, gone, None, gone, gone):
        one.step.error = error
        if error is None:
            run(one.decider.ask(three()))
        else:
            one.fails(type(error))
    assert one.tries == 8


def test_a_cap_says_nothing_about_being_away() -> None:
    one = Resting(away())
    gone = one.step.error
    for error in (gone, DecisionBudgetError("the cap"), gone, DecisionBudgetError("the cap"), gone):
        one.step.error = error
        one.fails(type(error))  # type: ignore[arg-type]
    one.fails()
    assert one.tries == 5


def test_a_single_one_tries_whether_it_is_back() -> None:
    one = Resting(away())
    for _ in range(3):
        one.fails()
    one.clock.at += 31

    async def main() -> tuple[list[Any], Reply]:
        hold = asyncio.Event()
        answer = one.step.ask

        async def slow(ask: Ask) -> Reply:
            await hold.wait()
            return await answer(ask)

        one.step.ask = slow  # type: ignore[method-assign]
        one.step.error = None
        first = asyncio.create_task(one.decider.ask(three()))
        await asyncio.sleep(0)
        others = await asyncio.gather(
            *(one.decider.ask(three()) for _ in range(3)), return_exceptions=True
        )
        hold.set()
        return others, await first

    others, reply = run(main())
    assert [type(each) for each in others] == [DecisionUnavailableError] * 3
    assert reply.backend == "away"
    assert run(one.decider.ask(three())).error is None


def test_one_cancelled_while_trying_leaves_the_way_free() -> None:
    one = Resting(away())
    for _ in range(3):
        one.fails()
    one.clock.at += 31

    async def main() -> None:
        async def never(ask: Ask) -> Reply:
            raise asyncio.CancelledError

        answer, one.step.ask = one.step.ask, never  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await one.decider.ask(three())
        one.step.ask, one.step.error = answer, None  # type: ignore[method-assign]
        await one.decider.ask(three())
        await one.decider.aclose()

    run(main())
    assert one.step.closed == 1


def test_a_dead_step_costs_the_ladder_its_retries_only_at_first(
    jev_server: JevServer,
    llm_server: FakeLLM,
    full: Callable[[], LadderDecider],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="engram_graph")
    jev_server.script(*[Scripted(503)] * 99)
    ladder = full()

    async def main() -> list[Reply]:
        replies = [await ladder.ask(usual()) for _ in range(6)]
        await ladder.aclose()
        return replies

    replies = run(main())
    assert len(jev_server.requests) == 9  # three times three tries
    assert len(llm_server.requests) == 6
    assert not any(a.fallback for reply in replies for a in reply.answers.values())
    assert [reply.steps[1].error for reply in replies] == [
        *["decision_unavailable (HTTP 503)"] * 3, *["decision_unavailable"] * 3,
    ]  # fmt: skip
    assert "whispered" not in caplog.text
    assert "test-key" not in caplog.text
