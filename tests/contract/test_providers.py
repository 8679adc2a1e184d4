"""One extraction and one embedding in each provider's dialect of the OpenAI API, from settings.

The servers are ours; what they say and refuse is what each provider documents.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from engram_graph.adapters.llm_decider import LLMDecider
from engram_graph.embedders import make_embedder
from engram_graph.errors import EmbeddingError, EngramError, ExtractionError
from engram_graph.models.facts import Draft, Message, Vector
from engram_graph.rules.tokens import estimate_tokens
from engram_graph.settings import Settings
from engram_graph.testing.fake_llm import FakeLLM, Reply, answer
from engram_graph.vocabulary import Role
from engram_graph.wiring import make_extractor
from tests.contract.embeddings_server import EmbeddingsServer
from tests.contract.embeddings_server import Reply as Vectors
from tests.contract.test_llm_decider import usual

SAID = datetime(2025, 5, 14, 9, tzinfo=UTC)
HOME = answer([{"text": "Maya lives in Lisbon", "subject": "Maya", "relation": "lives_in",
                "object": "Lisbon"}])  # fmt: skip
Body = dict[str, Any]


def form(body: Body) -> str | None:
    """The response format that a request asks for."""
    asked: str | None = body.get("response_format", {}).get("type")
    return asked


def refusal(error: Any, status: int = 400) -> Reply:
    return Reply(status=status, body=json.dumps(error))


def completion(content: str, **more: Any) -> Reply:
    """A completion of another server's, with fields of its own and no usage."""
    message = {"role": "assistant", "content": content}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return Reply(body=json.dumps(whole | more))


def openai(body: Body) -> Reply | str:
    if "temperature" in body:  # a reasoning model
        error = {
            "message": "Unsupported value",
            "param": "temperature",
            "code": "unsupported_value",
        }
        return refusal({"error": error})
    return HOME


def azure(body: Body) -> Reply | str:
    return completion(HOME, model="gpt-4o-mini-2024-07-18", prompt_filter_results=[{"index": 0}])


def ollama(body: Body) -> Reply | str:
    return f"<think>Maya, or {{someone}}?</think>\n```json\n{HOME}\n```"


def vllm(body: Body) -> Reply | str:
    if form(body) == "json_schema":
        said = {"object": "error", "message": "no guided decoding", "type": "BadRequestError",
                "param": None, "code": 400}  # fmt: skip
        return refusal(said)
    return f"Maya. {{Lisbon}}\n</think>\n{HOME}"  # its template opened the thought


def lm_studio(body: Body) -> Reply | str:
    if form(body) is not None:
        return refusal({"error": "'response_format.type' must be 'text'"})
    return completion(HOME, model="some-model@q4_k_m")


def openrouter(body: Body) -> Reply | str:
    if form(body) == "json_schema":
        error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": "no"}}
        return refusal({"error": error})
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "cost": 0.1}
    return completion(HOME, provider="Somebody", usage=usage, model="a/b:free")


def few_at_once(body: Body) -> Vectors | None:
    """At most 4 texts in one request."""
    if len(body["input"]) <= 4:
        return None
    said = {"error": "batch size 9 > maximum allowed batch size 4", "error_type": "Validation"}
    return Vectors(status=422, body=said)


def short_ones(body: Body) -> Vectors | None:
    """At most 512 tokens in one text."""
    if all(estimate_tokens(text) <= 512 for text in body["input"]):
        return None
    said = "This model's maximum context length is 512 tokens. You passed more."
    return Vectors(status=400, body={"object": "error", "message": said, "code": 400})


@dataclass(frozen=True)
class Dialect:
    """How one provider differs.

    Attributes:
        path: what comes after the host in its base URL.
        forms: response formats asked for until it answers.
        headers: of a request, as far as they differ.
        refuses: of embeddings.
    """

    name: str
    chat: Callable[[Body], Reply | str]
    path: str = "/v1"
    key: str = "sk-secret"
    forms: tuple[str | None, ...] = ("json_schema",)
    headers: dict[str, str | None] = field(default_factory=dict)
    refuses: Callable[[Body], Vectors | None] = lambda _: None


