"""The checker of the benchmark's data: what a conversation and its gold must agree on. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, pairwise

from engram_graph.adapters.patterns_dates import take_date
from engram_graph.evaluation.validity.form import (
    KINDS,
    Conversation,
    GoldFact,
    GoldQuestion,
)
from engram_graph.evaluation.validity.reading import holds_form, plain
from engram_graph.intake import sentence
from engram_graph.vocabulary import PREDICATES

LATE = "late"
LEAST_DISTINCT, MOST_ALIKE, MOST_OPENINGS = 0.97, 3, 14
_SPANS = {"week": 7, "month": 31, "year": 366, "weekend": 2}
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.I)
_YEAR_ONLY = re.compile(r"\b(?:19|20)\d\d\b")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_NAME = re.compile(r"(?<![.!?…] )(?<!^)\b[A-ZÀ-Þ][\w'’-]+")


@dataclass(frozen=True, slots=True)
class Variety:
    """How far the conversations differ in their words.

    Attributes:
        sentences: of four words or more, in all turns. distinct: share of them said once only,
            names and numbers left out.
        alike: the sentence said most often, and how often. opening: the same of the first three
            words of turns.
    """

    sentences: int
    distinct: float
    alike: tuple[str, int]
    opening: tuple[str, int]


def check(conversations: Sequence[Conversation]) -> list[str]:
    """What is wrong, one line each; empty when all agrees."""
    found = [f"{each.id}: {complaint}" for each in conversations for complaint in _complaints(each)]
    twice = [id_ for id_, n in Counter(each.id for each in conversations).items() if n > 1]
    found += [f"{id_}: this id is there twice" for id_ in twice]
    return found + _too_uniform(conversations)


def variety(conversations: Iterable[Conversation]) -> Variety:
    """How varied the turns are; see ``Variety``."""
    sentences: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    for conversation in conversations:
        names = {turn.speaker for turn in conversation.turns.values()}
        for turn in conversation.turns.values():
            openings[" ".join(plain(turn.text).split()[:3])] += 1
            for part in _SENTENCE.split(turn.text):
                frame = _frame(part, names)
                if len(frame.split()) >= 4:
                    sentences[frame] += 1
    total = sum(sentences.values())
    nothing = [("", 0)]
    return Variety(
        total,
        sum(1 for n in sentences.values() if n == 1) / total if total else 1.0,
        (sentences.most_common(1) or nothing)[0],
        (openings.most_common(1) or nothing)[0],
    )


def _frame(text: str, names: Iterable[str]) -> str:
    """A sentence without what a template would fill in: names and numbers."""
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b", "*", text)
    return re.sub(r"\d+", "#", plain(_NAME.sub("*", text)))


def _too_uniform(conversations: Sequence[Conversation]) -> list[str]:
    seen = variety(conversations)
    found = []
    if seen.sentences and seen.distinct < LEAST_DISTINCT:
        found.append(f"only {seen.distinct:.1%} of the sentences are said once")
    if seen.alike[1] > MOST_ALIKE:
        found.append(f"{seen.alike[1]} sentences go like {seen.alike[0]!r}")
    if seen.opening[1] > MOST_OPENINGS:
        found.append(f"{seen.opening[1]} turns begin with {seen.opening[0]!r}")
    return found


def _complaints(each: Conversation) -> Iterator[str]:
    if each.kind not in KINDS:
        yield f"no such kind: {each.kind}"
    ids = [turn.id for session in each.sessions for turn in session.turns]
    if ids != [f"t{n}" for n in range(1, len(ids) + 1)]:
        yield "turns must be t1, t2, … in their order"
    if not 4 <= len(ids) <= 24:
        yield f"{len(ids)} turns"
    if any(late.said_at <= early.said_at for early, late in pairwise(each.sessions)):
        yield "sessions must follow each other"
    for sort, names in (
        ("fact", [fact.id for fact in each.facts]),
        ("question", [question.id for question in each.questions]),
    ):
        yield from (f"{sort} {n!r} is there twice" for n, c in Counter(names).items() if c > 1)
    unknown = list(_unknown_ids(each))
    yield from unknown
    if unknown:
        return
    for fact in each.facts:
        yield from (f"{fact.id}: {complaint}" for complaint in _window(each, fact))
        yield from (f"{fact.id}: {complaint}" for complaint in _forms(each, fact))
    yield from _one_at_a_time(each)
    yield from _overlaps(each)
    yield from _order(each)
    for question in each.questions:
        yield from (f"{question.id}: {complaint}" for complaint in _asked(each, question))


def _unknown_ids(each: Conversation) -> Iterator[str]:
    for fact in each.facts:
        if fact.predicate not in PREDICATES:
            yield f"{fact.id}: unknown predicate {fact.predicate}"
        for turn in (*fact.told_in, *([fact.ended_in] if fact.ended_in else [])):
            if turn not in each.turns:
                yield f"{fact.id}: no turn {turn}"
    for question in each.questions:
        for name in (*question.current, *question.stale):
            if name not in each.gold:
                yield f"{question.id}: no fact {name}"
        yield from (f"{question.id}: no turn {t}" for t in question.evidence if t not in each.turns)


def _window(each: Conversation, fact: GoldFact) -> Iterator[str]:
    told = each.said_at[fact.told_in[0]]
    if fact.valid_until is not None and fact.valid_until <= fact.valid_from:
        yield "it ends before it begins"
    if (fact.valid_until is None) != (fact.ended_by is None):
        yield "ended_by goes with valid_until"
    if (fact.ended_in is None) != (fact.ended_by in (None, "told")):
        yield "ended_in is the turn that tells the end, unless it was told from the start"
    if fact.from_words is None:
        if fact.valid_from != told:
            yield "without from_words it begins when it is told"
    else:
        yield from _dated(each, fact.told_in, fact.from_words, fact.valid_from)
    if fact.valid_until is None:
        return
    where = fact.told_in if fact.ended_in is None else (fact.ended_in, *fact.told_in)
    if fact.until_words is not None:
        yield from _dated(each, where, fact.until_words, fact.valid_until, end=True)
    elif fact.ended_by == "replaced":
        follows = [
            other
            for other in each.facts
            if other.triple[:2] == fact.triple[:2] and other.valid_from == fact.valid_until
        ]
        if not any(fact.ended_in in other.told_in for other in follows):
            yield "nothing told in ended_in begins when it ends"
    elif fact.ended_in is not None and fact.valid_until != each.said_at[fact.ended_in]:
        yield "without until_words it ends when its end is told"


def _dated(
    each: Conversation, turns: Sequence[str], words: str, gold: datetime, end: bool = False
) -> Iterator[str]:
    """The words stand in one of the turns and, where they can be resolved, mean that day."""
    for turn in turns:
        if plain(words) in plain(each.turns[turn].text):
            break
    else:
        yield f"{words!r} stands in none of {', '.join(turns)}"
        return
    first = _day(words, each.said_at[turn], end)
    if first is None:
        return
    last = first + timedelta(days=_days(words) - 1)
    if not first.date() <= gold.date() <= last.date():
        yield f"{words!r} means {first.date()}, not {gold.date()}"


def _day(words: str, said_at: datetime, end: bool) -> datetime | None:
    """The day that the whole phrase means, or the first one; None if it cannot be resolved."""
    bare = re.sub(r"(?i)^(?:since|on|from|as of) (?:last )?", "", words)
    for phrase in (words, f"on {bare}", f"in {bare}", bare):
        dated = take_date(phrase, said_at)
        day = (dated.end if end else None) or dated.start
        if day is not None and dated.when is not None and plain(dated.when) == plain(phrase):
            return day
    return None


def _days(words: str) -> int:
    """How many days a phrase leaves open."""
    for word, days in _SPANS.items():
        if re.search(rf"\b{word}s?\b", words):
            return days
    if _MONTH.search(words):
        return 1 if re.search(r"\b\d{1,2}(?:st|nd|rd|th)?\b", words) else 31
    return 366 if _YEAR_ONLY.search(words) else 1


def _forms(each: Conversation, fact: GoldFact) -> Iterator[str]:
    if not holds_form(plain(sentence(*fact.triple, False)), fact.forms):
        yield "no form of it stands in its own sentence"
    for turn in each.turns.values():
        text = plain(turn.text)
        tells = turn.id in fact.told_in or any(
            turn.id in other.told_in for other in each.facts if other.triple == fact.triple
        )
        if turn.id in fact.told_in and not holds_form(text, fact.forms):
            yield f"no form of it stands in {turn.id}"
        if not tells and holds_form(text, fact.forms):
            replaced = any(turn.id in other.told_in for other in each.facts)
            said = turn.id == fact.ended_in and (replaced or holds_form(text, fact.end_forms))
            if not said:
                yield f"{turn.id} holds a form of it and does not tell it"
    over = plain(each.turns[fact.ended_in].text) if fact.ended_in else ""
    if fact.end_forms and not holds_form(over, fact.end_forms):
        yield "no end form stands in ended_in"
    if fact.ended_by in ("said", "done") and not fact.end_forms:
        yield "what is said to be over, or done, needs end_forms"


def _overlaps(each: Conversation) -> Iterator[str]:
    for one, other in combinations(each.facts, 2):
        if one.triple == other.triple:
            continue
        for form in (*one.forms, *one.end_forms):
            if holds_form(plain(form), other.forms):
                yield f"forms of {one.id} and {other.id} overlap: {form!r}"
        for form in other.forms:
            if holds_form(plain(form), one.forms):
                yield f"forms of {other.id} and {one.id} overlap: {form!r}"


def _one_at_a_time(each: Conversation) -> Iterator[str]:
    for one, other in combinations(each.facts, 2):
        same = one.triple[:2] == other.triple[:2]
        if not same or not (PREDICATES[one.predicate].single or one.triple == other.triple):
            continue
        first, second = sorted((one, other), key=lambda fact: fact.valid_from)
        if first.valid_until is None or first.valid_until > second.valid_from:
            yield f"{first.id} and {second.id} hold at the same time"


def _order(each: Conversation) -> Iterator[str]:
    """Told in the order in which it became true, unless its end is told with it, or the kind is
    about that."""
    if each.kind == LATE:
        return
    place = {turn: n for n, turn in enumerate(each.turns)}
    for one, other in combinations(each.facts, 2):
        if one.triple[:2] != other.triple[:2] or not PREDICATES[one.predicate].single:
            continue
        first, second = sorted((one, other), key=lambda fact: fact.valid_from)
        late = place[first.told_in[0]] > place[second.told_in[0]]
        if late and first.ended_by != "told":
            yield f"{first.id} is told after {second.id}, which began later"


def _asked(each: Conversation, question: GoldQuestion) -> Iterator[str]:
    moment = question.as_of or each.end
    named = [each.gold[name] for name in (*question.current, *question.stale)]
    about = {fact.triple[:2] for fact in named}
    if not named:
        yield "it is about no fact"
    if len(about) > 1:
        yield "its facts are of several subjects or relations"
    for fact in each.facts:
        if fact.triple[:2] not in about:
            continue
        wanted = question.current if fact.holds(moment) else question.stale
        if fact.id not in wanted:
            held = "holds" if fact.holds(moment) else "does not hold"
            yield f"{fact.id} {held} then"
    if set(question.current) & set(question.stale):
        yield "a fact is both current and stale"
    for name in question.current:
        if not set(each.gold[name].told_in) & set(question.evidence):
            yield f"no evidence tells {name}"
    right = [form for name in question.current for form in each.gold[name].forms]
    for form in question.distractors:
        if any(holds_form(plain(one), [form]) or holds_form(plain(form), [one]) for one in right):
            yield f"the distractor {form!r} is right"
    text = " ".join(plain(turn.text) for turn in each.turns.values())
    yield from (
        f"the distractor {form!r} is never said"
        for form in question.distractors
        if not holds_form(text, [form])
    )
