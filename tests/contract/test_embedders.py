"""One contract for all embedders, and what each one adds to it."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence

import pytest

from engram_graph.adapters import embed_local
from engram_graph.adapters.embed_cache import CachedEmbedder, cached
from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.adapters.embed_local import LocalEmbedder
from engram_graph.adapters.embed_openai import MAX_TOKENS, OpenAIEmbedder, cut
from engram_graph.embedders import make_embedder
from engram_graph.errors import ConfigurationError, EmbeddingError, MissingExtraError
from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder
from engram_graph.rules.tokens import estimate_tokens
from engram_graph.settings import Settings
from tests.contract.embeddings_server import EmbeddingsServer, Reply

KEY = "sk-very-secret"
needs_model = pytest.mark.skipif(not embed_local.available(), reason="extra 'local' is absent")
KINDS = [
    "hash",
    "openai",
    "cached",
    pytest.param("local", marks=[pytest.mark.model, needs_model]),
]
ODD = [
    "",
    " \n\t",
    "😀👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "東京に住んでいる",
    "مرحبا بالعالم",
    "half a pair \ud83d",
    "nul \x00 and \u202e direction",
    "word " * 30_000,
    "x" * 50_000,
    "?!",
]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        yield running


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder(device="cpu")


@pytest.fixture
def embedder(request: pytest.FixtureRequest) -> Embedder:
    kind = request.param
    if kind == "local":
        return request.getfixturevalue("local")  # type: ignore[no-any-return]
    if kind == "openai":
        server = request.getfixturevalue("server")
        server.requests.clear()
        return OpenAIEmbedder("fake", api_key=KEY, base_url=server.url, dimension=48)
    hashed = HashEmbedder(64)
    return CachedEmbedder(hashed, size=8) if kind == "cached" else hashed


every = pytest.mark.parametrize("embedder", KINDS, indirect=True)


def run(embedder: Embedder, work: Callable[[], Awaitable[list[Vector]]]) -> list[Vector]:
    async def main() -> list[Vector]:
        try:
            return await work()
        finally:
            if isinstance(embedder, OpenAIEmbedder):  # the others keep no connections
                await embedder.aclose()

    return asyncio.run(main())


def embed(embedder: Embedder, texts: list[str], *, query: bool = False) -> list[Vector]:
    return run(embedder, lambda: embedder.embed(texts, query=query))


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def same(a: Vector, b: Vector) -> bool:
    return cosine(a, b) > 1 - 1e-4


@every
def test_is_an_embedder_and_knows_itself(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model
    assert embedder.dimension > 0


@every
def test_nothing_in_nothing_out(embedder: Embedder) -> None:
    assert embed(embedder, []) == []


@every
def test_every_text_gets_a_unit_vector(embedder: Embedder) -> None:
    vectors = embed(embedder, ODD)
    assert len(vectors) == len(ODD)
    for vector in vectors:
        assert len(vector) == embedder.dimension
        assert all(type(value) is float for value in vector)
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-3)


@every
def test_order_is_kept_over_batches_and_lengths(embedder: Embedder) -> None:
    texts = [f"note {at}: " + "something about the garden " * (at % 7) for at in range(150)]
    together = embed(embedder, texts)
    for at in (0, 6, 63, 64, 149):
        assert same(together[at], embed(embedder, [texts[at]])[0])


@every
def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    first, second, other = embed(embedder, ["Ann moved to Bergen", "Ann moved to Bergen", "cheese"])
    assert same(first, second)
    assert not same(first, other)
    assert same(first, embed(embedder, ["Ann moved to Bergen"])[0])


@every
def test_what_shares_words_is_nearer(embedder: Embedder) -> None:
    moved, also, other = embed(
        embedder, ["Ann moved to Bergen", "Ann has moved to Bergen now", "cheese is on the table"]
    )
    assert cosine(moved, also) > cosine(moved, other)


@every
def test_questions_find_statements(embedder: Embedder) -> None:
    question = embed(embedder, ["Where did Ann move to?"], query=True)[0]
    moved, other = embed(embedder, ["Ann moved to Bergen", "cheese is on the table"])
    assert math.hypot(*question) == pytest.approx(1, abs=1e-3)
    assert cosine(question, moved) > cosine(question, other)


@every
def test_many_at_once(embedder: Embedder) -> None:
    texts = [f"Ann visited city number {at}" for at in range(12)]

    async def work() -> list[Vector]:
        got = await asyncio.gather(*(embedder.embed([text]) for text in texts))
        return [vectors[0] for vectors in got]

    at_once = run(embedder, work)
    for single, joint in zip(embed(embedder, texts), at_once, strict=True):
        assert same(single, joint)


# hash


def test_hash_vectors_are_the_same_in_every_process() -> None:
    code = (
        "from engram_graph.adapters.embed_hash import HashEmbedder as H;"
        "print(H(32).vector('Ann moved to Bergen'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert done.strip() == str(HashEmbedder(32).vector("Ann moved to Bergen"))


def test_hash_needs_two_dimensions() -> None:
    with pytest.raises(ValueError, match="dimension"):
        HashEmbedder(1)


# cache


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.seen: list[tuple[bool, list[str]]] = []
        self.broken = False

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if self.broken:
            raise EmbeddingError("broken")
        self.seen.append((query, list(texts)))
        return await super().embed(texts, query=query)


def test_cache_embeds_each_text_once() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, size=3)
    first = embed(cached, ["a", "b", "a"])
    assert inner.seen == [(False, ["a", "b"])]
    assert first[0] == first[2]
    first[0][0] = 9.0  # a caller's list is the caller's
    assert embed(cached, ["a"])[0] == first[2]
    embed(cached, ["a"], query=True)  # a question is another text
    assert inner.seen[1:] == [(True, ["a"])]
    assert (cached.hits, cached.misses) == (2, 3)


def test_cache_tells_models_apart_and_is_put_on_once() -> None:
    inner = Counting()
    wrapped = cached(inner)
    embed(wrapped, ["a"])
    inner.model = "another"
    embed(wrapped, ["a"])
    assert len(inner.seen) == 2
    assert cached(wrapped) is wrapped


def test_cache_forgets_what_was_used_longest_ago() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embed(cached, [text])
    assert [texts for _, texts in inner.seen] == [["a"], ["b"], ["c"], ["b"]]
    assert len(embed(cached, ["p", "q", "r", "p"])) == 4  # more than it can hold


def test_cache_keeps_nothing_of_a_failure() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner)
    inner.broken = True
    with pytest.raises(EmbeddingError):
        embed(cached, ["a"])
    inner.broken = False
    assert embed(cached, ["a"]) == embed(inner, ["a"])
    asyncio.run(cached.aclose())
    with pytest.raises(ValueError, match="size"):
        CachedEmbedder(inner, size=0)


# openai


def test_openai_learns_its_dimension(server: EmbeddingsServer) -> None:
    embedder = OpenAIEmbedder("fake", api_key=KEY, base_url=server.url)
    assert embedder.dimension == 0
    embed(embedder, ["a"])
    assert embedder.dimension == 48


def test_openai_asks_for_a_dimension_only_where_that_works(server: EmbeddingsServer) -> None:
    for model, sent in (("text-embedding-3-small", 48), ("nomic", None)):
        server.requests.clear()
        embed(OpenAIEmbedder(model, api_key=KEY, base_url=server.url, dimension=48), ["a"])
        [(headers, body)] = server.requests
        assert body.get("dimensions") == sent
        assert headers["authorization"] == f"Bearer {KEY}"


def test_openai_batches_by_count_and_size(server: EmbeddingsServer) -> None:
    embedder = OpenAIEmbedder("fake", api_key=KEY, base_url=server.url)
    server.requests.clear()
    embed(embedder, [f"t{at}" for at in range(600)])
    assert [len(body["input"]) for _, body in server.requests] == [256, 256, 88]
    server.requests.clear()
    embed(embedder, ["word " * 20_000 for _ in range(30)])
    assert len(server.requests) == 3
    assert all(estimate_tokens(t) <= MAX_TOKENS for _, b in server.requests for t in b["input"])


def test_openai_cuts_by_tokens_not_characters() -> None:
    assert cut("short") == "short"
    for text in ("a" * 100_000, "京" * 100_000, "a京😀" * 40_000, "é" * 90_000):
        left = cut(text)
        assert text.startswith(left)
        assert MAX_TOKENS * 0.95 < estimate_tokens(left) <= MAX_TOKENS


def test_openai_puts_prefixes_before_texts(server: EmbeddingsServer) -> None:
    embedder = OpenAIEmbedder(
        "fake", api_key=KEY, base_url=server.url, query_prefix="query: ", text_prefix="passage: "
    )
    server.requests.clear()
    embed(embedder, ["a"])
    embed(embedder, ["a"], query=True)
    assert [body["input"] for _, body in server.requests] == [["passage: a"], ["query: a"]]
    assert {body["model"] for _, body in server.requests} == {"fake"}
    assert embedder.model == "fake ['query: ', 'passage: ']"


def test_another_prefix_is_another_embedder() -> None:
    def name(query: str = "", text: str = "") -> str:
        return OpenAIEmbedder("fake", api_key=KEY, query_prefix=query, text_prefix=text).model

    long = "Instruct: given a question, find passages that answer it"
    names = [
        name(),
        name(query="q: "),
        name(text="q: "),
        name(query="q:"),
        name(query=long),
        name(query=long + "."),
    ]
    assert names[0] == "fake"
    assert len(set(names)) == len(names)
    assert all(len(one) < 60 for one in names)


def test_prefixes_come_from_settings(server: EmbeddingsServer) -> None:
    settings = Settings(
        embedder="openai",
        embedding_model="fake",
        openai_api_key=KEY,
        openai_base_url=server.url,
        embedding_query_prefix="query: ",
        embedding_passage_prefix="passage: ",
    )
    embedder = make_embedder(settings)
    assert embedder is not None
    server.requests.clear()

    async def both() -> None:
        await embedder.embed(["a"])
        await embedder.embed(["a"], query=True)
        await embedder.aclose()

    asyncio.run(both())
    assert [body["input"] for _, body in server.requests] == [["passage: a"], ["query: a"]]


ROW = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, {"error": {"message": f"wrong key {KEY}: my private text"}}),
        Reply(400, {"error": {"message": f"wrong {KEY}: my private text"}}),
        Reply(429, {"error": {"message": f"quota {KEY}: my private text"}}),
        Reply(500, f"oops {KEY} my private text"),
        Reply(200, f"no JSON {KEY} my private text"),
        Reply(200, {"data": []}),
        Reply(200, {"error": "my private text"}),
        Reply(200, {"object": "list", "data": [ROW, ROW]}),
        Reply(200, {"object": "list", "data": [ROW | {"index": 1}]}),
        Reply(200, {"object": "list", "data": [ROW | {"embedding": []}]}),
        Reply(200, {"object": "list", "data": [ROW | {"embedding": [0.0, 0.0]}]}),
        Reply(200, {"object": "list", "data": [ROW | {"embedding": [None, 1.0]}]}),
        Reply(200, {"object": "list", "data": [ROW | {"embedding": ["a", "b"]}]}),
        Reply(200, {"object": "list", "data": [ROW | {"embedding": None}]}),
        Reply(200, {"object": "list", "data": [7]}),
        Reply(200, {"object": "list", "data": [ROW]}, delay_s=0.9),
    ],
)
def test_openai_failures_are_one_kind_and_tell_no_secret(
    server: EmbeddingsServer, reply: Reply
) -> None:
    server.script = [reply]
    embedder = OpenAIEmbedder(
        "fake", api_key=KEY, base_url=server.url, timeout_s=0.5, max_retries=0
    )
    with pytest.raises(EmbeddingError) as caught:
        embed(embedder, ["my private text"])
    told = f"{caught.value} {caught.value.hint} {caught.value.details} {caught.value.__cause__}"
    assert KEY not in told
    assert "private" not in told
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    server.script = []


def test_openai_refuses_another_dimension(server: EmbeddingsServer) -> None:
    embedder = OpenAIEmbedder("fake", api_key=KEY, base_url=server.url, dimension=47)
    with pytest.raises(EmbeddingError, match="48 dimensions, not 47"):
        embed(embedder, ["a"])


def test_openai_retries_what_may_pass(server: EmbeddingsServer) -> None:
    server.script = [Reply(503, {}, headers={"Retry-After": "0.01"})]
    embedder = OpenAIEmbedder("fake", api_key=KEY, base_url=server.url, max_retries=1)
    assert len(embed(embedder, ["a"])) == 1


def test_openai_without_server_or_key() -> None:
    embedder = OpenAIEmbedder("f", api_key=KEY, base_url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embed(embedder, ["a"])
    with pytest.raises(ConfigurationError):
        OpenAIEmbedder("f", api_key=" ")


# local


def test_local_names_the_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_local, "installed", lambda module: False)
    assert not embed_local.available()
    assert not embed_local.available("org/model")
    with pytest.raises(MissingExtraError) as caught:
        LocalEmbedder()
    assert caught.value.details == {"extra": "local"}


@needs_model
def test_local_refuses_a_path_without_a_model() -> None:
    with pytest.raises(ConfigurationError):
        LocalEmbedder("./no/such/folder")


@needs_model
@pytest.mark.model
def test_local_says_when_a_folder_holds_no_model(tmp_path: object) -> None:
    embedder = LocalEmbedder(str(tmp_path))
    assert embedder.dimension == 0
    assert "/" not in embedder.model
    with pytest.raises(EmbeddingError):
        embed(embedder, ["a"])


@needs_model
@pytest.mark.model
def test_local_loads_torch_late_and_prints_nothing() -> None:
    code = """
