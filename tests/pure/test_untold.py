"""Which turns stand beside the facts: those that say more than the facts do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import Scores, TurnHit
from engram_graph.rules.text import weighed_words
from engram_graph.rules.untold import LITTLE, untold
from engram_graph.vocabulary import Role

T0 = datetime(2024, 1, 1, tzinfo=UTC)
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too


def fact(text: str, obj: str = "", **values: Any) -> Fact:
    given = {"id": "f", "namespace": "n", "subject": "Ann", "subject_key": "ann"}
    given |= {"predicate": "related_to", "object": obj, "object_key": "o", "text": text}
    return Fact(**{**given, "valid_from": T0, "recorded_at": T0, **values})


def turn(text: str, name: str = "m", speaker: str = "Ann", days: int = 0) -> TurnHit:
    message = Message(
        id=name,
        namespace="n",
        conversation="c",
        speaker=speaker,
        role=Role.USER,
        text=text,
        said_at=T0 + timedelta(days=days),
        recorded_at=T0,
        source_id=name,
    )
    return TurnHit(message=message, scores=Scores())


def stays(text: str, *facts: Fact, source: bool = True, **options: Any) -> bool:
    sources = {"m": frozenset(each.id for each in facts)} if source else {}
    return bool(untold([turn(text)], facts, sources, **options))


TOLD = [
    ("I own a kayak, by the way.", fact("Ann owns a kayak", "kayak")),
    ("Oh, I live in Bergen!", fact("Ann lives in Bergen", "Bergen")),
    ("I have lived in Bergen from 2019.", fact("Ann lives in Bergen", valid_from_stated=True)),
    ("Ich wohne in Bergen.", fact("Ann wohnt in Bergen", "Bergen")),
    ("Ja, ich wohne in Bergen.", fact("Ann lives in Bergen", source_quote="ich wohne in Bergen")),
    ("我住在青石镇。", fact("小雨住在青石镇", "青石镇")),
    ("東京に住んでいます", fact("花は東京に住んでいます", "東京")),
    ("أنا أحب القراءة", fact("ليان تحب القراءة", "القراءة")),
    ("Я живу в Казани", fact("Мила живёт в Казани", "Казань")),
    ("저는 서울에서 산다", fact("한결은 서울에서 산다", "서울")),
    ("ฉันอยู่ที่กรุงเทพ", fact("มาลีอยู่ที่กรุงเทพ", "กรุงเทพ")),
    ("Μένω στην Αθήνα", fact("Η Άννα μένει στην Αθήνα", "Αθήνα")),
]
MORE = [
    ("I live in Bergen and my sister moved to Cork.", fact("Ann lives in Bergen", "Bergen")),
    ("I love rain and I live in Bergen.", fact("Ann lives in Bergen", "Bergen")),
    ("I paid 300 for the kayak.", fact("Ann bought a kayak", "kayak")),
    ("Ich wohne in Bergen und arbeite bei der Post.", fact("Ann wohnt in Bergen", "Bergen")),
    ("我住在青石镇，我养了三只猫。", fact("小雨住在青石镇", "青石镇")),
    ("東京に住んでいて、猫を飼っています", fact("花は東京に住んでいて", "東京")),
    ("أحب القراءة وأسكن في بيروت", fact("ليان تحب القراءة", "القراءة")),
    ("Я живу в Казани и работаю врачом", fact("Мила живёт в Казани", "Казань")),
    ("저는 서울에서 살고 고양이를 키워요", fact("한결은 서울에서 산다", "서울")),
    ("ฉันอยู่ที่กรุงเทพและทำงานเป็นหมอ", fact("มาลีอยู่ที่กรุงเทพ", "กรุงเทพ")),
    ("Μένω στην Αθήνα και δουλεύω ως γιατρός", fact("Η Άννα μένει στην Αθήνα", "Αθήνα")),
    ("मैं दिल्ली में रहता हूँ और शिक्षक हूँ", fact("रवि दिल्ली में रहता है", "दिल्ली")),
]


@pytest.mark.parametrize(("said", "of"), TOLD, ids=[said for said, _ in TOLD])
def test_a_source_whose_facts_say_it_all_goes(said: str, of: Fact) -> None:
    if of.valid_from_stated:
        of = of.model_copy(update={"valid_from": datetime(2019, 1, 1, tzinfo=UTC)})
    assert not stays(said, of)


@pytest.mark.parametrize(("said", "of"), MORE, ids=[said for said, _ in MORE])
def test_a_source_that_says_more_stays(said: str, of: Fact) -> None:
    assert stays(said, of)


def test_all_facts_of_a_turn_tell_it_together() -> None:
    said = "I live in Bergen and my sister moved to Cork."
    one, other = fact("Ann lives in Bergen", id="1"), fact("Ann's sister moved to Cork", id="2")
    assert stays(said, one)
    assert not stays(said, one, other)
    assert untold([turn(said)], [one, other], {"m": {"1"}})  # taken from another turn


def test_a_quote_counts_where_it_is_shown() -> None:
    said = "I love rain and I live in Bergen."
    quoting = fact("Ann lives in Bergen", source_quote=said)
    assert not stays(said, quoting)
    assert stays(said, quoting, quoted=False)


@pytest.mark.parametrize(
    ("said", "text", "stay"),
    [
        ("So you live in Oslo.", "Ann lives in Oslo", False),
        ("ann owns KAYAK!", "Ann owns Kayak", False),
        ("Ann eats meat.", "Ann does not eat meat", True),
        ("Ann does not eat meat.", "Ann eats meat", True),
        ("Anna isst kein Fleisch.", "Anna isst Fleisch", True),
        ("她不吃肉", "她吃肉", True),
        ("I live in Oslo with Odo.", "Ann lives in Oslo", True),
        ("Oslo!", "Ann lives in Oslo", True),
    ],
)
def test_another_turn_goes_only_if_a_fact_says_just_that(said: str, text: str, stay: bool) -> None:
    assert stays(said, fact(text), source=False) == stay


def test_what_is_said_after_a_fact_ended_is_not_what_it_tells() -> None:
    old = fact("Ann lives in Bonn", valid_until=T0 + timedelta(days=5), open=False)
    turns = [turn("I live in Bonn now", "a", days=1), turn("I live in Bonn now", "b", days=6)]
    told = [fact("Ann lives in Bonn now"), old]
    assert untold(turns, told, {}) == []
    said = [turn("You live in Bonn", "a", days=1), turn("You live in Bonn", "b", days=6)]
    assert [hit.message.id for hit in untold(said, [old], {})] == ["b"]


FACTS = st.lists(st.builds(fact, ANY_TEXT, st.sampled_from(["Oslo", "猫", ""])), max_size=4)


@given(FACTS, st.lists(ANY_TEXT, max_size=6), st.booleans())
def test_order_is_kept_and_repeats_go(facts: list[Fact], texts: list[str], source: bool) -> None:
    turns = [turn(text, str(at)) for at, text in enumerate(texts)]
    repeats = [turn(each.text, f"r{at}") for at, each in enumerate(facts)]
    sources = {str(at): {"f"} for at in range(len(texts)) if source}
    kept = untold([*turns, *repeats], facts, sources)
    assert kept == [hit for hit in turns if hit in kept]
    assert untold(turns, [], {}) == turns


NEW = ["rain", "sister", "Bergen", "harbour", "Katzen", "猫を飼う", "дождь"]
WORDS = st.lists(st.sampled_from(NEW), min_size=1)


@given(WORDS, st.booleans())
def test_a_turn_that_shares_nothing_is_kept(words: list[str], source: bool) -> None:
    said = " ".join(words)
    heavy = sum(weighed_words(said).values()) > LITTLE
    assert stays(said, fact("Odo owns 7 zithers", "zither"), source=source) or (
        source and not heavy
    )


def test_a_very_long_turn_says_more() -> None:
    assert stays("I live in Oslo. " * 2_000, fact("Ann lives in Oslo"))
    assert not stays("Oslo " * 2_000, fact("Oslo " * 2_000))
