"""Recorded calls: what a key covers, what is kept, what is replayed, and the files themselves."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.adapters import recording_files
from engram_graph.adapters.http import Timing
from engram_graph.adapters.jev import JevDecider
from engram_graph.adapters.ladder import LadderDecider
from engram_graph.adapters.patterns import PatternExtractor
from engram_graph.adapters.recorded_forms import ask_form, message_form
from engram_graph.adapters.recorder import RecordingDecider, RecordingExtractor
from engram_graph.adapters.recording import Asked, Recorded, Recording, Summary, canonical_hash
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
    EngramError,
    ExtractionError,
)
from engram_graph.models.decisions import Ask, Question, Reply, Turn
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Draft, Entity, Fact, Message
from engram_graph.ports import Decider
from engram_graph.questions import decision_prompt, extraction
from engram_graph.rules import questions as about
from engram_graph.rules.questions import question, relevant, same_entity
from engram_graph.vocabulary import Role
from tests.contract.jev_server import JevServer, Scripted
from tests.contract.recordings import with_other_ids

KEY = "ts-very-secret-key"
T0 = datetime(2025, 3, 4, 9, tzinfo=UTC)
_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


def fact(number: int = 1, **more: Any) -> Fact:
    values: dict[str, Any] = {
        "id": f"0190-{number}", "namespace": "n", "subject": "Odo", "subject_key": "odo",
        "predicate": "lives_in", "object": "Marrowby", "object_key": "marrowby",
        "text": f"Odo lives in Marrowby, house {number}", "valid_from": T0 - timedelta(days=9),
        "recorded_at": T0,
    }  # fmt: skip
    return Fact(**values | more)


def usual() -> Ask:
    pairs = [
        question(name, fact(n), frozenset({"Odo", "Pia"}))
        for n in (1, 2)
        for name in (about.RELATION, about.SAME_ATTRIBUTE)
    ]
    own = [question(name) for name in (about.WORTH, about.KIND, about.TEMPORAL)]
    draft = Draft(
        subject="Odo", predicate="lives_in", object="Ostwick", text="Odo lives in Ostwick",
        quote="moved to Ostwick",
    )  # fmt: skip
    return Ask(draft, T0, "Odo", "user", "I moved to Ostwick, café side.", (*own, *pairs))


def said(text: str, **more: Any) -> Message:
    values: dict[str, Any] = {
        "id": "m", "namespace": "n", "conversation": "c", "speaker": "Maya", "role": Role.USER,
        "text": text, "said_at": T0, "recorded_at": T0, "source_id": "s",
    }  # fmt: skip
    return Message(**values | more)


@pytest.fixture(params=[".jsonl", ".sqlite", ".db"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"calls{request.param}"


@pytest.fixture
def server() -> JevServer:
    return JevServer()


@pytest.fixture
def jev(server: JevServer) -> Callable[..., JevDecider]:
    async def no_wait(seconds: float) -> None:
        pass

    def make(**options: Any) -> JevDecider:
        return JevDecider(
            api_key=KEY, transport=server.transport, timing=Timing(sleep=no_wait), **options
        )

    return make


def held(path: Path) -> list[Summary]:
    recording = Recording(path, read_only=True)
    try:
        return recording.summary()
    finally:
        recording.close()


async def ask_all(decider: RecordingDecider, *asks: Ask) -> list[Reply]:
    try:
        return [await decider.ask(ask) for ask in asks]
    finally:
        await decider.aclose()


# What a key covers


def key(ask: Ask, backend: str = "jev", model: str = "jev-1.13.0") -> str:
    return Asked("decision", backend, model, ask_form(ask)).key


def on_pair(ask: Ask, which: int, **changes: Any) -> Ask:
    """``ask`` with another version of a candidate, in every question about it."""
    return replace(
        ask,
        questions=tuple(
            replace(q, candidate=q.candidate.model_copy(update=changes))
            if q.candidate and q.candidate.id == f"0190-{which}"
            else q
            for q in ask.questions
        ),
    )


def on_question(ask: Ask, index: int, **changes: Any) -> Ask:
    questions = list(ask.questions)
    questions[index] = replace(questions[index], **changes)
    return replace(ask, questions=tuple(questions))


def on_draft(ask: Ask, **changes: Any) -> Ask:
    return replace(ask, draft=ask.draft.model_copy(update=changes))


def on_turn(ask: Ask, **changes: Any) -> Ask:
    """``ask`` about a message, or another version of it, in the place of its first question."""
    turn = Turn(said("Ostwick is fine.", id="m-1"), said("How is Ostwick?", id="m-0"))
    return replace(ask, questions=(relevant(replace(turn, **changes)), *ask.questions[1:]))


SHAPES: dict[str, Callable[[Ask], Ask]] = {
    "draft text": lambda a: on_draft(a, text="Odo lives in Ostwick now"),
    "draft subject": lambda a: on_draft(a, subject="Pia"),
    "draft predicate": lambda a: on_draft(a, predicate="born_in"),
    "draft object": lambda a: on_draft(a, object="Velden"),
    "draft quote": lambda a: on_draft(a, quote=None),
    "draft negated": lambda a: on_draft(a, negated=True),
    "draft temporal_status": lambda a: on_draft(a, temporal_status="planned"),
    "draft kind": lambda a: on_draft(a, kind="event"),
    "draft durability": lambda a: on_draft(a, durability="short_lived"),
    "draft sensitivity": lambda a: on_draft(a, sensitivity="health"),
    "valid_from": lambda a: replace(a, valid_from=T0 + timedelta(days=1)),
    "speaker": lambda a: replace(a, speaker="Pia"),
    "role": lambda a: replace(a, role="assistant"),
    "message": lambda a: replace(a, message="I moved to Ostwick, cafe side."),
    "order of questions": lambda a: replace(a, questions=a.questions[::-1]),
    "a question less": lambda a: replace(a, questions=a.questions[:-1]),
    "option order": lambda a: on_question(a, 1, options=a.questions[1].options[::-1]),
    "an option less": lambda a: on_question(a, 1, options=a.questions[1].options[1:]),
    "version": lambda a: on_question(a, 1, version=2),
    "type": lambda a: on_question(a, 0, type="choice"),
    "about another fact": lambda a: on_question(a, 3, candidate=a.questions[5].candidate),
    "told by another": lambda a: on_question(a, 3, told_by=frozenset({"Odo"})),
    "known text": lambda a: on_pair(a, 2, text="Odo lives in Marrowby, house 3"),
    "known subject": lambda a: on_pair(a, 2, subject="ODO"),
    "known subject_key": lambda a: on_pair(a, 2, subject_key="user"),
    "known predicate": lambda a: on_pair(a, 2, predicate="born_in"),
    "known object": lambda a: on_pair(a, 2, object="Marrowby Hill"),
    "known object_key": lambda a: on_pair(a, 2, object_key="marrowby hill"),
    "known negated": lambda a: on_pair(a, 2, negated=True),
    "known temporal_status": lambda a: on_pair(a, 2, temporal_status="planned"),
    "known valid_from": lambda a: on_pair(a, 2, valid_from=T0 - timedelta(days=8)),
    "known valid_until": lambda a: on_pair(a, 2, valid_until=T0),
    "a turn": on_turn,
    "turn text": lambda a: on_turn(a, message=said("Ostwick is dull.")),
    "turn speaker": lambda a: on_turn(a, message=said("Ostwick is fine.", speaker="Pia")),
    "turn date": lambda a: on_turn(
        a, message=said("Ostwick is fine.", said_at=T0 - timedelta(days=1))
    ),
    "turn before": lambda a: on_turn(a, before=said("And Velden?")),
    "no turn before": lambda a: on_turn(a, before=None),
    "known begins later that day": lambda a: on_pair(
        on_pair(a, 1, valid_from=T0), 2, valid_from=T0 + timedelta(hours=1)
    ),
}  # fmt: skip


def test_whatever_shapes_an_answer_changes_the_key() -> None:
    keys = {name: key(change(usual())) for name, change in SHAPES.items()}
    keys |= {
        "as it is": key(usual()),
        "model": key(usual(), model="jev-1.14.0"),
        "backend": key(usual(), backend="llm"),
        "kind": Asked("extraction", "jev", "jev-1.13.0", ask_form(usual())).key,
        "known begins that day": key(on_pair(on_pair(usual(), 1, valid_from=T0), 2, valid_from=T0)),
    }
    assert len(set(keys.values())) == len(keys)


def test_what_differs_from_run_to_run_does_not() -> None:
    ask = usual()
    later = on_pair(ask, 1, valid_from=T0 - timedelta(days=9, minutes=-5), belief=0.4, version=3)
    composed = replace(ask, message=unicodedata.normalize("NFD", ask.message))
    assert composed.message != ask.message
    for same in (with_other_ids(ask), later, composed, replace(ask, valid_from=T0.replace(hour=1))):
        assert key(same) == key(ask)
    again = said("Ostwick is fine.", id="m-7", source_id="s-7", said_at=T0 + timedelta(hours=2))
    assert key(on_turn(ask, message=again)) == key(on_turn(ask))


def test_an_answer_about_a_turn_is_replayed_under_its_id_of_now(
    path: Path, server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.answers["q1"] = {"type": "noul", "noul": 7}
    first = RecordingDecider(jev(), Recording(path))
    (spoilt,) = run(ask_all(first, on_turn(usual())))
    replayed = RecordingDecider(None, Recording(path), budget_usd=0)
    again = said("Ostwick is fine.", id="m-7")
    (reply,) = run(ask_all(replayed, on_turn(usual(), message=again)))
    assert "relevant_to_query:m-1: " in (spoilt.error or "")
    assert reply.error == (spoilt.error or "").replace("m-1", "m-7")
    assert reply.answers["relevant_to_query:m-7"].fallback


@given(
    st.lists(st.tuples(st.text(max_size=9), st.uuids(), st.uuids()), min_size=1, max_size=4),
    st.text(max_size=9),
    st.data(),
)
def test_ids_never_matter_and_texts_always_do(
    known: list[tuple[str, Any, Any]], message: str, data: st.DataObject
) -> None:
    def ask(ids: Sequence[Any], texts: Sequence[str], said: str = message) -> Ask:
        pairs = [
            question(about.RELATION, fact(id=str(one), text=text))
            for one, text in zip(ids, texts, strict=True)
        ]
        return replace(usual(), message=said, questions=tuple(pairs))

    texts = [text for text, _, _ in known]
    first = key(ask([f"a{one}{n}" for n, (_, one, _) in enumerate(known)], texts))
    assert key(ask([f"b{two}{n}" for n, (_, _, two) in enumerate(known)], texts)) == first
    place = data.draw(st.integers(0, len(texts) - 1))
    other = [*texts]
    other[place] += data.draw(st.text("abc", min_size=1, max_size=3))
    ids = [str(one) for _, one, _ in known]
    assert key(ask([f"a{one}{n}" for n, one in enumerate(ids)], other)) != first
    assert key(ask([f"a{one}{n}" for n, one in enumerate(ids)], texts, f"{message}!")) != first


def test_keys_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes them makes every recording useless: that takes a new version of the file."""
    for wording in (decision_prompt, extraction):
        monkeypatch.setattr(wording, "VERSION", 1)
    asked = (
        Question("fact_kind", "choice", options=("bio", "event")),
        Question("same_fact", "noul", fact(), told_by=frozenset({"Pia", "Odo"})),
    )
    assert recording_files.VERSION == 1
    keys = [
        key(replace(usual(), questions=asked)),
        canonical_hash(message_form(said("I live in Lisbon."), [said("Where?")])),
    ]
    assert keys == [
        "c1e34bc3b4b97faf2f06052441455669bac30f0c1be10367f1ad63a5d80de3a9",
        "96215ee32569ee72b8958adf8143a66360096822e96a5d7bcce784c91b87fff8",
    ]


