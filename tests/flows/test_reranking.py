"""Searches with each reranker: what leads, and what is left when it is down, slow or wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from engram_graph.adapters.rerank_cross_encoder import CrossEncoderReranker
from engram_graph.adapters.rerank_decider import DeciderReranker
from engram_graph.adapters.rerank_llm import LLMReranker
from engram_graph.cli.show import found_by
from engram_graph.errors import RerankError
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Turn
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
from engram_graph.models.results import Recall
from engram_graph.ports import Reranker
from engram_graph.rules.ranking import id_of
from engram_graph.rules.render import NOTHING, UNSURE
from engram_graph.settings import Settings
from engram_graph.testing.fake_llm import FakeLLM, Reply, items, ranking
from engram_graph.testing.scripted import ScriptedDecider
from tests.contract import tiny_cross_encoder

pytestmark = pytest.mark.anyio
Make = Callable[..., AsyncMemory]
KEY = "sk-very-secret-key"


@pytest.fixture
def chat() -> Iterator[FakeLLM]:
    with FakeLLM() as running:
        yield running


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder.make(tmp_path_factory.mktemp("tiny"))


def llm(chat: FakeLLM, **options: Any) -> LLMReranker:
    return LLMReranker("small", api_key=KEY, base_url=chat.url, **options)


def picks(chat: FakeLLM, *words: str) -> None:
    """The items with one of ``words`` help, the first word first."""
    chat.answers = lambda body: ranking(body, *words)


def objects(recall: Recall, why: str | None = None) -> list[str]:
    return [hit.fact.object for hit in recall.facts if why in (None, hit.why)]


def said(recall: Recall) -> list[str]:
    return [hit.message.text for hit in recall.turns]


@pytest.fixture
async def filled(memory: AsyncMemory) -> AsyncMemory:
    """Twelve boats, and Ann, who lived in Bonn, then Cork, then Oslo and works at Sable as Odo."""
    await memory.remember_many(
        [
            {"subject": f"Bo {n}", "predicate": "owns", "object": f"boat {n}"}
            | {"text": f"Bo {n} owns boat {n}", "valid_from": "2018-01-01"}
            for n in range(12)
        ],
        decide=False,
    )
    for city, year in (("Bonn", 2019), ("Cork", 2021), ("Oslo", 2023)):
        await memory.remember("Ann", "lives_in", city, valid_from=f"{year}-01-01")
    await memory.remember("Ann", "works_at", "Sable", valid_from="2022-01-01")
    await memory.remember("Odo", "works_at", "Sable", valid_from="2020-01-01")
    return memory


async def told(memory: AsyncMemory, count: int) -> None:
    await memory.add([{"role": "user", "content": f"Boat {n:02} sank."} for n in range(count)])


# A language model


async def test_a_list_leads_in_its_order_and_the_first_found_follow(
    filled: AsyncMemory, make_memory: Make, chat: FakeLLM
) -> None:
    picks(chat, "Ann works at Sable", "Cork", "boat 7", "Oslo")
    recall = await make_memory(reranker=llm(chat)).search("Who owns a boat?")
    assert objects(recall, "shortlist") == ["Sable", "Cork", "boat 7", "Oslo"]  # belief counts not
    leading = [hit for hit in recall.facts if hit.why == "shortlist"]
    assert [hit.scores.rerank for hit in leading] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert {hit.scores.relevance for hit in recall.facts} == {None}
    assert objects(recall)[:3] == ["Sable", "Cork", "Bonn"]  # with what Cork superseded
    floor = [hit for hit in recall.facts if hit.why == "floor"]
    assert 6 <= len(floor) <= 10
    assert {hit.scores.rerank for hit in floor} == {0.0}
    assert [hit.scores.fused for hit in floor] == sorted(
        (hit.scores.fused for hit in floor), reverse=True
    )
    assert recall.facts[0].fact.subject == "Ann"
    assert (recall.sufficient, recall.degraded) == (True, ())
    assert recall.latency_ms > 0
    assert [found_by(hit) for hit in leading[:2]] == ["  rerank 1.00", "  rerank 0.50"]
    assert found_by(floor[0]) == "  rerank 0.00 · floor"
    (body,) = chat.requests
    assert len(items(body)) == 17


async def test_an_empty_list_says_that_nothing_helps(
    filled: AsyncMemory, make_memory: Make, chat: FakeLLM, namespace: str
) -> None:
    picks(chat)
    judged = make_memory(reranker=llm(chat))
    recall = await judged.search("What is Ann's blood group?")
    assert recall.sufficient is False
    assert {hit.why for hit in recall.facts} <= {"floor", "history"}
    assert recall.context.splitlines()[1] == UNSURE
    empty = await judged.search("What is Ann's blood group?", namespace=f"{namespace}-empty")
    assert (empty.sufficient, empty.facts) == (False, ())
    assert empty.context.splitlines()[1] == NOTHING
    assert len(chat.requests) == 1


async def test_wide_ranks_windows_and_puts_them_together_by_place(
    memory: AsyncMemory, make_memory: Make, chat: FakeLLM
) -> None:
    await told(memory, 40)
    plain = said(await memory.search("boat", mode="turns", wide=True))
    first, last = plain[:30], plain[30:]
    picks(chat, first[9], last[3], last[5], first[2])
    recall = await make_memory(reranker=llm(chat)).search("boat", mode="turns", wide=True)
    assert sorted(len(items(body)) for body in chat.requests) == [10, 30]
    leading = [first[9], last[3], first[2], last[5]]
    assert said(recall) == leading + [text for text in plain if text not in leading]
    assert [hit.scores.rerank for hit in recall.turns][:5] == [1, 1 / 2, 1 / 3, 1 / 4, 0]
    assert {hit.why for hit in recall.turns} == {"shortlist"}


async def test_both_asks_about_facts_and_turns(
    memory: AsyncMemory, make_memory: Make, chat: FakeLLM
) -> None:
    await memory.add("I live in Bonn.", speaker="Ann", said_at="2019-01-01")
    await memory.add("I live in Oslo.", speaker="Ann", said_at="2023-01-01")
    await memory.add("The flat in Oslo is by the harbour!", speaker="Ann", said_at="2023-01-02")
    picks(chat, "Oslo", "Bonn")
    recall = await make_memory(reranker=llm(chat)).search("Ann's home", mode="both")
    assert objects(recall) == ["Oslo", "Bonn"]
    assert said(recall) == ["The flat in Oslo is by the harbour!"]
    assert recall.sufficient is True
    assert len(chat.requests) == 2


# A cross-encoder


@pytest.mark.model
async def test_turns_come_in_the_order_of_the_model(
    memory: AsyncMemory, make_memory: Make, settings: Settings, tiny: Path
) -> None:
    from sentence_transformers import CrossEncoder

    texts = [f"Boat {n}, {'kite ' * n}sold to Pia {n * n}." for n in range(12)]
    await memory.add([{"role": "user", "content": text} for text in texts], speaker="Ann")
    chosen = settings.model_copy(update={"rerank": "cross-encoder", "rerank_model": str(tiny)})
    judged = make_memory(settings=chosen)
    recall = await judged.search("Who owns the boat?", mode="turns")
    assert sorted(said(recall)) == sorted(texts)
    scores = [hit.scores.rerank or 0 for hit in recall.turns]
    assert scores == sorted(scores, reverse=True)
    lines = [f"{hit.message.speaker}: {hit.message.text}" for hit in recall.turns]
    by_library = CrossEncoder(str(tiny)).rank("Who owns the boat?", lines)
    assert [row["corpus_id"] for row in by_library] == list(range(len(texts)))
    assert (recall.sufficient, recall.degraded, recall.cost_usd) == (None, (), 0.0)
    assert {hit.why for hit in recall.turns} == {"shortlist"}
    assert {hit.scores.relevance for hit in recall.turns} == {None}
    wide = await judged.search("Who owns the boat?", mode="turns", wide=True)
    assert said(wide) == said(recall)


@pytest.mark.model
async def test_a_score_counts_by_belief_and_leaves_nothing_out(
    filled: AsyncMemory, make_memory: Make, tiny: Path
) -> None:
    judged = make_memory(reranker=CrossEncoderReranker(str(tiny), device="cpu"))
    recall = await judged.search("Where does Ann live?")
    products = [
        (hit.scores.rerank or 0) * hit.fact.belief for hit in recall.facts if hit.why == "shortlist"
    ]
    assert len(products) == 17
    assert products == sorted(products, reverse=True)
    assert objects(recall).index("Oslo") < objects(recall).index("Cork")
    assert recall.sufficient is None
    both = await judged.search("Where does Ann live?", mode="both", wide=True)
    assert {hit.why for hit in both.facts} == {"shortlist"}
    assert len(both.facts) == 17


# Down, wrong, refused: the search answers as without a model


def broken(kind: str, fault: str, chat: FakeLLM, empty: Path) -> Reranker:
    if kind == "decider":
        decider = ScriptedDecider({})
        if fault == "down":
            decider.down = None
        else:
            decider.malformed = {"relevant_to_query": "nan"}
        return DeciderReranker(decider)
    if kind == "cross-encoder":
        return CrossEncoderReranker(str(empty))
    said = {
        "down": Reply(status=503, body="{}", headers={"retry-after-ms": "1"}),
        "no json": Reply("I would take the first."),
        "wrong numbers": Reply('{"ranking": [0, 1, 2]}'),
        "no text": Reply(""),
        "refusal": Reply(None, refusal="No."),
        "cut off": Reply('{"ranking": [1', finish_reason="length"),
    }
    chat.script(said[fault], last_repeats=True)
    return llm(chat)


@pytest.mark.parametrize(
    ("kind", "fault", "reason"),
    [
        ("decider", "down", "decider: decision_unavailable"),
        ("decider", "wrong", "decider: no usable answer"),
        ("llm", "down", "llm: the language model refused: HTTP 503"),
        ("llm", "no json", "llm: the language model's reply holds no complete ranking"),
        ("llm", "wrong numbers", "llm: the language model ranked what it was not given"),
        ("llm", "no text", "llm: the language model's reply holds no complete ranking"),
        ("llm", "refusal", "llm: the language model declined to answer"),
        ("llm", "cut off", "llm: the language model's reply was cut off"),
        pytest.param(
            *("cross-encoder", "no model", "cross-encoder: the model empty could not be loaded: "),
            marks=pytest.mark.model,
        ),
    ],
)
async def test_a_failing_reranker_leaves_the_order_without_one(
    filled: AsyncMemory,
    make_memory: Make,
    chat: FakeLLM,
    tmp_path: Path,
    kind: str,
    fault: str,
    reason: str,
) -> None:
    (tmp_path / "empty").mkdir()
    judged = make_memory(reranker=broken(kind, fault, chat, tmp_path / "empty"))
    for options in ({"mode": "facts"}, {"mode": "both"}, {"mode": "both", "wide": True}):
        plain = await filled.search("boat", **options)  # type: ignore[arg-type]
        recall = await judged.search("boat", **options)  # type: ignore[arg-type]
        assert (objects(recall), said(recall)) == (objects(plain), said(plain))
        assert recall.context == plain.context
        assert recall.sufficient is None
        lost = [text for text in recall.degraded if text.startswith(reason)]
        assert len(lost) == len(recall.degraded) == (1 if options["mode"] == "facts" else 2)
        assert all(text.endswith(" not judged)") for text in lost)
        assert {hit.scores.rerank for hit in recall.facts} == {None}


# Partly lost


async def test_a_lost_window_of_wide_stands_between(
    memory: AsyncMemory, make_memory: Make, chat: FakeLLM
) -> None:
    await told(memory, 40)
    plain = said(await memory.search("boat", mode="turns", wide=True))

    def half(body: dict[str, Any]) -> str | Reply:
        return Reply("?") if len(items(body)) == 10 else ranking(body, plain[20], plain[3])

    chat.answers = half
    judged = make_memory(reranker=llm(chat))
    recall = await judged.search("boat", mode="turns", wide=True)
    leading, lost = [plain[20], plain[3]], plain[30:]
    rest = [text for text in plain[:30] if text not in leading]
    assert said(recall) == leading + lost + rest
    assert [hit.scores.rerank for hit in recall.turns][1:4] == [1 / 2, None, None]
    (reason,) = recall.degraded
    assert reason.endswith("(10 of 40 turns not judged)")
    assert recall.sufficient is True
    chat.answers = lambda body: Reply("?") if len(items(body)) == 10 else '{"ranking": []}'
    assert (await judged.search("boat", mode="turns", wide=True)).sufficient is None


async def test_both_with_one_half_lost(
    filled: AsyncMemory, make_memory: Make, chat: FakeLLM
) -> None:
    await told(filled, 3)

    def facts_only(body: dict[str, Any]) -> str | Reply:
        turns = "said_on" in items(body)[0]
        return Reply("?") if turns else ranking(body, "boat 7")

    def turns_only(body: dict[str, Any]) -> str | Reply:
        turns = "said_on" in items(body)[0]
        return ranking(body, "Boat 01") if turns else Reply("?")

    judged = make_memory(reranker=llm(chat))
    plain = await filled.search("boat", mode="both")
    chat.answers = facts_only
    recall = await judged.search("boat", mode="both")
    assert objects(recall, "shortlist") == ["boat 7"]
    assert (
        said(recall)[:3] == said(plain)[:3] == ["Boat 00 sank.", "Boat 01 sank.", "Boat 02 sank."]
    )
    assert len(recall.degraded) == 1
    assert recall.degraded[0].endswith("not judged)")
    assert recall.sufficient is True
    chat.answers = turns_only
    recall = await judged.search("boat", mode="both")
    assert objects(recall) == objects(plain)
    assert said(recall)[0] == "Boat 01 sank."
    assert [hit.why for hit in recall.turns] == ["shortlist", *["floor"] * (len(recall.turns) - 1)]


# Too slow


class Slow:
    """Ranks what has none of ``words`` at once; for the rest one waits in vain.

    ``begun``, ``ended``: how many such requests.
    """

    name = "slow"
    window = 10

    def __init__(self, *words: str) -> None:
        self.words = words
        self.begun = self.ended = 0
        self.waiting = asyncio.Event()

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        texts = [item.message.text if isinstance(item, Turn) else item.text for item in items]
        if any(word in text for word in self.words for text in texts):
            self.begun += 1
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended += 1
        return Ranking("place", {id_of(item): 1.0 for item in items[:1]}, asked=len(items))

    async def aclose(self) -> None:
        pass


async def test_after_its_time_a_search_answers_without_what_is_missing(
    memory: AsyncMemory, make_memory: Make, settings: Settings
) -> None:
    await told(memory, 25)
    hurried = settings.model_copy(update={"rerank_timeout": 0.05})
    plain = said(await memory.search("boat", mode="turns", wide=True))
    slow = Slow(plain[12])
    judged = make_memory(settings=hurried, reranker=slow)
    recall = await judged.search("boat", mode="turns", wide=True)
    assert (slow.begun, slow.ended) == (1, 1)
    assert said(recall)[:2] == [plain[0], plain[20]]
    assert recall.degraded == ("slow: no answer within 0.05 s (23 of 25 turns not judged)",)
    assert recall.cost_usd is None
    slow.words = ("Boat",)
    recall = await judged.search("boat", mode="turns")
    assert (slow.begun, slow.ended) == (4, 4)
    assert said(recall) == said(await memory.search("boat", mode="turns"))
    assert recall.degraded == ("slow: no answer within 0.05 s (25 of 25 turns not judged)",)
    assert recall.sufficient is None


async def test_a_cancelled_search_leaves_no_request_behind(
    memory: AsyncMemory, make_memory: Make
) -> None:
    await told(memory, 25)
    slow = Slow("Boat")
    task = asyncio.create_task(make_memory(reranker=slow).search("boat", mode="turns"))
    await slow.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (slow.begun, slow.ended) == (3, 3)


async def test_a_fault_in_a_reranker_is_told_as_it_is(
    memory: AsyncMemory, make_memory: Make
) -> None:
    class Faulty(Slow):
        async def rerank(
            self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
        ) -> Ranking:
            if len(items) < self.window:
                raise ZeroDivisionError
            raise RerankError("gone")

    await told(memory, 25)
    with pytest.raises(ZeroDivisionError):
        await make_memory(reranker=Faulty()).search("boat", mode="turns")


async def test_a_slow_language_model(
    filled: AsyncMemory, make_memory: Make, settings: Settings, chat: FakeLLM
) -> None:
    chat.script(Reply('{"ranking": [1]}', delay_s=20), last_repeats=True)
    hurried = settings.model_copy(
        update={
            "rerank": "llm",
            "rerank_timeout": 0.2,
            "openai_base_url": chat.url,
            "rerank_model": "small",
        }
    )
    before = asyncio.all_tasks()
    recall = await make_memory(settings=hurried).search("boat", mode="both")
    left = asyncio.all_tasks() - before
    assert {task.get_name() for task in left} == {"engram_graph reads"}
    assert objects(recall) == objects(await filled.search("boat", mode="both"))
    assert recall.degraded[0] == "llm: no answer within 0.2 s (17 of 17 facts not judged)"


async def test_a_slow_cross_encoder_ends_with_the_pairs_at_hand(
    filled: AsyncMemory, make_memory: Make, settings: Settings, tiny: Path
) -> None:
    class Sluggish:
        calls = inside = 0

        def predict(self, pairs: list[Any], **more: Any) -> list[float]:
            self.calls += 1
            self.inside += 1
            time.sleep(0.5)  # the work: a thread that cannot be stopped
            self.inside -= 1
            return [1.0] * len(pairs)

    one = CrossEncoderReranker(str(tiny))
    one._loaded = model = Sluggish()
    hurried = settings.model_copy(update={"rerank_timeout": 0.1})
    recall = await make_memory(settings=hurried, reranker=one).search("boat", wide=True)
    assert model.inside == 0
    assert model.calls <= 1
    judged = [hit for hit in recall.facts if hit.scores.rerank is not None]
    assert len(judged) in (0, 8)
    assert len(recall.facts) == 17
    (reason,) = recall.degraded
    assert reason.startswith("cross-encoder: no answer within 0.1 s")


# Recorded


async def test_a_language_model_s_rankings_are_replayed_by_settings(
    filled: AsyncMemory,
    make_memory: Make,
    settings: Settings,
    chat: FakeLLM,
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.sqlite"
    picks(chat, "Oslo", "boat 7")
    live = settings.model_copy(
        update={
            "rerank": "llm",
            "rerank_model": "small",
            "recording": str(path),
            "openai_api_key": SecretStr(KEY),
            "openai_base_url": chat.url,
            "decider": "rules",
        }
    )
    async with make_memory(settings=live) as judged:
        first = await judged.search("boat", mode="both")
    assert objects(first, "shortlist") == ["Oslo", "boat 7"]
    sent = len(chat.requests)
    assert sent == 2
    replay = live.model_copy(
        update={
            "recording_budget_usd": 0.0,
            "openai_api_key": SecretStr(""),
            "openai_base_url": "http://127.0.0.1:9",
        }
    )
    async with make_memory(settings=replay) as offline:
        again = await offline.search("boat", mode="both")
        assert (again.context, again.latency_ms) == (first.context, first.latency_ms)
        numbers = [hit.scores.rerank for hit in first.facts]
        assert [hit.scores.rerank for hit in again.facts] == numbers
        assert (again.sufficient, again.degraded) == (True, ())
        other = await offline.search("kites", mode="both")
    assert len(chat.requests) == sent
    assert "is not in the recording" in other.degraded[0]
    assert KEY.encode() not in path.read_bytes()
