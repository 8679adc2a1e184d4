"""All vectors made anew by another embedder: on a server of its own, as all share the schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from engram_graph.adapters.embed_hash import HashEmbedder
from engram_graph.errors import (
    ConfigurationError,
    ConflictError,
    DimensionError,
    EmbedderMismatchError,
    EmbeddingError,
    StoreUnavailableError,
)
from engram_graph.flows import doctor
from engram_graph.flows import reembed as flow
from engram_graph.graph import reembed, schema
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Vector
from engram_graph.models.upkeep import ReembedReport
from engram_graph.rules.text import search_text, turn_text
from engram_graph.settings import Settings

pytestmark = pytest.mark.anyio

Client = Callable[..., AsyncMemory]
TURNS = (
    "I live in Bergen.",
    "I own a red kayak.",
    "I work at Norte Maps.",
    "I love rain and I live in Bergen.",
    "Hm.",
)
QUESTION = "Where does Ann live?"
HIDDEN = "(redacted)"


class Named(HashEmbedder):
    """The hash embedder under another name, with other vectors of the same dimension."""

    def __init__(self, name: str, dimension: int = 384) -> None:
        super().__init__(dimension)
        self.model = name
        self.calls = 0
        self.fails_after: int | None = None
        self.before: Callable[[], Awaitable[None]] | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        self.calls += 1
        if self.fails_after is not None and self.calls > self.fails_after:
            raise EmbeddingError("broken")
        if self.before is not None:
            await self.before()
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        return [-value for value in super().vector(text)]


@pytest.fixture
async def graph(empty_server: Any) -> AsyncIterator[Graph]:
    """A store without anything in it; afterwards, doctor looks at all of it."""
    one = empty_server.graph()
    await one.connect()
    await one.statement("MATCH (n) DETACH DELETE n")
    for row in await one.statement("SHOW VECTOR INDEXES YIELD name"):
        await one.statement(f"DROP INDEX {row['name']} IF EXISTS")
    await one.locate()
    yield one
    report = await doctor.check(one, None)
    await one.close()
    assert report.sound, report.findings


@pytest.fixture
async def client(graph: Graph, empty_server: Any) -> AsyncIterator[Client]:
    """Makes clients of that store, with an embedder of their own."""
    settings = Settings(
        neo4j_uri=empty_server.uri,
        neo4j_username=empty_server.username,
        neo4j_password=empty_server.password,
        embedder="none",
        extractor="patterns",
    )
    async with AsyncExitStack() as stack:

        def make(embedder: Any = None, namespace: str = "ann") -> AsyncMemory:
            one = AsyncMemory(namespace, settings=settings, embedder=embedder)
            stack.push_async_exit(one)
            return one

        yield make


VECTORS = ("fact_vector", "message_vector", "item_vector")


async def talk(memory: AsyncMemory, *texts: str) -> None:
    for text in texts or TURNS:
        await memory.add(text, speaker="Ann")
    await memory.put_item(("ann",), "tea", {"likes": "tea"}, texts=["She likes tea."])


async def stored(graph: Graph) -> list[dict[str, Any]]:
    """Every record that may have a vector: its words, and the properties that hold one."""
    rows = await graph.statement(
        "MATCH (n:Fact|Message|ItemText) RETURN n.namespace AS namespace, n.text AS text, "
        "n.speaker AS speaker, n {.*} AS all ORDER BY n.id"
    )
    return [
        {
            "words": turn_text(row["speaker"], row["text"]) if row["speaker"] else row["text"],
            "namespace": row["namespace"],
            "vectors": {k: v for k, v in row["all"].items() if k.startswith("embed")},
        }
        for row in rows
    ]


async def need_vectors_of(graph: Graph, embedder: HashEmbedder, place: int) -> None:
    """Every record has one vector, at ``place``, made by ``embedder`` of what it says."""
    name = "embedding" if place == 1 else f"embedding_{place}"
    rows = await stored(graph)
    assert rows
    for row in rows:
        assert list(row["vectors"]) == [name], row["words"]
        assert row["vectors"][name] == pytest.approx(embedder.vector(row["words"])), row["words"]
    (state,) = await graph.locate()
    assert (state["embedder"], state["dimension"]) == (embedder.model, embedder.dimension)
    assert (state["place"] or 1, state["next_place"], state["leftovers"]) == (place, None, None)
    suffix = "" if place == 1 else f"_{place}"
    indexes = {r["name"] for r in await graph.statement("SHOW VECTOR INDEXES YIELD name")}
    assert indexes == {f"{name}{suffix}" for name in VECTORS}
    assert await schema.dimensions(graph) == dict.fromkeys(VECTORS, embedder.dimension)


async def by_vector(memory: AsyncMemory, query: str = QUESTION) -> str:
    """All that a search finds with a vector score."""
    found = await memory.search(query, mode="both")
    assert found.degraded == (), found.degraded
    facts = [hit.fact.text for hit in found.facts if hit.scores.vector is not None]
    turns = [hit.message.text for hit in found.turns if hit.scores.vector is not None]
    return "\n".join(facts + turns)


async def need_old_vectors_refused(old: AsyncMemory) -> None:
    """Also what was embedded before another task of the same client saw the change."""
    graph = (await old.open()).graph
    await graph.locate()
    (fact,) = (await old.facts(subject="Ann", predicate="works_at")).facts
    vector = HashEmbedder(384).vector(fact.text)
    changes = [{"id": fact.id, "properties": {"embedding": vector}}]
    with pytest.raises(EmbedderMismatchError):
        await graph.write(load("write")["change_facts"], namespace="ann", changes=changes)


# -- whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("new", [HashEmbedder(256), Named("other")], ids=["dimension", "model"])
async def test_another_embedder_takes_over(client: Client, graph: Graph, new: HashEmbedder) -> None:
    old = client(HashEmbedder(384))
    await talk(old)
    await talk(client(HashEmbedder(384), "bo"), "I live in Cork.")
    memory = client(new)
    with pytest.raises((DimensionError, EmbedderMismatchError), match=str(new.dimension)) as caught:
        await memory.add("I own a dog.", speaker="Ann")
    assert "engram reembed" in caught.value.hint
    assert all("dog" not in row["words"] for row in await stored(graph))

    told: list[tuple[int, int]] = []
    report = await memory.reembed(progress=lambda done, total: told.append((done, total)))
    count = len(await stored(graph))
    assert report.facts + report.messages + report.items == report.missing == count
    assert (report.applied, report.switched) == (True, True)
    assert (report.before, report.dimension_before) == ("hash-384", 384)
    assert told[-1] == (count, count)
    await need_vectors_of(graph, new, 2)

    await talk(memory, "I own a dog.")
    assert "Ann lives in Bergen" in await by_vector(memory)
    assert "dog" in await by_vector(memory, "Which dog?")
    await need_vectors_of(graph, new, 2)
    with pytest.raises(EmbedderMismatchError, match="hash-384"):
        await old.search(QUESTION)
    await need_old_vectors_refused(old)
    await need_vectors_of(graph, new, 2)


async def test_there_and_back_never_uses_a_place_twice(client: Client, graph: Graph) -> None:
    first, second = HashEmbedder(384), HashEmbedder(64)
    idle = client(first)
    await talk(idle)
    await client(second).reembed()
    await client(first).reembed()
    await need_vectors_of(graph, first, 3)
    # has slept through both changes: its embedder fits again
    assert "Ann lives in Bergen" in await by_vector(idle)
    await talk(idle, "I own a dog.")
    await need_vectors_of(graph, first, 3)


async def test_a_dry_run_counts_and_changes_nothing(client: Client, graph: Graph) -> None:
    await talk(client(HashEmbedder(384)))
    before = await stored(graph), await graph.locate()
    report = await client(HashEmbedder(256)).reembed(dry_run=True)
    assert (await stored(graph), await graph.locate()) == before
    assert (report.applied, report.switched) == (False, False)
    assert report.messages == len(TURNS)
    assert report.missing == report.facts + report.messages + report.items == len(before[0])
    assert report.seconds is not None
    assert report.seconds > 0
    assert report.tokens is not None
    assert report.tokens >= 2 * report.missing
    done = await client(HashEmbedder(384)).reembed(dry_run=True)
    assert (done.missing, done.seconds, done.tokens) == (0, 0.0, 0)


async def test_what_has_no_vector_gets_one(client: Client, graph: Graph) -> None:
    await talk(client(None))
    assert all(row["vectors"] == {} for row in await stored(graph))
    report = await client(HashEmbedder(384)).reembed()
    assert report.missing == report.facts + report.messages + report.items
    assert report.switched is False
    await need_vectors_of(graph, HashEmbedder(384), 1)


async def test_without_an_embedder_nothing_begins(client: Client, graph: Graph) -> None:
    await talk(client(HashEmbedder(384)))
    with pytest.raises(ConfigurationError, match="no embedder"):
        await client(None).reembed()
    await need_vectors_of(graph, HashEmbedder(384), 1)


async def test_vectors_in_an_export_are_those_in_use(
    client: Client, graph: Graph, tmp_path: Any
) -> None:
    memory = client(HashEmbedder(64))
    await talk(client(HashEmbedder(384)))
    await memory.reembed()
    await memory.export(tmp_path / "ann.jsonl", vectors=True)
    await memory.import_(tmp_path / "ann.jsonl", namespace="copy")
    assert {row["namespace"] for row in await stored(graph)} == {"ann", "copy"}
    await need_vectors_of(graph, HashEmbedder(64), 2)


# -- meanwhile ------------------------------------------------------------------------------------


async def test_clients_work_meanwhile_and_nothing_is_lost(
    client: Client, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old, new and embedder-less clients write between batches, and right after the switch."""
    monkeypatch.setattr(flow, "_BATCH", 2)
    old, bare, new = client(HashEmbedder(384)), client(None), client(Named("other"))
    await talk(old)
    await talk(bare, "I own a boat.")
    waiting = client(Named("other"))
    turns = 0

    async def meanwhile() -> None:
        nonlocal turns
        turns += 1
        if turns > 3:  # else every batch brings another one
            return
        await talk(old, f"I own kayak number {turns}.")
        assert f"kayak number {turns}" in await by_vector(old, f"kayak number {turns}")
        await talk(bare, f"I own canoe number {turns}.")
        added = await waiting.add(f"I own raft number {turns}.", speaker="Ann")
        assert any("made anew by 'other'" in reason for reason in added.degraded)
        found = await waiting.search(f"raft number {turns}", mode="both")
        assert any("made anew" in reason for reason in found.degraded)
        assert f"raft number {turns}" in found.context

    embedder = Named("other")
    embedder.before = meanwhile
    switch = reembed.switch

    async def switched(graph: Graph, place: int) -> None:
        await talk(old, "I own the last kayak.")
        await switch(graph, place)
        with pytest.raises(EmbedderMismatchError, match="'other'"):
            await old.add("I own one kayak too many.", speaker="Ann")
        await talk(bare, "I own the last canoe.")
        await talk(new, "I own the first dinghy.")

    monkeypatch.setattr(reembed, "switch", switched)
    await client(embedder).reembed()
    said = [row["words"] for row in await stored(graph)]
    for words in ("kayak number 3", "canoe number 3", "raft number 3", "last kayak", "dinghy"):
        assert any(words in each for each in said), words
    assert not any("too many" in each for each in said)
    await need_vectors_of(graph, embedder, 2)
    for memory in (waiting, new):
        assert "raft number 1" in await by_vector(memory, "raft number 1")
    found = await bare.search("Which raft?", mode="both")  # whose index went away under it
    assert "raft" in found.context


