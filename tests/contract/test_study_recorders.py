"""Recorders of chat and embeddings, the price of an extraction: bought once, free afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from engram_graph.adapters.chat import ChatModel, Prompt
from engram_graph.adapters.embed_openai import OpenAIEmbedder
from engram_graph.adapters.llm_extractor import LLMExtractor
from engram_graph.adapters.llm_meter import Meter
from engram_graph.adapters.patterns import PatternExtractor
from engram_graph.adapters.recorder import RecordingExtractor
from engram_graph.adapters.recorder_chat import RecordingChat, Said
from engram_graph.adapters.recorder_embedder import RecordingEmbedder
from engram_graph.adapters.recording import Asked, Recorded, Recording, Tokens
from engram_graph.embedders import make_embedder
from engram_graph.errors import AnsweringError, BudgetError, EmbeddingError, EngramError
from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder
from engram_graph.settings import Settings
from engram_graph.testing.fake_llm import NO_FACTS, FakeLLM, Reply
from tests.contract.embeddings_server import EmbeddingsServer
from tests.contract.embeddings_server import Reply as Vectors
from tests.contract.test_recorder import said

KEY = "sk-very-secret-key"
PROMPT = Prompt("Answer.", "Where does Odo live?", "answer_v1", {"type": "object"}, "JSON only.")
_T = TypeVar("_T")


class Watching:
    """Keeps what a recording tells; refuses new calls once it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Recorded, Tokens | None]] = []
        self.refuses: EngramError | None = None

    def before(self, asked: Asked) -> None:
        if self.refuses:
            raise self.refuses

    def after(self, asked: Asked, call: Recorded, tokens: Tokens | None) -> None:
        self.calls.append((asked.kind, call, tokens))


@pytest.fixture
def llm() -> Iterator[FakeLLM]:
    with FakeLLM() as server:
        server.usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        yield server


@pytest.fixture
def vectors() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as server:
        server.usage = {"prompt_tokens": 500, "total_tokens": 500}
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


def chat(
    server: FakeLLM | None, recording: Recording, model: str = "tiny", **options: Any
) -> RecordingChat:
    inner = None
    if server is not None:
        inner = ChatModel(
            model, api_key=KEY, base_url=server.url, timeout_s=20, max_retries=0, temperature=0.0,
            purpose="answer",
        )  # fmt: skip
    meter = Meter(1.0, 10.0, None)
    return RecordingChat(inner, recording, kind="answer", model=model, meter=meter, **options)


async def completed(one: RecordingChat, *prompts: Prompt) -> list[Said]:
    try:
        return [await one.complete(prompt) for prompt in prompts or (PROMPT,)]
    finally:
        await one.aclose()


# Chat


def test_a_completion_is_bought_once(llm: FakeLLM, path: Path) -> None:
    llm.script('{"answer": "Lisbon"}')
    recording = Recording(path)
    recording.watcher = watcher = Watching()
    first, again = run(completed(chat(llm, recording), PROMPT, PROMPT))
    assert len(llm.requests) == 1
    assert (first.text, first.flaw, first.replayed) == ('{"answer": "Lisbon"}', "", False)
    assert first.cost_usd == pytest.approx(1000 * 1e-6 + 100 * 10e-6)
    assert recording.spent_usd == pytest.approx(first.cost_usd)
    assert again == Said(first.text, "", first.cost_usd, first.latency_ms, replayed=True)
    assert [tokens for _, _, tokens in watcher.calls] == [(1000, 100), None]
    assert {call.cost_usd for _, call, _ in watcher.calls} == {first.cost_usd}


def test_a_budget_of_0_replays_and_sends_nothing(llm: FakeLLM, path: Path) -> None:
    llm.script("text")
    [first] = run(completed(chat(llm, Recording(path))))
    for server in (llm, None):
        replay = chat(server, Recording(path, read_only=True), budget_usd=0)
        [again] = run(completed(replay))
        assert (again.text, again.latency_ms) == (first.text, first.latency_ms)
        other = Prompt("Answer.", "Where does Pia live?", "answer_v1", {"type": "object"}, "")
        with pytest.raises(BudgetError, match="not in the recording"):
            run(completed(replay, other))
    assert len(llm.requests) == 1


