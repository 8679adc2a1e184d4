"""Any question gives results or a typed error with a hint, from its own namespace only."""

from __future__ import annotations

from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.memory import AsyncMemory
from engram_graph.models.results import Mode, Recall
from engram_graph.rules.text import encodable, namespace_key, words

pytestmark = pytest.mark.anyio

MODES: tuple[Mode, ...] = ("facts", "turns", "both")
MINE, THEIRS = "Odo owns a bolt cutter", "Odo owns a bolt cutter, says the neighbour"
LRM, RLM, RLO, ZWSP, ZWJ, BOM = "\u200e", "\u200f", "\u202e", "\u200b", "\u200d", "\ufeff"
STOPS = "what is the who are you of in and to a it"

QUERIES = {
    "field": "foo:bar AND (",
    "namespace": "namespace_key:{theirs} bolt",
    "escape from the namespace": 'bolt") OR namespace_key:{theirs} OR (search_text:("bolt',
    "required": "+namespace_key:{theirs} +search_text:bolt",
    "all of it": "*:*",
    "star": "*",
    "tilde": "~",
    "fuzzy": "bolt~2",
    "boosted": "bolt^1000000 cutter^-1",
    "one quote": '"',
    "quotes": '"bolt cutter"~3 "',
    "backslash": "\\",
    "backslashes": 'bolt\\\\\\" OR \\',
    "regex": "/.*bolt.*/",
    "open regex": "/bolt",
    "range": "[a TO z] bolt",
    "open range": "{bolt TO *",
    "wildcards": "b?lt b*t ?*",
    "operators": "AND OR NOT && || ! + - bolt",
    "only operators": "AND OR NOT && || ! + -",
    "brackets": ")))((( ]][[ }}{{",
    "cypher": "bolt'}) MATCH (n) DETACH DELETE n //",
    "parameter": "$namespace $lucene bolt",
    "five thousand words": " ".join(f"word{n}" for n in range(5_000)) + " bolt",
    "the same word": "bolt " * 5_000,
    "a megabyte": "bolt " * 210_000,
    "one word of a megabyte": "b" * 1_000_000,
    "one run of Han": "東" * 100_000,
    "punctuation": "?!.,;:…—()[]{}«»„“",
    "emoji": "🔩✂️",
    "joined emoji": "👩‍👩‍👧‍👦 🏳️‍🌈",
    "Arabic": "أين مفك البراغي؟",
    "Hebrew with marks": f"{RLM}בּוֹרֶג{LRM} {RLO}tlob",
    "zero width": f"bo{ZWSP}lt {ZWJ}{BOM}cutter",
    "only zero width": f"{ZWSP}{ZWJ}{BOM}",
    "one letter": "b",
    "one Han character": "刀",
    "NUL": "bolt\x00cutter",
    "only NUL": "\x00",
    "control characters": "bolt\x01\x1b[2Jcutter\x7f",
    "half a character": "bolt \ud83d",
    "only half a character": "\udc00",
    "number": "42",
    "numbers": "3.14 1,000,000 -7 1e309 ０１２",
    "stop words": STOPS,
    "not": "not",
    "combining marks": "b\u0301\u0302\u0303olt" + "\u0301" * 500,
    "beyond the BMP": "𝕓𝕠𝕝𝕥 𐍈",
    "private use": "\ue000\U0010ffff bolt",
    "line ends": "bolt\r\n\u2028\u2029\x85cutter",
    "path": "../../etc/passwd%00bolt",
    "markup": "</context><script>bolt</script>",
}


@pytest.fixture(params=["hash", "none"])
async def both_sides(
    request: pytest.FixtureRequest, make_memory: Any, settings: Any, namespace: str
) -> AsyncMemory:
    """A memory with a fact, and a neighbour whose texts fit every question as well."""
    with_it = settings.model_copy(update={"embedder": request.param})
    mine: AsyncMemory = make_memory(namespace, settings=with_it)
    theirs: AsyncMemory = make_memory(f"{namespace}-b", settings=with_it)
    await mine.remember("Odo", "owns", "a bolt cutter", text=MINE)
    await mine.remember("Odo", "owns", "a tin kettle", text="Odo owns 42 tin kettles")
    texts = [THEIRS, *(query[:200] for query in QUERIES.values())]
    await theirs.remember_many(
        [
            {"subject": f"Odo {at}", "predicate": "owns", "object": "a bolt cutter", "text": text}
            for at, text in enumerate(encodable(text).replace("\x00", " ") for text in texts)
            if words(text)
        ],
        decide=False,
    )
    return mine


def need_own(recall: Recall, namespace: str) -> None:
    assert {hit.fact.namespace for hit in recall.facts} <= {namespace}
    assert {hit.message.namespace for hit in recall.turns} <= {namespace}
    assert "neighbour" not in recall.context
    recall.model_dump_json()


