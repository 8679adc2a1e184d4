"""Which turns carry what the facts shown beside them lack. Pure; no list of words but the question
words of ``rules/text.py``.

A turn that a fact was taken from is told when nothing of weight is left of it beyond the words of
all its facts: up to ``LITTLE``, which an interjection or one short word has and a further statement
passes. Any other turn is told only if it and one fact have the same words in both directions: with
a "not" on one side it is the contrary, and stays. Where a doubt is left, the turn stays: to say a
thing twice costs a line, to leave one out may cost the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from engram_graph.models.facts import Fact
from engram_graph.models.results import TurnHit
from engram_graph.rules.names import normal_text
from engram_graph.rules.text import weighed_words

LITTLE = 1.0
"""Weight (of ``weighed_words``) that a source may have left and count as told."""
_MOST = 20_000  # characters: a longer turn says more than its facts
_START, _SHARE = 3, 0.6  # letters, and share of the longer word, with which two forms begin alike


def untold(
    turns: Sequence[TurnHit],
    facts: Iterable[Fact],
    sources: Mapping[str, Collection[str]],
    *,
    quoted: bool = True,
) -> list[TurnHit]:
    """Those of ``turns`` that carry what the facts lack, in their order.

    Args:
        facts: what is shown. sources: id of a message → ids of the facts that it states.
        quoted: whether lines of facts show the words they were taken from.
    """
    told = [_Told(fact, quoted) for fact in facts]
    exact = {form for each in told for form in each.exact}
    return [hit for hit in turns if not _is_told(hit, told, exact, sources)]


def _is_told(
    hit: TurnHit, told: Sequence[_Told], exact: set[str], sources: Mapping[str, Collection[str]]
) -> bool:
    message = hit.message
    if normal_text(message.text) in exact:
        return True
    if len(message.text) > _MOST:
        return False
    turn = _Text(message.text)
    if not turn.words:  # no word, no statement: nothing that a fact could tell
        return message.id in sources
    names = _Forms(weighed_words(message.speaker))
    own = [each for each in told if each.fact.id in sources.get(message.id, ())]
    if own:
        known = _Forms(word for each in own for word in each.words)
        return _left(turn.words, (known, names)) <= LITTLE
    return any(each.same(turn, names, message.said_at) for each in told)


class _Told:
    """A fact as its line tells it: its words, and its texts as compared whole."""

    def __init__(self, fact: Fact, quoted: bool) -> None:
        self.fact = fact
        texts = [fact.text, *([fact.source_quote] if quoted and fact.source_quote else ())]
        self.exact = [normal_text(text) for text in texts]
        self.forms = [_Text(text) for text in texts]
        day = fact.valid_from.date().isoformat() if fact.valid_from_stated else ""
        more = weighed_words(f"{fact.subject} {fact.object} {day}")
        self.words = [*(word for form in self.forms for word in form.words), *more]
        self._subject = _Forms(weighed_words(fact.subject))

    def same(self, turn: _Text, names: _Forms, said_at: datetime) -> bool:
        """Whether a turn that it was not taken from says just this, while it held."""
        ended = self.fact.valid_until
        if ended is not None and said_at >= ended:
            return False
        persons = (names, self._subject)
        return any(
            form.words
            and not _left(turn.words, (form.forms, *persons))
            and not _left(form.words, (turn.forms, *persons))
            for form in self.forms
        )


class _Text:
    """The words of a text that may carry a statement, and those to be met."""

    def __init__(self, text: str) -> None:
        self.words = weighed_words(text)
        self.forms = _Forms(self.words)


class _Forms:
    """Words to be met again, perhaps inflected."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._by_start: dict[str, list[str]] = {}
        for word in self._words:
            self._by_start.setdefault(word[:_START], []).append(word)

    def __contains__(self, word: object) -> bool:
        if word in self._words:
            return True
        if not isinstance(word, str) or not word.isalpha():
            return False
        return any(_alike(word, other) for other in self._by_start.get(word[:_START], ()))


def _alike(one: str, other: str) -> bool:
    if min(len(one), len(other)) < _START or not other.isalpha():
        return False
    common = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return common >= max(_START, _SHARE * max(len(one), len(other)))


def _left(words: Mapping[str, float], known: Collection[_Forms]) -> float:
    """Weight of the words that none of ``known`` holds; no more than says that it is much."""
    left = 0.0
    for word, weight in words.items():
        if not any(word in forms for forms in known):
            left += weight
            if left > LITTLE:
                break
    return left