@pytest.mark.parametrize("part", ["system", "user", "name", "schema", "plain"])
def test_every_part_of_a_prompt_is_in_the_key(llm: FakeLLM, path: Path, part: str) -> None:
    given = {n: getattr(PROMPT, n) for n in ("system", "user", "name", "schema", "plain")}
    changed = Prompt(**given | {part: {"type": "array"} if part == "schema" else "other"})
    run(completed(chat(llm, Recording(path)), PROMPT, changed))
    assert len(llm.requests) == 2
    run(completed(chat(llm, Recording(path), model="large")))
    assert len(llm.requests) == 3


def test_a_refusal_is_replayed_an_outage_is_not(llm: FakeLLM, path: Path) -> None:
    recording = Recording(path)
    recording.watcher = watcher = Watching()
    llm.refuse = {"json_schema", "json_object"}
    llm.otherwise = Reply(status=400, body='{"error": {"message": "no such thing"}}')
    for _ in range(2):
        with pytest.raises(AnsweringError, match="HTTP 400"):
            run(completed(chat(llm, recording)))
    assert len(llm.requests) == 3  # one of each form, and no replay
    assert [call.failed for _, call, _ in watcher.calls] == [True, True]
    llm.refuse, llm.otherwise = set(), Reply("ok")
    llm.fail(1, 503)
    away = Prompt("Answer.", "Another?", "answer_v1", {"type": "object"}, "")
    with pytest.raises(AnsweringError, match="HTTP 503") as failure:
        run(completed(chat(llm, recording), away))
    assert KEY not in str(failure.value.as_dict())
    assert run(completed(chat(llm, recording), away))[0].text == "ok"


def test_a_watcher_can_refuse_a_new_call_and_no_other(llm: FakeLLM, path: Path) -> None:
    recording = Recording(path)
    recording.watcher = watcher = Watching()
    run(completed(chat(llm, recording)))
    watcher.refuses = BudgetError("enough")
    assert run(completed(chat(llm, recording)))[0].replayed
    other = Prompt("Answer.", "Another?", "answer_v1", {"type": "object"}, "")
    with pytest.raises(BudgetError, match="enough"):
        run(completed(chat(llm, recording), other))
    assert len(llm.requests) == 1


# Embeddings


def embedder(
    server: EmbeddingsServer | None, recording: Recording, **options: Any
) -> RecordingEmbedder:
    inner = None
    if server is not None:
        inner = OpenAIEmbedder("tiny", api_key=KEY, base_url=server.url, usd_per_million=2.0)
    return RecordingEmbedder(inner, recording, model="tiny", **options)


async def embedded(one: Embedder, *texts: str, query: bool = False) -> list[Vector]:
    try:
        return await one.embed(texts, query=query)
    finally:
        await one.aclose()


def test_a_vector_is_bought_once(vectors: EmbeddingsServer, path: Path) -> None:
    recording = Recording(path)
    recording.watcher = watcher = Watching()
    one = embedder(vectors, recording)
    first = run(embedded(one, "Odo lives in Lisbon", "Pia", "Odo lives in Lisbon"))
    assert one.dimension == 48
    assert first[0] == first[2] != first[1]
    [(_, body)] = vectors.requests
    assert body["input"] == ["Odo lives in Lisbon", "Pia"]
    again = run(embedded(one, "new", "Pia"))
    assert again[1] == first[1]
    assert vectors.requests[1][1]["input"] == ["new"]
    made = [call for _, call, tokens in watcher.calls if tokens is not None]
    assert len(made) == 3
    assert len(watcher.calls) == 4
    costs = [call.cost_usd or 0.0 for call in made]
    assert costs[0] > costs[1] > 0  # parted by length
    assert costs[0] + costs[1] == pytest.approx(costs[2]) == pytest.approx(0.001)
    assert recording.spent_usd == pytest.approx(sum(costs))