def test_keys_of_messages() -> None:
    def key_of(message: Message, *recent: Message) -> str:
        return canonical_hash(message_form(message, recent))

    usual, turn = said("I live in Lisbon."), said("Where?", speaker="Jonas")
    first = key_of(usual, turn)
    assert first == key_of(said("I live in Lisbon.", id="x", source_id="y", namespace="z"), turn)
    assert first == key_of(said("I live in Lisbon.", said_at=T0.replace(hour=1)), turn)
    others = [
        key_of(said("I live in Lisbon!"), turn),
        key_of(said("I live in Lisbon.", speaker="Jonas"), turn),
        key_of(said("I live in Lisbon.", role=Role.ASSISTANT), turn),
        key_of(said("I live in Lisbon.", said_at=T0 + timedelta(days=1)), turn),
        key_of(usual),
        key_of(usual, turn, turn),
        key_of(usual, said("Where!", speaker="Jonas")),
        key_of(usual, said("Where?", speaker="Pia")),
    ]
    assert len({first, *others}) == 9


def test_canonical_json() -> None:
    assert canonical_hash({"b": 1.0, "a": ("é", None)}) == canonical_hash(
        {"a": ["é", None], "b": 1}
    )
    assert canonical_hash([1, 2]) != canonical_hash([2, 1])
    assert canonical_hash("\ud800")  # half a character is hashed as well
    for none in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            canonical_hash(none)
    with pytest.raises(TypeError):
        canonical_hash({"a": T0})