DIALECTS = [
    Dialect("openai", openai, headers={"authorization": "Bearer sk-secret", "api-key": None}),
    Dialect("azure v1", azure, "/openai/v1/"),
    Dialect("azure deployment", azure, "/openai/deployments/mini?api-version=2024-10-21"),
    Dialect("ollama", ollama, key=""),
    Dialect("vllm", vllm, key="", forms=("json_schema", "json_object"), refuses=short_ones),
    Dialect("lm studio", lm_studio, key="", forms=("json_schema", "json_object", None)),
    Dialect("openrouter", openrouter, "/api/v1", forms=("json_schema", "json_object")),
    Dialect("embeddings inference", ollama, key="", refuses=few_at_once),
]
each = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def chats() -> Iterator[FakeLLM]:
    with FakeLLM() as running:
        yield running


@pytest.fixture(scope="module")
def vectors() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        yield running


@pytest.fixture
def chat(chats: FakeLLM) -> FakeLLM:
    chats.requests.clear()
    chats.headers.clear()
    chats.paths.clear()
    return chats


@pytest.fixture
def served(vectors: EmbeddingsServer) -> EmbeddingsServer:
    vectors.requests.clear()
    vectors.paths.clear()
    vectors.refuses = lambda _: None
    return vectors


def chosen(url: str, key: str = "", **more: Any) -> Settings:
    return Settings(
        openai_base_url=url,
        openai_api_key=SecretStr(key),
        extractor="llm",
        llm_model="mini",
        embedder="openai",
        embedding_model="embedding",
        **more,
    )


def extract(settings: Settings, times: int = 1) -> list[Draft]:
    message = Message(
        id="m", namespace="n", conversation="c", speaker="Maya", role=Role.USER,
        text="I live in Lisbon.", said_at=SAID, recorded_at=SAID, source_id="s",
    )  # fmt: skip

    async def main() -> list[Draft]:
        extractor = make_extractor(settings)
        try:
            return [draft for _ in range(times) for draft in await extractor.extract(message, [])]
        finally:
            await extractor.aclose()

    return asyncio.run(main())


def embed(settings: Settings, *batches: list[str]) -> list[Vector]:
    async def main() -> list[Vector]:
        embedder = make_embedder(settings)
        assert embedder is not None
        try:
            return [vector for batch in batches for vector in await embedder.embed(batch)]
        finally:
            await embedder.aclose()

    return asyncio.run(main())


def base(url: str, dialect: Dialect) -> str:
    return url.removesuffix("/v1") + dialect.path


@each
def test_an_extraction(chat: FakeLLM, dialect: Dialect) -> None:
    chat.answers = dialect.chat
    found = extract(chosen(base(chat.url, dialect), dialect.key), times=2)
    assert [draft.object for draft in found] == ["Lisbon", "Lisbon"]
    # What a server takes is found out once.
    assert [form(body) for body in chat.requests] == [*dialect.forms, dialect.forms[-1]]
    path, _, query = dialect.path.partition("?")
    want = f"{path.rstrip('/')}/chat/completions" + (f"?{query}" if query else "")
    assert set(chat.paths) == {want}
    for headers in chat.headers:
        assert headers["authorization"] == f"Bearer {dialect.key or 'none'}"
        assert {name: headers.get(name) for name in dialect.headers} == dialect.headers


@each
def test_an_embedding(served: EmbeddingsServer, dialect: Dialect) -> None:
    served.refuses = dialect.refuses
    texts = [f"text {number}" for number in range(8)] + ["long " * 2_000]
    found = embed(chosen(base(served.url, dialect), dialect.key), texts, texts[:8])
    assert len(found) == 17
    assert all(math.hypot(*vector) == pytest.approx(1) for vector in found)
    assert found[3] == pytest.approx(found[12])
    for _, body in served.requests:
        assert body.keys() == {"model", "input", "encoding_format"}
        assert body["encoding_format"] == "float"  # base64 is not everybody's
    path, _, query = dialect.path.partition("?")
    want = f"{path.rstrip('/')}/embeddings" + (f"?{query}" if query else "")
    assert set(served.paths) == {want}