import asyncio, sys
from engram_graph.adapters.embed_local import LocalEmbedder, available
assert available()
made = LocalEmbedder()
assert made.dimension == 384, made.dimension
assert not {"torch", "transformers", "sentence_transformers"} & set(sys.modules)
assert len(asyncio.run(made.embed(["a"]))[0]) == 384
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_model
@pytest.mark.model
def test_local_knows_meaning_and_takes_a_folder(local: LocalEmbedder) -> None:
    folder = embed_local._packaged_folder()
    assert folder is not None
    named = LocalEmbedder(str(folder))
    assert named.dimension == 384
    assert named.model == "model"
    job, also, other = embed(
        local, ["She works as a physician", "Her job: doctor", "The train was late"]
    )
    assert cosine(job, also) > cosine(job, other) + 0.2


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The packaged model in a folder whose files name prompts."""
    folder = embed_local._packaged_folder()
    assert folder is not None
    copy = tmp_path_factory.mktemp("models") / "prompted"
    shutil.copytree(folder, copy)
    config = copy / "config_sentence_transformers.json"
    kept = json.loads(config.read_text(encoding="utf-8"))
    kept["prompts"] = {"query": "query: ", "passage": "passage: "}
    config.write_text(json.dumps(kept), encoding="utf-8")
    return str(copy)


@needs_model
@pytest.mark.model
def test_local_takes_the_prompts_of_the_models_own_files(
    local: LocalEmbedder, prompted: str
) -> None:
    embedder = LocalEmbedder(prompted, device="cpu")
    assert embedder.model == "prompted"
    question, asked, passage = embed(local, ["query: a fox", "a fox", "passage: a fox"])
    assert not same(question, asked)
    assert same(embed(embedder, ["a fox"], query=True)[0], question)
    assert same(embed(embedder, ["a fox"])[0], passage)


@needs_model
@pytest.mark.model
def test_local_takes_prefixes_that_are_set(local: LocalEmbedder, prompted: str) -> None:
    own = LocalEmbedder(prompted, device="cpu", query_prefix="find: ", text_prefix="")
    assert own.model == "prompted ['find: ', '']"
    found, asked = embed(local, ["find: a fox", "a fox"])
    assert same(embed(own, ["a fox"], query=True)[0], found)
    assert same(embed(own, ["a fox"])[0], asked)