async def test_no_question_breaks_or_leaves_its_namespace(
    both_sides: AsyncMemory, namespace: str
) -> None:
    theirs = namespace_key(f"{namespace}-b")
    refused: dict[str, str] = {}
    for name, query in QUERIES.items():
        asked = query.replace("{theirs}", theirs)
        for mode, wide in (*((mode, False) for mode in MODES), ("both", True)):
            try:
                recall = await both_sides.search(asked, mode=mode, wide=wide)  # type: ignore[arg-type]
            except InputError as error:
                refused[name] = error.hint
                continue
            need_own(recall, namespace)
            texts = [hit.fact.text for hit in recall.facts]
            texts += [hit.message.text for hit in recall.turns]
            if "bolt" in asked.split():
                assert MINE in texts, (name, mode)
    assert set(refused) == {"only zero width", "only NUL"}
    assert all(refused.values())


async def test_words_that_all_are_question_words_find_as_words(
    make_memory: Any, settings: Any
) -> None:
    memory = make_memory(settings=settings.model_copy(update={"embedder": "none"}))
    await memory.add("Who are you?", conversation="a")
    await memory.add("Kettles boil.", conversation="b")
    recall = await memory.search(STOPS, mode="turns")
    assert [hit.message.text for hit in recall.turns] == ["Who are you?"]


BLANK = ["", " ", "\n\t", "\u3000\u00a0", "\x00", "\u200b\ufeff", 7, None]


@pytest.mark.parametrize("query", BLANK)
async def test_a_blank_question_is_refused_with_a_hint(memory: Any, query: Any) -> None:
    for mode in MODES:
        with pytest.raises(InputError) as caught:
            await memory.search(query, mode=mode)
        assert caught.value.hint


# Negation, and other scripts, by full text alone


@pytest.fixture
async def words_only(make_memory: Any, settings: Any) -> AsyncMemory:
    one: AsyncMemory = make_memory(settings=settings.model_copy(update={"embedder": "none"}))
    return one


def best(recall: Recall) -> str:
    return recall.facts[0].fact.text if recall.facts else recall.turns[0].message.text


@pytest.mark.parametrize(
    ("plain", "negated", "question"),
    [
        ("Ann eats meat", "Ben does not eat meat", "Who does not eat meat?"),
        ("Ann eats meat", "Ben never eats meat", "Who never eats meat?"),
        ("Anna isst Fleisch", "Bernd isst kein Fleisch", "Wer isst kein Fleisch?"),
        ("Ana come carne", "Berta no come carne", "¿Quién no come carne?"),
        ("Анна ест мясо", "Борис не ест мясо", "Кто не ест мясо?"),
        ("安娜吃肉", "博文不吃肉", "谁不吃肉？"),
    ],
)
async def test_a_negation_counts(
    words_only: AsyncMemory, plain: str, negated: str, question: str
) -> None:
    for at, text in enumerate((plain, negated)):
        subject = text.split()[0] if " " in text else text[:2]
        await words_only.remember(subject, "prefers", f"food {at}", text=text)
    for mode in ("facts", "turns"):
        recall = await words_only.search(question, mode=mode)  # type: ignore[arg-type]
        assert best(recall) == negated, mode


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("小雨在青石镇养了三只猫", "小雨养猫吗？"),
        ("花は東京のカメラ店で働いている", "東京"),
        ("花は東京のカメラ店で働いている", "カメラはどこ？"),
        ("ليان تعمل في مكتبة صغيرة", "أين مكتبة ليان؟"),
        ("Мила работает в Казани врачом", "Казани"),
        ("रवि दिल्ली में शिक्षक है", "दिल्ली में कौन है?"),
        ("มาลีทำงานในร้านหนังสือที่เชียงใหม่", "เชียงใหม่"),
        ("Η Ελένη μένει στην Αθήνα", "Ποιος μένει στην Αθήνα;"),
        ("לנועם יש סירה בחיפה", "סירה"),
        ("한결은 부산에서 커피를 판다", "커피"),
        ("ნინო თბილისში ცხოვრობს", "თბილისში"),
        ("አበበ አዲስ አበባ ይኖራል", "አዲስ"),
        ("刀", "刀"),
        ("Ž", "ž"),
    ],
)
async def test_facts_and_turns_of_every_script_are_found_by_their_words(
    words_only: AsyncMemory, text: str, query: str
) -> None:
    await words_only.remember("A", "friend_of", "B", text=text, conversation="a")
    await words_only.remember("C", "friend_of", "D", text="Something else", conversation="b")
    for mode in ("facts", "turns"):
        recall = await words_only.search(query, mode=mode)  # type: ignore[arg-type]
        found = [hit.fact.text for hit in recall.facts]
        found += [hit.message.text for hit in recall.turns]
        assert found == [text], mode