def test_how_many_texts_a_server_takes_is_remembered(served: EmbeddingsServer) -> None:
    served.refuses = few_at_once
    embed(chosen(served.url), [f"text {n}" for n in range(9)], [f"more {n}" for n in range(9)])
    sizes = [len(body["input"]) for _, body in served.requests]
    assert sizes == [9, 5, 3, 2, 4, 3, 3, 3]


def test_a_refusal_that_smaller_requests_do_not_cure_ends(served: EmbeddingsServer) -> None:
    too_long = {"error": {"message": "maximum context length"}}
    served.refuses = lambda _: Vectors(status=400, body=too_long)
    with pytest.raises(EmbeddingError, match="HTTP 400"):
        embed(chosen(served.url), ["long " * 100])
    assert 1 < len(served.requests) < 10
    served.requests.clear()
    served.refuses = lambda _: Vectors(status=413, body={"error": "too large"})
    with pytest.raises(EmbeddingError, match="HTTP 413"):
        embed(chosen(served.url), ["one", "two"])
    assert len(served.requests) == 2


def test_a_model_that_refuses_a_temperature_in_words_is_asked_without(chat: FakeLLM) -> None:
    def answers(body: Body) -> Reply | str:
        if "temperature" in body:
            return refusal({"error": {"message": "temperature is not supported", "code": 400}})
        return json.dumps({"answers": {}})

    chat.answers = answers
    decider = LLMDecider("mini", api_key="none", base_url=chat.url)

    async def main() -> None:
        with pytest.raises(EngramError):  # there is no answer in it; the form is what counts here
            await decider.ask(usual())
        await decider.aclose()

    asyncio.run(main())
    assert [("temperature" in body, form(body)) for body in chat.requests[:2]] == [
        (True, "json_schema"),
        (False, "json_schema"),
    ]


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ('{"error": {"message": "model \\"mini\\" not found, try pulling it first"}}',
         "ollama pull mini"),
        ("404 page not found", "/v1"),
        ('{"error": {"message": "no such model", "code": "model_not_found"}}', "model name"),
    ],
)  # fmt: skip
def test_what_is_not_there_says_what_to_do(chat: FakeLLM, body: str, hint: str) -> None:
    chat.answers = lambda _: Reply(status=404, body=body)
    with pytest.raises(ExtractionError) as caught:
        extract(chosen(chat.url))
    assert hint in caught.value.hint
    assert caught.value.details["status"] == 404


def test_a_model_of_embeddings_that_is_not_there(served: EmbeddingsServer) -> None:
    said = {"error": {"message": 'model "embedding" not found, try pulling it first'}}
    served.refuses = lambda _: Vectors(status=404, body=said)
    with pytest.raises(EmbeddingError) as caught:
        embed(chosen(served.url), ["one"])
    assert "ollama pull embedding" in caught.value.hint


def test_an_error_in_a_reply_that_went_well(chat: FakeLLM) -> None:
    """OpenRouter answers 200 when the provider behind it failed."""
    chat.answers = lambda _: Reply(body='{"error": {"message": "upstream", "code": 502}}')
    with pytest.raises(ExtractionError, match="empty"):
        extract(chosen(chat.url))


def test_embeddings_of_another_server_get_its_key_and_no_other(served: EmbeddingsServer) -> None:
    away = "http://127.0.0.1:9/v1"
    embed(chosen(away, "sk-secret", embedding_base_url=served.url), ["one"])
    own = SecretStr("sk-own")
    embed(chosen(away, "sk-secret", embedding_base_url=served.url, embedding_api_key=own), ["one"])
    sent = [headers["authorization"] for headers, _ in served.requests]
    assert sent == ["Bearer none", "Bearer sk-own"]


def test_azure_gets_its_key_under_its_own_name() -> None:
    from engram_graph.adapters.openai_client import OpenAIClient

    async def headers(url: str) -> dict[str, str]:
        client = OpenAIClient("sk-secret", url, 1.0, 0)
        made = await client.get()
        await client.aclose()
        return dict(made.default_headers)

    azure_headers = asyncio.run(headers("https://mine.openai.azure.com/openai/v1/"))
    assert azure_headers["api-key"] == "sk-secret"
    assert "api-key" not in asyncio.run(headers("https://azure.com.example/v1"))