# Record and replay


def test_the_second_run_sends_nothing(
    path: Path, server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    server.answers["q1"] = None  # a fallback, with the question's id in the error
    server.answers["q6"] = {"type": "choice"}
    ask, other = usual(), with_other_ids(usual())
    live = run(ask_all(RecordingDecider(jev(), Recording(path)), ask))[0]
    assert len(server.requests) == 1
    assert not live.replayed
    recording = Recording(path)
    first, second = run(ask_all(RecordingDecider(jev(), recording), ask, other))
    assert len(server.requests) == 1
    assert first == live
    assert first.replayed
    assert second.replayed
    assert first.cost_usd == pytest.approx(1000 * 0.042e-6)
    assert recording.spent_usd == 0.0
    assert first.latency_ms == live.latency_ms
    assert list(second.answers) == [q.id for q in other.questions]
    assert [a.probabilities for a in second.answers.values()] == [
        a.probabilities for a in live.answers.values()
    ]
    broken = f"{about.RELATION}:{fact(2).id}"
    assert broken in (live.error or "")
    assert (second.error or "") == (live.error or "").replace(
        fact(2).id,
        with_other_ids(ask).questions[5].candidate.id,  # type: ignore[union-attr]
    )


def test_the_reply_is_that_of_the_decider_within(path: Path) -> None:
    live = run(RulesDecider().ask(usual()))
    recorded = run(ask_all(RecordingDecider(RulesDecider(), Recording(path)), usual()))[0]
    assert replace(recorded, latency_ms=live.latency_ms) == live
    assert all(
        tuple(recorded.answers[q.id].probabilities) == (q.options or ("yes", "no"))
        for q in usual().questions
    )


class Counting(RulesDecider):
    """Rules with a price that count what they are asked."""

    def __init__(self, cost_usd: float | None = 0.25, **changes: Any) -> None:
        super().__init__()
        self.model = "counting-1"
        self.calls = 0
        self.cost_usd = cost_usd
        self.changes = changes

    async def ask(self, ask: Ask) -> Reply:
        self.calls += 1
        await asyncio.sleep(0)
        return replace(await super().ask(ask), cost_usd=self.cost_usd, **self.changes)


def other(number: int) -> Ask:
    return replace(usual(), message=f"Said number {number}")


def test_equal_calls_at_once_are_made_once(path: Path) -> None:
    inner, recording = Counting(), Recording(path)

    async def main() -> list[Reply]:
        decider = RecordingDecider(inner, recording)
        replies = await asyncio.gather(
            *(decider.ask(with_other_ids(usual(), f"-{n}")) for n in range(6)),
            *(decider.ask(other(n)) for n in range(3)),
        )
        await decider.aclose()
        return replies

    replies = run(main())
    assert inner.calls == 4
    assert [reply.replayed for reply in replies[:6]] == [False, *[True] * 5]
    assert recording.spent_usd == 1.0


@pytest.mark.parametrize("source", ["none", "budget"])
def test_without_a_budget_a_miss_is_an_error(path: Path, source: str) -> None:
    run(ask_all(RecordingDecider(Counting(), Recording(path)), usual()))
    inner = Counting()
    decider = (
        RecordingDecider(None, Recording(path, read_only=True))
        if source == "none"
        else RecordingDecider(inner, Recording(path), budget_usd=0)
    )
    assert (decider.name, decider.model) == ("rules", "counting-1")

    async def main() -> None:
        assert (await decider.ask(usual())).replayed
        with pytest.raises(DecisionBudgetError, match="not in the recording") as caught:
            await decider.ask(other(1))
        assert caught.value.hint
        assert caught.value.details["key"] == key(other(1), "rules", "counting-1")
        await decider.aclose()

    run(main())
    assert inner.calls == 0
    assert [each.calls for each in held(path)] == [1]


def test_a_cap_counts_new_calls_only(path: Path) -> None:
    run(ask_all(RecordingDecider(Counting(), Recording(path)), other(0), other(1)))
    inner, recording = Counting(), Recording(path)
    decider = RecordingDecider(inner, recording, budget_usd=0.3)

    async def main() -> None:
        for number in range(4):  # two of them known, and the call that crosses the cap is kept
            await decider.ask(other(number))
        with pytest.raises(DecisionBudgetError, match=r"0\.3") as caught:
            await decider.ask(other(4))
        assert caught.value.details["spent_usd"] == 0.5
        assert (await decider.ask(other(3))).replayed
        await decider.aclose()

    run(main())
    assert inner.calls == 2
    assert recording.spent_usd == 0.5
    for wrong in (-1, float("nan")):
        with pytest.raises(ConfigurationError):
            RecordingDecider(inner, recording, budget_usd=wrong)


def test_a_reply_that_broke_off_is_paid_but_not_kept(path: Path) -> None:
    inner, recording = Counting(broke_off=True), Recording(path)
    replies = run(ask_all(RecordingDecider(inner, recording), usual(), usual()))
    assert [reply.replayed for reply in replies] == [False, False]
    assert (inner.calls, recording.spent_usd) == (2, 0.5)
    assert recording.summary() == []


def test_jev_breaks_off_when_a_part_fails(
    path: Path, server: JevServer, jev: Callable[..., JevDecider]
) -> None:
    answered = {"answers": {f"q{n}": {"type": "noul", "noul": 1} for n in (1, 2)}}
    server.script(Scripted(413), Scripted(body=answered), Scripted(402))
    asked = replace(usual(), questions=(question(about.WORTH), question(about.WORTH_SENTENCE)))
    reply = run(ask_all(RecordingDecider(jev(), Recording(path)), asked))[0]
    assert reply.broke_off
    assert held(path) == []


@pytest.mark.parametrize(
    ("reply", "kind", "kept"),
    [
        (Scripted(400, {"detail": "Unknown question type"}), DecisionError, True),
        (Scripted(422, {"detail": [{"loc": ["body"], "msg": "Bad"}]}), DecisionError, True),
        (Scripted(401), DecisionUnavailableError, False),
        (Scripted(402), DecisionUnavailableError, False),
        (Scripted(503), DecisionUnavailableError, False),
        (Scripted(fault=httpx.ConnectError), DecisionUnavailableError, False),
        (Scripted(200, "{"), DecisionInvalidError, False),
        (Scripted(409), DecisionError, False),
    ],
)
def test_only_a_refusal_is_a_recorded_failure(
    path: Path,
    server: JevServer,
    jev: Callable[..., JevDecider],
    reply: Scripted,
    kind: type[DecisionError],
    kept: bool,
) -> None:
    async def failure(decider: RecordingDecider) -> EngramError:
        with pytest.raises(EngramError) as caught:
            await ask_all(decider, usual())
        return caught.value

    server.script(*[reply] * 3)
    first = run(failure(RecordingDecider(jev(), Recording(path))))
    assert type(first) is kind
    sent = len(server.requests)
    again = run(failure(RecordingDecider(jev(), Recording(path), budget_usd=0)))
    assert len(server.requests) == sent
    if kept:
        assert type(again) is kind
        assert again.as_dict() == first.as_dict()
        assert [(each.calls, each.failures) for each in held(path)] == [(1, 1)]
    else:
        assert type(again) is DecisionBudgetError


def test_a_ladder_is_recorded_by_its_steps(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="step by step"):
        RecordingDecider(LadderDecider([RulesDecider(), Counting()]), Recording(path))


def test_a_ladder_is_a_replay_when_every_step_is(path: Path) -> None:
    def ladder(last: Decider) -> LadderDecider:
        return LadderDecider(
            [RecordingDecider(RulesDecider(guesses=False), Recording(path)), last], sure=1
        )

    async def asked(decider: LadderDecider) -> Reply:
        reply = await decider.ask(usual())
        await decider.aclose()
        return reply

    run(asked(ladder(RecordingDecider(Counting(), Recording(path)))))
    whole = run(asked(ladder(RecordingDecider(Counting(), Recording(path)))))
    partly = run(asked(ladder(Counting())))
    assert [step.replayed for step in whole.steps] == [True, True]
    assert [step.replayed for step in partly.steps] == [True, False]
    assert (whole.replayed, partly.replayed) == (True, False)


def test_whose_replies_are_meant(path: Path) -> None:
    second = Counting()
    second.model = "counting-2"
    for inner in (Counting(), second):
        run(ask_all(RecordingDecider(inner, Recording(path)), usual()))
    recording = Recording(path, read_only=True)
    with pytest.raises(ConfigurationError, match="counting-1, rules:counting-2"):
        RecordingDecider(None, recording)
    with pytest.raises(ConfigurationError, match="counting-2"):
        RecordingDecider(None, recording, source="rules")
    with pytest.raises(ConfigurationError, match="others than jev: rules:counting-1"):
        RecordingDecider(None, recording, source="jev")
    chosen = RecordingDecider(None, recording, source="rules:counting-2")
    assert chosen.model == "counting-2"
    assert RecordingExtractor(None, recording).name == "recorded"


# Extractors


class Reading(PatternExtractor):
    """Patterns that count, and raise what they are given first."""

    def __init__(self, *errors: ExtractionError) -> None:
        super().__init__()
        self.errors = list(errors)
        self.calls = 0

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return await super().extract(message, recent)


async def read(extractor: RecordingExtractor, *messages: Message) -> list[list[Draft]]:
    try:
        return [await extractor.extract(message, ()) for message in messages]
    finally:
        await extractor.aclose()


def test_drafts_are_replayed(path: Path) -> None:
    message = said("I moved to Lisbon on 2025-02-01. I play the cello.")
    inner = Reading()
    live = run(read(RecordingExtractor(inner, Recording(path)), message, message))
    assert inner.calls == 1
    assert live[0] == live[1] == run(PatternExtractor().extract(message, ()))
    assert len(live[0]) == 2
    replay = RecordingExtractor(None, Recording(path, read_only=True))
    assert replay.name == "patterns"
    assert run(read(replay, said(message.text, id="other"))) == [live[0]]
    with pytest.raises(ExtractionError, match="not in the recording"):
        run(read(RecordingExtractor(inner, Recording(path), budget_usd=0), said("I am 40.")))
    assert inner.calls == 1


def test_failures_of_extractors(path: Path) -> None:
    message = said("I live in Lisbon.")
    inner = Reading(
        ExtractionError("no whole list"),
        ExtractionError("refused: HTTP 503", status=503),
        ExtractionError("refused: HTTP 400", hint="Why?", status=400, request_id="r1"),
    )
    for known in (False, False, True):
        with pytest.raises(ExtractionError):
            run(read(RecordingExtractor(inner, Recording(path)), message))
        assert bool(held(path)) is known
    assert inner.calls == 3
    with pytest.raises(ExtractionError) as caught:
        run(read(RecordingExtractor(inner, Recording(path)), message))
    assert inner.calls == 3
    assert caught.value.as_dict() == {
        "error": {"code": "extraction", "message": "refused: HTTP 400", "hint": "Why?",
                  "status": 400, "request_id": "r1"}
    }  # fmt: skip


# The files


def call(number: int = 1, **more: Any) -> tuple[Asked, Recorded]:
    asked = Asked("chat", "llm", "tiny", {"messages": [f"question {number}"], "temperature": 0.0})
    values: dict[str, Any] = {
        "answer": {"text": f"answer {number} \ud83d é"}, "latency_ms": 1.5, "cost_usd": 0.5,
        "recorded_at": T0,
    }  # fmt: skip
    return asked, Recorded(**values | more)


def test_any_call_can_be_kept(path: Path) -> None:
    asked, recorded = call()

    async def main() -> None:
        recording = Recording(path)
        assert await recording.get(asked) is None
        await recording.put(asked, recorded)
        await recording.put(asked, replace(recorded, answer="another"))  # the first stays
        await recording.aclose()
        found = await recording.get(asked)
        assert found == replace(recorded, answer={"text": "answer 1 ��� é"})
        await recording.put(*call(2))
        await recording.aclose()
        await recording.aclose()

    run(main())
    summary = held(path)
    assert [(s.kind, s.backend, s.model, s.calls, s.cost_usd) for s in summary] == [
        ("chat", "llm", "tiny", 2, 1.0)
    ]


def test_it_holds_the_request_and_no_key(
    path: Path, jev: Callable[..., JevDecider], server: JevServer
) -> None:
    server.script(Scripted(400, {"detail": f"no such key: {KEY}"}))
    decider = RecordingDecider(jev(), Recording(path))
    with pytest.raises(DecisionError):
        run(ask_all(decider, other(1)))
    run(ask_all(decider, usual()))
    raw = b"".join(each.read_bytes() for each in path.parent.iterdir())
    assert KEY.encode() not in raw
    assert "I moved to Ostwick, café side.".encode() in raw
    assert b"0190-1" not in raw
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


NOT_OURS = {
    ".jsonl": [b'{"kind": "message"}\n', b"hello", b"[1]\n", b"\xff\xfe\n", b"{}",
               b'{"engram_recording":2}\n', b'{"engram_recording":"1"}\n'],
    ".sqlite": [b"hello", b"", b'{"engram_recording":1}\n', b"SQLite format 3\0" + bytes(90)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "content"), [(suffix, raw) for suffix, raws in NOT_OURS.items() for raw in raws]
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_recording_stays_as_it_is(
    tmp_path: Path, suffix: str, content: bytes, read_only: bool
) -> None:
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        Recording(path, read_only=read_only)
    assert caught.value.hint
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("version", [0, 2])
def test_another_database_stays_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "mine.db"
    if version:
        Recording(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="version 2" if version else "no recording"):
        Recording(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "says"),
    [("calls.json", r"\.jsonl"), ("calls", r"\.jsonl"), ("none/calls.jsonl", "no folder"),
     ("none/calls.db", "no folder"), ("folder.jsonl", "cannot be used"),
     ("folder.sqlite", "cannot be used")],
)  # fmt: skip
def test_places_that_cannot_be(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(ConfigurationError, match=says) as caught:
        Recording(tmp_path / name)
    assert caught.value.hint


def test_only_to_be_read(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no recording"):
        Recording(path, read_only=True)
    assert not path.exists()
    writing = Recording(path)
    writing.put_now(*call())
    writing.close()
    before = path.read_bytes()
    reading = Recording(path, read_only=True)
    assert reading.get_now(call()[0]) is not None
    reading.close()
    assert path.read_bytes() == before


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_a_torn_last_line_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "calls.jsonl"
    recording = Recording(path)
    for number in (1, 2):
        recording.put_now(*call(number))
    recording.close()
    header, first, second = lines(path)
    for cut in range(1, len(second) - 1):
        torn = header + first + second[:cut]
        path.write_bytes(torn)
        caplog.clear()
        reading = Recording(path, read_only=True)
        assert reading.get_now(call(1)[0]) is not None
        assert reading.get_now(call(2)[0]) is None
        reading.close()
        assert "broken" in caplog.text
        assert path.read_bytes() == torn
        writing = Recording(path)
        writing.put_now(*call(3))
        assert writing.get_now(call(3)[0]) is not None
        writing.close()
        assert lines(path)[:2] == [header, first]
        assert len(lines(path)) == 3
    path.write_bytes(header + first + second[:-1])  # only the end of the line is missing
    writing = Recording(path)
    writing.put_now(*call(3))
    writing.close()
    assert lines(path)[:3] == [header, first, second]
    assert [each.calls for each in held(path)] == [3]


def test_a_torn_header_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    Recording(path).close()
    header = path.read_bytes()
    for cut in range(len(header)):
        path.write_bytes(header[:cut])
        Recording(path).close()
        assert path.read_bytes() == header


def test_a_broken_line_in_the_middle_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recording = Recording(path)
    for number in (1, 2):
        recording.put_now(*call(number))
    recording.close()
    header, first, second = lines(path)
    for broken in (b"{\n", b'{"key": "only"}\n', b"\n"):
        path.write_bytes(header + broken + first + second)
        with pytest.raises(ConfigurationError, match="line 2"):
            Recording(path)
    path.write_bytes(header + first + first + second)  # two writers: the first of them counts
    assert [each.calls for each in held(path)] == [2]


WRITER = """
import sys
from datetime import UTC, datetime
from engram_graph.adapters.recording import Asked, Recorded, Recording
recording = Recording(sys.argv[1])
own = int(sys.argv[2])
for number in range(40):
    whose = "shared" if number % 2 else f"own {own}"
    asked = Asked("chat", "llm", "tiny", [whose, number])
    recording.put_now(asked, Recorded([own, number], 1.0, None, datetime.now(UTC)))
    assert recording.get_now(asked).answer[1] == number
recording.close()
"""


def test_eight_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    root = Path(__file__).resolve().parents[2]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number)],
            cwd=root, stderr=subprocess.PIPE, text=True,
        )
        for number in range(8)
    ]  # fmt: skip
    assert [writer.communicate()[1] for writer in writers] == [""] * 8
    assert [each.calls for each in held(path)] == [8 * 20 + 20]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_many_tasks_and_threads_write_one_file(path: Path) -> None:
    recording = Recording(path)

    async def main() -> None:
        await asyncio.gather(*(recording.put(*call(number % 50)) for number in range(200)))
        found = await asyncio.gather(*(recording.get(call(n)[0]) for n in range(50)))
        assert all(each is not None for each in found)
        await recording.aclose()

    run(main())
    assert [each.calls for each in held(path)] == [50]