async def test_a_write_that_straddles_the_switch_is_undone(
    client: Client, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its check comes after its writes, and the drop of the old index waits for it."""
    old = client(HashEmbedder(384))
    await talk(old)
    runtime = await old.open()
    paused, go_on = anyio.Event(), anyio.Event()
    (fact,) = (await old.facts(subject="Ann", predicate="works_at")).facts

    async def write(tx: Any) -> None:
        await tx.run(
            load("write")["change_facts"],
            namespace="ann",
            changes=[{"id": fact.id, "properties": {"embedding": HashEmbedder(384).vector("x")}}],
        )
        paused.set()
        await go_on.wait()

    async def late() -> None:
        with pytest.raises(EmbedderMismatchError):
            await runtime.graph.transact("late", write)

    async def finish() -> None:
        await anyio.sleep(0.5)
        indexes = await graph.statement("SHOW VECTOR INDEXES YIELD name")
        assert {"name": "fact_vector"} in indexes  # the drop waits
        go_on.set()

    async with anyio.create_task_group() as group:
        switch = reembed.switch

        async def switched(graph: Graph, place: int) -> None:
            group.start_soon(late)
            await paused.wait()
            await switch(graph, place)
            group.start_soon(finish)

        monkeypatch.setattr(reembed, "switch", switched)
        await client(HashEmbedder(64)).reembed()
        assert go_on.is_set()
    await need_vectors_of(graph, HashEmbedder(64), 2)


@pytest.mark.parametrize("mode", ["facts", "turns", "both"])
async def test_a_question_that_straddles_the_switch_is_refused(
    client: Client, graph: Graph, mode: Any
) -> None:
    """Both vectors of a question that names a speaker are the old embedder's: neither is used."""
    old = Named("old")
    memory = client(old)
    await talk(memory)
    new = Named("new")

    async def meanwhile() -> None:
        old.before = None
        await client(new).reembed()

    old.before = meanwhile
    with pytest.raises(EmbedderMismatchError) as caught:
        await memory.search(QUESTION, mode=mode)
    assert "'new'" in str(caught.value)
    assert caught.value.hint
    await need_vectors_of(graph, new, 2)


async def test_words_that_change_meanwhile_are_embedded_as_they_are(
    client: Client, graph: Graph
) -> None:
    old, new = client(HashEmbedder(384)), Named("other")
    await talk(old)
    runtime = await old.open()
    rows = await graph.statement("MATCH (m:Message) RETURN m.id AS id ORDER BY m.id")
    hidden = search_text(turn_text("Ann", HIDDEN))

    async def rewrite() -> None:
        """As a secret that is found later is taken out; before and after the new vector."""
        if new.calls in (1, 2):
            which = rows[new.calls - 1]
            await runtime.graph.write(
                load("write")["rewrite_message"],
                namespace="ann",
                message_id=which["id"],
                properties={"text": HIDDEN, "search_text": hidden, "embedding": None},
            )

    new.before = rewrite
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "_BATCH", 3)
        await client(new).reembed()
    said = [row["words"] for row in await stored(graph)]
    assert said.count(turn_text("Ann", HIDDEN)) == 2
    await need_vectors_of(graph, new, 2)


