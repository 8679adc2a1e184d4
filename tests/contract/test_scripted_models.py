"""The scripted models behind the real adapters: one server, answers from content alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from jevcompat.client import Response
from jevcompat.validate import validate_success

from engram_graph.adapters.jev import JevDecider
from engram_graph.adapters.jev_wire import request_body
from engram_graph.adapters.llm_decider import LLMDecider
from engram_graph.adapters.llm_extractor import LLMExtractor
from engram_graph.adapters.rerank_decider import DeciderReranker
from engram_graph.adapters.rerank_llm import LLMReranker
from engram_graph.embedders import make_embedder
from engram_graph.evaluation.study.models import StudyModels
from engram_graph.models.decisions import Ask, Reply, Turn
from engram_graph.models.facts import Draft
from engram_graph.ports import Decider
from engram_graph.questions import answering, build
from engram_graph.questions.wording import WORDINGS
from engram_graph.rules import questions as about
from engram_graph.rules.questions import question, relevant, same_entity
from engram_graph.settings import Settings
from engram_graph.testing import ScriptedModels
from tests.contract.test_recorder import T0, fact, said

_T = TypeVar("_T")
PAIR = (about.RELATION, about.SECOND, about.SAME_ATTRIBUTE, about.PLAN_FULFILLED)
OWN = (about.WORTH, about.KIND, about.TEMPORAL, about.EDGE_TYPE, about.DURABILITY)


@pytest.fixture(scope="module")
def models() -> Iterator[ScriptedModels]:
    with ScriptedModels() as server:
        yield server


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(work)


async def closing(part: Any, work: Coroutine[Any, Any, _T]) -> _T:
    try:
        return await work
    finally:
        await part.aclose()


def decider(models: ScriptedModels, kind: str) -> Decider:
    if kind == "jev":
        return JevDecider(api_key="k", base_url=models.url, model="scripted", rate_per_s=1000)
    return LLMDecider("scripted", api_key="k", base_url=models.url)


def asking(text: str, target: str, **old: Any) -> Ask:
    """All questions on a new fact about Odo, and on one that is known."""
    known = fact(text="Odo lives in Marrowby") if not old else fact(**old)
    return Ask(
        Draft(subject="Odo", predicate="lives_in", object=target, text=text),
        T0, "Odo", "user", text,
        (*map(question, OWN), *(question(name, known) for name in PAIR)),
    )  # fmt: skip


def ask(models: ScriptedModels, kind: str, one: Ask) -> Reply:
    part = decider(models, kind)
    return run(closing(part, part.ask(one)))


@pytest.fixture(params=["jev", "llm"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_decisions_follow_the_rules_and_are_unsure_by_content(
    models: ScriptedModels, kind: str
) -> None:
    reply = ask(models, kind, asking("Odo lives in Ostwick", "Ostwick"))
    assert reply.error is None
    chosen = {key.partition(":")[0]: answer.chosen for key, answer in reply.answers.items()}
    assert chosen[about.RELATION] == chosen[about.SECOND] == "update"
    assert chosen[about.SAME_ATTRIBUTE] == chosen[about.WORTH] == "yes"
    assert chosen[about.PLAN_FULFILLED] == "no"
    assert (chosen[about.TEMPORAL], chosen[about.EDGE_TYPE]) == ("current", "lives_in")
    for answer in reply.answers.values():
        assert not answer.fallback
        assert 0.82 <= max(answer.probabilities.values()) <= 0.99
        assert all(round(p, 2) == pytest.approx(p) for p in answer.probabilities.values())
        assert sum(answer.probabilities.values()) == pytest.approx(1.0)
    other = ask(models, kind, asking("Odo likes chess", "chess"))
    relation = next(a for key, a in other.answers.items() if key.startswith(about.RELATION))
    assert relation.chosen == "new"


def test_the_same_is_answered_the_same_and_ids_change_nothing(
    models: ScriptedModels, kind: str
) -> None:
    one = asking("Odo lives in Ostwick", "Ostwick")
    moved = replace(
        one, questions=tuple(
            replace(q, candidate=q.candidate.model_copy(update={"id": "other"}))
            if q.candidate else q for q in one.questions
        ),
    )  # fmt: skip
    replies = [ask(models, kind, each) for each in (one, one, moved)]
    told = [[answer.probabilities for answer in reply.answers.values()] for reply in replies]
    assert told[0] == told[1] == told[2]
    confidences = {
        max(answer.probabilities.values())
        for number in range(6)
        for answer in ask(models, kind, asking(f"Odo lives in Town{number}", f"Town{number}"))
        .answers.values()
    }  # fmt: skip
    assert len(confidences) > 5


def test_every_question_there_is_has_an_answer(models: ScriptedModels, kind: str) -> None:
    known, turn = fact(), Turn(said("I live in Marrowby."))
    pair = same_entity(*_profiles())
    more = (about.SENSITIVITY, about.QUERY_RELATION, about.WORTH_SENTENCE)
    own = [question(name) for name in (*OWN, *more)]
    on_pair = [question(name, known) for name in PAIR]
    same = replace(question(about.SAME_FACT, known), about=fact(2))
    asked = (*own, *on_pair, same, relevant(known), relevant(turn), pair)
    assert {each.name for each in asked} == WORDINGS.keys()
    one = replace(asking("Odo lives in Ostwick", "Ostwick"), questions=asked)
    reply = ask(models, kind, one)
    assert not any(answer.fallback for answer in reply.answers.values())
    assert len(reply.answers) == len(asked)


def _profiles() -> Any:
    from engram_graph.models.entities import Profile
    from engram_graph.models.facts import Entity

    names = ("Bob", "Robert")
    return [
        Profile(Entity(id=name, namespace="n", key=name.lower(), name=name), (fact(),))
        for name in names
    ]


def test_the_decision_api_is_kept_to_by_an_independent_judge(models: ScriptedModels) -> None:
    one = asking("Odo lives in Ostwick", "Ostwick")
    items = build.worded(one)
    body = request_body("scripted", build.state(one, items), items)
    reply = httpx.post(f"{models.url}/systemone", content=body, timeout=20)
    assert reply.status_code == 200
    seen = Response(200, dict(reply.headers), reply.content, 0.0, data=reply.json())
    assert not list(validate_success(json.loads(body), seen))
    assert httpx.post(f"{models.url}/nowhere", json={}, timeout=20).status_code == 404


def test_extraction_finds_patterns_and_first_person_sentences(models: ScriptedModels) -> None:
    extractor = LLMExtractor("scripted", api_key="k", base_url=models.url)
    text = "I live in Marrowby. I really enjoyed the long hike with Pia! Did I tell you? Thanks."
    drafts = run(closing(extractor, extractor.extract(said(text), [said("Hello.")])))
    assert [(d.subject, d.predicate) for d in drafts] == [("I", "lives_in"), ("I", "related_to")]
    assert drafts[1].text == "Maya told: I really enjoyed the long hike with Pia"
    assert drafts[1].quote in text  # type: ignore[operator]


def test_both_rerankers_prefer_what_shares_words(models: ScriptedModels, kind: str) -> None:
    items = [
        Turn(said(text).model_copy(update={"id": text}))
        for text in ("The weather is fine.", "Odo paints the old harbour.", "Odo is away.")
    ]
    query = "When did Odo paint the harbour?"
    if kind == "jev":
        part = decider(models, "jev")
        reranker: Any = DeciderReranker(part)
        ranking = run(closing(part, reranker.rerank(query, items)))
        assert ranking.numbers == pytest.approx(
            {items[0].message.id: 0.0, items[1].message.id: 1.0, items[2].message.id: 0.2}, abs=0.15
        )
    else:
        reranker = LLMReranker("scripted", api_key="k", base_url=models.url)
        ranking = run(closing(reranker, reranker.rerank(query, items)))
    best = sorted(ranking.numbers, key=lambda item: -ranking.numbers[item])
    assert best[0] == items[1].message.id


def test_answers_verdicts_and_vectors_of_a_study(models: ScriptedModels, tmp_path: Path) -> None:
    given = models.settings(Settings.load(), embedder="openai")

    async def study(**more: Any) -> list[Any]:
        async with StudyModels(given, tmp_path, **more) as asked:
            lines = ["Odo moved to Ostwick in May", "Pia owns a red boat"]
            found = await asked.answer("What colour is the boat of Pia?", lines)
            unknown = await asked.answer("Who composed the requiem?", lines)
            labels = [
                await asked.judge("What colour?", "red", found.text),
                await asked.judge("Who?", "Mozart", unknown.text),
                await asked.judge("Who?", "never told", unknown.text, abstention=True),
                await asked.judge("Who?", "never told", found.text, abstention=True),
            ]
            embedder = make_embedder(asked.settings, asked._recording)
            assert embedder is not None
            vectors = await embedder.embed(lines)
            await embedder.aclose()
            return [found, unknown, labels, vectors]

    before = dict(models.requests)
    first = run(study())
    assert first[0].text == "Pia owns a red boat"
    assert first[1].text == answering.UNKNOWN
    assert [each.label for each in first[2]] == ["CORRECT", "WRONG", "CORRECT", "WRONG"]
    assert all(each.usd > 0 for each in first[2])
    asked = dict(models.requests)
    assert asked["embeddings"] == before.get("embeddings", 0) + 1
    assert run(study(budget_usd=0)) == first
    assert dict(models.requests) == asked


def test_settings_point_every_model_here(
    models: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-real", "OPENAI_BASE_URL": "https://api.example.com/v1",
        "TYPESAFE_API_KEY": "ts-real", "ENGRAM_DECIDER": "rules", "ENGRAM_LLM_MODEL": "real",
        "ENGRAM_EMBEDDING_BASE_URL": "https://api.example.com/v1", "NEO4J_URI": "bolt://db",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    found = models.settings(shortlist=7)
    assert (found.neo4j_uri, found.shortlist, found.decider) == ("bolt://db", 7, "jev")
    told = "".join(str(value) for value in found.model_dump().values())
    secrets = found.openai_api_key, found.typesafe_api_key, found.embedding_api_key
    assert "example.com" not in told
    assert "real" not in [secret.get_secret_value() for secret in secrets]
    urls = found.openai_base_url, found.typesafe_base_url, found.embedding_base_url
    assert set(urls) == {models.url}
    assert models.settings(Settings.load(shortlist=9)).shortlist == 9


def test_another_program_s_chat_gets_an_empty_object(models: ScriptedModels) -> None:
    body = {"model": "x", "messages": [{"role": "user", "content": "Hello?"}]}
    reply = httpx.post(f"{models.url}/chat/completions", json=body, timeout=20).json()
    assert reply["choices"][0]["message"]["content"] == "{}"
    assert reply["usage"]["prompt_tokens"] > 0
