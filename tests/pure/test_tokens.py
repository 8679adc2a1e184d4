"""Counting tokens: a vocabulary, and the estimate held against it by script."""

from __future__ import annotations

import importlib.util
import inspect
import tokenize
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.adapters.token_count import (
    ESTIMATE,
    VOCABULARY,
    count_tokens,
    token_counter,
)
from engram_graph.rules.tokens import LONGEST, cut, estimate_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too
SCRIPTS = {
    "English": "I moved to Oslo last Tuesday and I haven't bought any furniture yet. "
    "Her birthday is on the eighth of May, so let's meet before that.",
    "German": "Letzten Dienstag bin ich nach Norwegen umgezogen und habe noch keine Möbel "
    "gekauft. Meine Schwester arbeitet in einer Buchhandlung.",
    "French": "J'ai déménagé à Lyon mardi dernier et je n'ai pas encore acheté de meubles.",
    "Polish": "W zeszły wtorek przeprowadziłem się do Krakowa i jeszcze nie kupiłem mebli.",
    "Chinese": "小雨住在青石镇，在一家书店工作。我昨天搬到了北京，还没有买家具。",
    "Japanese": "昨日東京に引っ越しました。彼女は肉を食べませんが、コーヒーを買った。",
    "Korean": "한결은 서울에서 산다. 어제 부산으로 이사했는데 아직 가구를 사지 못했어요.",
    "Arabic": "ليان تحب القراءة وتسكن في بيروت. انتقلت أمس إلى القاهرة ولم أشتر الأثاث بعد.",
    "Hebrew": "לנועם יש סירה והוא גר בחיפה. אתמול עברתי לירושלים ועוד לא קניתי רהיטים.",
    "Hindi": "मैं कल दिल्ली आ गया और अभी तक फर्नीचर नहीं खरीदा। वह मांस नहीं खाती।",
    "Thai": "ฉันอยู่ที่กรุงเทพและทำงานในร้านหนังสือ เธอไม่กินเนื้อแต่ชอบปลา",
    "Greek": "Μένω στην Αθήνα και δουλεύω σε βιβλιοπωλείο. Δεν τρώει κρέας.",
    "Russian": "В прошлый вторник я переехала в Казань и ещё не купила мебель.",
    "Amharic": "እኔ በአዲስ አበባ እኖራለሁ እና በመጽሐፍ መደብር እሰራለሁ።",
    "emoji": "😀🎉🫖☕👍 👩‍👩‍👧‍👦 ❤️‍🔥 🇳🇴🇩🇪 🏳️‍🌈",
    "code": "def _cut(line: str, room: float) -> str:\n    return line[:at].rstrip() + '…'\n",
    "JSON": '{"id": 17, "name": "x17", "tags": ["a", "b"], "when": "2024-03-05T09:30:00Z"}',
    "letters": "xqkzjvwpbnmtrgqhdlsxkzvbqwjp" * 4,
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_estimate_errs_on_the_safe_side(script: str) -> None:
    text = SCRIPTS[script]
    assert 1.0 <= estimate_tokens(text) / count_tokens(text) <= 2.0


def test_a_python_file_is_not_underestimated() -> None:
    code = inspect.getsource(tokenize)
    assert 1.0 <= estimate_tokens(code) / count_tokens(code) <= 2.0


@given(ANY_TEXT, ANY_TEXT)
def test_an_estimate_is_a_count(text: str, more: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")
    assert estimate_tokens(text + " " + more) >= estimate_tokens(text)


@given(ANY_TEXT)
def test_a_vocabulary_counts_any_text(text: str) -> None:
    assert (count_tokens(text) == 0) == (text == "")
    assert len(text) <= count_tokens(text) * LONGEST


def test_what_the_package_refuses_is_counted_in_parts() -> None:
    assert count_tokens("word " * 250_000) == pytest.approx(250_000, rel=0.01)
    assert count_tokens("<|endoftext|>") > 1  # text, whatever it looks like


@given(ANY_TEXT, st.integers(-2, 40), st.sampled_from([estimate_tokens, count_tokens, len]))
def test_a_cut_text_is_a_beginning_within_its_tokens(text: str, tokens: int, count: Any) -> None:
    made = cut(text, tokens, count)
    assert text.startswith(made)
    assert made == made.rstrip()
    assert not made or count(made) <= tokens
    if count(text) <= tokens and len(text) <= LONGEST * tokens:
        assert made == text.rstrip()


def test_without_the_package_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert token_counter() == (count_tokens, VOCABULARY)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "bpe_openai" else find(name)
    )
    assert token_counter() == (estimate_tokens, ESTIMATE)