def test_the_event_loop_does_not_wait_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"

    async def main() -> None:
        recording = Recording(path)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # nobody else can write now
        putting = asyncio.create_task(recording.put(*call()))
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert not putting.done()
        other.execute("COMMIT")
        other.close()
        await putting
        await recording.aclose()

    run(main())
    assert [each.calls for each in held(path)] == [1]


def test_a_full_disk_is_said_and_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    Recording(path).close()
    code = (
        "import resource, signal, sys\n"
        "from tests.contract.test_recorder import call\n"
        "from engram_graph.adapters.recording import Recording\n"
        "from engram_graph.errors import ConfigurationError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))\n"
        "recording = Recording(sys.argv[1])\n"
        "try:\n"
        "    for number in range(9):\n"
        "        recording.put_now(*call(number))\n"
        "except ConfigurationError as error:\n"
        "    print(error.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "cannot be used" in done.stdout
    assert path.read_bytes().endswith(b"\n")
    assert all(json.loads(line) for line in lines(path))
    assert 1 <= held(path)[0].calls < 9
    assert os.path.getsize(path) <= 700


def test_two_entities_are_known_by_names_and_facts_not_by_ids() -> None:
    def asked(name: str = "Odo", ids: str = "1", **more: Any) -> str:
        known = fact(1, id=f"0190-{ids}", **more)
        first = Entity(id=f"e{ids}", namespace="n", key=name.lower(), name=name)
        second = Entity(id=f"f{ids}", namespace="n", key="odo kern", name="Odo Kern")
        pair = same_entity(Profile(first, (known,)), Profile(second))
        return canonical_hash(ask_form(replace(usual(), questions=(pair,))))

    assert asked() == asked(ids="2")
    others = (asked("Ono"), asked(text="Odo is away"), asked(open=False))
    assert len({asked(), *others}) == 4