def test_the_first_run_and_its_replay_have_the_same_vectors(
    vectors: EmbeddingsServer, path: Path
) -> None:
    texts = ["Odo lives in Lisbon", "café", "", "x" * 100]
    first = run(embedded(embedder(vectors, Recording(path)), *texts))
    replay = embedder(None, Recording(path, read_only=True))
    assert replay.dimension == 0
    assert run(embedded(replay, *texts)) == first
    assert replay.dimension == 48
    live = OpenAIEmbedder("tiny", api_key=KEY, base_url=vectors.url)
    exact = run(embedded(live, *texts))
    assert first == [pytest.approx(vector, abs=1e-6) for vector in exact]


def test_nothing_is_sent_at_a_budget_of_0(vectors: EmbeddingsServer, path: Path) -> None:
    run(embedded(embedder(vectors, Recording(path)), "known"))
    closed = embedder(vectors, Recording(path, read_only=True), budget_usd=0)
    assert run(embedded(closed, "known"))
    for texts, query in ((("known", "new"), False), (("known",), True)):
        with pytest.raises(BudgetError, match="embedding is not in the recording"):
            run(embedded(closed, *texts, query=query))
    assert len(vectors.requests) == 1


def test_a_failed_embedding_is_asked_again(vectors: EmbeddingsServer, path: Path) -> None:
    vectors.script = [Vectors(status=400, body={"error": {"message": "no"}})]
    one = embedder(vectors, Recording(path))
    with pytest.raises(EmbeddingError):
        run(embedded(one, "a", "b"))
    assert len(run(embedded(one, "a", "b"))) == 2


def test_settings_record_what_crosses_the_network_only(
    vectors: EmbeddingsServer, path: Path
) -> None:
    values: dict[str, Any] = {
        "embedder": "openai", "embedding_model": "tiny", "embedding_base_url": vectors.url,
        "recording": str(path),
    }  # fmt: skip

    async def made(settings: Settings, recording: Recording) -> list[Vector]:
        one = make_embedder(settings, recording)
        assert one is not None
        try:
            return await one.embed(["Odo"])
        finally:
            await one.aclose()

    first = run(made(Settings.load(**values), Recording(path)))
    again = run(made(Settings.load(**values, recording_budget_usd=0), Recording(path)))
    assert again == first
    assert len(vectors.requests) == 1
    held = Recording(path, read_only=True)
    assert held.origins() == {("embedding", "openai", "tiny")}
    run(made(Settings.load(**values | {"embedder": "hash"}), Recording(path)))
    assert held.origins() == {("embedding", "openai", "tiny")}
    held.close()


# Extraction has a price


def test_an_extraction_tells_its_cost_where_prices_are_set(llm: FakeLLM, path: Path) -> None:
    recording = Recording(path)
    recording.watcher = watcher = Watching()
    llm.script(NO_FACTS, NO_FACTS, '{"facts": ')

    async def read(text: str, **prices: float) -> None:
        live = LLMExtractor("tiny", api_key=KEY, base_url=llm.url, **prices)
        one = RecordingExtractor(live, recording)
        try:
            await one.extract(said(text), [])
        finally:
            await one.aclose()

    prices = {"usd_per_million_input": 1.0, "usd_per_million_output": 10.0}
    run(read("Priced.", **prices))
    run(read("Unpriced."))
    with pytest.raises(EngramError):
        run(read("Broken.", **prices))
    run(RecordingExtractor(PatternExtractor(), recording).extract(said("I am 40."), []))
    costs = [call.cost_usd for _, call, _ in watcher.calls]
    assert costs == [pytest.approx(0.002), None, pytest.approx(0.002), 0.0]
    assert recording.spent_usd == pytest.approx(0.004)  # what could not be read was paid for
    assert watcher.calls[0][2] == (1000, 100)