# -- broken off -----------------------------------------------------------------------------------

STEPS = (
    "plan_reembed",
    "create_fact_vectors",
    "set_fact_vectors",
    "set_message_vectors",
    "set_item_vectors",
    "switch_vectors",
    "vector_indexes",
    "drop_message_vectors",
    "clean_facts",
    "clean_messages",
    "clean_items",
    "end_reembed",
)


async def broken_off(
    memory: AsyncMemory, step: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that dies before or after the statement ``step``; what it had committed stays."""
    graph = (await memory.open()).graph
    seen = 0

    def die(query: Any, moment: str) -> None:
        nonlocal seen
        if query.name == step and moment == when:
            seen += 1
            raise StoreUnavailableError("killed")

    transact, write, plain = graph.transact, graph.write, graph.schema

    async def around(work: Callable[..., Awaitable[Any]], query: Any, **params: Any) -> Any:
        die(query, "before")
        done = await work(query, **params)
        die(query, "after")
        return done

    async def transacted(name: str, work: Any) -> Any:
        ran: list[Any] = []

        async def noted(tx: Any) -> Any:
            run = tx.run

            async def each(query: Any, **params: Any) -> Any:
                die(query, "before")
                ran.append(query)
                return await run(query, **params)

            tx.run = each
            return await work(tx)

        done = await transact(name, noted)
        for query in ran:
            die(query, "after")
        return done

    with monkeypatch.context() as patch:
        patch.setattr(graph, "transact", transacted)
        patch.setattr(graph, "write", lambda query, **p: around(write, query, **p))
        patch.setattr(graph, "schema", lambda query, **p: around(plain, query, **p))
        with pytest.raises(StoreUnavailableError, match="killed"):
            await memory.reembed()
    assert seen == 1


@pytest.mark.parametrize(
    ("when", "step"), [("before", STEPS[0]), *(("after", step) for step in STEPS)]
)
async def test_broken_off_anywhere_the_next_run_completes(
    client: Client, graph: Graph, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    old = client(HashEmbedder(384))
    await talk(old)
    new = HashEmbedder(64)
    with monkeypatch.context() as patch:
        patch.setattr(flow, "_BATCH", 2)
        await broken_off(client(new), step, when, patch)
    found = {one.invariant for one in (await doctor.check(graph, None)).findings}
    outside = (step, when) in (("plan_reembed", "before"), ("end_reembed", "after"))
    assert found == (set() if outside else {"reembed_left"})
    if (await graph.locate())[0]["place"] is None:  # not switched: the old one goes on
        assert "Ann lives in Bergen" in await by_vector(old)
        await talk(old, "I own a dog.")
    else:
        await talk(client(new), "I own a dog.")
    await client(new).reembed()
    await need_vectors_of(graph, new, 2)
    assert "dog" in await by_vector(client(new), "Which dog?")


async def test_a_failing_model_is_gone_on_from(
    client: Client, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "_BATCH", 2)
    await talk(client(HashEmbedder(384)))
    new = Named("other")
    new.fails_after = 2
    with pytest.raises(EmbeddingError, match="broken"):
        await client(new).reembed()
    count = len(await stored(graph))
    again = Named("other")
    report = await client(again).reembed()
    assert report.missing == count - 4
    await need_vectors_of(graph, new, 2)


async def test_the_old_embedder_may_call_it_off(
    client: Client, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = client(HashEmbedder(384))
    await talk(old)
    await broken_off(client(HashEmbedder(64)), "set_message_vectors", "before", monkeypatch)
    report = await old.reembed()
    assert (report.missing, report.switched) == (0, False)
    await need_vectors_of(graph, HashEmbedder(384), 1)


async def test_another_embedder_may_take_over_a_run(client: Client, graph: Graph) -> None:
    await talk(client(HashEmbedder(384)))
    slow, quick = Named("slow"), Named("quick", 64)

    async def overtaken() -> None:
        slow.before = None
        await client(quick).reembed()

    slow.before = overtaken
    with pytest.raises(ConflictError, match="another embedder"):
        await client(slow).reembed()
    await need_vectors_of(graph, quick, 3)


async def test_two_runs_at_once_agree(client: Client, graph: Graph) -> None:
    await talk(client(HashEmbedder(384)))
    reports: list[ReembedReport] = []

    async def one() -> None:
        reports.append(await client(HashEmbedder(64)).reembed())

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(one)
    assert len(reports) == 3
    await need_vectors_of(graph, HashEmbedder(64), 2)


@pytest.mark.parametrize("label", ["Fact", "Message"])
async def test_doctor_finds_a_vector_that_was_left(
    client: Client, graph: Graph, label: str
) -> None:
    memory = client(HashEmbedder(384))
    await talk(memory)
    await graph.statement(
        f"MATCH (n:{label}) WITH n ORDER BY n.id LIMIT 1 SET n.embedding_7 = [1.0]"
    )
    (finding,) = (await memory.doctor()).findings
    assert finding.invariant == "stray_vector"
    await memory.reembed()
    assert (await memory.doctor()).findings == ()
